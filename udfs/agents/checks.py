"""What can be told of a reply without a model: deterministic checks, in both languages. Pure functions.

Each yields its objections in the order in which they count; the first one ends the candidate.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from udfs.agents.agreement import numbers
from udfs.agents.replies import Reply, limits
from udfs.agents.wording import (
    ASKS_FOR_FACT,
    ENGLISH_WORDS,
    INSTRUCTIONS,
    INTERROGATIVE,
    LONG_NUMBER,
    MARKS,
    OF_THE_DOCUMENT,
    OTHER_SCRIPT,
    POINTS_TO_TEXT,
    QUOTED,
    YES_NO,
)
from udfs.judges.reasoning import response_class
from udfs.measures.answers import contains_answer, find_answer, tokens
from udfs.schema import Fate, Language
from udfs.synthesis.overlap import STOP_WORDS, content
from udfs.text import detect_language, normalize

MIN_GROUNDED: Final = 0.6
"""Share of an answer's content that its evidence has to hold."""
MIN_EXPRESSED: Final = 0.6
"""Share of a condition's content that the new question has to hold."""
MIN_NAMED: Final = 0.5
"""Share of a condition's content that the reference has to hold to name it."""
MIN_KEPT: Final = 0.7
"""Share of a question's tokens, beside the entity's, that an entity substitution keeps (F1)."""
MIN_TOLD: Final = 0.25
"""Share of the evidence's content, beside the question's, that tells what the document does say."""


class Objection(NamedTuple):
    """What a check has against a candidate."""

    fate: Fate
    detail: str


# --- any reply -------------------------------------------------------------------------------------------------------


def reply_objections(reply: Reply) -> Iterator[Objection]:
    """Of every agent's reply: texts within their limits, and no words to the pipeline."""
    known = limits(type(reply))
    texts: list[tuple[str, str]] = []
    for name, value in reply:
        longest, most = known[name]
        items = value if isinstance(value, list) else [value]
        if most is not None and len(items) > most:
            yield Objection(Fate.TOO_LONG, f"{name}: {len(items)} items, {most} are allowed")
        for item in items:
            if isinstance(item, str):
                texts.append((name, item))
                if longest is not None and len(item) > longest:
                    yield Objection(Fate.TOO_LONG, f"{name}: {len(item)} characters, {longest} are allowed")
    for name, text in texts:
        if name not in reply.quotations and (found := instruction(text)):
            yield Objection(Fate.INSTRUCTIONS, f"{name} says {found!r}")


def instruction(text: str) -> str | None:
    """The words of `text` that talk to the pipeline instead of doing its work, or None."""
    plain = "".join(char for char in unicodedata.normalize("NFKC", text) if unicodedata.category(char) != "Cf")
    found = INSTRUCTIONS.search(plain)
    return found.group().strip()[:80] if found else None


# --- languages -------------------------------------------------------------------------------------------------------


def prose_language_objections(name: str, text: str, language: str, known: str) -> Iterator[Objection]:
    """Of a sentence that must be in the document's language; words in another script only as `known` has them."""
    if detect_language(text) != language:
        yield Objection(Fate.WRONG_LANGUAGE, f"{name} is not in {language}")
    elif language == Language.EN and not ENGLISH_WORDS & set(re.findall(r"[a-z]+", text.casefold())):
        yield Objection(Fate.WRONG_LANGUAGE, f"{name} has no word that only English has")
    held = normalize(known)
    for word in OTHER_SCRIPT[language].findall(unicodedata.normalize("NFKC", text)):
        if normalize(word) not in held:
            yield Objection(Fate.WRONG_LANGUAGE, f"{name} has {word!r}, which is not in {language}")


def term_language_objections(name: str, text: str, language: str, known: str) -> Iterator[Objection]:
    """Of a name or a short answer, which may be in another language where the text `known` has it so."""
    if in_other_language(text, language) and normalize(text) not in normalize(known):
        yield Objection(Fate.WRONG_LANGUAGE, f"{name} is not in {language}")


def in_other_language(text: str, language: str) -> bool:
    """Whether a name is written in the script of another language; numbers are of none."""
    return detect_language(text) not in (None, language)


# --- questions and answers -------------------------------------------------------------------------------------------


def question_objections(
    question: str, answer: str, about: str, language: str, known: str | None = None
) -> Iterator[Objection]:
    """Of a question by itself, with its answer and what it must be about.

    Args:
        about: the fragment; for a rewritten question, the question that it was made from.
        known: where words in another script may come from; None: from `about`.
    """
    if not is_question(question, language):
        yield Objection(Fate.NOT_A_QUESTION, "neither a question mark nor an interrogative")
    if "\n" in question:
        yield Objection(Fate.NOT_A_QUESTION, "more than one line")
    yield from prose_language_objections("question", question, language, about if known is None else known)
    if not ASKS_FOR_FACT[language].search(question):
        yield Objection(Fate.NOT_A_QUESTION, "it asks for no fact: no who, what, which, when, where, why or how")
    if len(MARKS.findall(QUOTED.sub("", question))) > 1:
        yield Objection(Fate.NOT_A_QUESTION, "more than one question")
    if found := POINTS_TO_TEXT[language].search(question):
        yield Objection(Fate.NOT_SELF_CONTAINED, f"the question says {found.group().strip()!r}")
    if gives(question, answer, language):
        yield Objection(Fate.ANSWER_IN_QUESTION, "the question contains the answer")
    if not content(question, language) & content(about, language):
        yield Objection(Fate.UNRELATED_QUESTION, "the question shares no content with what it is about")


def gives(text: str, answer: str, language: str) -> bool:
    """Whether a text has the answer in it, or all that the answer says in another order."""
    units = content(answer, language)
    return contains_answer(text, answer) or (bool(units) and units <= content(text, language))


def is_question(text: str, language: str) -> bool:
    """Whether it has a question mark, or begins as a question and is a whole sentence."""
    if not any(map(str.isalpha, text)):
        return False
    if "?" in text or "？" in text:
        return True
    if not INTERROGATIVE[language].search(text):
        return False
    words = normalize(text).split()
    return language == Language.ZH or (len(words) > 2 and words[-1] not in STOP_WORDS)


def answer_objections(answer: str, evidence: str, language: str) -> Iterator[Objection]:
    """Of an answer: it says something, and the evidence says it."""
    if YES_NO[language].match(answer):
        yield Objection(Fate.UNSUPPORTED_ANSWER, "yes or no is no answer to a question for a fact")
    if contains_answer(evidence, answer):
        return
    if other := numbers(answer) - numbers(evidence):
        yield Objection(Fate.UNSUPPORTED_ANSWER, f"not in the evidence: {', '.join(sorted(other))}")
    share = _share(answer, evidence, language)
    if share is None or share < MIN_GROUNDED:
        yield Objection(Fate.UNSUPPORTED_ANSWER, f"the evidence holds {share or 0.0:.2f} of the answer's content")


def _share(part: str, whole: str, language: str) -> float | None:
    """How much of what `part` says `whole` says too; None where `part` has no content."""
    units = content(part, language)
    return len(units & content(whole, language)) / len(units) if units else None


# --- rewritten questions and references ------------------------------------------------------------------------------


def changed_objections(question: str, original_question: str) -> Iterator[Objection]:
    """Of a rewritten question: it is another one."""
    if normalize(question) == normalize(original_question):
        yield Objection(Fate.UNCHANGED_QUESTION, "the new question is the old one")


def replaced_objections(
    original: str, replacement: str, question: str, original_question: str, language: str
) -> Iterator[Objection]:
    """Of an entity substitution: `original` went out of the question, `replacement` came in."""
    for holds, wrong in (
        (content(replacement, language), f"{replacement!r} names nothing"),
        (holds_phrase(original_question, original), f"{original!r} is not in the original question"),
        (not holds_phrase(question, original), f"{original!r} is still in the new question"),
        (holds_phrase(question, replacement), f"{replacement!r} is not in the new question"),
        (not holds_phrase(original_question, replacement), f"{replacement!r} is in the original question"),
    ):
        if not holds:
            yield Objection(Fate.UNCHANGED_QUESTION, wrong)
    rest, original_rest = without(question, replacement), without(original_question, original)
    if 2 * sum((rest & original_rest).values()) < MIN_KEPT * (rest.total() + original_rest.total()):
        yield Objection(Fate.UNRELATED_QUESTION, "more was changed than the entity")


def without(question: str, entity: str) -> Counter[str]:
    """The tokens of a question beside those of an entity that it names."""
    said, named = tokens(question), tokens(entity)
    for at in reversed(find_answer(said, named)):
        del said[at : at + len(named)]
    return Counter(said)


def expressed_objections(claim: str, question: str, original_question: str, language: str) -> Iterator[Objection]:
    """Of a condition or assumption: the new question holds it, the old one does not."""
    share = _share(claim, question, language)
    if share is None or share < MIN_EXPRESSED:
        yield Objection(Fate.UNCHANGED_QUESTION, f"the new question does not express {claim!r}")
    if not new_content(OF_THE_DOCUMENT[language].sub(" ", claim), original_question, language):
        yield Objection(Fate.UNCHANGED_QUESTION, f"the original question says {claim!r} already")
    if not new_content(question, original_question, language):
        yield Objection(Fate.UNCHANGED_QUESTION, "the new question says nothing new")


def new_content(claim: str, original_question: str, language: str) -> frozenset[str]:
    """What a condition or assumption says beyond the question that it was put into."""
    return content(claim, language) - content(original_question, language)


def holds_phrase(text: str, phrase: str) -> bool:
    """Whether `phrase` stands in `text`, up to case, punctuation and articles (`udfs.measures.answers`)."""
    return contains_answer(text, phrase)


def explains(reference: str, question: str, language: str) -> Iterator[Objection]:
    """Of a reference response: it refuses or sets the question right, and says why (`response_class`)."""
    found = response_class(reference, question, language)
    if found != "reasoned_answer":
        yield Objection(Fate.WEAK_REFERENCE, f"the reference reads as {found}")


def invents(reference: str, known: str) -> Iterator[Objection]:
    """Of a reference response: its numbers of two digits or more are from the document or the question (`known`)."""
    other = _long_numbers(reference) - _long_numbers(known) - numbers(known)
    if other:
        yield Objection(Fate.WEAK_REFERENCE, f"the reference makes up {', '.join(sorted(other))}")


def _long_numbers(text: str) -> frozenset[str]:
    found = (match[0] for match in LONG_NUMBER.finditer(unicodedata.normalize("NFKC", text)))
    return frozenset[str]().union(*map(numbers, found))


def names(reference: str, claim: str, original_question: str, language: str) -> Iterator[Objection]:
    """Of a reference response: it names what is wrong, which is what the claim adds to the original question."""
    wrong = new_content(claim, original_question, language)
    share = len(wrong & content(reference, language)) / len(wrong) if wrong else 0.0
    if not contains_answer(reference, claim) and share < MIN_NAMED:
        yield Objection(Fate.WEAK_REFERENCE, f"the reference does not name {claim!r}")


def speaks_of(reference: str, original: str, language: str) -> Iterator[Objection]:
    """Of the reference response to an entity substitution: what the document says is of the original, not the new."""
    units = content(original, language)
    if not contains_answer(reference, original) and not (units and units <= content(reference, language)):
        yield Objection(Fate.WEAK_REFERENCE, f"the reference does not speak of {original!r}")


def tells(reference: str, question: str, known: tuple[str, ...], evidence: str, language: str) -> Iterator[Objection]:
    """Of a reference response: it says what the document does say.

    Args:
        question: the new question: repeating it tells nothing.
        known: any of these tells it: the original entity, the answer.
        evidence: enough of its content tells it, too.
    """
    if any(contains_answer(reference, phrase) for phrase in known):
        return
    said = content(evidence, language) - content(question, language)
    share = len(said & content(reference, language)) / len(said) if said else 0.0
    if share < MIN_TOLD:
        yield Objection(Fate.WEAK_REFERENCE, "the reference does not say what the document says")
