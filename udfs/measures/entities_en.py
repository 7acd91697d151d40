"""Names, numbers, titles and noun phrases of an English question, for `udfs.measures.entities`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from udfs.measures.stems import stem, word_set
from udfs.synthesis.overlap import STOP_WORDS

_VERBS: Final = frozenset(
    map(
        stem,
        word_set(
            "accept achieve acquire add admit agree allow appear apply appoint arrive ask attend award bear "
            "become begin believe belong borrow break bring build burn buy call carry catch cause celebrate "
            "choose climb collect come compare concern consider consist contain continue contribute correct "
            "create decide declare define deny depend describe design determine develop die differ discover "
            "discuss draw drink drive earn eat elect enable end enter establish exist expect explain express face "
            "fail fall feed feel fight find finish follow forbid form found gain get give go graduate grow happen "
            "have hear help hold identify imply impose improve include increase introduce invent invite involve "
            "join keep kill know last lay lead learn leave let lie like live locate lose make manage marry mean "
            "meet mention move need occur offer open operate originate own participate pass pay perform permit "
            "play possess prefer prevent produce propose prove provide put raise reach read receive recognize "
            "refer refuse regard reject relate remain remove renew replace represent require resolve return rise "
            "run say see seek seem sell send serve set settle show sit speak spend stand start state stay stop "
            "suggest support survive take teach tell think travel treat try turn understand use wear win work "
            "write yield fly prepare associate translate"
        ),
    )
)
_LIGHT: Final = word_set(
    "also according many much several various certain able often usually typically originally actually "
    "currently first ever still even yet else mainly mostly generally commonly near like besides instead "
    "around along per via among across toward towards against despite except since until though although "
    "because while whether well away back left time times way ways thing things kind kinds type types "
    "sort name names named called known made given used using based part number numbers list listed long "
    "old high tall far deep new ago later now today specific exactly during within without order"
)
_DETERMINERS: Final = word_set("a an the this these those his her its their our my your any")
_DO_SUPPORT: Final = re.compile(
    r"(?:^|\|)[^|,]{0,60}?\b(?:do|does|did|may|might|must|shall|should|will|would|can|could)\b", re.IGNORECASE
)
"""An auxiliary near the word of asking: the verb then stands bare behind the subject."""
_PARTICIPLE: Final = re.compile(r"[a-z]{2,}(?<!e)ed")
_ADVERB: Final = re.compile(r"[a-z]{3,}ly")
_NO_ADVERBS: Final = word_set(
    "assembly family supply reply italy monopoly anomaly july butterfly jelly belly bully rally"
)
_QUOTED: Final = re.compile(r"“([^“”]+)”|\"([^\"]+)\"")
_MONTHS: Final = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul|"
    r"Aug|Sept?|Oct|Nov|Dec)\b\.?"
)
_DATE: Final = re.compile(
    rf"\b(?:\d{{1,2}}(?:st|nd|rd|th)? )?{_MONTHS}(?: \d{{1,2}}(?:st|nd|rd|th)?,?)?(?: \d{{4}})?(?=\W|$)"
)
_PIECE: Final = re.compile(r"\|+|\d+(?:[.,:/]\d+)*(?:st|nd|rd|th|s|%)?|[^\W\d_](?:[\w'’.-]*\w)?|[^\w\s]")
_POSSESSIVE: Final = re.compile(r"['’]s?$")


class _Piece(NamedTuple):
    start: int
    text: str

    @property
    def lower(self) -> str:
        return self.text.casefold()

    @property
    def capital(self) -> bool:
        return self.text[0].isupper()

    @property
    def border(self) -> bool:
        """Whether it parts phrases: punctuation, a stop word, a word of asking."""
        return not self.text[0].isalnum() or (self.lower in STOP_WORDS and not self.text.isupper())


def entities(rest: str) -> Iterator[tuple[int, str]]:
    """(Where it starts, entity) in a question without its words of asking (`udfs.measures.asked_for.Asked.rest`)."""
    for pattern in (_QUOTED, _DATE):
        for match in pattern.finditer(rest):
            yield match.start(), next(filter(None, [*match.groups(), match.group()])).strip()
        rest = pattern.sub(lambda match: "|" * len(match.group()), rest)
    pieces = _with_names([_Piece(match.start(), match.group()) for match in _PIECE.finditer(rest)])
    bare_verb = _DO_SUPPORT.search(rest) is not None
    at = 0
    for border, run in groupby(pieces, lambda piece: piece.border):
        found = list(run)
        if not border:
            before = pieces[at - 1].lower if at else ""
            after = pieces[at + len(found)].lower if at + len(found) < len(pieces) else ""
            yield from _phrases(found, before in _DETERMINERS, after in _DETERMINERS, bare_verb)
        at += len(found)


def _with_names(pieces: Sequence[_Piece]) -> list[_Piece]:
    """The pieces with names of several words in one: `Bank of Ireland`, `Church of the Holy Ghost`, `New York`."""
    found: list[_Piece] = []
    at = 0
    while at < len(pieces):
        text, end = pieces[at].text, at + 1
        named = pieces[at].capital and not pieces[at].border
        while named and (length := _continues(pieces, end)):
            text = " ".join([text, *(piece.text for piece in pieces[end : end + length])])
            end += length
        found.append(_Piece(pieces[at].start, text))
        at = end
    return found


def _continues(pieces: Sequence[_Piece], at: int) -> int:
    """How many pieces from `at` on go on with a name: a capitalised one, maybe behind `of` or `of the`."""
    for link in ((), ("of",), ("of", "the")):
        end = at + len(link)
        if end < len(pieces) and tuple(piece.lower for piece in pieces[at:end]) == link:
            before = pieces[at - 1].text
            if pieces[end].capital and not pieces[end].border and not before.endswith(("'s", "’s")):
                return len(link) + 1
    return 0


def _phrases(run: Sequence[_Piece], noun_first: bool, noun_follows: bool, bare_verb: bool) -> Iterator[tuple[int, str]]:
    """The phrases of a run of words without a stop word.

    Args:
        noun_first: whether an article or the like stands before, so that the first word is no verb.
        noun_follows: whether one stands behind, so that the last word may be a verb.
        bare_verb: whether the question has its verb bare behind the subject.
    """
    kept: list[_Piece | None] = []
    for i, piece in enumerate(run):
        last = i + 1 == len(run)
        after_name = i > 0 and run[i - 1].capital and bare_verb
        verb = _is_verb(piece, last) and not (noun_first and i == 0)
        left_out = verb or (last and (noun_follows or after_name) and not (noun_first and i == 0))
        kept.append(None if piece.lower in _LIGHT or (left_out and not piece.capital) else piece)
    for key, group in groupby(kept, lambda piece: None if piece is None else piece.capital):
        words = [piece for piece in group if piece is not None]
        text = _POSSESSIVE.sub("", " ".join(piece.text for piece in words))
        if key is not None and (len(text) > 1 or text.isdecimal()):
            yield words[0].start, text


def _is_verb(piece: _Piece, last: bool) -> bool:
    word = piece.lower
    if piece.capital or not word.isalpha():
        return False
    if _ADVERB.fullmatch(word) and word not in _NO_ADVERBS:
        return True
    if _PARTICIPLE.fullmatch(word):
        return last  # “the framed plan”, but “the plan framed”
    return stem(word) in _VERBS
