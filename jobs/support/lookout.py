"""Notices when what is left of a stage waits for nodes that do not come, while engines that are there stand idle.

Ray starts an actor of a lost node anew wherever there is room, and its blocks wait for that very actor. On spot
capacity the room may never come: the run would stand still, with engines that are paid for. After a while the stage's
pipeline is ended and what is left of its plan is given to a new one, over the nodes that are there.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self

import ray
from ray._private import state as ray_state  # the public list of actors needs a dashboard
from ray.data._internal.execution.streaming_executor import StreamingExecutor
from ray.exceptions import RayError

from udfs.errors import warn

LOOK_SECONDS: Final = 5.0
WAITING: Final = frozenset({"DEPENDENCIES_UNREADY", "PENDING_CREATION", "RESTARTING"})


@dataclass(frozen=True)
class ActorState:
    """An actor of a stage's pipeline: one of the engines, or what feeds them."""

    actor: str
    is_engine: bool
    state: str
    """Ray's word: ALIVE, RESTARTING, …"""


def stands_still(actors: Iterable[ActorState], blocks: Mapping[str, int]) -> bool:
    """Whether some actors wait for room while no engine that is there has a block to work on.

    Args:
        blocks: how many blocks each engine works on, by actor.
    """
    found = list(actors)
    alive = [one for one in found if one.is_engine and one.state == "ALIVE"]
    waiting = any(one.state in WAITING for one in found)
    return waiting and bool(alive) and not any(blocks.get(one.actor) for one in alive)


class Lookout:
    """Ends the pipeline that runs in the `with` block once it has stood still for `patience_s`.

    Args:
        engine: name of the stage's class.
        blocks: what every engine works on, by actor.
    """

    def __init__(self, engine: str, blocks: Callable[[], Mapping[str, int]], patience_s: float) -> None:
        self.engine, self.blocks, self.patience_s = engine, blocks, patience_s
        self.ended = False
        """Whether the pipeline was ended: its results are not complete then."""
        self.paused = False
        """Set while results are being recorded: engines may wait for that."""
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._look, name="lookout", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._left.set()
        self._thread.join(timeout=LOOK_SECONDS)

    def _look(self) -> None:
        since: float | None = None
        while not self._left.wait(min(LOOK_SECONDS, self.patience_s / 4)):
            try:
                still = not self.paused and stands_still(actor_states(self.engine), self.blocks())
            except (RayError, RuntimeError):  # the stage is ending, or the cluster does not answer just now
                continue
            since = (since or time.monotonic()) if still else None
            if since is not None and time.monotonic() - since >= self.patience_s:
                warn(
                    f"nodes were lost and none came for {self.patience_s:g} s "
                    "(cluster.reassign_s); the engines that are left take over what was lost"
                )
                self.ended = True
                _end_pipelines()
                return


def actor_states(engine: str) -> list[ActorState]:
    """The actors of this job's pipelines that have not ended for good."""
    job = ray.get_runtime_context().get_job_id()
    table: dict[str, dict[str, Any]] = ray_state.actors()
    return [
        ActorState(actor, engine in row["ActorClassName"], row["State"])
        for actor, row in table.items()
        if row["JobID"] == job and row["ActorClassName"].startswith("MapWorker(") and row["State"] != "DEAD"
    ]


def _end_pipelines() -> None:
    """Let every dataset that this process runs come to its end: its iterator stops, its actors are released."""
    for thread in threading.enumerate():
        if isinstance(thread, StreamingExecutor):
            thread.shutdown(force=False)
