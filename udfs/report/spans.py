"""A document cut into marked pieces: what is evidence, what the view had cut out, what answers the new question.

Spans count code points; browsers count UTF-16 units. Both are served here, so that no mark slips after an emoji or a
rare Chinese character.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from udfs.records import Span

PLAIN: Final = ""
EVIDENCE: Final = "e"
REDACTED: Final = "r"
BOTH: Final = "er"
ANSWERING: Final = "a"
"""Behind any of the others: a judge found the answer to the new question here."""
WHOLE_BELOW: Final = 2_500
"""A document of at most so many characters is its own excerpt."""

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
Piece = tuple[str, str]


def pieces(
    text: str,
    start: int,
    end: int,
    evidence: Sequence[Span],
    redactions: Sequence[Span],
    answering: Sequence[Span] = (),
) -> list[Piece]:
    """`text[start:end]` as (mark, text) in order; the texts joined are that slice again."""
    edges = {start, end}
    for span in (*evidence, *redactions, *answering):
        edges |= {min(max(span.start, start), end), min(max(span.end, start), end)}
    cuts = sorted(edges)
    found: list[Piece] = []
    for a, b in itertools.pairwise(cuts):
        marks = ((EVIDENCE, evidence), (REDACTED, redactions), (ANSWERING, answering))
        mark = "".join(name for name, spans in marks if _inside(a, b, spans))
        if found and found[-1][0] == mark:
            found[-1] = (mark, found[-1][1] + text[a:b])
        else:
            found.append((mark, text[a:b]))
    return found


def _inside(start: int, end: int, spans: Sequence[Span]) -> bool:
    return any(span.start <= start and end <= span.end for span in spans)


def windows(length: int, spans: Sequence[Span], around: int) -> list[tuple[int, int]]:
    """The stretches of a text of `length` characters to show: `around` characters on both sides of every span.

    A span longer than four times `around` is shown by its two ends. Without spans: the beginning.
    """
    if length <= WHOLE_BELOW:
        return [(0, length)]
    if not spans:
        return [(0, min(length, 3 * around))]
    wanted: list[tuple[int, int]] = []
    for start, end in spans:
        if end - start > 4 * around:
            wanted += [(start - around, start + around), (end - around, end + around)]
        else:
            wanted.append((start - around, end + around))
    merged: list[tuple[int, int]] = []
    for start, end in sorted((max(0, a), min(length, b)) for a, b in wanted):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        elif start < end:
            merged.append((start, end))
    return merged or [(0, min(length, 3 * around))]


def excerpts(
    text: str, evidence: Sequence[Span], redactions: Sequence[Span], around: int, answering: Sequence[Span] = ()
) -> list[tuple[int, list[Piece]]]:
    """What to show of a document at first: (where it starts, its marked pieces), one entry a stretch."""
    return [
        (start, pieces(text, start, end, evidence, redactions, answering))
        for start, end in windows(len(text), [*evidence, *redactions, *answering], around)
    ]


def utf16_spans(text: str, spans: Sequence[Span]) -> list[tuple[int, int]]:
    """Spans in UTF-16 units, as JavaScript's strings count."""
    astral = [match.start() for match in _ASTRAL.finditer(text)]
    return [(s.start + bisect_left(astral, s.start), s.end + bisect_left(astral, s.end)) for s in spans]
