"""When an engine works and when it waits: its requests in flight, as its stage sees them."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from udfs.engines.base import Completion, Engine, Message, Prompt, Sampling


@dataclass(frozen=True, slots=True)
class EngineTimes:
    """One engine's times so far, as of the end of a block.

    Times are seconds since 1970 by the clock of the engine's machine: machines of a cluster have to agree.
    """

    engine: str
    started_at: float
    """Its stage was made: what is held for it costs from here on."""
    loaded_at: float
    first_at: float
    """The first request went in."""
    last_at: float
    """The last request came back."""
    busy_seconds: float
    """At least one request was in flight."""
    requests: int


class BusyMeter:
    """Counts the seconds in which at least one request is in flight. One event loop uses it."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self.engine = uuid.uuid4().hex[:12]
        self.started_at = self.loaded_at = clock()
        self._first: float | None = None
        self._last = 0.0
        self._busy = 0.0
        self._since = 0.0
        self._in_flight = 0
        self._requests = 0

    def loaded(self) -> None:
        """The engine is ready."""
        self.loaded_at = self._clock()

    def begin(self) -> None:
        """A request goes in."""
        now = self._clock()
        if self._first is None:
            self._first = now
        if not self._in_flight:
            self._since = now
        self._in_flight += 1
        self._requests += 1

    def end(self) -> None:
        """A request came back, well or not."""
        now = self._clock()
        self._in_flight -= 1
        self._last = now
        if not self._in_flight:
            self._busy += now - self._since

    def read(self) -> EngineTimes | None:
        """The times so far; None before the first request came back."""
        if self._first is None or not self._last:
            return None
        running = self._clock() - self._since if self._in_flight else 0.0
        return EngineTimes(
            self.engine, self.started_at, self.loaded_at, self._first, self._last, self._busy + running, self._requests
        )


class MeteredEngine:
    """`engine`, with every request told to `meter`."""

    def __init__(self, engine: Engine, meter: BusyMeter) -> None:
        self._engine, self._meter = engine, meter

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
        self._meter.begin()
        try:
            return await self._engine.complete(prompt, sampling, schema, on_prefill)
        finally:
            self._meter.end()

    async def count_tokens(self, messages: Sequence[Message]) -> int | None:
        return await self._engine.count_tokens(messages)

    async def close(self) -> None:
        await self._engine.close()


@dataclass(frozen=True, slots=True)
class Idleness:
    """What engines did between being loaded and the end of their stage.

    Args:
        busy_seconds: over all engines.
        idle_seconds: loaded, and no request in flight, up to the end of the last request of any engine.
        tail_seconds: from the end of the first engine that had no more to do to the end of the last.
    """

    busy_seconds: float
    idle_seconds: float
    tail_seconds: float


def idleness(engines: Sequence[EngineTimes]) -> Idleness | None:
    """Over the engines of one stage; None without any."""
    if not engines:
        return None
    end = max(one.last_at for one in engines)
    busy = sum(one.busy_seconds for one in engines)
    held = sum(max(0.0, end - one.loaded_at) for one in engines)
    return Idleness(busy, max(0.0, held - busy), end - min(one.last_at for one in engines))
