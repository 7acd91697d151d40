"""When what is sent to an engine: admission by KV budget, and the lead request before its siblings. Pure asyncio.

A document's KV must stay in the cache until everything has been asked of it. Two rules keep it there:
bundles are admitted while what they hold fits a share of the cache, and inside a bundle the requests walk the prefix
tree: one lead request per document, then one per method, siblings only when their lead's prefix is in the cache.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

T = TypeVar("T")
Dialogue = Callable[[Callable[[], None]], Awaitable[T]]


class Admission:
    """A budget of KV tokens, handed out first come first served.

    A request for more than the whole budget is admitted when nothing else is in, so a document larger than the
    budget runs alone. `capacity=None` (an engine that does not say what its cache holds) admits everything.
    """

    def __init__(self, capacity: int | None) -> None:
        if capacity is not None and capacity < 1:
            raise ValueError(f"capacity must be at least 1 token, got {capacity}")
        self.capacity = capacity
        self.in_use = 0
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    def _fits(self, tokens: int) -> bool:
        return self.capacity is None or self.in_use == 0 or self.in_use + tokens <= self.capacity

    async def acquire(self, tokens: int) -> None:
        """Wait until `tokens` fit beside what is in; earlier callers go first, so a large document never starves."""
        if not self._waiting and self._fits(tokens):
            self.in_use += tokens
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        entry = (tokens, turn)
        self._waiting.append(entry)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.release(tokens)  # admitted in the same instant: hand it on
            else:
                self._waiting.remove(entry)
            raise

    def release(self, tokens: int) -> None:
        """Give back `tokens` and admit whoever is next and fits."""
        self.in_use -= tokens
        while self._waiting and self._fits(self._waiting[0][0]):
            waiting_tokens, turn = self._waiting.popleft()
            if not turn.cancelled():
                self.in_use += waiting_tokens
                turn.set_result(None)

    @asynccontextmanager
    async def admit(self, tokens: int) -> AsyncIterator[Callable[[int], None]]:
        """Hold `tokens`; the yielded function gives a part of them back early."""
        await self.acquire(tokens)
        held = tokens

        def give_back(part: int) -> None:
            nonlocal held
            part = min(part, held)
            held -= part
            self.release(part)

        try:
            yield give_back
        finally:
            self.release(held)


def parallel_within(budget: int | None, prefix_tokens: int, tokens_each: int, wanted: int) -> int:
    """How many of `wanted` dialogues fit beside their document in `budget` tokens; at least 1."""
    if budget is None:
        return wanted
    return max(1, min(wanted, (budget - prefix_tokens) // max(1, tokens_each)))


async def walk_prefix_tree(views: Sequence[Sequence[Sequence[Dialogue[T]]]], parallel: int) -> list[T]:
    """Run every dialogue of a bundle, leads first; results in the order of the walk.

    The first dialogue leads the bundle: whatever it shares with the others is then in the cache. The first of each
    view leads that view, the first of each group its group, and all others wait for their group's lead.

    Args:
        views: groups by view (a document with the same cuts), dialogues by group (one method), in the order to walk.
            Each dialogue takes a function to call when its first prompt is in the cache
            (`Engine.complete(on_prefill=)`); it counts as called when the dialogue ends, however it ends.
        parallel: dialogues in flight at once, at least 1.

    Raises:
        Whatever a dialogue raises; the others are cancelled first.
    """
    slots = asyncio.Semaphore(parallel)  # asyncio's is first come first served: the walk keeps its order
    root: asyncio.Event | None = None

    async def run(start: Dialogue[T], wait_for: asyncio.Event | None, leads: asyncio.Event | None) -> T:
        if wait_for is not None:
            await wait_for.wait()
        async with slots:
            try:
                return await start(leads.set if leads is not None else _nothing)
            finally:
                if leads is not None:
                    leads.set()

    started: list[asyncio.Task[T]] = []
    try:
        async with asyncio.TaskGroup() as tasks:
            for view in views:
                view_lead: asyncio.Event | None = None
                for group in view:
                    group_lead = asyncio.Event()
                    for position, dialogue in enumerate(group):
                        before = group_lead if position else view_lead or root
                        started.append(tasks.create_task(run(dialogue, before, None if position else group_lead)))
                    view_lead = view_lead or group_lead
                    root = root or group_lead
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from failures
    return [task.result() for task in started]


def _nothing() -> None:
    return None
