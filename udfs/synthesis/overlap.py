"""How much of what one sentence says another says too: content units and their overlap. Pure functions."""

from __future__ import annotations

import re
from typing import Final

from udfs.schema import Language
from udfs.text import HAN, normalize

NEAR_COPY: Final = 0.8
"""Overlap above which two sentences say the same."""

_STOP_WORDS: Final = (
    "a an the this that these those and or but nor so if then than as of at by for from in into on onto to up with "
    "without within upon about over under between through during before after above below again further is are was "
    "were be been being am do does did doing done have has had having will would shall should can could may might must "
    "not no yes i me my mine we our ours you your yours he him his she her hers it its they them their theirs who "
    "whom whose which what when where why how there here all any both each few more most other some such only own same "
    "too very just also said s t"
)
STOP_WORDS: Final = frozenset(_STOP_WORDS.split())

_HYPHENATED: Final = re.compile(r"(?<=[^\W\d_])(?:[-\u2010\u2011]|\u00ad)[^\S\n]*\r?\n\s*(?=[a-zß-öø-ÿ])|\u00ad\s*")
_POSSESSIVE: Final = re.compile(r"(?<=\w)['’‘][sS]\b|(?<=s)['’‘](?!\w)")
_UNITS: Final = re.compile(f"[{HAN}]+|[^{HAN}\\s]+")
_HAN_RUN: Final = re.compile(f"[{HAN}]")


def joined_lines(text: str) -> str:
    """`text` with words that a hyphen breaks over lines (and soft hyphens) put together again."""
    return _HYPHENATED.sub("", text)


def tokens(text: str, language: str) -> list[str]:
    """What `text` is made of for search and comparison, in order, repeats kept.

    English: normalised words, possessives and hyphens dropped. Chinese: bigrams of neighbouring Han characters
    (punctuation and mark-up between them do not count) and runs of Latin letters and digits; a single Han character
    between such runs is a unit itself.
    """
    if language == Language.ZH:
        return [unit for run in _UNITS.findall(normalize(text)) for unit in _bigrams(run)]
    return normalize(_POSSESSIVE.sub("", joined_lines(text))).split()


def _bigrams(run: str) -> list[str]:
    if len(run) == 1 or not _HAN_RUN.match(run):
        return [run]
    return [run[i : i + 2] for i in range(len(run) - 1)]


def content(text: str, language: str) -> frozenset[str]:
    """The units of `tokens`, without English stop words: what a sentence says, in no order."""
    units = frozenset(tokens(text, language))
    return units if language == Language.ZH else units - STOP_WORDS


def overlap(left: frozenset[str], right: frozenset[str]) -> float:
    """Overlap coefficient |A ∩ B| / min(|A|, |B|), from 0 to 1; 0.0 if either is empty."""
    if not left or not right:
        return 0.0
    return len(left & right) / min(len(left), len(right))
