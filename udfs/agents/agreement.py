"""Whether two answers say the same. Pure functions over words, in English and Chinese.

Two questions that are not the same: does a reader confirm the gold answer (`same_answer`, strict, since an answerable
question is accepted for it), and does a reader come near to it where there should be no answer (`close_answer`, lax).
"""

from __future__ import annotations

from typing import Final

from udfs.measures.answers import contains_answer, token_f1, tokens
from udfs.measures.polarity import asserts_answer, is_negative
from udfs.measures.stems import stem
from udfs.synthesis.overlap import STOP_WORDS

MIN_SAME_F1: Final = 0.6
"""Token F1 from which two answers are near each other."""
_SMALL_ZH: Final = frozenset("的了是在有和与或也就都而之以于其这那个为被把将由所")


def same_answer(answer: str, gold: str, question: str = "") -> bool:
    """Whether a reader's answer confirms the gold answer of `question`.

    One asserts the other, or they have most tokens in common and neither says anything that the other does not: a name,
    a number, a unit. A part of the gold answer counts where it says something, a number if the gold answer has one.
    "Guilty" is not "not guilty", unless the question is negative ("What may he not do?").
    """
    if not tokens(answer):
        return False
    free = is_negative(question)
    if contains_answer(answer, gold):
        return free or asserts_answer(answer, gold)
    said, wanted = _said(answer), _said(gold)
    if contains_answer(gold, answer):
        whole = bool(said) and (bool(numbers(answer)) or not numbers(gold))
        return whole and (free or asserts_answer(gold, answer))
    if token_f1(answer, gold) < MIN_SAME_F1 or is_negative(answer) != is_negative(gold):
        return False
    return (said <= wanted or wanted <= said) and numbers(answer) == numbers(gold)


def close_answer(answer: str, gold: str) -> bool:
    """Whether an answer is, holds, is part of, or has most tokens of the gold answer."""
    if not tokens(answer):
        return False
    return contains_answer(answer, gold) or contains_answer(gold, answer) or token_f1(answer, gold) >= MIN_SAME_F1


def numbers(text: str) -> frozenset[str]:
    """The numbers of a text, however they are written."""
    return frozenset(token for token in tokens(text) if token.lstrip("-")[:1].isdigit())


def _said(text: str) -> frozenset[str]:
    """Stems of the words that say something (Chinese: characters)."""
    return frozenset(stem(token) for token in tokens(text) if token not in STOP_WORDS and token not in _SMALL_ZH)
