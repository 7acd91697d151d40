"""What a passage must hold to answer a question: its names, numbers and content words one by one. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import count, pairwise
from typing import Final

from udfs.measures.answers import tokens
from udfs.measures.asked_for import Asked
from udfs.measures.stems import stem, word_set
from udfs.schema import Language
from udfs.synthesis.overlap import STOP_WORDS


class NeedKind(StrEnum):
    NAME = "name"  # a capitalised word inside a question, a title in 《》
    YEAR = "year"
    NUMBER = "number"  # any other number, ordinals too
    PHRASE = "phrase"  # a word after an article, a preposition or a possessive: of a noun phrase, mostly
    WORD = "word"
    CHARACTER = "character"  # one of a Chinese word that is none of these
    LIGHT = "light"  # says little: `time`, `name`, and the noun of the answer itself (“which bank”)


@dataclass(frozen=True)
class Need:
    """One word of a question (in Chinese: one character or number).

    Args:
        forms: any one of these in a passage meets it: the stem; in Chinese the character with a neighbour.
        base: a Chinese character by itself, which meets it in part; else "".
        run: needs of one run of Chinese text share it, so that neighbours can be told; no two English ones do.
    """

    kind: NeedKind
    forms: tuple[str, ...]
    base: str
    run: int

    @property
    def weight(self) -> float:
        """How much it counts beside the others."""
        return _FUNCTION_WEIGHT if self.base in FUNCTION_CHARACTERS else _WEIGHTS[self.kind]


_WEIGHTS: Final = {
    NeedKind.NAME: 1.5,
    NeedKind.YEAR: 1.5,
    NeedKind.NUMBER: 1.5,
    NeedKind.PHRASE: 1.2,
    NeedKind.WORD: 0.8,
    NeedKind.CHARACTER: 1.0,
    NeedKind.LIGHT: 0.3,
}
_FUNCTION_WEIGHT: Final = 0.2

_ORDINALS: Final = word_set("second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth")
_LIGHT: Final = word_set(
    "one time times way ways thing things order part parts kind kinds type types sort name names named called "
    "number numbers list listed case cases fact according per much many besides instead like mentioned described "
    "stated"
)
_TELLERS: Final = word_set("author authors writer narrator speaker passage article text document paragraph")
"""Who speaks of himself as `I`, and the document itself: neither stands in it."""
_OPENS_PHRASE: Final = word_set(
    "a an the this that these those his her its their our my your of in on at by for from to with about into "
    "under over between after before during through within without above below per against and or than as"
)
PART_OF_DOCUMENT: Final = "§"
"""Stands before the number of an item or note, which is a number of the document only where a part of it is named."""
_PART: Final = re.compile(
    r"\b(?:articles?|clauses?|sections?|paragraphs?|chapters?|parts?|items?|notes?|rules?|points?|no\.?)\s*"
    r"[\[(]?(\d+(?:\.\d+)*)",
    re.IGNORECASE,
)
_DETERMINERS: Final = word_set("a an the this that these those his her its their our my your any")
_PARTICIPLE: Final = re.compile(r"[a-z]{2,}(?<!e)ed")
_IN_ORDER_TO: Final = re.compile(r"\bin order to\b", re.IGNORECASE)
_PIECE: Final = re.compile(r"\|+|\d+(?:[.,]\d+)*(?:st|nd|rd|th)?|[^\W\d_]+(?:['’-][^\W\d_]+)*|[^\w\s]")
_CAPITALS_TELL_NOTHING: Final = 0.6
"""Share of capitalised words above which a question is a headline, where capitals mark no names."""

FUNCTION_CHARACTERS: Final = frozenset("从时中上后前外内里给听要有对比多称用于以与和及向到过去来得说讲即下没为由")
"""Characters that join and place; they count little, and not at all where the document lacks them."""
_FILLERS: Final = (
    "作者|笔者|文中|本文|以后|之后|以前|之前|的时候|时候|按照|根据|依据|因为|由于|为了|关于|对于|至少|至多|不得|应当|应该|可以|能够|必须|需要|"
    "一共|总共|共有|自己|那位|这位|那个|这个|那些|这些|那天|没有|进行|通过|其中|后来|最初|曾经|已经|分别|以及|或者|并且|如果|假如|每天|以外|除了|除|"
    "以内|以上|以下|之间|之外|之物|之中|当时|同时|所以|允许"
)
_RANKS: Final = frozenset("级等号类期届楼层")
"""What a number ranks: 一级 is not 二级, and says more than 一."""
_TITLE: Final = re.compile(r"《([^《》]*)》")
_RUN: Final = re.compile(rf"[^\w]+|{_FILLERS}|[的了是在被把着也都就还它他她们我你这那之而且则]|(?<=\w)[由为有]$")


def needs(asked: Asked, language: str) -> tuple[Need, ...]:
    """What an answer's passage must hold, in the order of the question; the words of asking are no part of it."""
    return tuple(_chinese(asked) if language == Language.ZH else _english(asked))


def _english(asked: Asked) -> Iterator[Need]:
    numbers = count()
    seen: set[str] = set()
    parts = {number for match in _PART.finditer(asked.rest) for number in tokens(match.group(1))}
    slot = bool(re.match(r"(?:what|which)\b", asked.words, re.IGNORECASE))
    for word, kind in _words(asked.rest, slot):
        for token in tokens(word):
            if token in STOP_WORDS or token in seen:
                continue
            seen.add(token)
            forms = (token, PART_OF_DOCUMENT + token) if token in parts else (stem(token),)
            yield Need(_number_kind(token) or kind, forms, "", next(numbers))


def _words(rest: str, slot: bool) -> Iterator[tuple[str, NeedKind]]:
    """The words of an English question with what each is, stop words left out."""
    pieces = _PIECE.findall(_IN_ORDER_TO.sub("to", rest))
    named = _names_are_capitalised(pieces)
    phrase, before = False, ""
    for piece, following in pairwise([*pieces, ""]):
        lower = piece.casefold()
        if not piece[0].isalnum():
            phrase = False
        elif lower in STOP_WORDS or lower in _OPENS_PHRASE:
            phrase = lower in _OPENS_PHRASE
        elif lower not in _TELLERS:
            last = not following[:1].isalnum() or following.casefold() in STOP_WORDS
            verb = following.casefold() in _DETERMINERS or (last and _PARTICIPLE.fullmatch(piece) is not None)
            kind = _word_kind(piece, phrase and not verb, named and before != "", slot and before[:1] == "|")
            yield piece, kind
        before = piece


def _names_are_capitalised(pieces: list[str]) -> bool:
    content = [piece for piece in pieces if piece[0].isalpha() and piece.casefold() not in STOP_WORDS]
    capitals = sum(piece[0].isupper() for piece in content)
    return len(content) < 4 or capitals < len(content) * _CAPITALS_TELL_NOTHING


def _word_kind(word: str, phrase: bool, may_be_name: bool, slot: bool) -> NeedKind:
    if word[0].isupper() and may_be_name:
        return NeedKind.NAME
    if slot or word.casefold() in _LIGHT:
        return NeedKind.LIGHT
    return NeedKind.PHRASE if phrase else NeedKind.WORD


def _number_kind(token: str) -> NeedKind | None:
    if re.fullmatch(r"1\d{3}|20\d\d", token):
        return NeedKind.YEAR
    return NeedKind.NUMBER if token[-1:].isdecimal() or token in _ORDINALS else None


def _chinese(asked: Asked) -> Iterator[Need]:
    numbers = count()
    rest = asked.rest
    for title in _TITLE.findall(rest):
        yield from _characters(title, NeedKind.NAME, next(numbers))
    for run in _RUN.split(_TITLE.sub(" ", rest)):
        yield from _characters(run, NeedKind.CHARACTER, next(numbers))


def _characters(text: str, kind: NeedKind, run: int) -> Iterator[Need]:
    found = tokens(text)
    for i, token in enumerate(found):
        left = [found[i - 1] + token] if i else []
        right = [token + found[i + 1]] if i + 1 < len(found) else []
        ranks = i + 1 < len(found) and found[i + 1] in _RANKS
        number = _number_kind(token) if token != "1" or ranks else None  # 一 is an article, mostly
        if number and ranks:
            yield Need(number, (token + found[i + 1],), "", run)
        elif number or len(token) > 1:
            yield Need(number or kind, (token,), "", run)
        else:
            yield Need(kind, tuple(left + right) or (token,), token, run)
