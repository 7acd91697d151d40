"""Finding a quotation in a document: by its offset, exactly, or up to white space, punctuation and case."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from udfs.records import Span
from udfs.text import Normalized, normalize_mapped

MIN_LOOSE_CHARACTERS: Final = 12
"""Normalised characters that a quotation needs before it is looked for loosely: short ones match by chance."""
LOOSE_DOCUMENTS_KEPT: Final = 2
RUN_START: Final = 6
"""Characters of a word that the text must hold in one piece before it is looked at loosely."""


class Located(NamedTuple):
    """Where a quotation lies; `moved` if not exactly where (or not exactly how) the source said."""

    span: Span
    moved: bool


def occurrences(text: str, quote: str) -> Iterator[int]:
    """Starts of `quote` in `text`, overlapping ones too."""
    at = text.find(quote) if quote else -1
    while at >= 0:
        yield at
        at = text.find(quote, at + 1)


def locate(text: str, quote: str, start: int | None = None) -> Located | None:
    """Where `quote` lies in `text`: at `start`, else its exact occurrence on word borders that is nearest to `start`
    (the first one without a `start`), else the nearest loose one (`normalize_mapped`). None where it is nowhere.
    """
    if not quote.strip():
        return None
    if start is not None and start >= 0 and text.startswith(quote, start):
        return Located(Span(start, start + len(quote)), False)
    near = max(start or 0, 0)
    exact = [at for at in occurrences(text, quote) if _on_borders(text, at, at + len(quote))]
    if exact:
        at = min(exact, key=lambda position: abs(position - near))
        return Located(Span(at, at + len(quote)), start is not None)
    return _locate_loosely(text, quote, near)


def _locate_loosely(text: str, quote: str, near: int) -> Located | None:
    wanted = normalize_mapped(quote).text
    if len(wanted) < MIN_LOOSE_CHARACTERS or not _may_hold(text, wanted):
        return None
    document = _normalized(text)
    spans = [
        document.original(at, at + len(wanted))
        for at in occurrences(document.text, wanted)
        if _on_borders(document.text, at, at + len(wanted))
    ]
    return Located(min(spans, key=lambda span: abs(span.start - near)), True) if spans else None


def _may_hold(text: str, wanted: str) -> bool:
    """Whether the start of one of the three longest words (or Han runs) is in the text: normalising a long document
    costs a second, and most quotations that are not in it verbatim are not in it at all.
    """
    runs = sorted(re.findall(r"[^\W_]+", wanted), key=len)[-3:]
    return any(run[:RUN_START] in _folded(text) for run in runs)


@lru_cache(maxsize=LOOSE_DOCUMENTS_KEPT)
def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


@lru_cache(maxsize=LOOSE_DOCUMENTS_KEPT)
def _normalized(text: str) -> Normalized:
    return normalize_mapped(text)


def _on_borders(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` begins and ends no word in its middle (words of scripts that part them by spaces)."""
    return not (start and _joined(text[start - 1], text[start])) and not (
        end < len(text) and _joined(text[end - 1], text[end])
    )


def _joined(left: str, right: str) -> bool:
    return left.isalnum() and right.isalnum() and left < "\u2e80" and right < "\u2e80"
