"""How replies are cut up: the final line that a prompt asked for, sentences, quoted parts. Pure, total functions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from udfs.text import HAN

_MARKUP: Final = r"[*_`#>\s]{0,12}"
_ANSWER_LABEL: Final = (
    r"(?:(?:(?:so|thus|therefore|hence),? )?(?:my |the )?(?:final |short |correct )?(?:answer|conclusion|reply)(?: is)?"
    r"|(?:最终|最后的?|正确|我的)?(?:答案|回答|结论|答复)(?:是|为)?)"
)
_NO_ANSWER: Final = (
    r"(?! (?:not|never|nowhere|missing|absent|unclear|in|given|found|provided|stated|available|yet|that it)\b|n't)"
)
"""What follows "the answer is" where the words are no label: "the final answer is not in the document"."""
_START: Final = r"(?:^|(?<=[.!?,;][ \n]))"
_SO: Final = r"(?:so|thus|therefore|hence),? "
_ANSWER_LINE: Final = re.compile(
    rf"^{_MARKUP}{_ANSWER_LABEL}{_MARKUP}[:：]{_MARKUP}"  # Answer: …
    r"|^(?:#{1,6} *|\*\*)(?:final )?(?:answer|答案)(?:\*\*)? *\n"  # a heading
    r"|(?:(?<=[.!?][ \n])|(?<=[.!?][\"')\]*] )|(?<=[。！？；] )|(?<=[。！？；]))"  # in a line, after a sentence
    r"(?:(?:final |short )?answer|(?:最终|最后的?)?答案)(?:是|为)?[*_` ]{0,4}[:：][*_` ]{0,4}"
    # the final answer is …; so the answer is …
    rf"|{_START}(?:(?:{_SO})?(?:the|my) (?:final|correct|short) answer|{_SO}the answer)(?: to the question)?"
    rf" is\b{_NO_ANSWER}[ :*_`]{{1,4}}"
    r"|(?:^|(?<=[。！？；，]))(?:因此|所以|综上|故)?[，,]?(?:最终|最后的?|正确的?)答案(?:是|为)[:： *_`]{0,4}",
    re.IGNORECASE | re.MULTILINE,
)
_EXCHANGE: Final = re.compile(
    rf"^{_MARKUP}(?:"
    r"(?:question|q|document|passage|context|user|human)(?: ?\d{1,3})?[*_` ]{0,4}[:：]"
    r"|example ?\d{1,3}\b|now the (?:document|question)\b"
    r"|(?:问题|问|文档|文章|用户)(?:[一二三四五六七八九十]{1,2}|\d{1,3})?[*_` ]{0,4}[:：]"
    r"|(?:示例|例子?)[一二三四五六七八九十\d]{1,3}|现在请(?:看|改写)"
    r")",
    re.IGNORECASE | re.MULTILINE,
)
"""A line that opens another exchange: what our prompts put before a question, and models go on to invent."""
_EXAMPLE: Final = re.compile(
    rf"^{_MARKUP}(?:example ?\d{{1,3}}|示例[一二三四五六七八九十\d]{{1,3}})[*_` :：]{{0,4}}\n{_MARKUP}"
    r"(?:document|question|文档|问题)[*_` ]{0,4}[:：]",
    re.IGNORECASE | re.MULTILINE,
)

_SENTENCE_END: Final = re.compile(r"(?<=[。！？!?；;\n])|(?<=[.][\"'”’)\]\s])(?=\S)")
_LIST_MARK: Final = re.compile(r"^(?:[-*•>#\s]|\d+[.)、]\s)+")
_ABBREVIATION: Final = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St|Prof|No|vs|e\.g|i\.e|Art|Sec|[A-Z])\.\s*$")
_QUOTED: Final = re.compile(r"“[^“”]*”|「[^「」]*」|『[^『』]*』|《[^《》]*》|\"[^\"\n]*\"")


def plain_quotes(text: str) -> str:
    """`text` with curly apostrophes as straight ones."""
    return text.replace("’", "'").replace("‘", "'").replace("ʼ", "'")


def own_exchange(text: str, label: re.Pattern[str]) -> str:
    """The reply up to where it runs on into an exchange that it invents (another example, question or document).

    Such a line counts behind the first label that has something behind it: reasoning before a label may name a
    question or a document. Only an example that is headed and framed as the prompts frame theirs counts anywhere.
    """
    example = _EXAMPLE.search(text)
    if example is not None and re.search(r"\w", text[: example.start()]):
        text = text[: example.start()]
    for found in label.finditer(text):
        opened = _EXCHANGE.search(text, found.end())
        if opened is None:
            return text
        if re.search(r"\w", text[found.end() : opened.start()]):
            return text[: opened.start()]
    return text


def _parts(text: str) -> tuple[str, str]:
    """(reasoning, conclusion) of a reply: what stands before and behind its last answer label."""
    own = own_exchange(text, _ANSWER_LINE)
    labels = list(_ANSWER_LINE.finditer(own))
    tail = own[labels[-1].end() :].strip() if labels else ""
    return (own[: labels[-1].start()].strip(), tail) if tail else ("", own.strip())


def final_answer(text: str) -> str:
    """What the reply concludes: all after its last answer label (`Answer:`, `答案：`, "The final answer is"), up to
    where it runs on into an exchange that it invents; without a label the whole reply.

    A label with nothing behind it (the reply was cut there) decides nothing: then the whole reply stands.
    """
    return _parts(text)[1]


def before_final_answer(text: str) -> str:
    """What stands before the last answer label: the reasoning of a CoT reply; empty where there is no label."""
    return _parts(text)[0]


def sentences(text: str, quoted: bool = False) -> list[str]:
    """The sentences of a reply (both languages), stripped, without empty ones and bare list marks.

    Args:
        quoted: whether a mark inside a quotation that goes on behind it (`Who said "why?" in it?`) ends no sentence.
    """
    held = [span for span in _quotations(text) if re.match(r" ?[a-z]|[^\W_A-Z]", text[span[1] :])] if quoted else []
    found: list[str] = []
    at = 0
    for piece in _SENTENCE_END.split(text):
        start, at = at, at + len(piece)
        inside = any(low < start < high for low, high in held)
        if found and (inside or _ABBREVIATION.search(found[-1])):
            found[-1] += piece
        else:
            found.append(piece)
    stripped = (_LIST_MARK.sub("", piece).rstrip("*_` \t\r\n") for piece in found)
    return [piece for piece in stripped if re.search(r"\w", piece)]


def _quotations(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _QUOTED.finditer(text)]


def unquoted_marks(text: str) -> Iterator[re.Match[str]]:
    """The question marks of `text` that stand in no quotation."""
    spans = _quotations(text)
    for mark in re.finditer(r"[?？]", text):
        if not any(low < mark.start() < high for low, high in spans):
            yield mark


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
