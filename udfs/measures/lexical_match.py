"""How far the words of a question are those of a document, as numbers for a classifier. English and Chinese. Pure.

Beside what `udfs.measures.answerability` makes of them in one score: which share of the question the document, its best
sentence and its best two neighbouring sentences hold, what is named in the question and nowhere in the document, what
sort of answer is asked for. Word overlap and its absence are the oldest features of question answering (the exact match
of DrQA, Chen et al. 2017, section 3.2); a small encoder fine-tuned on some thousand questions does not learn them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from udfs.measures.answerability import rules_answerable
from udfs.measures.answers import tokens
from udfs.measures.asked_for import AskedFor, asked_for
from udfs.measures.contradiction import contradicts
from udfs.measures.entities import tag
from udfs.measures.polarity import is_negative
from udfs.measures.stems import stem
from udfs.schema import Language
from udfs.synthesis.overlap import STOP_WORDS
from udfs.synthesis.sentences import sentences

VERSION: Final = 1
"""Raise it when a feature changes: weights that were fitted to another version are refused."""
_KINDS: Final = tuple(AskedFor)
FEATURES: Final = (
    "rules_score",
    "rules_answerable",
    "units",
    "held",
    "absent",
    "best_sentence",
    "next_best_sentence",
    "best_neighbours",
    "pairs_held",
    "entities",
    "absent_entities",
    "numbers",
    "absent_numbers",
    "contradicted",
    "negative",
    "document_units",
    *(f"asks_for_{kind}" for kind in _KINDS),
)
"""The names of the numbers, in order."""
DOCUMENTS_KEPT: Final = 2


def lexical_features(question: str, document: str, language: str) -> tuple[float, ...]:
    """One number for each of `FEATURES`; counts as they are, shares from 0 to 1, a document's length as a logarithm.

    Units are English stems without stop words; in Chinese characters with the neighbour behind them.

    Raises:
        ValueError: the language is not one of `udfs.schema.Language`.
    """
    language = Language(language)
    ruled = rules_answerable(question, document, language)
    held = _index(document, language)
    asked = _units(question, language)
    shares = [_share(asked, sentence) for sentence in held.sentences] or [0.0]
    neighbours = [_share(asked, left | right) for left, right in pairwise(held.sentences)] or shares
    best = max(range(len(shares)), key=shares.__getitem__)
    words = tokens(question)
    named, numbers = tag(question, language), [word for word in words if word.isdigit()]
    pairs = list(pairwise(words))
    kind = asked_for(question, language).kind
    passage = document[slice(*held.spans[best])] if held.spans else ""
    return (
        ruled.score,
        float(ruled.answerable),
        float(len(asked)),
        _share(asked, held.units),
        float(sum(unit not in held.units for unit in asked)),
        shares[best],
        sorted(shares)[-2] if len(shares) > 1 else 0.0,
        max(neighbours),
        sum(pair in held.pairs for pair in pairs) / len(pairs) if pairs else 0.0,
        float(len(named)),
        float(sum(name.casefold() not in held.folded for name in named)),
        float(len(numbers)),
        float(sum(number not in held.tokens for number in numbers)),
        float(contradicts(question, passage, language)),
        float(is_negative(question)),
        math.log1p(len(held.units)),
        *(float(kind is one) for one in _KINDS),
    )


@dataclass(frozen=True)
class _Held:
    """What a document holds, as a whole and by sentence."""

    folded: str
    spans: tuple[tuple[int, int], ...]
    sentences: tuple[frozenset[str], ...]
    units: frozenset[str]
    tokens: frozenset[str]
    pairs: frozenset[tuple[str, str]]


@lru_cache(maxsize=DOCUMENTS_KEPT)
def _index(document: str, language: Language) -> _Held:
    spans = tuple((span.start, span.end) for span in sentences(document, language))
    by_sentence = tuple(frozenset(_units(document[start:end], language)) for start, end in spans)
    words = tokens(document)
    return _Held(
        folded=document.casefold(),
        spans=spans,
        sentences=by_sentence,
        units=frozenset().union(*by_sentence),
        tokens=frozenset(words),
        pairs=frozenset(pairwise(words)),
    )


def _units(text: str, language: Language) -> tuple[str, ...]:
    """What a text says, in order, none twice."""
    found = tokens(text)
    if language is Language.ZH:
        return tuple(dict.fromkeys(left + right for left, right in pairwise(found))) or tuple(found)
    return tuple(dict.fromkeys(stem(word) for word in found if word not in STOP_WORDS))


def _share(asked: tuple[str, ...], held: frozenset[str]) -> float:
    return sum(unit in held for unit in asked) / len(asked) if asked else 0.0
