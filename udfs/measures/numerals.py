"""Chinese numerals as digits, so that 三十 and 30 are one token of an answer. Pure."""

from __future__ import annotations

from typing import Final

_DIGITS: Final = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_UNITS: Final = {"十": 10, "百": 100, "千": 1000}
_LARGE: Final = {"万": 10**4, "亿": 10**8}
CHARACTERS: Final = "".join([*_DIGITS, *_UNITS, *_LARGE])


def to_digits(numeral: str) -> str:
    """A run of `CHARACTERS` as digits: 三千五百 → 3500, 二〇一九 → 2019, 十五 → 15.

    A run that is no numeral (千万, 百 on its own is 100) is given back as it came.
    """
    if all(c in _DIGITS for c in numeral):
        return "".join(str(_DIGITS[c]) for c in numeral)
    total = section = 0
    digit: int | None = None
    for c in numeral:
        if c in _DIGITS:
            if digit:
                return numeral  # two digits beside each other and units elsewhere: no plain numeral
            digit = _DIGITS[c]
        elif c in _UNITS:
            section += (1 if digit is None else digit) * _UNITS[c]
            digit = None
        else:
            if not (section or digit or total):
                return numeral  # 万一, 亿万
            total = (
                (total + section + (digit or 0)) * _LARGE[c] if c == "亿" else total + (section + (digit or 0)) * 10**4
            )
            section, digit = 0, None
    return str(total + section + (digit or 0))
