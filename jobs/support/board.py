"""Progress across actors: engine stages write to one small actor, the driver reads it."""

from __future__ import annotations

import time
from typing import Any

import ray

from udfs.engines.base import Completion
from udfs.errors import RunFailed
from udfs.stages.watch import Flight

REPORT_SECONDS = 1.0


class _Board:
    """The actor: sums of what stages report. One for each stage that runs."""

    def __init__(self) -> None:
        self.flight = Flight()
        self.deaths = 0

    def add(self, part: Flight) -> None:
        self.flight.add(part)

    def read(self) -> Flight:
        return self.flight

    def add_death(self) -> int:
        self.deaths += 1
        return self.deaths


class BoardWatch:
    """What engine actors get: adds up locally and reports at most once a second (`udfs.stages.watch.Watch`).

    Ray starts an actor anew without end, and a lost spot node must never count; an engine that dies by itself again and
    again (a broken model, a poisonous bundle) must end the run: `max_deaths`.
    """

    def __init__(self, board: Any, max_deaths: int) -> None:
        self.board, self.max_deaths = board, max_deaths
        self._part = Flight()
        self._last = 0.0
        self._end: RunFailed | None = None

    def completed(self, completion: Completion) -> None:
        self._part.add_completion(completion)
        self._report()

    def row(self, status: str) -> None:
        self._part.statuses[status] += 1
        self._report()

    def flush(self) -> None:
        self.board.add.remote(self._part)
        self._part, self._last = Flight(), time.monotonic()

    def engine_died(self, error: str) -> None:
        if self._end is None:  # every block in flight tells of the same death
            deaths: int = ray.get(self.board.add_death.remote())
            if deaths <= self.max_deaths:
                return
            limit = f"cluster.max_restarts={self.max_deaths}"
            self._end = RunFailed(f"the engine died {deaths} times ({limit}), last: {error}")
        raise self._end

    def _report(self) -> None:
        if time.monotonic() - self._last >= REPORT_SECONDS:
            self.flush()


def new_board() -> Any:
    """A handle of a new board."""
    return ray.remote(num_cpus=0)(_Board).remote()


def read_board(board: Any) -> Flight:
    """What has been reported so far."""
    flight: Flight = ray.get(board.read.remote())
    return flight
