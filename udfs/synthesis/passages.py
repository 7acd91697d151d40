"""Retrieval inside one document: the passages of a view that speak most of what a query asks (BM25)."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, zip_longest
from typing import Final

import numpy as np
from numpy.typing import NDArray

from udfs.records import Span
from udfs.synthesis.index import DocumentIndex
from udfs.synthesis.overlap import STOP_WORDS, tokens
from udfs.text import count_words
from udfs.views import merged, view_text

logging.getLogger("bm25s").setLevel(logging.WARNING)  # it lets its debug messages through to every handler

_OTHER: Final = 0
"""The id of every token that no query holds: they count for a passage's length alone."""


@dataclass(frozen=True)
class Passages:
    """A document in passages: consecutive whole sentences of about `words` words (a longer sentence is one itself),
    which together hold every character that is not white space.
    """

    index: DocumentIndex
    words: int

    @cached_property
    def spans(self) -> list[Span]:
        """The passages in order, in document coordinates."""
        found: list[Span] = []
        size = 0
        for start, end in self.index.sentences:
            added = count_words(self.index.text[start:end], self.index.language)
            if found and size + added <= self.words:
                found[-1], size = Span(found[-1].start, end), size + added
            else:
                found.append(Span(start, end))
                size = added
        return found

    def text(self, span: Span, redactions: Sequence[Span]) -> str:
        """The text of `span` as the view shows it."""
        return view_text(self.index.text[span.start : span.end], _clipped(span, redactions))

    def top(self, queries: Sequence[str], n: int, redactions: Sequence[Span] = ()) -> list[Span]:
        """The passages of the view that match best, in document coordinates: at most `n` for each query, the first of
        each query before the second of any, none twice. Scores are those of the view: what is cut counts for nothing.
        A passage that has no token of a query in it is none of its best.

        Raises:
            ValueError: a redaction does not lie within the document.
        """
        asked = [self._asked(query) for query in queries]
        ids = {token: number for number, token in enumerate(sorted(set(chain.from_iterable(asked))), start=1)}
        if not ids or n < 1:
            return []
        numbers, corpus = self._corpus(ids, merged(redactions, len(self.index.text)))
        if not any(any(passage) for passage in corpus):
            return []
        import bm25s  # it brings numba, which a process that vLLM spawns off this one must not import

        scorer = bm25s.BM25()
        scorer.index((corpus, {"": _OTHER, **ids}), show_progress=False)
        best = [_best(scorer.get_scores_from_ids([ids[token] for token in query]), n) for query in asked if query]
        ranked = (place for places in zip_longest(*best) for place in places if place is not None)
        return [self.spans[numbers[place]] for place in dict.fromkeys(ranked)]

    def _asked(self, query: str) -> list[str]:
        """The tokens that a query is scored by: its stop words only where it has no others."""
        found = tokens(query, self.index.language)
        return [token for token in found if token not in STOP_WORDS] or found

    @cached_property
    def _vocabulary(self) -> dict[str, int]:
        return {}

    @cached_property
    def _numbered(self) -> list[NDArray[np.int32]]:
        """The tokens of each passage of the whole document as numbers of `_vocabulary`."""
        return [self._tokenised(self.index.text[start:end]) for start, end in self.spans]

    def _tokenised(self, text: str) -> NDArray[np.int32]:
        known = self._vocabulary
        return np.array([known.setdefault(token, len(known)) for token in tokens(text, self.index.language)], np.int32)

    def _corpus(self, ids: dict[str, int], cuts: tuple[Span, ...]) -> tuple[list[int], list[list[int]]]:
        """The numbers of the passages that the view shows something of, and their tokens: those of queries by `ids`,
        all others as `_OTHER`, which leaves every score as it is and spares an index of the whole vocabulary.
        """
        passages = list(self._numbered)
        for number, seen in self._touched(cuts):
            passages[number] = self._tokenised(seen)
        asked = np.full(len(self._vocabulary), _OTHER, np.int32)
        for token in ids.keys() & self._vocabulary.keys():
            asked[self._vocabulary[token]] = ids[token]
        numbers = [number for number, passage in enumerate(passages) if len(passage)]
        return numbers, [asked[passages[number]].tolist() for number in numbers]

    def _touched(self, cuts: tuple[Span, ...]) -> Iterator[tuple[int, str]]:
        """The passages that are cut into, with what is left of them."""
        at = 0
        for number, span in enumerate(self.spans):
            while at < len(cuts) and cuts[at].end <= span.start:
                at += 1
            if at == len(cuts):
                return
            if cuts[at].start < span.end:
                yield number, self.text(span, cuts)


def _clipped(span: Span, cuts: Sequence[Span]) -> Iterator[Span]:
    """The cuts inside `span`, counted from its start."""
    for start, end in cuts:
        low, high = max(start, span.start), min(end, span.end)
        if low < high:
            yield Span(low - span.start, high - span.start)


def _best(scores: NDArray[np.float32], n: int) -> list[int]:
    """Places of the `n` highest scores above zero, the highest first, the earlier passage first among equals."""
    order = np.argsort(-scores, kind="stable")[:n]
    return [int(place) for place in order if scores[place] > 0]
