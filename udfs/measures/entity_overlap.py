"""How many of a question's entities its reformulation keeps: CouldAsk's measure and a soft one. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from rapidfuzz import fuzz

from udfs.measures.answers import tokens
from udfs.measures.stems import stem
from udfs.schema import Language
from udfs.synthesis.overlap import STOP_WORDS

RELEVANT: Final = 0.5
"""Share of entities from which a reformulation is relevant."""
SAME_RATIO: Final = 80.0
"""Similarity (0 to 100) from which two entities are spellings of one: `Kettering`, `Ketering`."""
SHARED_CHARACTERS: Final = 0.5
"""Share of a Chinese entity's characters from which it is kept: the tagger often takes a verb for a part of it."""


def couldask_overlap(original: Sequence[str], reformulated: Sequence[str]) -> float | None:
    """CouldAsk's entity overlap: of the new question's entities those that are in the original's list, lower-cased and
    compared whole, over the number of the original's. None where the original has none: the share is undefined.

    Lists are taken as they are, as the paper's code takes them: an entity that the new list repeats counts each time,
    one that the original list repeats enlarges the divisor. So the value may exceed 1.
    """
    if not original:
        return None
    known = {entity.lower() for entity in original}
    return sum(entity.lower() in known for entity in reformulated) / len(original)


def soft_overlap(original: Sequence[str], reformulated: Sequence[str], question: str, language: str) -> float | None:
    """Share of the original's entities that the reformulation keeps, 0 to 1; None where the original has none.

    An entity is kept if all its words are in the new question (by stems; in Chinese half of its characters, beside one
    of their neighbours), if one of the new entities is a part of it (`the bank` of `the Mercantile Bank`: the question
    became more general) or is nearly spelt like it.

    Args:
        original: entities of the original question; ones without a letter or digit are left out.
        reformulated: entities of the new one.
        question: the new question itself, since taggers cut differently.
        language: of both, en or zh.

    Raises:
        ValueError: the language is not one of `udfs.schema.Language`.
    """
    language = Language(language)
    wanted = [units for units in (_units(entity, language) for entity in original) if units]
    if not wanted:
        return None
    new = [units for units in (_units(entity, language) for entity in reformulated) if units]
    held = _units(question, language)
    return sum(_kept(units, new, held, language) for units in wanted) / len(wanted)


def _units(text: str, language: Language) -> tuple[str, ...]:
    """Stems without stop words; in Chinese characters and whole numbers."""
    found = tokens(text)
    if language is Language.ZH:
        return tuple(found)
    return tuple(stem(token) for token in found if token not in STOP_WORDS) or tuple(found)


def _kept(units: Sequence[str], new: Sequence[Sequence[str]], held: Sequence[str], language: Language) -> bool:
    if language is Language.ZH:
        if _share_held(units, held) >= SHARED_CHARACTERS:
            return True
    elif frozenset(held).issuperset(units):
        return True
    return any(_is_part(other, units, language) or _same(units, other) for other in new)


def _share_held(units: Sequence[str], held: Sequence[str]) -> float:
    """Share of `units` that stand in `held` beside a neighbour of theirs; of a lone unit: whether it stands there."""
    if len(units) == 1:
        return float(units[0] in held)
    there = frozenset(pairwise(held))
    found = {i + side for i, pair in enumerate(pairwise(units)) if pair in there for side in (0, 1)}
    return len(found) / len(units)


def _is_part(part: Sequence[str], whole: Sequence[str], language: Language) -> bool:
    """Whether `part` stands in `whole` in one piece; in Chinese from two characters on."""
    width = len(part)
    if width == 0 or (language is Language.ZH and width < 2):
        return False
    return any(tuple(whole[i : i + width]) == tuple(part) for i in range(len(whole) - width + 1))


def _same(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether two entities are spelt nearly alike. Ones with numbers in them must have the same numbers."""
    if _numbers(left) != _numbers(right):
        return False
    return fuzz.ratio(" ".join(left), " ".join(right)) >= SAME_RATIO


def _numbers(units: Sequence[str]) -> list[str]:
    return [unit for unit in units if unit[-1:].isdecimal()]
