"""The rewriting agent that puts a condition into a question which the document rules out or never speaks of."""

from __future__ import annotations

from typing import Annotated

from udfs.agents.asking import Asked, Asker, opinion_of_rules
from udfs.agents.base import IMPOSSIBLE_CONDITION
from udfs.agents.replies import MAX_ENTITY, MAX_QUESTION, MAX_REFERENCE, Filled, Reply, at_most
from udfs.agents.rewriting import claim_objections
from udfs.agents.twin import Twin
from udfs.prompts.agents import build, fragment_block
from udfs.schema import Step
from udfs.synthesis.index import DocumentIndex


class ImpossibleConditionReply(Reply):
    """The condition, the new question, and what a good response to it says."""

    condition: Annotated[Filled, at_most(MAX_ENTITY)]
    question: Annotated[Filled, at_most(MAX_QUESTION)]
    reference: Annotated[Filled, at_most(MAX_REFERENCE)]


async def impose(asker: Asker, twin: Twin, index: DocumentIndex, request_id: str) -> Asked[ImpossibleConditionReply]:
    """The twin's question with a condition, and the rules' opinion of it."""
    language = asker.language
    block = fragment_block(language, twin.fragment)
    messages = build(language, IMPOSSIBLE_CONDITION, block, question=twin.question, answer=twin.answer)
    asked = await asker.ask(
        IMPOSSIBLE_CONDITION, Step.NEGATIVE, messages, ImpossibleConditionReply, twin.gold(), request_id
    )
    reply = asked.reply
    if reply is None:
        return asked
    objections = claim_objections("condition", reply.condition, reply.question, reply.reference, twin, index)
    return Asked((*asked.opinions, opinion_of_rules(Step.NEGATIVE, objections)), reply)
