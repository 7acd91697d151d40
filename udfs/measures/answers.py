"""How near a reply's words are to a gold answer, in English and Chinese. Pure.

As SQuAD's evaluation does it (lower case, no punctuation, no articles, tokens), with these differences, each so that a
number or a name is compared whole: numbers are one token (`5` is not in `15` or `3.5`; `1,200` is `1200`; `15th` is
`15`), Chinese is compared by character, Chinese numerals and English number words count as digits, accents and
possessives are dropped.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Final

from udfs.measures.number_words import fold_number_words
from udfs.measures.numerals import CHARACTERS, to_digits
from udfs.text import HAN, normalize

_ARTICLES: Final = frozenset({"a", "an", "the"})
_TOKEN: Final = re.compile(
    rf"(?P<number>-?\d+(?:\.\d+)*)(?:(?:st|nd|rd|th)(?![a-z]))?"
    rf"|(?P<numeral>[{CHARACTERS}]+)"
    rf"|(?P<han>[{HAN}])"
    rf"|(?P<word>[^\W\d_{HAN}][^\W_{HAN}]*)"
)
_PERCENT_ZH: Final = re.compile(rf"百分之([{CHARACTERS}]+|\d+)(?:[点.]([{CHARACTERS}]+|\d+))?")
_NUMBER_BEFORE: Final = frozenset(
    [
        "is",
        "was",
        "are",
        "were",
        "only",
        "just",
        "exactly",
        "has",
        "had",
        "have",
        "by",
        "for",
        "after",
        "within",
        "at",
        "to",
        "pays",
    ]
)
_POSSESSIVE: Final = re.compile(r"(?<=\w)['’]s\b", re.IGNORECASE)


def tokens(text: str) -> list[str]:
    """The tokens that answers are compared by, after `udfs.text.normalize`."""
    text = _PERCENT_ZH.sub(_percent, text)
    text = normalize(_POSSESSIVE.sub("", text)).replace("\u2212", "-")
    text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    text = text.replace("%", " percent ").replace("per cent", "percent")
    found: list[str] = []
    for match in _TOKEN.finditer(text):
        token = match["number"] or match["han"] or match["word"]
        found.append(token or to_digits(match["numeral"]))
    return fold_number_words([token for token in found if token not in _ARTICLES])


def _percent(match: re.Match[str]) -> str:
    """百分之三十 → 30%."""
    whole, decimals = (to_digits(part) if part and not part.isascii() else part for part in match.groups())
    return f" {whole}{'.' + decimals if decimals else ''}% "


def exact_match(answer: str, gold: str) -> bool:
    """Whether both are the same tokens in the same order (two answers without any token are compared as text)."""
    left, right = _single(tokens(answer)), _single(tokens(gold))
    return left == right if left or right else answer.strip() == gold.strip()


def token_f1(answer: str, gold: str) -> float:
    """Harmonic mean of token precision and recall, 0 to 1 (Chinese: by character)."""
    left, right = _single(tokens(answer)), _single(tokens(gold))
    if not left or not right:
        return float(exact_match(answer, gold))
    common = sum((Counter(left) & Counter(right)).values())
    return 2 * common / (len(left) + len(right))


def contains_answer(answer: str, gold: str) -> bool:
    """Whether the gold's tokens stand in the answer one after another. A gold without any token is in nothing."""
    return bool(find_answer(tokens(answer), tokens(gold)))


def find_answer(answer: Sequence[str], gold: Sequence[str]) -> list[int]:
    """Where the gold's tokens start in the answer's.

    `one` and `1` are the same beside the gold's other words ("one crown"); alone, `one` counts where it is a number
    by what stands before it, or the whole answer ("is one", not "no one").
    """
    width = len(gold)
    if width == 0:
        return []
    if list(gold) in (["1"], ["one"]):
        return [i for i in range(len(answer)) if answer[i] == "1" or (answer[i] == "one" and _is_number(answer, i))]
    folded, wanted = (["1" if token == "one" else token for token in part] for part in (answer, gold))
    return [i for i in range(len(folded) - width + 1) if folded[i : i + width] == wanted]


def _is_number(answer: Sequence[str], i: int) -> bool:
    """Whether the `one` at `i` counts something."""
    return len(answer) == 1 or (i > 0 and answer[i - 1] in _NUMBER_BEFORE)


def _single(found: list[str]) -> list[str]:
    return ["1"] if found == ["one"] else found
