"""The topic agent: what a question about the fragment could ask for, and the balanced draw of one (section 3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from udfs.agents.asking import Asked, Asker
from udfs.agents.base import TOPIC
from udfs.agents.checks import Objection
from udfs.agents.replies import Reply, no_more_than
from udfs.identity import content_hash
from udfs.prompts.agents import build, fragment_block
from udfs.schema import Fate, Step, Topic


class TopicReply(Reply):
    """The topics that fit, the best first."""

    topics: Annotated[list[Topic], no_more_than(len(Topic))]


async def name_topics(asker: Asker, fragment: str, request_id: str) -> Asked[TopicReply]:
    """Which topics the fragment has facts about; without one the agent is against it."""
    language = asker.language
    messages = build(language, TOPIC, fragment_block(language, fragment))
    asked = await asker.ask(TOPIC, Step.TOPIC, messages, TopicReply, {"fragment": fragment}, request_id)
    if asked.reply is None or asked.reply.topics:
        return asked
    return asked.objecting(Objection(Fate.NO_TOPIC, "the agent named no topic"))


def draw_topic(named: Sequence[Topic], used: Mapping[Topic, int], doc_id: str, index: int, seed: int) -> Topic:
    """The topic, of those named, that the document's questions ask for least so far; ties by a seeded draw.

    Args:
        named: at least one.
        used: questions of this document by topic.
        index: of the fragment.
    """
    least = min(used.get(topic, 0) for topic in named)
    ties = sorted({topic for topic in named if used.get(topic, 0) == least})
    return ties[int(content_hash("topic", seed, doc_id, index), 16) % len(ties)]
