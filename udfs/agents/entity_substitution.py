"""The rewriting agent that puts an entity into a question which the document never mentions (section 3.3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from udfs.agents.asking import Asked, Asker, opinion_of_rules
from udfs.agents.base import ENTITY_SUBSTITUTION
from udfs.agents.checks import Objection, in_other_language, names, replaced_objections, speaks_of, tells
from udfs.agents.replies import MAX_ENTITY, MAX_QUESTION, MAX_REFERENCE, Filled, Reply, at_most
from udfs.agents.rewriting import common_objections
from udfs.agents.twin import Twin
from udfs.prompts.agents import build, fragment_block
from udfs.schema import Fate, Step
from udfs.synthesis.index import DocumentIndex
from udfs.synthesis.mentions import mentions


class EntitySubstitutionReply(Reply):
    """What goes out, what comes in, the new question, and what a good response to it says."""

    original: Annotated[Filled, at_most(MAX_ENTITY)]
    replacement: Annotated[Filled, at_most(MAX_ENTITY)]
    question: Annotated[Filled, at_most(MAX_QUESTION)]
    reference: Annotated[Filled, at_most(MAX_REFERENCE)]


async def substitute(asker: Asker, twin: Twin, index: DocumentIndex, request_id: str) -> Asked[EntitySubstitutionReply]:
    """The twin's question with another entity, and the rules' opinion of it."""
    language = asker.language
    block = fragment_block(language, twin.fragment)
    messages = build(language, ENTITY_SUBSTITUTION, block, question=twin.question, answer=twin.answer)
    asked = await asker.ask(
        ENTITY_SUBSTITUTION, Step.NEGATIVE, messages, EntitySubstitutionReply, twin.gold(), request_id
    )
    if asked.reply is None:
        return asked
    rules = opinion_of_rules(Step.NEGATIVE, _objections(asked.reply, twin, index))
    return Asked((*asked.opinions, rules), asked.reply)


def _objections(reply: EntitySubstitutionReply, twin: Twin, index: DocumentIndex) -> Iterator[Objection]:
    language = index.language
    foreign = in_other_language(reply.original, language)
    named = reply.replacement if foreign else ""
    yield from common_objections(reply.question, reply.reference, twin, language, named)
    if in_other_language(reply.replacement, language) and not foreign:
        yield Objection(Fate.WRONG_LANGUAGE, f"replacement is not in {language}")
    yield from replaced_objections(reply.original, reply.replacement, reply.question, twin.question, language)
    if mentions(index, reply.replacement):
        yield Objection(Fate.IN_DOCUMENT, f"{reply.replacement!r} is in the document")
    yield from names(reply.reference, reply.replacement, twin.question, language)
    yield from speaks_of(reply.reference, reply.original, language)
    known_phrases = (reply.original, twin.answer)
    yield from tells(reply.reference, reply.question, known_phrases, " ".join(twin.evidence_texts), language)
