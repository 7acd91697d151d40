"""Ask one agent: call, read, once more when the reply cannot be read. Row errors become opinions."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, TypeVar

from udfs.agents.base import AgentGold, Opinion, purpose
from udfs.agents.checks import Objection, reply_objections
from udfs.agents.replies import Form, Reply, json_schema, read_reply
from udfs.dialogues.failures import ROW_ERRORS, status_of
from udfs.engines.base import Completion, Engine, Message, OverLength, Prompt, Sampling
from udfs.judges.base import Observe, OnPrefill
from udfs.prompts.agents import build_retry
from udfs.schema import Fate, Step

RULES: Final = "rules"
"""The name under which deterministic checks give their opinion."""
SHOWN_CHARACTERS: Final = 200
"""How much of a reply that cannot be read its opinion shows."""

R = TypeVar("R", bound=Reply)
T = TypeVar("T")


@dataclass(frozen=True)
class Asked(Generic[R]):
    """What came of asking an agent.

    Args:
        opinions: the agent's own, then that of the rules on its reply.
        reply: None where it could not be had, could not be read, or must not be used.
    """

    opinions: tuple[Opinion, ...]
    reply: R | None = None

    def objecting(self, objection: Objection) -> Asked[R]:
        """The same with the agent against the candidate; its reply is kept."""
        own, *rest = self.opinions
        return Asked((replace(own, against=objection.fate, detail=objection.detail), *rest), self.reply)


@dataclass(frozen=True)
class Asker:
    """A document's line to its engine.

    Args:
        language: of the document, so of every prompt.
        slots: calls in flight at once, over all that is asked about the document.
        observe: called with every completion, for accounting.
    """

    engine: Engine
    sampling: Sampling
    language: str
    slots: asyncio.Semaphore
    observe: Observe | None = field(default=None)

    async def ask(
        self,
        agent: str,
        step: Step,
        messages: tuple[Message, ...],
        form: type[Form],
        gold: AgentGold,
        request_id: str,
        on_prefill: OnPrefill | None = None,
    ) -> Asked[Form]:
        """Ask for a reply in `form`, constrained to its schema where the engine can.

        Raises:
            EngineDead: nothing more will come from this engine.
        """
        last = ""
        for attempt in (1, 2):
            prompt = Prompt(messages, purpose(agent), request_id, {"agent": {"language": self.language, **gold}})
            try:
                completion = await self._complete(prompt, form, on_prefill if attempt == 1 else None)
            except ROW_ERRORS as error:
                if attempt == 2 and isinstance(error, OverLength):  # the first, a few words shorter, did fit
                    break
                return Asked((Opinion(agent, step, Fate(status_of(error).value), str(error)),))
            reply = read_reply(completion.text, form, cut=completion.finish_reason == "length")
            if reply is not None:
                return _checked(agent, step, reply)
            last = completion.text
            messages = build_retry(self.language, messages, json_schema(form)["required"])
        detail = f"no reply of its form in {last[:SHOWN_CHARACTERS]!r}"
        return Asked((Opinion(agent, step, Fate.PARSE_FAILURE, detail),))

    async def _complete(self, prompt: Prompt, form: type[Form], on_prefill: OnPrefill | None) -> Completion:
        async with self.slots:
            completion = await self.engine.complete(prompt, self.sampling, json_schema(form), on_prefill)
        if self.observe is not None:
            self.observe(completion)
        return completion


def _checked(agent: str, step: Step, reply: Form) -> Asked[Form]:
    """The reply with the agent's opinion, unless a check of every reply objects."""
    objection = next(reply_objections(reply), None)
    if objection is None:
        return Asked((Opinion(agent, step, reply=reply.plain()),), reply)
    kept = {} if objection.fate is Fate.TOO_LONG else reply.plain()
    return Asked((Opinion(agent, step, reply=kept), opinion_of_rules(step, [objection])))


def opinion_of_rules(step: Step, objections: Iterable[Objection]) -> Opinion:
    """The first objection as the rules' opinion; without one they speak for the candidate."""
    first = next(iter(objections), None)
    return Opinion(RULES, step) if first is None else Opinion(RULES, step, first.fate, first.detail)


def against(opinions: Iterable[Opinion]) -> Iterator[Opinion]:
    """The opinions that would end the candidate."""
    return (opinion for opinion in opinions if opinion.against is not None)


async def together(coroutines: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run all at once; results in order.

    Raises:
        Whatever the first to fail raises; the others are cancelled before.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(coroutine) for coroutine in coroutines]
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from failures
    return [task.result() for task in tasks]
