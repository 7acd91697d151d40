"""The reading agents: can a question be answered from this text? Over retrieved passages (short reading), over a whole
view (full view), and over what a web search found (section 3.3).

A reader that says it cannot answer, but gives the gold answer, has found it.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from pydantic import StrictBool, model_validator

from udfs.agents.agreement import close_answer, same_answer
from udfs.agents.asking import Asked, Asker
from udfs.agents.base import Opinion
from udfs.agents.checks import Objection, term_language_objections
from udfs.agents.replies import BOUND_QUOTATION, MAX_ANSWER, MAX_QUOTATION, Reply, Text, at_most
from udfs.agents.twin import Twin
from udfs.judges.base import OnPrefill
from udfs.prompts.agents import build
from udfs.schema import Fate, Step

FILE: Final = "reading"
"""The prompt file that all readers share."""


class ReadingReply(Reply):
    """What the text says, whether that answers the question, and the answer."""

    quotations: ClassVar[frozenset[str]] = frozenset({"quote"})

    quote: Annotated[Text, at_most(MAX_QUOTATION, BOUND_QUOTATION)]
    answerable: StrictBool
    answer: Annotated[Text, at_most(MAX_ANSWER)]

    @model_validator(mode="after")
    def _answers(self) -> ReadingReply:
        if self.answerable and not self.answer:
            raise ValueError("answerable, but without an answer")
        return self


async def read(
    asker: Asker,
    agent: str,
    step: Step,
    block: str,
    text: str,
    question: str,
    twin: Twin,
    request_id: str,
    on_prefill: OnPrefill | None = None,
) -> Asked[ReadingReply]:
    """Ask `agent` for the answer to `question` from `text`, as `block` frames it."""
    messages = build(asker.language, FILE, block, question=question)
    gold = twin.gold(question)
    gold["text"] = text
    return await asker.ask(agent, step, messages, ReadingReply, gold, request_id, on_prefill)


def judged(
    asked: Asked[ReadingReply], question: str, answer: str, answerable: bool, whole: bool, language: str, text: str
) -> tuple[Opinion, ...]:
    """The opinions with what the reading means for a candidate.

    Args:
        answer: the gold answer (the twin's).
        answerable: whether the candidate's question has to be answered by it, or by nothing.
        whole: whether no reader sees more of the view: then an answerable question must be answered.
    """
    if asked.reply is None:
        return asked.opinions
    objection = _objection(asked.reply, question, answer, answerable, whole, language, text)
    return asked.opinions if objection is None else asked.objecting(objection).opinions


def _objection(
    reply: ReadingReply, question: str, answer: str, answerable: bool, whole: bool, language: str, text: str
) -> Objection | None:
    same = same_answer(reply.answer, answer, question)
    if reply.answerable and not same:
        foreign = next(term_language_objections("answer", reply.answer, language, text), None)
        return foreign or Objection(Fate.CONFLICTING_ANSWERS, f"the reader answers {reply.answer!r}")
    if answerable:
        missed = whole and not reply.answerable
        return Objection(Fate.NOT_ANSWERED, "the reader finds no answer in the document") if missed else None
    found = same or close_answer(reply.answer, answer)
    return Objection(Fate.EVIDENCE_SURVIVES, f"the reader answers {reply.answer!r}") if found else None
