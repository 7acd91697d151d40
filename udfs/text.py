"""What every part of the project takes for a word, a language and "the same text": pure functions over strings.

Two languages are known. English words are parted by white space; Chinese has no spaces, so a Han character counts as
one word. Nothing here depends on a locale, a download or a model.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from udfs.records import Span
from udfs.schema import Language

if TYPE_CHECKING:
    from nltk.tokenize.treebank import TreebankWordTokenizer

HAN: Final = r"\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HAN: Final = re.compile(f"[{HAN}]+")
_LATIN: Final = re.compile(r"[A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff]+")
_KANA_HANGUL: Final = re.compile(r"[\u3040-\u30ff\uac00-\ud7af]+")
_OTHER_WORD: Final = re.compile(f"[^\\W{HAN}]+(?:['’.-][^\\W{HAN}]+)*")

LETTERS_PER_WORD: Final = 5.0
HAN_PER_WORD: Final = 1.5
"""How many letters or Han characters make a word, on average: what puts the two scripts on one scale."""


def detect_language(text: str) -> Language | None:
    """The language by script share: Han characters against Latin letters, each as a number of words.

    None where the two scripts together are less than half of the letters, or where kana or hangul show that Han
    characters are not Chinese. Any language in Latin letters is taken for English: give `language=` where it is not.
    """
    han, latin = _characters(_HAN, text), _characters(_LATIN, text)
    if han + latin == 0 or 2 * (han + latin) < sum(map(str.isalpha, text)):
        return None
    if han / HAN_PER_WORD <= latin / LETTERS_PER_WORD:
        return Language.EN
    return None if _characters(_KANA_HANGUL, text) > han / 10 else Language.ZH


def _characters(runs: re.Pattern[str], text: str) -> int:
    return sum(map(len, runs.findall(text)))


def parse_language(value: str) -> Language | None:
    """`en` or `zh` out of a tag or name such as `EN`, `en-GB`, `zh_CN`, `Chinese`; None for anything else."""
    head = re.split(r"[-_]", value.strip().casefold())[0]
    names = {"en": Language.EN, "eng": Language.EN, "english": Language.EN}
    names |= {"zh": Language.ZH, "zho": Language.ZH, "cn": Language.ZH, "chinese": Language.ZH}
    return names.get(head)


def count_words(text: str, language: str) -> int:
    """Words of `text`: white-space words in English; Han characters and runs of other word characters in Chinese."""
    if language == Language.ZH:
        return _characters(_HAN, text) + len(_OTHER_WORD.findall(text))
    return len(text.split())


@lru_cache(maxsize=1)
def _treebank() -> TreebankWordTokenizer:
    from nltk.tokenize.treebank import TreebankWordTokenizer  # a slow import that few callers need

    return TreebankWordTokenizer()


def count_treebank_tokens(text: str, language: str = Language.EN) -> int:
    """Penn-Treebank tokens, the unit of question length in CouldAsk's Table 2; in Chinese as `count_words`."""
    if language == Language.ZH:
        return count_words(text, language)
    return len(_treebank().tokenize(text))


@dataclass(frozen=True)
class Normalized:
    """A normalised text and, for each of its characters, the half-open piece of the original that it came from."""

    text: str
    starts: array[int]
    ends: array[int]

    def original(self, start: int, end: int) -> Span:
        """The original's span behind `text[start:end]` (not empty)."""
        return Span(self.starts[start], self.ends[end - 1])


def normalize(text: str) -> str:
    """`text` as answers are compared, in both languages: see `normalize_mapped`."""
    return normalize_mapped(text).text


_LOOSE: Final = frozenset("*_#`^|~")  # mark-up rather than meaning
_MEANT: Final = frozenset("%‰&@§")  # punctuation by category, but part of what is said
_APOSTROPHES: Final = frozenset("'’‘ʼ")


def normalize_mapped(text: str) -> Normalized:
    """`text` normalised, with the map back.

    NFKC and case folding; runs of white space and punctuation become one space, none at the ends and none beside a
    Han character. What carries meaning stays: the point of 3.5, the minus of -5, %, currency and other symbols.
    Apostrophes, points inside abbreviations (U.S.) and commas between thousands vanish without a space. Articles stay.
    """
    chars, starts, ends = _folded(text)
    out: list[str] = []
    at, to = array("q"), array("q")
    gap = False
    for i, char in enumerate(chars):
        kept = _kept(chars, i)
        if kept == "":
            continue
        if kept == " ":
            gap = True
            continue
        if gap and out and not (_is_han(out[-1]) or _is_han(kept)):
            out.append(" ")
            at.append(to[-1])
            to.append(starts[i])
        gap = False
        out.append(char)
        at.append(starts[i])
        to.append(ends[i])
    return Normalized("".join(out), at, to)


def _folded(text: str) -> tuple[list[str], array[int], array[int]]:
    """NFKC and case folding of each character together with its combining marks."""
    chars: list[str] = []
    starts, ends = array("q"), array("q")
    i, n = 0, len(text)
    while i < n:
        j = i + 1
        while j < n and text[j] > "\u02ff" and unicodedata.combining(text[j]):
            j += 1
        piece = text[i:j]
        folded = piece.lower() if piece.isascii() else _fold(piece)
        for char in folded:
            chars.append(char)
            starts.append(i)
            ends.append(j)
        i = j
    return chars, starts, ends


@lru_cache(maxsize=16_384)
def _fold(piece: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", piece).casefold())


def _is_han(char: str) -> bool:
    return char >= "\u3007" and _HAN.match(char) is not None


def _kept(chars: list[str], i: int) -> str:
    """What becomes of a folded character: itself, a space (a gap), or nothing at all."""
    char = chars[i]
    if char.isalnum():
        return char
    if char.isspace():
        return " "
    before = chars[i - 1] if i else " "
    after = chars[i + 1] if i + 1 < len(chars) else " "
    if char in _APOSTROPHES:
        return "" if before.isalnum() and after.isalnum() else " "
    if char == ".":
        return _point(chars, i, before, after)
    if char == ",":
        return "" if before.isdigit() and _thousands(chars, i + 1) else " "
    if char in "-−":
        return char if after.isdigit() and not before.isalnum() else " "
    if char in _MEANT:
        return char
    if char in _LOOSE:
        return " "
    category = unicodedata.category(char)
    if category == "Cf":  # zero-width marks, byte order mark, soft hyphen
        return ""
    return " " if category[0] in "PZC" else char


def _point(chars: list[str], i: int, before: str, after: str) -> str:
    if before.isdigit() and after.isdigit():
        return "."
    single = before.isalpha() and (i < 2 or not chars[i - 2].isalnum())
    abbreviation = single and not _is_han(before) and (after.isalpha() or (i >= 2 and chars[i - 2] == "."))
    return "" if abbreviation and after.isalpha() else " "


def _thousands(chars: list[str], i: int) -> bool:
    three = chars[i : i + 3]
    return len(three) == 3 and all(map(str.isdigit, three)) and not (i + 3 < len(chars) and chars[i + 3].isdigit())
