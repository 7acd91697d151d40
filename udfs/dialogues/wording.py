"""How the patterns of replies are put together: lists of words as alternatives, alternatives as one pattern."""

from __future__ import annotations

import re
from collections.abc import Iterable


def one_of(*lists: str) -> str:
    """`"say, refer to"` → `(?:say|refer to)`: the words of comma-separated lists, regular expressions allowed."""
    return "(?:" + "|".join(word for words in lists for word in re.split(r",\s*", words.strip())) + ")"


def in_order(*parts: str) -> str:
    """The parts of one pattern, one after another."""
    return "".join(parts)


def words_of(text: str) -> frozenset[str]:
    """The white-space words of a text."""
    return frozenset(text.split())


def joined(patterns: Iterable[str], flags: int = 0) -> re.Pattern[str]:
    """One pattern that finds what any of `patterns` finds."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), flags)
