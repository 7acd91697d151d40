"""The QA review agent: is the question self-contained, is the answer supported, is it complete (section 3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import StrictBool

from udfs.agents.asking import Asked, Asker
from udfs.agents.base import QA_REVIEW
from udfs.agents.checks import Objection
from udfs.agents.replies import BOUND_REASON, MAX_REASON, Reply, Text, at_most
from udfs.prompts.agents import build, fragment_block
from udfs.schema import Fate, Step


class QaReviewReply(Reply):
    """Why, and the three verdicts."""

    reason: Annotated[Text, at_most(MAX_REASON, BOUND_REASON)]
    self_contained: StrictBool
    supported: StrictBool
    complete: StrictBool


async def review(
    asker: Asker, fragment: str, question: str, answer: str, evidence: Sequence[str], request_id: str
) -> Asked[QaReviewReply]:
    """The agent's opinion of a question and its answer."""
    language = asker.language
    messages = build(
        language, QA_REVIEW, fragment_block(language, fragment), question=question, answer=answer, evidence=evidence
    )
    asked = await asker.ask(
        QA_REVIEW,
        Step.QA_REVIEW,
        messages,
        QaReviewReply,
        {"fragment": fragment, "question": question, "answer": answer, "evidence": list(evidence)},
        request_id,
    )
    if asked.reply is None:
        return asked
    failed = [
        fate
        for good, fate in (
            (asked.reply.self_contained, Fate.NOT_SELF_CONTAINED),
            (asked.reply.supported, Fate.UNSUPPORTED_ANSWER),
            (asked.reply.complete, Fate.INCOMPLETE_ANSWER),
        )
        if not good
    ]
    if not failed:
        return asked
    return asked.objecting(Objection(failed[0], asked.reply.reason))
