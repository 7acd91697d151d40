"""A view: a document with some spans cut out. Pure; offsets are characters, spans half-open."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from udfs.records import Span


def merged(spans: Iterable[Span], length: int) -> tuple[Span, ...]:
    """The spans in order, touching and overlapping ones as one, empty ones dropped.

    Raises:
        ValueError: a span does not lie within 0 … `length`.
    """
    found: list[Span] = []
    for start, end in sorted(spans):
        if not 0 <= start <= end <= length:
            raise ValueError(f"span {start}:{end} does not lie within a text of {length} characters")
        if start == end:
            continue
        if found and start <= found[-1].end:
            found[-1] = Span(found[-1].start, max(found[-1].end, end))
        else:
            found.append(Span(start, end))
    return tuple(found)


@dataclass(frozen=True)
class View:
    """The offset map between a document of `length` characters and its view.

    Args:
        length: characters of the document.
        redactions: what is cut out; may touch and overlap, in any order.
    """

    length: int
    redactions: tuple[Span, ...]

    @cached_property
    def kept(self) -> tuple[Span, ...]:
        """What is left of the document, in document coordinates, in order."""
        kept: list[Span] = []
        at = 0
        for cut in merged(self.redactions, self.length):
            if cut.start > at:
                kept.append(Span(at, cut.start))
            at = cut.end
        if at < self.length:
            kept.append(Span(at, self.length))
        return tuple(kept)

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        """Where each kept piece starts in the view."""
        starts: list[int] = []
        at = 0
        for piece in self.kept:
            starts.append(at)
            at += piece.end - piece.start
        return tuple(starts)

    def text(self, document: str) -> str:
        """The view's text."""
        if len(document) != self.length:
            raise ValueError(f"the map is of a text of {self.length} characters, got one of {len(document)}")
        if len(self.kept) == 1 and self.kept[0] == Span(0, self.length):
            return document
        return "".join(document[piece.start : piece.end] for piece in self.kept)

    def to_view(self, span: Span) -> Span | None:
        """A document's span in the view: what is left of it, cuts inside it closed; None when nothing is left."""
        start: int | None = None
        end = 0
        for piece, at in zip(self.kept, self._starts, strict=True):
            low, high = max(piece.start, span.start), min(piece.end, span.end)
            if low < high:
                start = at + low - piece.start if start is None else start
                end = at + high - piece.start
        return None if start is None else Span(start, end)

    def to_document(self, span: Span) -> Span:
        """A view's span (not empty) in the document, cuts inside it included.

        Raises:
            ValueError: the span is empty or does not lie in the view.
        """
        if not 0 <= span.start < span.end <= self._view_length:
            raise ValueError(
                f"span {span.start}:{span.end} does not lie within a view of {self._view_length} characters"
            )
        return Span(self._origin(span.start), self._origin(span.end - 1) + 1)

    @cached_property
    def _view_length(self) -> int:
        return sum(piece.end - piece.start for piece in self.kept)

    def _origin(self, position: int) -> int:
        index = bisect_right(self._starts, position) - 1
        return self.kept[index].start + position - self._starts[index]


def view_text(text: str, redactions: Iterable[Span]) -> str:
    """`text` without its redactions (which may touch and overlap).

    Raises:
        ValueError: a redaction does not lie within the text.
    """
    return View(len(text), tuple(redactions)).text(text)
