"""Whether a response to an unanswerable question explains itself: direct refusal, reasoned answer, or neither. Pure.

Decided from the response's own words and the question, never from the kind of the question. A sentence explains when it
brings content that neither the question nor the wording of a refusal holds: what the document says instead, or what is
wrong with the question. Of a sentence that refuses, only the clauses beside the refusal count, for the clause that says
what is missing repeats the question in other words. A sentence beside a refusal also explains when it limits what the
question is about ("only to members with the course"). A guess and an offer of help explain nothing.

Reasoning of a CoT response before its final line is part of what a reader sees, but it is there because the prompt
asked for it. So it counts only where it explains in the stricter sense: it attributes content to the document or sets
the question right. Plans, restatements and steps towards another conclusion do not make a bare "I don't know" reasoned.
"""

from __future__ import annotations

from typing import Final

from udfs.dialogues.refusal import detect_refusal, is_refusal_sentence
from udfs.dialogues.replies import before_final_answer, final_answer, plain_quotes, sentences
from udfs.judges.reasoning_words import (
    ATTRIBUTES,
    CLAUSES,
    CONTRASTS,
    DENIES,
    GUESS,
    LIMITS,
    MISSING,
    NEGATED,
    NEGATES,
    OFFER,
    PLAN,
    RELATIVE,
    SETS_RIGHT,
    STARTS_ANEW,
    STOP_WORDS,
    YES_NO,
)
from udfs.measures.answers import tokens

NOVEL_WORDS: Final = 2
NOVEL_CHARACTERS: Final = 4
"""New content that a sentence has to bring to explain something: two English words, four Chinese characters."""


def response_class(text: str, question: str, language: str) -> str:
    """Incorrect | direct_refusal | reasoned_answer, of a response to an unanswerable question.

    Args:
        text: the whole of turn 1.
    """
    conclusion = final_answer(text)
    if detect_refusal(text, language):
        reasoned = any(_explains(sentence, question, language) for sentence in sentences(conclusion))
        reasoned = reasoned or any(
            _explains_strictly(sentence, question, language) for sentence in sentences(before_final_answer(text))
        )
        return "reasoned_answer" if reasoned else "direct_refusal"
    return "reasoned_answer" if sets_question_right(conclusion, question) else "incorrect"


def sets_question_right(text: str, question: str) -> bool:
    """Whether the text, without refusing, denies what the question takes for granted ("in 2018, not in 2017").

    A negation counts when it is of the question's own words. Where the question negates or asks for yes or no, a
    negation may be the answer: then only an outright denial of the premise counts.
    """
    asked = plain_quotes(question).casefold()
    negation_may_answer = bool(NEGATES.search(asked) or YES_NO.search(asked))
    for sentence in sentences(text):
        sentence = plain_quotes(sentence).casefold()
        if GUESS.search(sentence) or not _shares(sentence, question):
            continue
        if DENIES.search(sentence):
            return True
        if negation_may_answer:
            continue
        if CONTRASTS.search(sentence) and _novel(sentence, question):
            return True
        own = RELATIVE.sub("", sentence)
        if any(_shares("".join(match.groups(default="")), question) for match in NEGATED.finditer(own)):
            return True
    return False


def _explains(sentence: str, question: str, language: str) -> bool:
    text = plain_quotes(sentence).casefold()
    if GUESS.search(text) or OFFER.search(text) or PLAN.search(text):
        return False
    if is_refusal_sentence(text, language):
        return any(_novel(clause, question) for clause in _clauses_beside_refusal(text, language))
    return _novel(text, question) or bool(LIMITS.search(text) and _shares(text, question))


def _clauses_beside_refusal(sentence: str, language: str) -> list[str]:
    """The clauses of a refusing sentence that do not themselves say that something is missing."""
    kept: list[str] = []
    missing = False  # a clause without a verb of its own goes on with what is missing ("the boat, its crew")
    parts = CLAUSES.split(sentence)
    for mark, clause in zip(["", *parts[1::2]], parts[::2], strict=True):
        missing = missing and not mark.strip().isalpha()  # a conjunction starts anew
        if is_refusal_sentence(clause, language) or (NEGATES.search(clause) and MISSING.search(clause)):
            missing = True
        elif not missing or STARTS_ANEW.search(clause):
            missing = False
            kept.append(clause)
    return kept


def _explains_strictly(sentence: str, question: str, language: str) -> bool:
    text = plain_quotes(sentence).casefold()
    points = ATTRIBUTES.search(text) or SETS_RIGHT.search(text) or is_refusal_sentence(text, language)
    return bool(points) and "?" not in text and "？" not in text and _explains(text, question, language)


def _content(text: str) -> list[str]:
    return [token for token in tokens(text) if token not in STOP_WORDS]


def _stem(token: str) -> str:
    return token[:4] if token.isascii() and token.isalpha() else token


def _novel(sentence: str, question: str) -> bool:
    """Whether the sentence brings enough content that the question does not hold."""
    asked = {_stem(token) for token in tokens(question)}
    new = {_stem(token) for token in _content(sentence)} - asked
    han = sum(1 for token in new if not token.isascii())
    other = len(new) - han  # words and numbers
    return other >= NOVEL_WORDS or han >= NOVEL_CHARACTERS or (han > 0 and other > 0)


def _shares(sentence: str, question: str) -> bool:
    """Whether the sentence is about what the question is about."""
    common = {_stem(token) for token in _content(sentence)} & {_stem(token) for token in _content(question)}
    han = sum(1 for token in common if not token.isascii())
    return len(common) - han >= 1 or han >= 2
