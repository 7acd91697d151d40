"""What the three rewriting agents have in common: the rules that a misleading question has to keep."""

from __future__ import annotations

from collections.abc import Iterator

from udfs.agents.checks import (
    Objection,
    changed_objections,
    explains,
    expressed_objections,
    invents,
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
from udfs.synthesis.mentions import mentions, says


def common_objections(question: str, reference: str, twin: Twin, language: str, named: str = "") -> Iterator[Objection]:
    """Of any rewritten question and its reference, by themselves.

    Args:
        named: what the rewriting may bring in in another script.
    """
    known = f"{twin.fragment}\n{twin.question}\n{named}"
    yield from question_objections(question, twin.answer, twin.question, language, known)
    yield from prose_language_objections("reference", reference, language, known)
    yield from changed_objections(question, twin.question)
    yield from explains(reference, question, language)
    yield from invents(reference, f"{known}\n{question}")


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
    """Whether the document has the claim in any form, or a sentence with all that it adds to the question."""
    added = new_content(claim, original_question, index.language)
    return mentions(index, claim) or (bool(added) and says(index, added))
