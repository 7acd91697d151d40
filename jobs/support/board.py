"""Progress across actors: engine stages write to one small actor, the driver reads it."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

import ray

from jobs.support.placement import actor_beside_driver
from udfs.engines.base import Completion
from udfs.errors import RunFailed
from udfs.stages.watch import Flight

REPORT_SECONDS = 1.0


class Board:
    """The actor: sums of what stages report. One for each stage that runs."""

    def __init__(self) -> None:
        self.flight = Flight()
        self.deaths = 0
        self.blocks: dict[str, int] = {}
        self._nodes: dict[str, str] = {}
        self._told: set[str] = set()

    def add(self, part: Flight) -> None:
        self.flight.add(part)

    def read(self) -> Flight:
        return self.flight

    def works_on(self, actor: str, blocks: int) -> None:
        self.blocks[actor] = blocks

    def read_blocks(self) -> dict[str, int]:
        return self.blocks

    def came(self, actor: str, node: str, alive: Collection[str]) -> int:
        """An engine's actor is there, for the first time or anew; gives the deaths so far.

        It died, though it did not tell, where the node that it was on before is still alive.

        Args:
            alive: ids of the nodes that are.
        """
        before = self._nodes.get(actor)
        self.deaths += before in alive and actor not in self._told
        self._told.discard(actor)
        self._nodes[actor], self.blocks[actor] = node, 0
        return self.deaths

    def add_death(self, actor: str) -> int:
        """An engine tells that it dies; gives the deaths so far."""
        self.deaths += 1
        self._told.add(actor)
        return self.deaths


class BoardWatch:
    """What engine actors get: adds up locally and reports at most once a second (`udfs.stages.watch.Watch`).

    Ray starts an actor anew without end, and a lost spot node must never count; an engine that dies by itself again and
    again (a broken model, a poisonous bundle, too little memory) must end the run: `max_deaths`.
    """

    def __init__(self, board: Any, max_deaths: int) -> None:
        self.board, self.max_deaths = board, max_deaths
        self._part = Flight()
        self._last = 0.0
        self._end: RunFailed | None = None
        self._blocks = 0

    def ready(self) -> None:
        """The actor is there, for the first time or started anew, and works on nothing yet."""
        here = ray.get_runtime_context()
        alive = [node["NodeID"] for node in ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]
        deaths: int = ray.get(self.board.came.remote(here.get_actor_id(), here.get_node_id(), alive))
        if deaths > self.max_deaths:
            self._end = self._too_often(deaths, "its process was killed, most likely for want of memory")

    @contextmanager
    def block(self) -> Iterator[None]:
        """Around the work on one block: how many an actor works on is known to the driver.

        Raises:
            RunFailed: engines died too often before.
        """
        if self._end is not None:
            raise self._end
        self._work_on(1)
        try:
            yield
        finally:
            self._work_on(-1)

    def _work_on(self, more: int) -> None:
        self._blocks += more
        self.board.works_on.remote(ray.get_runtime_context().get_actor_id(), self._blocks)

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
            deaths: int = ray.get(self.board.add_death.remote(ray.get_runtime_context().get_actor_id()))
            if deaths <= self.max_deaths:
                return
            self._end = self._too_often(deaths, error)
        raise self._end

    def _too_often(self, deaths: int, last: str) -> RunFailed:
        return RunFailed(f"the engine died {deaths} times (cluster.max_restarts={self.max_deaths}), last: {last}")

    def _report(self) -> None:
        if time.monotonic() - self._last >= REPORT_SECONDS:
            self.flush()


def new_board() -> Any:
    """A handle of a new board."""
    return actor_beside_driver(Board)


def read_board(board: Any) -> Flight:
    """What has been reported so far."""
    flight: Flight = ray.get(board.read.remote())
    return flight


def read_blocks(board: Any) -> dict[str, int]:
    """How many blocks each engine works on, by actor id."""
    blocks: dict[str, int] = ray.get(board.read_blocks.remote())
    return blocks
