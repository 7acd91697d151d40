"""Whether an answer asserts a gold answer: negations and yes or no, in English and Chinese. Pure.

Containment and token F1 read over a negation: "not 30 crowns" holds "30 crowns", and 不可以 holds 可以.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from udfs.measures.answers import contains_answer, find_answer, token_f1, tokens
from udfs.text import HAN

_CLAUSE_END: Final = re.compile(r"[,;:.!?](?=\s|$)|[，。；：！？、\n]|\b(?:but|however|although)\b|而是|但是?|不过")
_WORDS: Final = (
    r"(?:not|no|never|nor|neither|cannot|(?:is|was|are|were|do|does|did|ca|could|wo|would|has|have|had|should|must)nt)"
)
_NEAR: Final = re.compile(
    rf"\b{_WORDS}(?! (?:only|just|merely|until|before|less|more|later|exceed|doubt))(?: \S+){{0,2}}$"
)
"""A negation at most two words before a match, at the end of what stands before it (tokens, articles left out)."""
_NEAR_ZH: Final = re.compile(
    r"(?:不(?![仅但到少超止只光久同过足多满低高])|没有?|(?<!除)非(?![常洲])|未(?!来)|无(?!论)|勿)[是有为得能会应该可必需须缴付收要]{0,2}$"
)
_NEGATIVE: Final = re.compile(rf"\b{_WORDS}\b|n't\b")
_VERB_NEGATED: Final = re.compile(
    r"\b(?:(?:is|are|was|were|do|does|did|can|could|may|might|must|shall|should|will|would|has|have|had)(?:nt| not)"
    r"|cannot|wont|cant)\b"
)
_NEGATIVE_ZH: Final = re.compile(r"不(?![仅但少超止只光久同过])|没|非(?![常洲])|未(?!来)|无(?!论)|勿|否")
_YES: Final = re.compile(r"^(?:yes|yeah|yep|correct|true)\b", re.IGNORECASE)
_NO: Final = re.compile(
    r"^(?:nope|false|incorrect)\b|^no\b(?=\W*$|\s*[,.;:!—–-]|\s+(?:it|he|she|they|the|there|you|this|that|we|i)\b)",
    re.IGNORECASE,
)
_YES_ZH: Final = frozenset(
    ["是", "是的", "对", "对的", "可以", "可", "能", "能够", "会", "有", "需要", "应当", "应该", "允许", "要", "行"]
)
_NO_ZH: Final = frozenset(
    [
        "否",
        "不",
        "不是",
        "不对",
        "不可以",
        "不可",
        "不能",
        "不会",
        "没有",
        "不需要",
        "无需",
        "不应当",
        "不应该",
        "不允许",
        "不得",
        "不要",
        "不用",
        "不行",
        "没",
        "无",
    ]
)
_ASKS_YES_NO: Final = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|should|may|might|must)\b"
    r"|吗|是否|是不是|有没有|能否|能不能|可否|可不可以|会不会|要不要|需不需要|对不对",
    re.IGNORECASE,
)


def agrees(answer: str, gold: str, question: str, f1_threshold: float) -> bool:
    """Whether the answer asserts the gold answer, or shares enough of its words with it.

    A gold of yes or no is compared with the way the answer opens. Otherwise a match that follows a negation does not
    count, unless the question itself is negative ("What may he not do?").

    Args:
        f1_threshold: token F1 from which an answer is right though it does not hold the gold.
    """
    wanted = yes_or_no(gold, question)
    if wanted is not None:
        return opening(answer, question) == wanted
    if is_negative(question):
        return contains_answer(answer, gold) or token_f1(answer, gold) >= f1_threshold
    if contains_answer(answer, gold):
        return asserts_answer(answer, gold)
    return is_negative(answer) == is_negative(gold) and token_f1(answer, gold) >= f1_threshold


def is_negative(text: str) -> bool:
    """Whether the text holds a negation."""
    return bool(_NEGATIVE.search(" ".join(tokens(text))) or _NEGATIVE_ZH.search(text))


def yes_or_no(gold: str, question: str) -> bool | None:
    """True for a gold that says no more than yes, False for one that says no more than no, else None."""
    bare = " ".join(tokens(gold))
    if bare in {"yes", "no", "true", "false"}:
        return bare in {"yes", "true"}
    word = re.sub(r"[\s，。！,.!]", "", gold)
    if word in {"是的", "否", "不是"} or _ASKS_YES_NO.search(question):
        if word in _YES_ZH:
            return True
        if word in _NO_ZH:
            return False
    return None


def opening(answer: str, question: str) -> bool | None:
    """Whether the answer opens with yes (True) or no (False); None where it says neither.

    Without either word the first clause decides: a negation is a no, and a clause that repeats half of the question's
    words (in Chinese: that holds a word of assent) is a yes; not where the question is negative.
    """
    text = answer.strip().lstrip("\"'“”*_ ")
    if _YES.search(text):
        return True
    if _NO.search(text):
        return False
    clause = next((c for c in _clauses(text) if re.search(r"\w", c)), "")
    if re.search(f"[{HAN}]", clause):
        if _NEGATIVE_ZH.search(clause):
            return False
        return True if any(word in clause for word in _YES_ZH) else None
    if is_negative(question):
        return None
    if _VERB_NEGATED.search(" ".join(tokens(clause))):
        return False
    asked, said = set(tokens(question)), set(tokens(clause))
    return True if asked and 2 * len(asked & said) >= len(asked) else None


def asserts_answer(answer: str, gold: str) -> bool:
    """Whether the gold stands somewhere in the answer without a negation right before it, in the same clause."""
    within = [(clause, at) for clause in _clauses(answer) for at in find_answer(tokens(clause), tokens(gold))]
    if not within:  # it stands across clauses
        return contains_answer(answer, gold)
    for clause, at in within:
        before = tokens(clause)[:at]
        if not _NEAR.search(" ".join(before)) and not _NEAR_ZH.search("".join(before)):
            return True
    return False


def _clauses(text: str) -> Iterator[str]:
    start = 0
    for end in _CLAUSE_END.finditer(text):
        yield text[start : end.start()]
        start = end.end()
    yield text[start:]
