"""Where a quotation lies in a fragment of a document, though a model may have copied it with small changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rapidfuzz import fuzz

from udfs.records import Span
from udfs.sources.evidence import locate
from udfs.text import normalize, normalize_mapped

CUTOFF: Final = 90.0
"""Per cent of characters that a quotation and what it quotes must have in common, once both are normalised."""
MIN_WEIGHT: Final = 16
"""A quotation of fewer normalised characters counts only if it is exact, or loosely so; a Han character is two."""
REACH: Final = 12
"""Normalised characters by which the ends of an alignment are moved to find where it fits best."""


def align(text: str, quote: str, within: Span) -> Span | None:
    """The span of `text` that `quote` quotes, inside `within`; None where there is none.

    Looked for exactly, on word borders, then up to white space, punctuation and case (`udfs.sources.evidence.locate`),
    then by rapidfuzz's best alignment of the normalised texts, on word borders, at or above `CUTOFF`. Short quotations
    are found exactly only.

    Raises:
        ValueError: `within` does not lie within the text.
    """
    if not 0 <= within.start <= within.end <= len(text):
        raise ValueError(f"span {within.start}:{within.end} does not lie within a text of {len(text)} characters")
    fragment, wanted = text[within.start : within.end], quote.strip()
    if not wanted:
        return None
    located = locate(fragment, wanted)
    span = located.span if located else _fuzzy(fragment, normalize(wanted))
    return None if span is None else Span(within.start + span.start, within.start + span.end)


def _fuzzy(fragment: str, quote: str) -> Span | None:
    if sum(2 if char > "\u2e80" else 1 for char in quote) < MIN_WEIGHT:
        return None
    document = normalize_mapped(fragment)
    found = fuzz.partial_ratio_alignment(quote, document.text, score_cutoff=CUTOFF)
    if found is None or len(quote) * CUTOFF / 100 > len(document.text):  # the longer one would be the quotation
        return None
    start, end = _fitted(document.text, quote, found.dest_start, found.dest_end)
    if start >= end or fuzz.ratio(quote, document.text[start:end]) < CUTOFF:
        return None
    return document.original(start, end)


def _fitted(text: str, quote: str, start: int, end: int) -> tuple[int, int]:
    """The span moved to the word borders nearby where it is most like the quotation: an alignment is as long as the
    quotation, which what it quotes need not be.
    """

    def best(around: int, likeness: Callable[[int], float]) -> int:
        near = range(max(0, around - REACH), min(len(text), around + REACH) + 1)
        borders = [at for at in near if _is_border(text, at)]
        return max(borders, key=lambda at: (likeness(at), -abs(at - around)), default=around)

    start = best(start, lambda at: fuzz.ratio(quote, text[at:end]))
    end = best(end, lambda at: fuzz.ratio(quote, text[start:at]))
    while start < end and text[start] == " ":
        start += 1
    while start < end and text[end - 1] == " ":
        end -= 1
    return start, end


def _is_border(text: str, at: int) -> bool:
    """Whether no word of a script that parts words by spaces goes on over `at`."""
    return not all(char.isalnum() and char < "\u2e80" for char in text[max(at - 1, 0) : at + 1]) or at in (0, len(text))
