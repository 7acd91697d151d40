"""The sentence of a document that holds most of a question's entities (CouldAsk, appendix B and Figure 4). Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Final

from udfs.measures.answers import tokens
from udfs.measures.entity_overlap import SHARED_CHARACTERS
from udfs.measures.stems import stem
from udfs.records import Span
from udfs.schema import Language
from udfs.synthesis.index import DocumentIndex
from udfs.synthesis.overlap import STOP_WORDS, content

DOCUMENTS_KEPT: Final = 8
"""Documents (views) whose sentences are remembered: reading 128K tokens costs about a second."""
SENTENCES_KEPT: Final = 32_768
"""Sentences whose units are remembered: views of one document share nearly all of theirs."""

Key = str | tuple[str, str]


def overlapped_sentence(text: str, question: str, entities: Sequence[str], language: str) -> Span | None:
    """The sentence that holds the largest share of `entities`: the first of those that hold most.

    A sentence holds an entity as `udfs.measures.entity_overlap.soft_overlap` says of a question. Where no sentence
    holds any (or there are none), it is the first of those that share most units of content with the question.

    Args:
        text: the document as it is shown (a view).
        entities: of the question (`udfs.measures.entities.tag`).

    Returns:
        The sentence's span in `text`; None where the text is blank.

    Raises:
        ValueError: the language is not one of `udfs.schema.Language`.
    """
    index = _index(text, Language(language))
    sentences = index.document.sentences
    if not sentences:
        return None
    scores = Counter(number for entity in entities for number in index.holding(entity))
    if not scores:
        asked, contents = content(question, language), index.document.contents
        scores = Counter({number: len(asked & said) for number, said in enumerate(contents)})
    return sentences[min(scores, key=lambda number: (-scores[number], number))]


@dataclass(frozen=True)
class _SentenceIndex:
    """A document's sentences by what they hold."""

    document: DocumentIndex
    language: Language

    @cached_property
    def _holders(self) -> dict[Key, list[int]]:
        """The numbers of the sentences with each unit; in Chinese also with each pair of neighbours."""
        holders: defaultdict[Key, list[int]] = defaultdict(list)
        for number, (start, end) in enumerate(self.document.sentences):
            units = _units(self.document.text[start:end], self.language)
            keys: set[Key] = {*units, *(pairwise(units) if self.language is Language.ZH else ())}
            for key in keys:
                holders[key].append(number)
        return dict(holders)

    def _with(self, key: Key) -> Collection[int]:
        return self._holders.get(key, ())

    def holding(self, entity: str) -> Collection[int]:
        """The numbers of the sentences that hold `entity`, each once; none where it has no letter or digit."""
        units = _units(entity, self.language)
        if len(units) < 2 or self.language is not Language.ZH:
            return set.intersection(*(set(self._with(unit)) for unit in units)) if units else ()
        found: defaultdict[int, set[int]] = defaultdict(set)
        for i, pair in enumerate(pairwise(units)):
            for number in self._with(pair):
                found[number] |= {i, i + 1}
        return [number for number, held in found.items() if len(held) / len(units) >= SHARED_CHARACTERS]


@lru_cache(maxsize=DOCUMENTS_KEPT)
def _index(text: str, language: Language) -> _SentenceIndex:
    return _SentenceIndex(DocumentIndex(text, language), language)


@lru_cache(maxsize=SENTENCES_KEPT)
def _units(text: str, language: Language) -> tuple[str, ...]:
    """What entities are compared by: stems without stop words; in Chinese characters and whole numbers."""
    found = tokens(text)
    if language is Language.ZH:
        return tuple(found)
    return tuple(stem(token) for token in found if token not in STOP_WORDS) or tuple(found)
