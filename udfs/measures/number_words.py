"""English number words as digits, so that `thirty crowns` and `30 crowns` are the same tokens. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_UNITS: Final = {
    word: value
    for value, word in enumerate(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])
}
_TEENS: Final = {
    word: value
    for value, word in enumerate(
        ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"],
        start=10,
    )
}
_TENS: Final = {
    word: 10 * value
    for value, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], start=2
    )
}
_SCALES: Final = {"hundred": 100, "thousand": 1000}
_WORDS: Final = frozenset({*_UNITS, *_TEENS, *_TENS, *_SCALES})


def fold_number_words(tokens: Sequence[str]) -> list[str]:
    """`tokens` with runs of number words as one number: twenty one → 21, two hundred and five → 205, 5 thousand → 5000.

    `one` on its own stays a word, for it is mostly a pronoun ("no one", "one may"); see `udfs.measures.answers`.
    """
    found: list[str] = []
    at = 0
    while at < len(tokens):
        if tokens[at] in _WORDS or (_is_digits(tokens[at]) and at + 1 < len(tokens) and tokens[at + 1] in _SCALES):
            value, end = _number(tokens, at)
            found.append("one" if end == at + 1 and tokens[at] == "one" else str(value))
            at = end
        else:
            found.append(tokens[at])
            at += 1
    return found


def spelled(number: int) -> str:
    """A number from 0 to 99 in words: 21 → twenty one."""
    words = {value: word for part in (_UNITS, _TEENS, _TENS) for word, value in part.items()}
    if number in words:
        return words[number]
    return f"{words[number // 10 * 10]} {words[number % 10]}"


def _number(tokens: Sequence[str], at: int) -> tuple[int, int]:
    """The longest number that starts at `at`, and where it ends. Below a scale only what is below 100 adds up."""
    total, limit = 0, 10**6
    while at < len(tokens):
        value, end = _below_100(tokens, at)
        if end == at and tokens[at] not in _SCALES:
            break
        scale = 1
        while end < len(tokens) and tokens[end] in _SCALES and _SCALES[tokens[end]] > scale:
            scale = _SCALES[tokens[end]] * (scale if scale == 100 else 1)
            end += 1
        amount = (value if value is not None else 1) * scale
        if scale >= limit or (scale == 1 and total and total % 100):
            break
        total, at, limit = total + amount, end, scale
        if scale == 1:
            break
        if at + 1 < len(tokens) and tokens[at] == "and" and tokens[at + 1] in _WORDS - _SCALES.keys():
            at += 1  # two hundred and five
        elif at >= len(tokens) or tokens[at] not in _WORDS - _SCALES.keys():
            break
    return total, at


def _below_100(tokens: Sequence[str], at: int) -> tuple[int | None, int]:
    word = tokens[at]
    if _is_digits(word):
        return int(word), at + 1
    if word in _TENS:
        unit = _UNITS.get(tokens[at + 1], 0) if at + 1 < len(tokens) else 0
        return _TENS[word] + unit, at + (2 if unit else 1)
    for words in (_UNITS, _TEENS):
        if word in words:
            return words[word], at + 1
    return None, at


def _is_digits(token: str) -> bool:
    return token.isascii() and token.isdecimal() and len(token) <= 9
