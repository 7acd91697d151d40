"""The reference agent: the reasoned response to a question whose evidence has been cut out (section 3.3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from udfs.agents.asking import Asked, Asker, opinion_of_rules
from udfs.agents.base import REFERENCE
from udfs.agents.checks import Objection, explains, gives, holds_phrase, invents, prose_language_objections
from udfs.agents.replies import MAX_REFERENCE, Filled, Reply, at_most
from udfs.agents.twin import Twin
from udfs.prompts.agents import build, fragment_block
from udfs.schema import Fate, Step
from udfs.synthesis.overlap import content
from udfs.synthesis.sentences import sentences


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
    known = f"{twin.fragment}\n{twin.question}"
    yield from prose_language_objections("reference", reference, language, known)
    said_apart = (reference[start:end] for start, end in sentences(reference, language))
    if holds_phrase(reference, twin.answer) or any(gives(one, twin.answer, language) for one in said_apart):
        yield Objection(Fate.WEAK_REFERENCE, "the reference gives the answer that was cut out")
    yield from explains(reference, twin.question, language)
    yield from invents(reference, f"{shown}\n{twin.question}")
    said = content(reference, language)
    if not said & content(twin.question, language):
        yield Objection(Fate.WEAK_REFERENCE, "the reference does not say what is missing")
    if not said & (content(shown, language) - content(twin.question, language)):
        yield Objection(Fate.WEAK_REFERENCE, "the reference does not say what the document says")
