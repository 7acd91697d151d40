"""The reference agent: the reasoned response to a question whose evidence has been cut out (section 3.3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from udfs.agents.asking import Asked, Asker, opinion_of_rules
from udfs.agents.base import REFERENCE
from udfs.agents.checks import Objection, explains, holds_phrase, prose_language_objections
from udfs.agents.replies import MAX_REFERENCE, Filled, Reply, at_most
from udfs.agents.twin import Twin
from udfs.prompts.agents import build, fragment_block
from udfs.schema import Fate, Step
from udfs.synthesis.overlap import content


class ReferenceReply(Reply):
    """What is missing, and what the document does say."""

    reference: Annotated[Filled, at_most(MAX_REFERENCE)]


async def respond(asker: Asker, twin: Twin, shown: str, request_id: str) -> Asked[ReferenceReply]:
    """A response to the twin's question from what the view leaves of its fragment.

    Args:
        shown: the fragment as the view shows it.
    """
    language = asker.language
    messages = build(language, REFERENCE, fragment_block(language, twin.fragment, shown), question=twin.question)
    asked = await asker.ask(REFERENCE, Step.NEGATIVE, messages, ReferenceReply, twin.gold(fragment=shown), request_id)
    if asked.reply is None:
        return asked
    rules = opinion_of_rules(Step.NEGATIVE, _objections(asked.reply.reference, twin, shown, language))
    return Asked((*asked.opinions, rules), asked.reply)


def _objections(reference: str, twin: Twin, shown: str, language: str) -> Iterator[Objection]:
    yield from prose_language_objections("reference", reference, language)
    if holds_phrase(reference, twin.answer):
        yield Objection(Fate.WEAK_REFERENCE, "the reference gives the answer that was cut out")
    yield from explains(reference, twin.question, language)
    said = content(reference, language)
    if not said & content(twin.question, language):
        yield Objection(Fate.WEAK_REFERENCE, "the reference does not say what is missing")
    if not said & (content(shown, language) - content(twin.question, language)):
        yield Objection(Fate.WEAK_REFERENCE, "the reference does not say what the document says")
