"""Busy and idle seconds of engines, with a clock of one's own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from udfs.engines.base import Completion, Prompt, ProviderError, Sampling
from udfs.engines.config import ScriptedModel
from udfs.engines.scripted import ScriptedEngine
from udfs.stages.busy import BusyMeter, EngineTimes, Idleness, MeteredEngine, idleness


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_meter_counts_time_with_a_request_in_flight_once() -> None:
    clock = Clock()
    meter = BusyMeter(clock)
    steps: list[tuple[float, Callable[[], None]]] = [
        (5, meter.loaded), (7, meter.begin), (8, meter.begin), (10, meter.end), (12, meter.end), (20, meter.begin),
        (21, meter.end),
    ]  # fmt: skip
    assert meter.read() is None
    for second, step in steps:
        clock.now = 100.0 + second
        step()
    told = meter.read()
    assert told is not None
    assert (told.started_at, told.loaded_at, told.first_at, told.last_at) == (100.0, 105.0, 107.0, 121.0)
    assert told.busy_seconds == pytest.approx(5 + 1)
    assert told.requests == 3


def test_meter_read_in_the_middle_counts_what_is_in_flight() -> None:
    clock = Clock()
    meter = BusyMeter(clock)
    for now, step in ((101.0, meter.begin), (102.0, meter.end), (110.0, meter.begin)):
        clock.now = now
        step()
    clock.now = 113.0
    told = meter.read()
    assert told is not None
    assert told.busy_seconds == pytest.approx(1 + 3)


def test_metered_engine_tells_of_calls_that_fail_too() -> None:
    meter = BusyMeter()
    engine = MeteredEngine(ScriptedEngine(ScriptedModel(error_rate=1.0)), meter)

    async def ask() -> Completion:
        return await engine.complete(Prompt(({"role": "user", "content": "x"},), "answer", "r"), Sampling())

    with pytest.raises(ProviderError):
        asyncio.run(ask())
    told = meter.read()
    assert told is not None
    assert told.requests == 1


def times(engine: str, loaded: float, last: float, busy: float) -> EngineTimes:
    return EngineTimes(engine, loaded - 1, loaded, loaded, last, busy, 3)


def test_idleness_is_over_the_time_up_to_the_last_engines_end() -> None:
    found = idleness([times("a", 10.0, 20.0, 8.0), times("b", 12.0, 30.0, 18.0)])
    assert found == Idleness(busy_seconds=26.0, idle_seconds=20.0 + 18.0 - 26.0, tail_seconds=10.0)
    assert idleness([times("a", 10.0, 20.0, 10.0)]) == Idleness(10.0, 0.0, 0.0)
    assert idleness([]) is None
