"""How far a reformulated question is from the original, in words: CouldAsk's count and a normalised one. Pure."""

from __future__ import annotations

import re
from typing import Final

from rapidfuzz.distance import Levenshtein

from udfs.text import HAN, normalize

_HAN_APART: Final = re.compile(f"([{HAN}])")


def couldask_edit_distance(original: str, reformulated: str) -> int:
    """Levenshtein distance in words: not normalised, case and punctuation count (CouldAsk's measure).

    Words are what stands between single spaces, as in its code: two spaces have an empty word between them.

    Args:
        original: the question as the dataset has it.
        reformulated: the new question before its cut at the first “?” (`udfs.dialogues.extraction.couldask_uncut`).
    """
    return Levenshtein.distance(original.split(" "), reformulated.split(" "))


def word_edit_distance(original: str, reformulated: str) -> int:
    """Levenshtein distance in words without case and punctuation; a Han character is a word in any language."""
    return Levenshtein.distance(edit_units(original), edit_units(reformulated))


def edit_similarity(original: str, reformulated: str) -> float:
    """1 for questions of the same words, 0 for ones without a word in common: 1 − distance / words of the longer one.

    Two texts without any word are 1.0 alike.
    """
    return Levenshtein.normalized_similarity(edit_units(original), edit_units(reformulated))


def edit_units(text: str) -> list[str]:
    """The words that `word_edit_distance` compares: normalised (`udfs.text.normalize`), Han characters one by one."""
    return _HAN_APART.sub(r" \1 ", normalize(text)).split()
