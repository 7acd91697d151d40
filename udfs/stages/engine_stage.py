"""`map_batches` on an engine actor: `__init__` remembers, the first call loads the engine, every call runs bundles.

Ray Data runs one event loop in an actor with an async `__call__`; blocks in flight share the engine and its KV budget.
"""

from __future__ import annotations

import asyncio
import dataclasses
import os
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NoReturn, Protocol, TypeVar

import pyarrow as pa

from udfs.engines.base import Completion, Engine, EngineDead
from udfs.engines.config import model_config
from udfs.engines.factory import create_engine
from udfs.engines.prices import prices_of
from udfs.scheduling import Admission
from udfs.stages.busy import BusyMeter, MeteredEngine
from udfs.stages.results import RESULTS, Tally
from udfs.stages.watch import Watch

EXIT_ENGINE_DEAD = 70
CLOSE_SECONDS = 30


@dataclass(frozen=True)
class EnginePlacement:
    """What an actor needs to know of the cluster: nothing but the split of one model over its GPUs, and the budget."""

    tensor_parallel_size: int
    kv_share: float


class Closable(Protocol):
    """What holds weights, processes or connections."""

    async def close(self) -> None: ...


Held = TypeVar("Held", bound=Closable)


class LoadedStage(Generic[Held]):
    """Base of the stages that load an engine or an embedder once and release it with the actor.

    A subclass gives `create`.
    """

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.engine: Held | None = None
        self._loading = asyncio.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0

    async def create(self) -> Held:
        """Make what is loaded, in the running event loop."""
        raise NotImplementedError

    def adopt(self, engine: Held) -> None:
        """Use `engine`, which was made in the running event loop."""
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        self.engine = engine

    async def load(self) -> Held:
        """What is loaded; the first call loads it."""
        async with self._loading:
            if self.engine is None:
                self.adopt(await self.create())
            assert self.engine is not None
            return self.engine

    def leave(self, message: str) -> NoReturn:
        """End the actor: Ray starts a new one and tries the block again; an exception would end the job."""
        self.watch.engine_died(message)  # raises when that was once too often
        print(f"engine died: {message}", file=sys.stderr, flush=True)
        os._exit(EXIT_ENGINE_DEAD)

    async def close(self) -> None:
        """Release the engine. Calling it twice is allowed."""
        engine, self.engine = self.engine, None
        if engine is not None:
            await engine.close()

    def __del__(self) -> None:
        """Ray drops the stage when the pool is done: the engine's processes must go before the actor's does."""
        loop = getattr(self, "_loop", None)
        if getattr(self, "engine", None) is None or loop is None or loop.is_closed():
            return
        if not loop.is_running():
            loop.run_until_complete(self.close())
        elif threading.get_ident() != self._thread:  # on the loop's own thread waiting for it would never end
            asyncio.run_coroutine_threadsafe(self.close(), loop).result(timeout=CLOSE_SECONDS)


class EngineStage(LoadedStage[Engine]):
    """Base of the stages that ask an engine. A subclass gives `run_bundle`.

    Args:
        model: the model's config, as under conf/model.
        placement: see `EnginePlacement`.
        watch: told of every completion and row, and of an engine's death.
    """

    def __init__(self, model: Mapping[str, Any], placement: EnginePlacement, watch: Watch) -> None:
        super().__init__(watch)
        self.model = model_config(dict(model))
        self.placement = placement
        self.admission = Admission(None)
        self.prices = prices_of(self.model)
        self.meter = BusyMeter()

    async def __call__(self, batch: pa.Table) -> pa.Table:
        """Run the bundles of one block; adds nothing to them, gives RESULTS rows."""
        try:
            engine = await self.load()
            async with asyncio.TaskGroup() as tasks:
                started = [tasks.create_task(self.run_bundle(engine, row)) for row in batch.to_pylist()]
        except EngineDead as error:  # while it was loading
            self.leave(str(error))
        except BaseExceptionGroup as failures:
            dead, _ = failures.split(EngineDead)
            if dead is None:
                raise failures.exceptions[0] from failures
            self.leave(str(dead.exceptions[0]))
        self.watch.flush()
        times = self.meter.read()
        told = {"engine": None if times is None else dataclasses.asdict(times)}
        return pa.Table.from_pylist([task.result() | told for task in started], schema=RESULTS)

    def observer(self, tally: Tally) -> Callable[[Completion], None]:
        """What dialogues and judges call with each completion: counts it for the bundle and for the watch."""

        def observe(completion: Completion) -> None:
            usd = 0.0
            if self.prices is not None:
                usd = self.prices.usd(completion.prompt_tokens, completion.cached_tokens, completion.output_tokens)
            tally.add(completion, usd)
            self.watch.completed(completion)

        return observe

    async def run_bundle(self, engine: Engine, bundle: dict[str, Any]) -> dict[str, object]:
        """Everything asked of one document; a row of RESULTS."""
        raise NotImplementedError

    async def create(self) -> Engine:
        return await create_engine(self.model, tensor_parallel_size=self.placement.tensor_parallel_size)

    def adopt(self, engine: Engine) -> None:
        """Ask `engine`, which was made in the running event loop; its KV cache sets the budget."""
        super().adopt(MeteredEngine(engine, self.meter))
        self.meter.loaded()
        kv = engine.kv_tokens
        self.admission = Admission(None if kv is None else max(1, int(kv * self.placement.kv_share)))
