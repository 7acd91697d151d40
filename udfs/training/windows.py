"""Which window of a document an example is learnt from. Pure.

At prediction a document is as answerable as its best window. So an answerable question is learnt from the window that
holds its evidence, and an unanswerable one from the window that looks most like holding it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from udfs.records import Span
from udfs.text import HAN

_PIECE: Final = re.compile(rf"[{HAN}]|[^\W{HAN}]+")


def training_window(shown: Sequence[Span], text: str, question: str, evidence: Sequence[Span]) -> int:
    """The index of the window to learn from.

    Args:
        shown: what each window shows of `text`, in characters; at least one.
        evidence: of an answerable question, in characters of `text`; without any, the nearest window is taken.
    """
    if len(shown) == 1:
        return 0
    if evidence:
        return max(
            range(len(shown)), key=lambda index: (_held(shown[index], evidence), _margin(shown[index], evidence))
        )
    wanted = pieces(question)
    return max(range(len(shown)), key=lambda index: (len(wanted & pieces(text[slice(*shown[index])])), -index))


def pieces(text: str) -> frozenset[str]:
    """Its distinct words, case folded; Han characters singly."""
    return frozenset(_PIECE.findall(text.casefold()))


def _held(window: Span, evidence: Sequence[Span]) -> int:
    """Characters of the evidence in the window."""
    return sum(max(0, min(window.end, span.end) - max(window.start, span.start)) for span in evidence)


def _margin(window: Span, evidence: Sequence[Span]) -> int:
    """How far the evidence is from the window's nearer border: more of it says more of what is around."""
    first, last = min(span.start for span in evidence), max(span.end for span in evidence)
    return min(first - window.start, window.end - last)
