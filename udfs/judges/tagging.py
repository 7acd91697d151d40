"""A model as tagger of entities (CouldAsk, section 4.2 and Table 11), one question a call."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Annotated, Final

from pydantic import Field

from udfs.agents.replies import Reply, Text
from udfs.judges.asking import Asker, Heard
from udfs.judges.base import PURPOSE_ENTITIES
from udfs.prompts.new_questions import build_entities
from udfs.text import normalize

MAX_ENTITIES: Final = 20
"""Where structured output ends the list; questions have about two."""


class EntitiesReply(Reply):
    """The entities of a question, in its words."""

    entities: Annotated[list[Text], Field(json_schema_extra={"maxItems": MAX_ENTITIES})]


@dataclass(frozen=True)
class Tags:
    """The entities of a question, in the order given, none twice (case aside).

    Args:
        entities: those that the question holds, up to case and punctuation.
        left_out: what the model named that the question does not hold; it is no entity of it.
    """

    entities: tuple[str, ...]
    left_out: tuple[str, ...] = ()


async def tag_entities(asker: Asker, question: str, use: str) -> Heard[Tags]:
    """Ask for the entities of `question`.

    Args:
        use: which of a response's questions it is; parts its calls from others in logs.

    Raises:
        ProviderError, EngineDead: as `udfs.engines.base.Engine.complete`.
    """
    mine = replace(asker, request_id=f"{asker.request_id}.{use}", gold={**asker.gold, "tagged": question})
    messages = build_entities(asker.language, question)
    return await mine.reply(PURPOSE_ENTITIES, messages, EntitiesReply, lambda reply: sifted(reply.entities, question))


def sifted(named: Iterable[str], question: str) -> Tags:
    """What was named, without repetitions and parted by whether the question holds it."""
    first: dict[str, str] = {}
    for entity in named:
        if entity:
            first.setdefault(entity.casefold(), entity)
    held = normalize(question)
    kept = tuple(entity for entity in first.values() if (words := normalize(entity)) and words in held)
    return Tags(kept, tuple(entity for entity in first.values() if entity not in kept))
