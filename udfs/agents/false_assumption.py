"""The rewriting agent that asks about something false as if it were a fact."""

from __future__ import annotations

from typing import Annotated

from udfs.agents.asking import Asked, Asker, opinion_of_rules
from udfs.agents.base import FALSE_ASSUMPTION
from udfs.agents.replies import MAX_ENTITY, MAX_QUESTION, MAX_REFERENCE, Filled, Reply, at_most
from udfs.agents.rewriting import claim_objections
from udfs.agents.twin import Twin
from udfs.prompts.agents import build, fragment_block
from udfs.schema import Step
from udfs.synthesis.index import DocumentIndex


class FalseAssumptionReply(Reply):
    """The assumption, the new question, and what a good response to it says."""

    assumption: Annotated[Filled, at_most(MAX_ENTITY)]
    question: Annotated[Filled, at_most(MAX_QUESTION)]
    reference: Annotated[Filled, at_most(MAX_REFERENCE)]


async def assume(asker: Asker, twin: Twin, index: DocumentIndex, request_id: str) -> Asked[FalseAssumptionReply]:
    """The twin's question with a false assumption, and the rules' opinion of it."""
    language = asker.language
    block = fragment_block(language, twin.fragment)
    messages = build(language, FALSE_ASSUMPTION, block, question=twin.question, answer=twin.answer)
    asked = await asker.ask(FALSE_ASSUMPTION, Step.NEGATIVE, messages, FalseAssumptionReply, twin.gold(), request_id)
    reply = asked.reply
    if reply is None:
        return asked
    objections = claim_objections("assumption", reply.assumption, reply.question, reply.reference, twin, index)
    return Asked((*asked.opinions, opinion_of_rules(Step.NEGATIVE, objections)), reply)
