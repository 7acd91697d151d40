"""Sentences of a document with their offsets, in English and Chinese.

Borders come from sentencex. It takes everything between a pair of quotation marks or brackets, and everything after the
last item of a list up to a blank line, for one sentence; and real documents have pairs that never close (a quotation
over several paragraphs, a bracket lost at a page's end) and lines that begin with a number by chance: these swallow
chapters. So it gets the text with these marks and line breaks masked, character for character. The marks are given back
to the sentence that they belong to; paragraphs and list items are parted here. A border then depends only on what
stands near it, so cutting a sentence out of a document leaves the others as they were.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from itertools import pairwise
from typing import Final

from sentencex import get_sentence_boundaries

from udfs.records import Span
from udfs.schema import Language

LONGEST: Final = {Language.EN: 800, Language.ZH: 300}
"""Characters beyond which a run of text without end marks (a table, a statute) is parted at weaker borders."""

_OPENING: Final = "“‘«‹„‚‛‟〝「『《〈【〔([{（［｛〖"
_CLOSING: Final = "”’»›〞〟」』》〉】〕)]}）］｝〗"
_STRAIGHT: Final = "\"'`＂＇"
_MARKS: Final = frozenset(_OPENING + _CLOSING + _STRAIGHT)
_STRAIGHT_OR_LINE: Final = re.compile(rf"[{_STRAIGHT}\n]")
_STRAIGHT_CLOSING: Final = re.compile(rf"[{_STRAIGHT}](?=\s|$|[{re.escape(_OPENING + _CLOSING + _STRAIGHT)}])")
_MASK: Final = str.maketrans(dict.fromkeys([*_MARKS, *"•\n\r\t\f"], " "))
_OF_A_WORD: Final = re.compile(r"(?<=[^\W_])(?:['’‘`](?=[^\W_])|[)\]](?=\.))")
"""Marks masked by a letter: apostrophes, and the bracket of “154(d).”, which must not look like the initial “d.”."""
_FOOTNOTE: Final = re.compile(r"\s?(?:/\d+/|\[\d+\])(?!\S)")

_ITEM: Final = r"(?:[(（]\w{1,4}[)）]|\d{1,3}[.)、]|[-*+•]\s)"
_BLANK_LINE: Final = re.compile(r"\n[^\S\n]*\n")
_PARTS: Final = re.compile(
    r"\n[^\S\n]*\n\s*"
    r"|(?:[.;:!?—。；：！？…]|\band|\bor)[^\w\s]{0,8}[^\S\n]*\n\s*(?=" + _ITEM + ")"
    r"|\n\s*(?=[-*+•]\s)"
)
"""What parts sentences whatever stands before: a blank line, or a list item's beginning after a mark or a bullet."""

_LOWER: Final = re.compile(r"(?![(（]\w{1,4}[)）])[^\w\s]{0,8}[a-zß-öø-ÿ]")
_CITED: Final = re.compile(r"[(\[]?(?:\d|§|¶|Nos?\.|at\s|[ivxlc]+\b|[A-Z]\.\s*\d)")
_PAGES: Final = re.compile(r"\d+(?:\s*[,;(/–]|\.?\s*\n[^\S\n]*\n)")
_LAST_WORD: Final = re.compile(r"([A-Za-z]+)\.[^\w\s]*\s*$")
_TITLES: Final = "cf juris v vs mr mrs ms dr prof hon messrs gen gov sen st viz inst lehrb"
_SHORTENED: Final = (
    "ann app art ch cir cl co cong const corp cro ct def dept dist doc ed ex exh fed fig hist inc jud ltd n nn no nos "
    "op p para pp pt pub reg rep rev sec secs sess stat subd supp tbl tit tr univ vol"
)
_BEFORE_ANYTHING: Final = frozenset(_TITLES.split())
_BEFORE_NUMBERS: Final = frozenset(_SHORTENED.split())
_NUMBER: Final = re.compile(r"[\s§¶#*(\[（]*(?:\d+|[A-Za-z]|[ivxIVX]+)?[a-z]?[.)\]）、．]*[\s*]*")
_SHORT: Final = 80
"""Characters below which a piece may be a number and the white space around it."""
_UNSEEN: Final = re.compile(r"(?:\bme\.[\"”’']*|[a-z][.!?][\"”’')]*\d{1,3})\s+(?=[\"“‘']*[A-Z])")
"""Ends that sentencex misses: “me.” is Maine to it, and a footnote's number may stand behind the end mark."""

_WEAK_BORDERS: Final = (
    re.compile(rf"[;；:：—]\s*\n\s*|\n(?=[^\S\n]{{2,}}|[^\S\n]*{_ITEM})"),
    re.compile(r"；|;\s"),
    re.compile(r"\n"),
    re.compile(r"，|,\s"),
)


def sentences(text: str, language: str) -> list[Span]:
    """Spans of the sentences of `text`, in order, not overlapping, in characters.

    Each is trimmed of white space around it, none is blank, and what lies between two of them is white space only.
    Nothing is normalised. A line break inside a paragraph ends no sentence, unless a list item follows; a blank line
    does. A run without end marks that is longer than `LONGEST` is parted at list items, semicolons, lines or commas.

    Raises:
        ValueError: the language is not one of `udfs.schema.Language`.
    """
    tongue = Language(language)
    borders = [0, *_borders(text, tongue), len(text)]
    parts = (part for start, end in pairwise(borders) for part in _parted(text, start, end, LONGEST[tongue]))
    return [span for span in (trimmed(text, start, end) for start, end in parts) if span.start < span.end]


def trimmed(text: str, start: int, end: int) -> Span:
    """The span without white space at its ends."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end)


def _borders(text: str, language: Language) -> Iterator[int]:
    """Where one sentence ends and the next begins, in order, the ends of the text left out."""
    masked = _OF_A_WORD.sub("x", text).translate(_MASK)
    closing = _closing(text, language)
    found = [_after_closing_marks(text, x["end_index"], closing) for x in get_sentence_boundaries(language, masked)]
    if language is Language.EN:
        found += [match.end() for match in _UNSEEN.finditer(text)]
    parts = [(match.end(), True) for match in _PARTS.finditer(text)]
    last = 0
    for border, parted in sorted([*((border, False) for border in found), *parts]):
        if last < border < len(text) and (parted or not _joins(text, last, border, language)):
            yield border
            last = border


def _after_closing_marks(text: str, border: int, closing: Container[int]) -> int:
    """The border with the marks around it put right: closing ones end a sentence, opening ones begin the next."""
    at = border
    while at and (text[at - 1].isspace() or text[at - 1] in _MARKS):
        at -= 1
    while at < len(text):
        mark = at
        while mark < len(text) and text[mark] in " \t\xa0\u202f":  # nested marks are often set apart: ’ ”
            mark += 1
        if mark == len(text) or (text[mark] not in _CLOSING and (mark > at or mark not in closing)):
            break
        at = mark + 1
    footnote = _FOOTNOTE.match(text, at)
    return footnote.end() if footnote else at


def _closing(text: str, language: Language) -> Container[int]:
    """Where straight marks close: before a space or another mark; in Chinese, which has no spaces to tell by, the
    second, fourth, … of its kind in a line.
    """
    if language is not Language.ZH:
        return {match.start() for match in _STRAIGHT_CLOSING.finditer(text)}
    found: set[int] = set()
    opened: set[str] = set()
    for match in _STRAIGHT_OR_LINE.finditer(text):
        if match[0] == "\n":
            opened.clear()
        elif match[0] in opened:
            opened.remove(match[0])
            found.add(match.start())
        else:
            opened.add(match[0])
    return found


def _joins(text: str, start: int, border: int, language: Language) -> bool:
    """Whether what sentencex parted at `border` is one sentence after all."""
    after = border
    while after < len(text) and text[after].isspace():
        after += 1
    if after == len(text) or _BLANK_LINE.search(text, border - 1, after):
        return False
    piece = text[start:border].strip() if border - start < _SHORT else ""
    if piece and _NUMBER.fullmatch(piece):  # the number of what follows: “§ 5.”, “2.”, “(a)”
        return True
    if language is Language.ZH:
        return False
    if _LOWER.match(text, after) or _PAGES.match(text, after) or text[border : border + 1] in ("—", "–"):
        return True
    word = _LAST_WORD.search(text[max(start, border - 24) : border])
    name = word[1].casefold() if word else ""
    return name in _BEFORE_ANYTHING or (name in _BEFORE_NUMBERS and _CITED.match(text, after) is not None)


def _parted(text: str, start: int, end: int, longest: int, level: int = 0) -> Iterator[tuple[int, int]]:
    """`text[start:end]` in pieces of at most `longest` characters, as far as it has borders to part it at."""
    if end - start <= longest or level == len(_WEAK_BORDERS):
        yield start, end
        return
    found = [match.end() for match in _WEAK_BORDERS[level].finditer(text, start, end) if match.end() < end]
    for low, high in _packed([start, *found, end], longest):
        yield from _parted(text, low, high, longest, level + 1)


def _packed(borders: list[int], longest: int) -> Iterator[tuple[int, int]]:
    """Pieces between borders, neighbours joined while together they have at most `longest` characters."""
    start = borders[0]
    for border, following in pairwise([*borders[1:], borders[-1] + longest + 1]):
        if following - start > longest:
            yield start, border
            start = border
