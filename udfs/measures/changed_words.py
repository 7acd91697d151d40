"""What a reformulation changed, word by word, for marking it in a page. Pure."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final, NamedTuple

from rapidfuzz.distance import Indel

from udfs.schema import Language
from udfs.text import HAN

_PIECE: Final = {
    Language.EN: re.compile(r"\w+(?:['’.,-]\w+)*\s*|[^\w\s]\s*|\s+"),
    Language.ZH: re.compile(rf"[{HAN}]|[^\W{HAN}]+\s*|[^\w\s]\s*|\s+"),
}


class Change(StrEnum):
    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"


class Piece(NamedTuple):
    """A piece of one of two questions, white space behind its words included."""

    kind: Change
    text: str


def changed_words(original: str, reformulated: str, language: str) -> list[Piece]:
    """The two questions as one row of pieces: what both have (as the new one writes it), what went, what came.

    Words are compared without case and white space, Chinese by character; neighbouring pieces are of different kinds.
    The texts of all pieces that are not `removed` are together the new question, character for character.

    Raises:
        ValueError: the language is not one of `udfs.schema.Language`.
    """
    pattern = _PIECE[Language(language)]
    old, new = pattern.findall(original), pattern.findall(reformulated)
    found: list[Piece] = []
    for step in Indel.opcodes([_key(piece) for piece in old], [_key(piece) for piece in new]):
        if step.tag == "delete":
            found.append(Piece(Change.REMOVED, "".join(old[step.src_start : step.src_end])))
        else:
            kind = Change.SAME if step.tag == "equal" else Change.ADDED
            found.append(Piece(kind, "".join(new[step.dest_start : step.dest_end])))
    return found


def _key(piece: str) -> str:
    return piece.strip().casefold()
