"""Whether a document speaks of something though it writes it otherwise, and where it answers a question. Pure.

An unanswerable question is wrong when the document does mention what it says to be missing. So names, conditions and
answers are looked for in the forms that a document may give them: inflected, without a title, broken by a hyphen, with
numbers as words, or scattered over one sentence. To find too much costs a candidate; to find too little, its truth.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from udfs.measures.answers import tokens
from udfs.measures.number_words import spelled
from udfs.measures.numerals import CHARACTERS, to_digits
from udfs.measures.stems import word_set
from udfs.records import Span
from udfs.schema import Language
from udfs.synthesis.index import DocumentIndex, said_stems
from udfs.synthesis.overlap import content
from udfs.text import HAN, normalize

MIN_ANSWERING: Final = 0.8
"""Share of what a question says from which a sentence with the answer in it answers the question."""
MIN_SQUASHED: Final = 8
"""Letters from which a phrase is looked for without regard to where its words part."""

_TITLES: Final = word_set(
    "mr mrs ms miss dr sir lord lady dame madam prof professor rev reverend judge justice captain colonel major "
    "lieutenant sergeant president king queen prince princess senator governor mayor saint the"
)
_AFTER: Final = word_set("jr sr esq city inc ltd llc plc corp co company")
_TITLES_ZH: Final = re.compile(
    r"(?:先生|女士|小姐|夫人|太太|教授|博士|法官|律师|将军|总统|主席|股份有限公司|有限公司|公司|集团|[市省县区镇乡村州国])$"
)
_AT_ZH: Final = re.compile("^(?:自从|截至|[在于从自到至当])")
_SMALL_ZH: Final = re.compile("[的了着过地得之已所将把被也又均曾]")
_ASKING_ZH: Final = re.compile(
    "[的了着过地得之已所将把被也又均曾是在有和与或谁哪什么几多少何怎样如为个些里中吗呢于由以]"
)
_ARABIC: Final = re.compile(r"\d+")
_NUMERALS: Final = re.compile(f"[{CHARACTERS}]+")
_DIGITS_ZH: Final = ("零一二三四五六七八九", "〇一二三四五六七八九")


def mentions(index: DocumentIndex, phrase: str) -> bool:
    """Whether the document has `phrase` in any form, or a sentence with all that it says."""
    known = {phrase, *forms(phrase, index.language)}
    return any(map(index.occurs, known)) or _squashed(index, phrase) or _scattered(index, phrase)


def says(index: DocumentIndex, units: frozenset[str]) -> bool:
    """Whether a sentence of the document has all these units of content (English: up to inflection)."""
    if index.language == Language.ZH:
        return any(units <= index.contents[number] for number in index.near(units, 0.99))
    return bool(units) and bool(index.with_stems(said_stems(units)))


def forms(phrase: str, language: str) -> list[str]:
    """`phrase`, and how else a document may write it; each says something."""
    found = [phrase, *(_bare_zh(phrase) if language == Language.ZH else _bare(phrase))]
    for form in tuple(found):
        found += _renumbered_zh(form) if language == Language.ZH else _renumbered(form)
    return [form for form in dict.fromkeys(found) if content(form, language)]


def answering(index: DocumentIndex, cuts: Iterable[Span], question: str, answer: str) -> list[Span]:
    """The document's sentences outside `cuts` that hold the answer and nearly all that the question says."""
    asked = _asked(question, index.language)
    if len(asked) < 2:
        return []
    gone = {number for cut in cuts for number in index.numbers(cut)}
    holding = {
        number
        for form in forms(answer, index.language)
        for span in index.copies(form)
        for number in index.numbers(span)
    }
    found = []
    for number in sorted(holding - gone):
        start, end = index.sentences[number]
        if len(asked & _asked(index.text[start:end], index.language)) >= MIN_ANSWERING * len(asked):
            found.append(Span(start, end))
    return found


def _asked(text: str, language: str) -> frozenset[str]:
    """What a question or sentence says: stems, in Chinese characters, since a question orders its words otherwise."""
    if language != Language.ZH:
        return said_stems(content(text, language))
    return frozenset(token for token in tokens(_ASKING_ZH.sub("", normalize(text))))


def _bare(phrase: str) -> Iterator[str]:
    words = normalize(phrase).split()
    while len(words) > 1 and words[0] in _TITLES:
        words = words[1:]
    while len(words) > 1 and words[-1] in _AFTER:
        words = words[:-1]
    yield " ".join(words)


def _bare_zh(phrase: str) -> Iterator[str]:
    plain = _AT_ZH.sub("", normalize(phrase))
    for bare in (plain, _TITLES_ZH.sub("", plain)):
        if len(bare) > 1:
            yield bare


def _renumbered(phrase: str) -> Iterator[str]:
    folded = tokens(phrase)
    if any(token.isdecimal() for token in folded):
        yield " ".join(folded)
        yield " ".join(spelled(int(token)) if token.isdecimal() and len(token) < 3 else token for token in folded)


def _renumbered_zh(phrase: str) -> Iterator[str]:
    plain = normalize(phrase)
    yield _NUMERALS.sub(lambda match: to_digits(match[0]), plain)
    for digits in _DIGITS_ZH:
        yield plain.translate({ord(str(value)): digit for value, digit in enumerate(digits)})
    yield _ARABIC.sub(lambda match: _spelled_zh(match[0]), plain)


def _spelled_zh(number: str) -> str:
    """30 → 三十, 205 → 二百零五, up to 9,999; longer ones as they are."""
    if not 0 < int(number) < 10_000:
        return number
    digits, spelled, gap = str(int(number)), "", False
    for place, digit in zip(range(len(digits) - 1, -1, -1), digits, strict=True):
        if digit == "0":
            gap = True
            continue
        spelled += (
            ("零" if gap and spelled else "") + "零一二三四五六七八九"[int(digit)] + ("", "十", "百", "千")[place]
        )
        gap = False
    return spelled.removeprefix("一") if spelled.startswith("一十") else spelled


def _squashed(index: DocumentIndex, phrase: str) -> bool:
    """Whether the phrase stands in the document but for where its words part ("re-examined", "reexamined"), or, in
    Chinese, but for small words ("缴纳了押金").
    """
    if index.language == Language.ZH:
        bare = _SMALL_ZH.sub("", normalize(phrase))
        return len(re.findall(f"[{HAN}]", bare)) > 2 and bare in _SMALL_ZH.sub("", index.normalized_text)
    squashed = normalize(phrase).replace(" ", "")
    return len(squashed) >= MIN_SQUASHED and squashed in index.squashed_text


def _scattered(index: DocumentIndex, phrase: str) -> bool:
    """Whether one sentence has all that an English phrase says, titles aside."""
    if index.language == Language.ZH:
        return False
    return any(says(index, content(form, index.language)) for form in forms(phrase, index.language))
