"""Ask a model for a verdict: call, read, once more when the reply cannot be read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from udfs.agents.replies import Form as ReplyForm
from udfs.agents.replies import json_schema as reply_schema
from udfs.agents.replies import read_reply
from udfs.dialogues.failures import status_of
from udfs.engines.base import Completion, Engine, Filtered, Message, OverLength, Prompt, Sampling
from udfs.judges.base import Observe, OnPrefill
from udfs.judges.verdicts import Form, Judged, allowed_verdicts, json_schema, parse_verdict
from udfs.prompts.judging import build_retry
from udfs.prompts.new_questions import build_retry_reply
from udfs.schema import Status

SHOWN_CHARACTERS: Final = 200
"""How much of a reply that cannot be read an error shows."""

R = TypeVar("R")
VerdictForm = TypeVar("VerdictForm", bound=Judged)


@dataclass(frozen=True)
class Asked(Generic[R]):
    """What came of it: what was read, or None after two replies that could not be read; and the calls it took."""

    verdict: R | None
    completions: tuple[Completion, ...]


async def ask_until_read(
    engine: Engine,
    prompt: Prompt,
    read: Callable[[Completion], R | None],
    retry: Callable[[str], tuple[Message, ...]],
    sampling: Sampling,
    schema: Mapping[str, Any],
    observe: Observe | None = None,
    on_prefill: OnPrefill | None = None,
) -> Asked[R]:
    """Ask, and once more where `read` makes nothing of the reply.

    Args:
        retry: the messages of the second try, given the first reply.
        schema: what the reply is constrained to where the engine can.

    Raises:
        EngineError: as `Engine.complete`.
    """
    completions: list[Completion] = []
    for attempt in (1, 2):
        completion = await engine.complete(prompt, sampling, schema, on_prefill if attempt == 1 else None)
        completions.append(completion)
        if observe is not None:
            observe(completion)
        found = read(completion)
        if found is not None:
            return Asked(found, tuple(completions))
        prompt = Prompt(retry(completion.text), prompt.purpose, prompt.request_id, prompt.gold)
    return Asked(None, tuple(completions))


async def ask_for_verdict(
    engine: Engine,
    messages: tuple[Message, ...],
    form: type[Form],
    sampling: Sampling,
    *,
    language: str,
    purpose: str,
    request_id: str,
    gold: Mapping[str, Any],
    observe: Observe | None = None,
    on_prefill: OnPrefill | None = None,
) -> Asked[Form]:
    """Ask for a verdict in `form`, the reply constrained to its schema where the engine can.

    Raises:
        EngineError: as `Engine.complete`.
    """
    return await ask_until_read(
        engine,
        Prompt(messages, purpose, request_id, gold),
        lambda completion: parse_verdict(completion.text, form),
        lambda reply: build_retry(language, messages, reply, allowed_verdicts(form)),
        sampling,
        json_schema(form),
        observe,
        on_prefill,
    )


@dataclass(frozen=True)
class Heard(Generic[R]):
    """What came of one thing that was asked: a reply, or the status and error of a row without one; and the calls."""

    reply: R | None
    status: Status = Status.OK
    error: str | None = None
    calls: tuple[Completion, ...] = ()


@dataclass(frozen=True)
class Asker:
    """A judge's line to its engine, for all that it asks about one response.

    Args:
        request_id: the response.
        gold: what a scripted engine may look at.
        calls: every completion so far.
    """

    engine: Engine
    sampling: Sampling
    language: str
    request_id: str
    gold: Mapping[str, Any]
    observe: Observe | None = None
    calls: list[Completion] = field(default_factory=list)

    async def verdict(self, purpose: str, messages: tuple[Message, ...], form: type[VerdictForm]) -> Heard[VerdictForm]:
        """Ask for a verdict in `form`.

        Raises:
            ProviderError, EngineDead: as `Engine.complete`.
        """
        return await self._heard(
            lambda observe: ask_for_verdict(
                self.engine,
                messages,
                form,
                self.sampling,
                language=self.language,
                purpose=purpose,
                request_id=self.request_id,
                gold=self.gold,
                observe=observe,
            )
        )

    async def reply(
        self,
        purpose: str,
        messages: tuple[Message, ...],
        form: type[ReplyForm],
        accept: Callable[[ReplyForm], R | None],
        on_prefill: OnPrefill | None = None,
    ) -> Heard[R]:
        """Ask for a reply in `form` and give what `accept` makes of it; a reply of which it makes None is no reply.

        Raises:
            ProviderError, EngineDead: as `Engine.complete`.
        """
        schema = reply_schema(form)

        def read(completion: Completion) -> R | None:
            found = read_reply(completion.text, form, cut=completion.finish_reason == "length")
            return None if found is None else accept(found)

        return await self._heard(
            lambda observe: ask_until_read(
                self.engine,
                Prompt(messages, purpose, self.request_id, self.gold),
                read,
                lambda _: build_retry_reply(self.language, messages, schema["required"]),
                self.sampling,
                schema,
                observe,
                on_prefill,
            )
        )

    async def _heard(self, ask: Callable[[Observe], Awaitable[Asked[R]]]) -> Heard[R]:
        calls: list[Completion] = []

        def count(completion: Completion) -> None:
            calls.append(completion)
            self.calls.append(completion)
            if self.observe is not None:
                self.observe(completion)

        try:
            asked = await ask(count)
        except (OverLength, Filtered) as error:
            return Heard(None, status_of(error), str(error), tuple(calls))
        if asked.verdict is None:
            error_text = f"no reply of its form in {calls[-1].text[:SHOWN_CHARACTERS]!r}"
            return Heard(None, Status.PARSE_FAILURE, error_text, tuple(calls))
        return Heard(asked.verdict, calls=tuple(calls))
