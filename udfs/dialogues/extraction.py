"""The new question, cut out of a turn-2 reply. Pure, total functions."""

from __future__ import annotations

import re
from typing import Final

from udfs.dialogues.replies import own_exchange, plain_quotes, quoted_parts, sentences, unquoted_marks
from udfs.text import HAN, normalize

_MARKS: Final = r"[*_`#>\s]{0,12}"
_LABEL: Final = re.compile(
    rf"(?:^|[\n.!?。！？:：]){_MARKS}(?:\d+[.)]\s*)?"
    r"(?:(?:(?:the|my|a|so the|here is the|here's the|final|possible|suggested|answerable|minimally) )*"
    r"(?:new|reformulated|revised|modified|rewritten|rephrased|edited|updated|changed|corrected|better|final)"
    r"(?: \w+)? question(?: is| would be| could be)?"
    r"|(?:最终的?|可以?|建议的?)?(?:新的?|修改后?的?|改写后?的?|重新表述的?|改后的?|修正后?的?|调整后的?|改成的?)问题(?:是|为|可以是)?)"
    rf"{_MARKS}[:：]{_MARKS}",
    re.IGNORECASE,
)
_PLAIN_LABEL: Final = re.compile(rf"^{_MARKS}(?:question|q|answer|问题|问|答案)\s*{_MARKS}[:：]{_MARKS}", re.IGNORECASE)
_OFFER: Final = re.compile(
    r"\b(?:would you like|do you want|can i help|may i help|shall i|should i|does (?:this|that) help|let me know"
    r"|is (?:this|that) (?:ok|okay|correct|what you)|anything else|would that|how about that|is that better)\b"
    r"|您(?:还|是否)?(?:需要|想|觉得|看)|需要我|可以吗[？?]?$|对吗[？?]?$|是否满意|还有(?:什么|其他)问题",
    re.IGNORECASE,
)
_ASKS: Final = re.compile(
    r"^(?:who|whom|whose|what|when|where|which|why|how|is|are|was|were|do|does|did|can|could|has|have|had|will|would|should"
    r"|may|might)\b.{3,}"
    r"|^(?:in|on|at|by|for|from|to|of|with|under|according|after|before|during|if|as)\b.*"
    r"\b(?:who|whom|whose|what|when|where|which|why|how)\b"
    r"|什么|谁|哪|几|多少|怎|吗|呢|为何|何时|如何|是否",
    re.IGNORECASE,
)
_LEAD_IN: Final = re.compile(
    r"^[^:：?？]{0,80}\b(?:ask|asked|question|try|instead|be|is)\b[^:：?？]{0,20}(?:：|:\s)\s*(?=\S)"
    r"|^[^:：?？]{0,20}(?:问|问题|成|为|是)(?:：|:(?!\d))\s*",
    re.IGNORECASE,
)
_QUOTED_QUESTION: Final = re.compile(rf"(?:\w+\W+\w+\W+\w+|[{HAN}].*[{HAN}].*[{HAN}]).*[?？]\s*$", re.DOTALL)
"""A quoted part that is a question by itself: three words or characters; less is a word of a question ("why?")."""
_OPENING: Final = "\"'“”‘’「」『』《》*_`#>-•·（( \t"
_CLOSING: Final = "\"'“”‘’「」『』》*_`#>）) \t"


def extract_question(text: str, language: str, original: str) -> str | None:
    """The question that the reply proposes, or None when there is none.

    In this order: what stands after the last label such as `New question:`; the last quoted question; the last
    sentence that is a question. Offers of help ("Would you like …?") are no questions about a document, and a question
    other than the original is preferred; an unchanged one is given back when it is all there is.

    Args:
        text: the whole reply.
        language: of the question, en or zh; decides how a cut question is ended.
        original: the question that was to be changed.
    """
    text = own_exchange(text, _LABEL)
    for label in reversed(list(_LABEL.finditer(text))):
        found = _labelled(text[label.end() :], language)
        if found is not None:
            return found
    quoted = [_clean(part) for part in quoted_parts(plain_quotes(text)) if _QUOTED_QUESTION.search(part)]
    asked = [
        _clean(sentence)
        for sentence in sentences(text, quoted=not quoted)
        if re.search(r"[?？][\"'”’」』*_`)）\s]*$", sentence)
    ]
    for candidates in (quoted, asked):
        proper = [question for question in candidates if question and not _OFFER.search(question)]
        changed = [question for question in proper if normalize(question) != normalize(original)]
        if changed:
            return changed[-1]
    unchanged = [question for question in quoted + asked if question and not _OFFER.search(question)]
    return unchanged[-1] if unchanged else None


def _labelled(tail: str, language: str) -> str | None:
    """The question on the first line after a label; one without its mark is taken if it is worded as a question."""
    line = next((line for line in tail.splitlines() if re.search(r"\w", line)), "")
    marked = _clean(line, lead_in=False)
    if marked:
        return marked
    bare = _PLAIN_LABEL.sub("", line).strip(_OPENING + _CLOSING + ".。")
    if not _ASKS.search(bare):
        return None
    return bare + ("？" if language == "zh" else "?")


def _clean(text: str, lead_in: bool = True) -> str:
    """The first question in `text`, without label, quotation marks and mark-up; empty when there is no `?`.

    Args:
        lead_in: whether words before a colon may be an announcement; behind a label they are the question's own.
    """
    text = _PLAIN_LABEL.sub("", text.strip()).lstrip(_OPENING)
    end = next(unquoted_marks(text), None) or re.search(r"[?？]", text)
    if end is None:
        return ""
    question = text[: end.end()]
    if lead_in:
        question = _LEAD_IN.sub("", question).lstrip(_OPENING)
    question = re.sub(r"^\d+[.)、]\s+", "", question)
    question = re.sub(r"[*_`]{1,3}(?=[?？]$)|(?<=\s)[*_]{1,3}(?=\w)|(?<=\w)\*{1,3}(?=[\s?？,.])", "", question)
    return question if re.search(r"\w", question) else ""


def couldask_uncut(text: str) -> str:
    """CouldAsk's cut of the new question before it ends at the first `?`: what its edit distance is taken of.

    Of a reply with ": " or a colon at a line's end: what stands behind the last one, without straight quotes. Then the
    first line; of four straight quotes the second pair's content. Replies are stripped first, as its engine does.
    """
    question = text.strip()
    if ": " in question or ":\n" in question:
        question = question.split(": ")[-1].split(":\n")[-1].replace('"', "").strip()
    question = question.split("\n")[0]
    return question.split('"')[3] if question.count('"') == 4 else question


def extract_question_couldask(text: str) -> str | None:
    """CouldAsk's own cut (a reported variant): of `couldask_uncut` what stands before the first "?"; else None."""
    question = couldask_uncut(text)
    return question.split("?")[0].strip() + "?" if "?" in question else None
