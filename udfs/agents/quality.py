"""The quality agent: is the fragment worth a question (FactGuard, section 3.1)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StrictInt

from udfs.agents.asking import Asked, Asker
from udfs.agents.base import QUALITY
from udfs.agents.checks import Objection
from udfs.agents.replies import BOUND_REASON, MAX_REASON, Reply, Text, at_most
from udfs.prompts.agents import build, fragment_block
from udfs.schema import Fate, Step


class QualityReply(Reply):
    """Why, and the grade."""

    reason: Annotated[Text, at_most(MAX_REASON, BOUND_REASON)]
    score: Annotated[StrictInt, Field(ge=1, le=5)]


async def assess(asker: Asker, fragment: str, threshold: int, request_id: str) -> Asked[QualityReply]:
    """Grade the fragment from 1 to 5; below `threshold` the agent is against it, with its reply kept."""
    language = asker.language
    messages = build(language, QUALITY, fragment_block(language, fragment))
    asked = await asker.ask(QUALITY, Step.QUALITY, messages, QualityReply, {"fragment": fragment}, request_id)
    if asked.reply is None or asked.reply.score >= threshold:
        return asked
    return asked.objecting(Objection(Fate.LOW_QUALITY, f"score {asked.reply.score} < {threshold}"))
