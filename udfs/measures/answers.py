"""How near a reply's words are to a gold answer, in English and Chinese. Pure.

As SQuAD's evaluation does it (lower case, no punctuation, no articles, tokens), with these differences, each so that a
number or a name is compared whole: numbers are one token (`5` is not in `15` or `3.5`; `1,200` is `1200`; `15th` is
`15`), Chinese is compared by character, Chinese numerals count as digits, accents and possessives are dropped.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from udfs.measures.numerals import CHARACTERS, to_digits
from udfs.text import HAN, normalize

_ARTICLES: Final = frozenset({"a", "an", "the"})
_TOKEN: Final = re.compile(
    rf"(?P<number>-?\d+(?:\.\d+)*)(?:(?:st|nd|rd|th)(?![a-z]))?"
    rf"|(?P<numeral>[{CHARACTERS}]+)"
    rf"|(?P<han>[{HAN}])"
    rf"|(?P<word>[^\W\d_{HAN}][^\W_{HAN}]*)"
)
_POSSESSIVE: Final = re.compile(r"(?<=\w)['’]s\b", re.IGNORECASE)


def tokens(text: str) -> list[str]:
    """The tokens that answers are compared by, after `udfs.text.normalize`."""
    text = normalize(_POSSESSIVE.sub("", text)).replace("\u2212", "-")
    text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    text = text.replace("%", " percent ").replace("per cent", "percent")
    found: list[str] = []
    for match in _TOKEN.finditer(text):
        token = match["number"] or match["han"] or match["word"]
        found.append(token or to_digits(match["numeral"]))
    return [token for token in found if token not in _ARTICLES]


def exact_match(answer: str, gold: str) -> bool:
    """Whether both are the same tokens in the same order (two answers without any token are compared as text)."""
    left, right = tokens(answer), tokens(gold)
    return left == right if left or right else answer.strip() == gold.strip()


def token_f1(answer: str, gold: str) -> float:
    """Harmonic mean of token precision and recall, 0 to 1 (Chinese: by character)."""
    left, right = tokens(answer), tokens(gold)
    if not left or not right:
        return float(exact_match(answer, gold))
    common = sum((Counter(left) & Counter(right)).values())
    return 2 * common / (len(left) + len(right))


def contains_answer(answer: str, gold: str) -> bool:
    """Whether the gold's tokens stand in the answer one after another. A gold without any token is in nothing."""
    return _contains(tokens(answer), tokens(gold))


def _contains(haystack: Sequence[str], needle: Sequence[str]) -> bool:
    width = len(needle)
    return width > 0 and any(list(haystack[i : i + width]) == list(needle) for i in range(len(haystack) - width + 1))


def best_f1(answer: str, golds: Iterable[str]) -> float:
    """The highest `token_f1` over the golds, 0 where there is none."""
    return max((token_f1(answer, gold) for gold in golds), default=0.0)


def contains_any(answer: str, golds: Iterable[str]) -> bool:
    """Whether the answer contains any of the golds."""
    return any(contains_answer(answer, gold) for gold in golds)
