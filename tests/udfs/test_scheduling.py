"""Admission and the walk over the prefix tree."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.scheduling import Admission, parallel_within, walk_prefix_tree


async def settle() -> None:
    """Let every task that can go on do so."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_admission_within_capacity_admits_at_once() -> None:
    admission = Admission(100)
    await admission.acquire(60)
    await admission.acquire(40)
    assert admission.in_use == 100


async def test_admission_over_capacity_waits_for_release() -> None:
    admission = Admission(100)
    await admission.acquire(60)
    second = asyncio.create_task(admission.acquire(50))
    await settle()
    assert not second.done()
    admission.release(60)
    await settle()
    assert second.done()
    assert admission.in_use == 50


async def test_admission_document_larger_than_capacity_runs_alone() -> None:
    admission = Admission(100)
    await admission.acquire(10)
    large = asyncio.create_task(admission.acquire(500))
    small = asyncio.create_task(admission.acquire(5))
    await settle()
    assert not large.done()
    assert not small.done(), "a later small request must not overtake the large one for ever"
    admission.release(10)
    await settle()
    assert large.done()
    assert not small.done()
    admission.release(500)
    await settle()
    assert small.done()


async def test_admission_cancelled_waiter_leaves_the_line() -> None:
    admission = Admission(100)
    await admission.acquire(100)
    waiting = asyncio.create_task(admission.acquire(100))
    await settle()
    waiting.cancel()
    await settle()
    admission.release(100)
    await admission.acquire(100)
    assert admission.in_use == 100


async def test_admit_gives_back_early_and_the_rest_at_the_end() -> None:
    admission = Admission(100)
    async with admission.admit(90) as give_back:
        give_back(30)
        assert admission.in_use == 60
        give_back(500)
        assert admission.in_use == 0
    assert admission.in_use == 0


async def test_admission_without_capacity_admits_everything() -> None:
    admission = Admission(None)
    for _ in range(10):
        await admission.acquire(10**9)
    assert admission.in_use == 10**10


@given(
    capacity=st.integers(1, 50),
    sizes=st.lists(st.integers(0, 80), max_size=30),
    cancelled=st.sets(st.integers(0, 29)),
)
def test_admission_never_exceeds_capacity_except_alone(capacity: int, sizes: list[int], cancelled: set[int]) -> None:
    async def run() -> None:
        admission = Admission(capacity)
        inside: list[int] = []

        async def one(size: int) -> None:
            async with admission.admit(size):
                inside.append(size)
                assert sum(inside) <= capacity or len([s for s in inside if s]) == 1
                try:
                    await asyncio.sleep(0)
                finally:
                    inside.remove(size)

        tasks = [asyncio.create_task(one(size)) for size in sizes]
        await asyncio.sleep(0)
        for index in cancelled:
            if index < len(tasks):
                tasks[index].cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert not [r for r in results if isinstance(r, AssertionError)]
        assert admission.in_use == 0

    asyncio.run(run())


@pytest.mark.parametrize(
    ("budget", "prefix", "each", "wanted", "expected"),
    [(None, 10**9, 10, 7, 7), (100, 60, 10, 9, 4), (100, 60, 10, 2, 2), (100, 200, 10, 5, 1), (100, 95, 10, 5, 1)],
)
def test_parallel_within_budget(budget: int | None, prefix: int, each: int, wanted: int, expected: int) -> None:
    assert parallel_within(budget, prefix, each, wanted) == expected


class Recorder:
    """Dialogues that say when they start, and wait to be let on."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.prefilled: dict[str, Callable[[], None]] = {}
        self.finish = asyncio.Event()

    async def dialogue(self, name: str, on_prefill: Callable[[], None]) -> str:
        self.started.append(name)
        self.prefilled[name] = on_prefill
        await self.finish.wait()
        return name


async def test_walk_waits_for_the_lead_of_the_document_then_of_the_group() -> None:
    recorder = Recorder()
    groups = [[functools.partial(recorder.dialogue, n) for n in names] for names in (["a1", "a2"], ["b1", "b2"])]
    walk: asyncio.Task[list[str]] = asyncio.create_task(walk_prefix_tree([groups], parallel=10))
    await settle()
    assert recorder.started == ["a1"]
    recorder.prefilled["a1"]()
    await settle()
    assert set(recorder.started) == {"a1", "a2", "b1"}
    recorder.prefilled["b1"]()
    await settle()
    assert set(recorder.started) == {"a1", "a2", "b1", "b2"}
    recorder.finish.set()
    assert await walk == ["a1", "a2", "b1", "b2"]


async def test_walk_gives_each_view_a_lead_of_its_own() -> None:
    recorder = Recorder()
    views = [
        [[functools.partial(recorder.dialogue, n)] for n in ("v1-zs", "v1-fs")],
        [[functools.partial(recorder.dialogue, n)] for n in ("v2-zs", "v2-fs")],
    ]
    walk: asyncio.Task[list[str]] = asyncio.create_task(walk_prefix_tree(views, parallel=10))
    await settle()
    recorder.prefilled["v1-zs"]()
    await settle()
    assert set(recorder.started) == {"v1-zs", "v1-fs", "v2-zs"}
    recorder.prefilled["v2-zs"]()
    await settle()
    assert recorder.started[-1] == "v2-fs"
    recorder.finish.set()
    assert await walk == ["v1-zs", "v1-fs", "v2-zs", "v2-fs"]


async def test_walk_goes_on_when_a_lead_ends_without_prefill() -> None:
    async def dialogue(on_prefill: Callable[[], None]) -> int:
        return 1  # over-length, say: it never reached the engine

    assert await walk_prefix_tree([[[dialogue, dialogue], [dialogue]]], parallel=1) == [1, 1, 1]


async def test_walk_keeps_to_the_parallel_limit() -> None:
    running = peak = 0

    async def dialogue(on_prefill: Callable[[], None]) -> None:
        nonlocal running, peak
        on_prefill()
        running += 1
        peak = max(peak, running)
        await settle()
        running -= 1

    await walk_prefix_tree([[[dialogue] * 9, [dialogue] * 9]], parallel=3)
    assert peak == 3


async def test_walk_raises_what_a_dialogue_raises() -> None:
    async def good(on_prefill: Callable[[], None]) -> None:
        await asyncio.Event().wait()

    async def bad(on_prefill: Callable[[], None]) -> None:
        raise LookupError("engine gone")

    with pytest.raises(LookupError, match="engine gone"):
        await walk_prefix_tree([[[bad, good]]], parallel=2)
