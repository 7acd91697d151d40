"""What the three rewriting agents have in common: the rules that a misleading question has to keep."""

from __future__ import annotations

from collections.abc import Iterator

from udfs.agents.checks import (
    Objection,
    changed_objections,
    explains,
    expressed_objections,
    names,
    new_content,
    prose_language_objections,
    question_objections,
    tells,
    term_language_objections,
)
from udfs.agents.twin import Twin
from udfs.schema import Fate
from udfs.synthesis.index import DocumentIndex


def common_objections(question: str, reference: str, twin: Twin, language: str) -> Iterator[Objection]:
    """Of any rewritten question and its reference, by themselves."""
    yield from question_objections(question, twin.answer, twin.question, language)
    yield from prose_language_objections("reference", reference, language)
    yield from changed_objections(question, twin.question)
    yield from explains(reference, question, language)


def claim_objections(
    name: str, claim: str, question: str, reference: str, twin: Twin, index: DocumentIndex
) -> Iterator[Objection]:
    """Of a question with a condition or an assumption put into it.

    Args:
        name: what the claim is called.
        claim: the condition or the assumption.
    """
    language = index.language
    yield from common_objections(question, reference, twin, language)
    yield from term_language_objections(name, claim, language, twin.question)
    yield from expressed_objections(claim, question, twin.question, language)
    if stated(claim, twin.question, index):
        yield Objection(Fate.IN_DOCUMENT, f"the document says {claim!r}")
    yield from names(reference, claim, twin.question, language)
    yield from tells(reference, question, (twin.answer,), " ".join(twin.evidence_texts), language)


def stated(claim: str, original_question: str, index: DocumentIndex) -> bool:
    """Whether the document has the claim in so many words, or a sentence with all that it adds to the question."""
    if index.occurs(claim):
        return True
    added = new_content(claim, original_question, index.language)
    return any(added <= index.contents[number] for number in index.near(added, 0.99)) if added else False
