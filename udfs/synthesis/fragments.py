"""Fragments of a document that questions are made from: whole sentences, spread over its length by a seeded draw."""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from operator import sub
from typing import Final

from udfs.records import Span
from udfs.synthesis.sentences import sentences
from udfs.text import count_words

_GOLDEN: Final = 0.6180339887498949
"""Multiples of it, modulo one, fall into the largest gap between those before: every prefix of them is spread out."""


def fragments(
    text: str, language: str, doc_id: str, seed: int, alpha: int, min_words: int, max_words: int
) -> list[Span | None]:
    """`alpha` disjoint fragments of a document, each of `min_words` to `max_words` words in whole sentences.

    Entry i is the same for every `alpha` above i. None where the document has no room for another fragment; then all
    later entries are None too.

    Raises:
        ValueError: `alpha` is negative, or not 1 ≤ `min_words` ≤ `max_words`.
    """
    if alpha < 0 or not 1 <= min_words <= max_words:
        raise ValueError(f"alpha={alpha}, min_words={min_words}, max_words={max_words} make no fragments")
    draw = _Draw(text, language, min_words, max_words)
    taken = [False] * len(draw.spans)
    found: list[Span | None] = []
    for i in range(alpha):
        position = (_uniform(seed, doc_id, "offset") + i * _GOLDEN) % 1.0
        wanted = min_words + _uniform(seed, doc_id, f"words {i}") * (max_words - min_words)
        piece = draw.nearest(position, wanted, taken)
        if piece is None:
            return found + [None] * (alpha - i)
        low, high = piece
        taken[low:high] = [True] * (high - low)
        found.append(draw.span(low, high))
    return found


def _uniform(seed: int, doc_id: str, what: str) -> float:
    digest = hashlib.blake2b(f"{seed}\0{doc_id}\0{what}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


@dataclass(frozen=True)
class _Draw:
    text: str
    language: str
    min_words: int
    max_words: int

    @cached_property
    def spans(self) -> list[Span]:
        return sentences(self.text, self.language)

    @cached_property
    def _counts(self) -> list[int]:
        """Words of each sentence."""
        return [count_words(self.text[start:end], self.language) for start, end in self.spans]

    @cached_property
    def _shared(self) -> list[int]:
        """Words that a sentence has in common with the one before: 1 where a word goes on over their border."""
        shared = [0]
        for i, (left, right) in enumerate(pairwise(self.spans)):
            both = self._counts[i] + self._counts[i + 1]
            touch = left.end == right.start
            shared.append(both - count_words(self.text[left.start : right.end], self.language) if touch else 0)
        return shared

    @cached_property
    def _words(self) -> list[int]:
        """Words before each sentence, and of all."""
        return list(accumulate(map(sub, self._counts, self._shared), initial=0))

    @cached_property
    def _opens(self) -> list[bool]:
        """Whether a paragraph begins with each sentence; the end of the text counts as one more."""
        gaps = (self.text[left.end : right.start] for left, right in pairwise(self.spans))
        return [True, *(gap.count("\n") > 1 for gap in gaps), True]

    def span(self, low: int, high: int) -> Span:
        return Span(self.spans[low].start, self.spans[high - 1].end)

    def nearest(self, position: float, wanted: float, taken: list[bool]) -> tuple[int, int] | None:
        """The free fragment that starts nearest to `position` (0 … 1 of the words), a paragraph's start preferred."""
        if not self.spans:
            return None
        at = min(bisect_right(self._words, position * self._words[-1]) - 1, len(self.spans) - 1)
        first: tuple[int, int] | None = None
        for start in self._outwards(at):
            if first and abs(self._words[start] - self._words[at]) > self.max_words / 2:
                return first
            if taken[start] or (first and not self._opens[start]):
                continue
            end = self._end(start, wanted, taken)
            if end is not None and self._opens[start]:
                return start, end
            if end is not None:
                first = start, end
        return first

    def _outwards(self, at: int) -> Iterator[int]:
        """All sentences, the nearest to `at` first."""
        low, high = at, at + 1
        while low >= 0 or high < len(self.spans):
            near_low = low >= 0 and (
                high >= len(self.spans) or self._words[at] - self._words[low] <= self._words[high] - self._words[at]
            )
            if near_low:
                yield low
                low -= 1
            else:
                yield high
                high += 1

    def _end(self, start: int, wanted: float, taken: list[bool]) -> int | None:
        """Where a fragment from `start` ends: at a paragraph's end if there is one in bounds, near `wanted` words."""
        before = self._words[start] - self._shared[start]
        low = max(bisect_left(self._words, before + self.min_words, start + 1), start + 1)
        high = bisect_right(self._words, before + self.max_words, low)
        if low >= high:
            return None
        free = next((end for end in range(start, high) if end < len(taken) and taken[end]), high)
        ends = range(low, min(high, free + 1))
        return min(ends, key=lambda end: (not self._opens[end], abs(self._words[end] - before - wanted)), default=None)
