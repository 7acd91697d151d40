"""Whether a reply says that the document does not hold the answer. Rules for English and Chinese; pure.

A reply is a refusal when what it concludes refuses: its final line where it has one, else its first sentence, or a
later one after sentences that only say what the document is about, or a sentence about the whole question ("cannot be
answered"). So help after a refusal does not undo it, a caveat after an answer does not make it a refusal, and what a
person in the text did not know, or found insufficient, is an answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import ModuleType
from typing import Final

from udfs.dialogues import refusal_en, refusal_zh
from udfs.dialogues.replies import final_answer, is_chinese, plain_quotes, sentences, without_quotations
from udfs.dialogues.wording import joined

COULDASK_PHRASES: Final = (
    "don't know",
    "don’t know",
    "no information",
    "passage does not",
    "passage did not",
    "passage doesn't",
    "article does not",
    "article did not",
    "article doesn't",
)
"""The nine phrases of CouldAsk's detector, case-sensitive, anywhere in the raw reply."""


@dataclass(frozen=True)
class _Rules:
    statement: re.Pattern[str]
    whole: re.Pattern[str]
    about: re.Pattern[str]
    conclusion: re.Pattern[str]
    preamble: re.Pattern[str]
    doubt: re.Pattern[str]
    lead_in: re.Pattern[str]

    def states(self, sentence: str) -> bool:
        """Whether the sentence says that something is not in the document."""
        return bool(self.statement.search(sentence) or self.statement.search(self.lead_in.sub("", sentence)))

    def gives_up(self, sentence: str) -> bool:
        """Whether the sentence says that the question has no answer here."""
        return bool(self.whole.search(sentence) or self.whole.search(self.lead_in.sub("", sentence)))


def _rules(patterns: ModuleType) -> _Rules:
    return _Rules(
        statement=joined(patterns.STATEMENTS),
        whole=joined(patterns.WHOLE),
        about=re.compile(patterns.ABOUT),
        conclusion=re.compile(patterns.CONCLUSION),
        preamble=re.compile(patterns.PREAMBLE),
        doubt=re.compile(patterns.DOUBT),
        lead_in=re.compile(patterns.LEAD_IN),
    )


_EN: Final = _rules(refusal_en)
_ZH: Final = _rules(refusal_zh)


def detect_refusal_couldask(text: str) -> bool:
    """CouldAsk's own detector on the raw reply (English; a reported variant)."""
    return any(phrase in text for phrase in COULDASK_PHRASES)


def detect_refusal(text: str, language: str) -> bool:
    """Whether the reply refuses.

    Args:
        text: the whole reply; of a CoT reply the final line decides.
        language: of the question, en or zh. The rules go by the script of the reply itself, since models answer in
            the other language too; `language` decides where that is unclear.
    """
    conclusion, rules = _prepared(final_answer(text), language)
    found = [sentence for sentence in sentences(conclusion) if not rules.preamble.search(sentence)]
    opening = True  # nothing has been answered yet: at most what the document is about has been said
    refused = False
    for sentence in found or sentences(conclusion):
        hedged = rules.doubt.search(sentence) is not None
        states = rules.states(sentence) and not hedged
        if (rules.gives_up(sentence) and not hedged) or (opening and states):
            refused = True
        elif rules.conclusion.search(sentence):
            refused = states
        if not rules.about.search(sentence):
            opening = False
    return refused


def is_refusal_sentence(sentence: str, language: str) -> bool:
    """Whether the sentence, taken alone, says that the answer is not there."""
    bare, rules = _prepared(sentence, language)
    return rules.states(bare) or rules.gives_up(bare)


def _prepared(text: str, language: str) -> tuple[str, _Rules]:
    bare = without_quotations(plain_quotes(text)).strip(' \t\n"“”「」『』')
    return (bare, _ZH) if is_chinese(bare, language) else (bare.casefold(), _EN)
