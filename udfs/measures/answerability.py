"""Whether a document seems to answer a question, by rules, in English and Chinese. Pure.

Lexical and no more: it looks for one or two sentences that hold what the question says (by stems; in Chinese by
characters and their neighbours) and something of the sort that it asks for, and that do not turn it round
(`udfs.measures.contradiction`). A question about what is said, with words that are not, is found unanswerable; one that
puts words of the document together in a way that the document does not is mostly found answerable. So it measures how
far a question is grounded in the document, and a judge is to be preferred where there is one. The settings were chosen
on the shipped sample: what it reaches elsewhere must be measured there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Final

from udfs.measures.answer_types import ITEM_NUMBER, holds_answer
from udfs.measures.answers import tokens
from udfs.measures.asked_for import Asked, asked_for
from udfs.measures.contradiction import contradicts
from udfs.measures.needs import FUNCTION_CHARACTERS, PART_OF_DOCUMENT, Need, NeedKind, needs
from udfs.measures.stems import stem
from udfs.records import Span
from udfs.schema import Language
from udfs.synthesis.sentences import sentences, trimmed

THRESHOLD: Final = 0.65
"""Score from which a question counts as answerable."""
DOCUMENTS_KEPT: Final = 2

_SINGLE: Final = 0.3
"""What a Han character counts where it stands in a passage, but beside none of its neighbours in the question."""
_ELSEWHERE: Final = {
    NeedKind.NAME: 0.6,
    NeedKind.YEAR: 0.5,
    NeedKind.NUMBER: 0.2,
    NeedKind.PHRASE: 0.2,
    NeedKind.WORD: 0.2,
    NeedKind.CHARACTER: 0.4,
    NeedKind.LIGHT: 1.0,
}
"""What a need counts that the document holds elsewhere: passages speak of `she`, and of `that year`."""
_NEARBY: Final = 10
"""Sentences on each side of a passage that may hold what it only speaks of as `she` or `that year`."""
_FAR: Final = 0.5
"""Factor for a need that none of them holds: of a long document, some sentence or other holds most words."""
_ABSENT: Final = {NeedKind.PHRASE: 0.1, NeedKind.WORD: 0.06, NeedKind.CHARACTER: 0.1}
"""What is taken off for a need that the document holds nowhere."""
_OUTSIDE: Final = {NeedKind.NUMBER: 0.2, NeedKind.YEAR: 0.1}
"""What is taken off for a number that the passage does not hold."""
_SEMICOLON: Final = re.compile(r"；|;(?=\s)")
_SECOND_SENTENCE: Final = 0.02
_THAT_YEAR: Final = re.compile(r"\b(?:same|that|this) year\b|[那同当是]一?年", re.IGNORECASE)
_YEAR_ALLUDED_TO: Final = "that year"
"""The form of such words, which no token is."""
_ALLUDED: Final = 0.5
"""What a year counts in a passage that says `that year`."""
_NO_ANSWER_TYPE: Final = 0.3
"""Factor for a passage without anything of the sort that is asked for."""
_TURNED: Final = 0.5
"""Factor for a passage that turns round what the question takes for granted."""
_UNKNOWN: Final = 0.5
"""Factor for a question with a name or a number that the document holds nowhere."""


@dataclass(frozen=True)
class Answerability:
    """What the rules say.

    Args:
        answerable: whether the score reaches `THRESHOLD`.
        score: 0 to 1.
        span: the one or two sentences that support the question best; None where nothing does.
    """

    answerable: bool
    score: float
    span: Span | None


def rules_answerable(question: str, document: str, language: str) -> Answerability:
    """Whether `document` seems to answer `question`.

    Args:
        document: the text as it was shown: of a view, what the view shows.
        language: of both, en or zh.

    Raises:
        ValueError: the language is not one of `udfs.schema.Language`.
    """
    language = Language(language)
    asked = asked_for(question, language)
    wanted = needs(asked, language)
    index = _index(document, language)
    total = sum(need.weight for need in wanted)
    if not total or not index.spans:
        return Answerability(False, 0.0, None)
    best, span = _best_window(question, asked, wanted, index, language)
    score = max(0.0, min(1.0, (best - _absences(wanted, index, language)) * _known(wanted, index)))
    return Answerability(score >= THRESHOLD, score, span if score > 0 else None)


@dataclass(frozen=True)
class _Index:
    """A document's sentences, what each holds, and what all of them hold."""

    text: str
    spans: tuple[Span, ...]
    held: tuple[frozenset[str], ...]
    all: frozenset[str]


@lru_cache(maxsize=DOCUMENTS_KEPT)
def _index(document: str, language: Language) -> _Index:
    spans = tuple(part for span in sentences(document, language) for part in _parts(document, span))
    shared: dict[str, str] = {}  # one string object per form: a novel has few, and says them often
    held = tuple(
        frozenset(shared.setdefault(form, form) for form in _forms(document[start:end], language))
        for start, end in spans
    )
    return _Index(document, spans, held, frozenset().union(*held))


def _parts(document: str, sentence: Span) -> Iterator[Span]:
    """A sentence parted at its semicolons."""
    borders = [sentence.start, *(m.end() for m in _SEMICOLON.finditer(document, *sentence)), sentence.end]
    for start, end in pairwise(borders):
        part = trimmed(document, start, end)
        if part.start < part.end:
            yield part


def _forms(text: str, language: Language) -> Iterator[str]:
    if _THAT_YEAR.search(text):
        yield _YEAR_ALLUDED_TO
    yield from (PART_OF_DOCUMENT + number for mark in ITEM_NUMBER.findall(text) for number in tokens(mark))
    found = tokens(ITEM_NUMBER.sub(" ", text))
    if language is Language.EN:
        yield from map(stem, found)
        return
    yield from found
    yield from (left + right for left, right in pairwise(found))


def _credit(need: Need, held: frozenset[str]) -> float:
    if any(form in held for form in need.forms):
        return 1.0
    if need.kind is NeedKind.YEAR:
        return _ALLUDED if _YEAR_ALLUDED_TO in held else 0.0
    return _SINGLE if need.base in held else 0.0


def _best_window(
    question: str, asked: Asked, wanted: Sequence[Need], index: _Index, language: Language
) -> tuple[float, Span | None]:
    """The highest support of one or two sentences, and where they are; the earliest and shortest among equals."""
    credits = [[_credit(need, held) for held in index.held] for need in wanted]
    around = [_around(need, column) for need, column in zip(wanted, credits, strict=True)]
    count = len(index.held)
    windows = [(i, i) for i in range(count)] + [(i, i + 1) for i in range(count - 1)]
    scored = sorted(((_support(wanted, around, credits, window), window) for window in windows), key=lambda x: -x[0])
    best, found = 0.0, None
    for score, (first, last) in scored:
        if score <= best:
            break
        span = Span(index.spans[first].start, index.spans[last].end)
        passage = index.text[span.start : span.end]
        score *= 1.0 if holds_answer(asked, question, passage, language) else _NO_ANSWER_TYPE
        if score > best and contradicts(question, passage, language):
            score *= _TURNED
        if score > best:
            best, found = score, span
    return best, found


def _around(need: Need, credits: Sequence[float]) -> list[float]:
    """What a need counts by the sentences around each sentence: less where none of the nearby ones holds it."""
    whole = _ELSEWHERE[need.kind]
    far = _FAR * max(credits)
    return [whole * max(far, near) for near in _highest_nearby(credits)]


def _highest_nearby(values: Sequence[float]) -> list[float]:
    """The highest of the values up to `_NEARBY` before and behind each, by windows of doubling width."""
    highest = [0.0] * _NEARBY + list(values) + [0.0] * _NEARBY
    width, size = 1, 2 * _NEARBY + 1
    while 2 * width <= size:
        highest = list(map(max, highest, highest[width:]))
        width *= 2
    return list(map(max, highest, highest[size - width :]))


def _support(
    wanted: Sequence[Need],
    around: Sequence[Sequence[float]],
    credits: Sequence[Sequence[float]],
    window: tuple[int, int],
) -> float:
    first, last = window
    total = got = lost = 0.0
    for need, within, beside in zip(wanted, credits, around, strict=True):
        inside = max(within[first], within[last])
        total += need.weight
        got += need.weight * max(inside, beside[first], beside[last])
        if not inside:
            lost += _OUTSIDE.get(need.kind, 0.0)
    return got / total - lost - _SECOND_SENTENCE * (last > first)


def _absences(wanted: Sequence[Need], index: _Index, language: Language) -> float:
    """What is taken off for stretches of needs that the document holds nowhere; in Chinese of two or more."""
    least = 2 if language is Language.ZH else 1
    lost = 0.0
    for (_, kind, absent), stretch in groupby(wanted, lambda need: (need.run, need.kind, _is_absent(need, index))):
        if absent and len(list(stretch)) >= least:
            lost += _ABSENT.get(kind, 0.0)
    return lost


def _is_absent(need: Need, index: _Index) -> bool:
    return need.base not in FUNCTION_CHARACTERS and _credit(need, index.all) < 1


def _known(wanted: Sequence[Need], index: _Index) -> float:
    required = (NeedKind.NAME, NeedKind.NUMBER, NeedKind.YEAR)
    unknown = any(need.kind in required and _credit(need, index.all) < 1 for need in wanted)
    return _UNKNOWN if unknown else 1.0
