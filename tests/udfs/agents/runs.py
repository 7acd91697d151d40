"""Runs of the agents' program over a text, with an engine that keeps a record of what it was asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from udfs.agents.program import Making, Source, run_program, template_hashes
from udfs.agents.spec import SynthesisSpec, spec_hash
from udfs.engines.base import Completion, Message, Prompt, Sampling
from udfs.engines.config import ScriptedModel
from udfs.engines.scripted import ScriptedEngine
from udfs.identity import doc_id
from udfs.records import Candidate

WHEN = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
Override = Callable[[Prompt], str | None]


@dataclass(frozen=True)
class Call:
    """One prompt and what came back."""

    prompt: Prompt
    text: str

    @property
    def gold(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.prompt.gold["agent"]
        return found

    @property
    def reply(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.text)
        return found


@dataclass
class Recording:
    """The scripted engine, with a record of its calls; `override` may say what it replies instead."""

    config: ScriptedModel = field(default_factory=ScriptedModel)
    override: Override | None = None
    calls: list[Call] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._engine = ScriptedEngine(self.config)

    @property
    def name(self) -> str:
        return self._engine.name

    @property
    def revision(self) -> str:
        return self._engine.revision

    @property
    def kv_tokens(self) -> int | None:
        return self._engine.kv_tokens

    @property
    def block_size(self) -> int:
        return self._engine.block_size

    async def complete(
        self,
        prompt: Prompt,
        sampling: Sampling,
        schema: Mapping[str, Any] | None = None,
        on_prefill: Callable[[], None] | None = None,
    ) -> Completion:
        done = await self._engine.complete(prompt, sampling, schema, on_prefill)
        said = None if self.override is None else self.override(prompt)
        if said is not None:
            done = Completion(said, done.prompt_tokens, 0, done.output_tokens, "stop", done.seconds)
        self.calls.append(Call(prompt, done.text))
        return done

    async def count_tokens(self, messages: Sequence[Message]) -> int | None:
        return await self._engine.count_tokens(messages)

    async def close(self) -> None:
        await self._engine.close()

    def asked(self, purpose: str, request_id: str) -> list[Call]:
        """The calls of a purpose that serve a candidate."""
        return [call for call in self.calls if (call.prompt.purpose, call.prompt.request_id) == (purpose, request_id)]


def synthesise(
    text: str, language: str, indices: Sequence[int], spec: SynthesisSpec, engine: Recording | None = None
) -> list[Candidate]:
    """The candidates of some fragments of a document."""
    engine = engine or Recording()
    source = Source(doc_id(text), "texts", language, "book", "0-16K")
    making = Making("made", spec_hash(spec, engine.name, engine.revision, template_hashes()), "m", engine.revision)

    async def run() -> list[Candidate]:
        return await run_program(engine, text, source, indices, spec, making, clock=lambda: WHEN)

    return asyncio.run(run())
