"""The sentences of a view without reading all of it anew: those far from its cuts are the document's.

Where a sentence ends depends on what stands near it (`udfs.synthesis.sentences`), so only the surroundings of a cut are
parted again. That they are wide enough is checked, not assumed: their first and last sentences have to be the
document's, else they are widened, in the end to the whole view.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from udfs.records import Span
from udfs.synthesis.index import DocumentIndex
from udfs.synthesis.sentences import sentences
from udfs.views import View

REACH: Final = 2000
"""Characters on either side of a cut that are parted anew at first."""
ANCHORS: Final = 3
"""Sentences at either end of what is parted anew that have to be the document's."""
WIDENED: Final = 8


class Anew(NamedTuple):
    """The surroundings of a view's cuts.

    Args:
        sentences: those of the view that lie there, in order, in document coordinates, cuts inside them included.
        numbers: of the document's sentences that lie there; all others are sentences of the view as they are.
    """

    sentences: list[Span]
    numbers: list[range]

    def holds(self, number: int) -> bool:
        """Whether the document's sentence `number` lies there."""
        return any(number in part for part in self.numbers)


def anew(index: DocumentIndex, view: View, reach: int = REACH) -> Anew:
    """The sentences of `view` around its cuts.

    Args:
        reach: where to begin, in characters.
    """
    while True:
        parts = _around(index, view, reach)
        found = [_parted(index, view, part) for part in parts]
        if all(spans is not None for spans in found):
            return Anew([span for spans in found for span in spans or ()], parts)
        reach = max(reach, 1) * WIDENED


def _around(index: DocumentIndex, view: View, reach: int) -> list[range]:
    """The sentences within `reach` of each cut and `ANCHORS` more, from the beginning of a line on; disjoint."""
    known, text = index.sentences, index.text
    found: list[range] = []
    for cut in _cuts(view):
        touched = index.numbers(Span(max(0, cut.start - reach), min(len(text), cut.end + reach)))
        low, high = max(0, touched.start - ANCHORS), min(len(known), touched.stop + ANCHORS)
        while low > 0 and "\n" not in text[known[low - 1].end : known[low].start]:
            low -= 1
        if found and low <= found[-1].stop:
            low, high = found[-1].start, max(high, found.pop().stop)
        found.append(range(low, high))
    return found


def _cuts(view: View) -> Iterator[Span]:
    at = 0
    for kept in (*view.kept, Span(view.length, view.length)):
        if kept.start > at:
            yield Span(at, kept.start)
        at = kept.end


def _parted(index: DocumentIndex, view: View, part: range) -> list[Span] | None:
    """The view's sentences in `part`; None where those at its ends are not the document's."""
    known = index.sentences
    first, last = part.start == 0, part.stop == len(known)
    start = 0 if first else known[part.start].start
    end = len(index.text) if last else known[part.stop - 1].end
    clipped = (Span(max(cut.start, start) - start, min(cut.end, end) - start) for cut in _cuts(view))
    piece = View(end - start, tuple(cut for cut in clipped if cut.start < cut.end))
    spans = sentences(piece.text(index.text[start:end]), index.language)
    origins = [piece.to_document(span) for span in spans]
    found = [Span(origin.start + start, origin.end + start) for origin in origins]
    whole = [span.end - span.start == origin.end - origin.start for span, origin in zip(spans, origins, strict=True)]
    if not first and not (all(whole[:ANCHORS]) and found[:ANCHORS] == known[part.start : part.start + ANCHORS]):
        return None
    if not last and not (all(whole[-ANCHORS:]) and found[-ANCHORS:] == known[part.stop - ANCHORS : part.stop]):
        return None
    return found
