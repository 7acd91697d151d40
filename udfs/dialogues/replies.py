"""How replies are cut up: the final line that a prompt asked for, sentences, quoted parts. Pure, total functions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from udfs.text import HAN

_MARKUP: Final = r"[*_`#>\s]{0,12}"
_ANSWER_LABEL: Final = (
    r"(?:(?:my |the |so,? )?(?:final |short )?(?:answer|conclusion|reply)(?: is)?"
    r"|(?:最终|最后的?|正确|我的)?(?:答案|回答|结论|答复)(?:是|为)?)"
)
_ANSWER_LINE: Final = re.compile(rf"^{_MARKUP}{_ANSWER_LABEL}{_MARKUP}[:：]{_MARKUP}", re.IGNORECASE | re.MULTILINE)

_SENTENCE_END: Final = re.compile(r"(?<=[。！？!?；;\n])|(?<=[.][\"'”’)\]\s])(?=\S)")
_LIST_MARK: Final = re.compile(r"^(?:[-*•>#\s]|\d+[.)、]\s)+")
_ABBREVIATION: Final = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St|Prof|No|vs|e\.g|i\.e|Art|Sec|[A-Z])\.\s*$")
_QUOTED: Final = re.compile(r"“[^“”]*”|「[^「」]*」|『[^『』]*』|《[^《》]*》|\"[^\"\n]*\"")


def plain_quotes(text: str) -> str:
    """`text` with curly apostrophes as straight ones."""
    return text.replace("’", "'").replace("‘", "'").replace("ʼ", "'")


def final_answer(text: str) -> str:
    """What the reply concludes: all after its last `Answer:` / `答案：` label, or the whole reply without one.

    A label with nothing behind it (the reply was cut there) decides nothing: then the whole reply stands.
    """
    labels = list(_ANSWER_LINE.finditer(text))
    tail = text[labels[-1].end() :].strip() if labels else ""
    return tail or text.strip()


def before_final_answer(text: str) -> str:
    """What stands before the last answer label: the reasoning of a CoT reply; empty where there is no label."""
    labels = list(_ANSWER_LINE.finditer(text))
    return text[: labels[-1].start()].strip() if labels and text[labels[-1].end() :].strip() else ""


def sentences(text: str) -> list[str]:
    """The sentences of a reply (both languages), stripped, without empty ones and bare list marks."""
    found: list[str] = []
    for piece in _SENTENCE_END.split(text):
        if found and _ABBREVIATION.search(found[-1]):
            found[-1] += piece
        else:
            found.append(piece)
    stripped = (_LIST_MARK.sub("", piece).rstrip("*_` \t\r\n") for piece in found)
    return [piece for piece in stripped if re.search(r"\w", piece)]


def without_quotations(text: str) -> str:
    """`text` without what it quotes: another's words are not the reply's. A reply that is one quotation stands."""
    bare = _QUOTED.sub("", text)
    return bare if re.search(r"\w", bare) else text


def quoted_parts(text: str) -> Iterator[str]:
    """The quoted parts of `text`, without their marks."""
    for match in _QUOTED.finditer(text):
        yield match.group()[1:-1]


def is_chinese(text: str, language: str) -> bool:
    """Whether `text` is mostly Chinese; `language` decides where it holds no letters."""
    han = len(re.findall(f"[{HAN}]", text))
    latin = len(re.findall(r"[A-Za-z]+", text))
    return language == "zh" if han == latin else han > latin
