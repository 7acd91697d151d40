"""The common-sense agent: does a question get its gold answer without any document (section 3.3)?

With a searcher, the web is asked too: what it says is read by the short-reading agent.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import StrictBool

from udfs.agents.agreement import close_answer
from udfs.agents.asking import Asker
from udfs.agents.base import COMMON_SENSE, SHORT_READING, Opinion
from udfs.agents.checks import Objection, term_language_objections
from udfs.agents.reading import read
from udfs.agents.replies import MAX_ANSWER, Reply, Text, at_most
from udfs.agents.twin import Twin
from udfs.agents.web import Searcher
from udfs.engines.base import ProviderError
from udfs.prompts.agents import build, passages_block
from udfs.schema import Fate, Step

WEB = "web"
"""The name under which a search gives its opinion."""


class CommonSenseReply(Reply):
    """Whether the agent knows it, and what it knows."""

    known: StrictBool
    answer: Annotated[Text, at_most(MAX_ANSWER)]


async def know(asker: Asker, question: str, twin: Twin, request_id: str) -> tuple[Opinion, ...]:
    """Against a question that is answered from memory."""
    messages = build(asker.language, COMMON_SENSE, question=question)
    gold = twin.gold(question)
    del gold["fragment"], gold["evidence"]
    asked = await asker.ask(COMMON_SENSE, Step.COMMON_SENSE, messages, CommonSenseReply, gold, request_id)
    reply = asked.reply
    if reply is None:
        return asked.opinions
    if close_answer(reply.answer, twin.answer):
        known = Objection(Fate.COMMON_SENSE, f"known without the document: {reply.answer!r}")
        return asked.objecting(known).opinions
    if reply.known:  # it may be the gold answer in another language
        for foreign in term_language_objections("answer", reply.answer, asker.language, twin.fragment):
            return asked.objecting(foreign).opinions
    return asked.opinions


async def search(asker: Asker, searcher: Searcher, question: str, twin: Twin, request_id: str) -> tuple[Opinion, ...]:
    """Against a question that the web answers."""
    try:
        found = [text for text in await searcher.search(question) if text.strip()]
    except ProviderError as error:
        return (Opinion(WEB, Step.COMMON_SENSE, Fate.PROVIDER_ERROR, str(error)),)
    if not found:
        return (Opinion(WEB, Step.COMMON_SENSE, detail="nothing found"),)
    block = passages_block(asker.language, found)
    asked = await read(asker, SHORT_READING, Step.COMMON_SENSE, block, "\n".join(found), question, twin, request_id)
    if asked.reply is None or not close_answer(asked.reply.answer, twin.answer):
        return asked.opinions
    return asked.objecting(Objection(Fate.COMMON_SENSE, f"the web answers {asked.reply.answer!r}")).opinions
