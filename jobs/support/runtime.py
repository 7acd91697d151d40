"""Ray for a job: start or join it, stream a plan through its stages, leave it."""

from __future__ import annotations

import logging
import os
import re
import signal
import socket
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.compute as pc
import ray
from ray.data import ActorPoolStrategy, DataContext, TaskPoolStrategy
from ray.data.exceptions import UserCodeException  # type: ignore[attr-defined]  # not in its __all__
from ray.exceptions import RayError

from jobs.config import ClusterConfig
from jobs.support.board import BoardWatch, new_board, read_blocks, read_board
from jobs.support.lookout import Lookout
from jobs.support.plan_source import Plan
from jobs.support.transport import tables_as_ipc
from udfs.bundles import AttachDocuments
from udfs.errors import RunFailed, StorageError, UserError
from udfs.stages.watch import Flight

MIB = 1024 * 1024
TARGET_BLOCK_BYTES = 16 * MIB
MAX_CAUSE_CHARS = 600
CONNECT_SECONDS = 10


@dataclass(frozen=True)
class ActorStage:
    """One engine stage and what it is made with."""

    stage: type
    arguments: dict[str, Any] = field(default_factory=dict)
    gpus: float = 0.0
    """GPUs that one actor takes."""


class Cluster:
    """Ray for one job: started (or joined) when the first stage needs it, left when the `with` block ends.

    Args:
        config: placement, from `conf/cluster`.
        root: the storage root that documents are read from.
    """

    def __init__(self, config: ClusterConfig, root: str) -> None:
        self.config, self.root = config, root
        self._address = config.address or os.environ.get("RAY_ADDRESS")
        self._ours = False
        self._board: Any = None

    def __enter__(self) -> Self:
        """Look whether the cluster answers, where one is named; nothing starts yet.

        Raises:
            UserError: nobody does.
        """
        if self._address and not ray.is_initialized():
            _require_listener(self._address)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._ours:
            ray.shutdown()

    def stream_actors(self, plan: list[pa.Table], stage: ActorStage, reads_text: bool = True) -> Iterator[pa.Table]:
        """plan → attach documents → engine actors; RESULTS tables as they come.

        What nodes that were lost worked on is tried again: by Ray, on the same actors as soon as there is room for
        them; where there is none while other engines idle, by a new pipeline over what is left (`Lookout`).

        Args:
            reads_text: whether the documents are attached.

        Raises:
            RunFailed: a stage raised, or an engine died more often than `cluster.max_restarts`.
        """
        self.start()
        board = self._new_board()
        watch = BoardWatch(board, self.config.max_restarts)
        left = plan
        try:
            while left:
                came: set[str] = set()
                with Lookout(stage.stage.__name__, lambda: read_blocks(board), self.config.reassign_s) as lookout:
                    for results in _results(self._actors_dataset(left, stage, watch, reads_text)):
                        came.update(results["bundle_id"].to_pylist())
                        lookout.paused = True
                        yield results
                        lookout.paused = False
                left = _without(left, came)
                if left and not lookout.ended:
                    raise RunFailed(f"{sum(block.num_rows for block in left):,} bundles came back without a result")
        finally:
            self._board = None

    def _actors_dataset(
        self, plan: list[pa.Table], stage: ActorStage, watch: BoardWatch, reads_text: bool
    ) -> ray.data.Dataset:
        config = self.config
        dataset: ray.data.Dataset
        if reads_text:
            dataset = _read(plan).map_batches(
                Reader,  # on actors: Ray would fuse tasks into the engine actor, and reading would stall it
                fn_constructor_args=(self.root,),
                batch_format="pyarrow",
                batch_size=None,
                compute=ActorPoolStrategy(size=config.attach_tasks),
                num_cpus=1,
            )
        else:
            dataset = ray.data.from_arrow(plan)  # few large blocks; to read them would take a CPU
        return dataset.map_batches(
            _counted(stage.stage),
            fn_constructor_kwargs={**stage.arguments, "watch": watch},
            batch_format="pyarrow",
            batch_size=None,
            compute=ActorPoolStrategy(
                # All are asked for at once: those that find no room yet are what an autoscaler sees, and each takes
                # work as soon as a node has come. A pool that grows by load would not: blocks wait in few actors.
                size=min(config.actors, len(plan)),
                max_tasks_in_flight_per_actor=config.blocks_per_actor + 1,
                max_concurrent_calls_per_actor=config.blocks_per_actor,
            ),
            num_cpus=config.actor_cpus,
            num_gpus=stage.gpus,
        )

    def stream_tasks(
        self, plan: list[pa.Table], stage: Callable[[pa.Table], pa.Table], reads_text: bool = False
    ) -> Iterator[pa.Table]:
        """plan → a stage without a model, as CPU tasks; RESULTS tables as they come.

        Args:
            reads_text: whether the documents are attached first: in the same task, so that no text is stored between.
        """
        self.start()
        compute = TaskPoolStrategy(size=min(self.config.attach_tasks, len(plan)))  # of more, Ray warns
        dataset = _read(plan, compute).map_batches(
            _task(stage, self.root if reads_text else None),
            batch_format="pyarrow",
            batch_size=None,
            compute=compute,
            num_cpus=1,
        )
        yield from _results(dataset)

    def in_flight(self) -> Flight | None:
        """What the engine stage that runs has done so far, recorded or not; None when none runs."""
        board = self._board  # read once: the stage's end takes it away from another thread
        return read_board(board) if board is not None else None

    def _new_board(self) -> Any:
        self._board = new_board()
        return self._board

    def start(self) -> None:
        """Start or join Ray now, where a stage's own actors have to be there before it; else the first stage does."""
        if not ray.is_initialized():
            on_terminate = signal.getsignal(signal.SIGTERM)
            self._init()
            signal.signal(signal.SIGTERM, on_terminate)  # Ray takes it, and would die with a dump where a job leaves
            self._ours = True
        tables_as_ipc()
        context = DataContext.get_current()
        context.enable_progress_bars = False
        context.print_on_execution_start = False
        context.enable_auto_log_stats = False
        context.target_max_block_size = TARGET_BLOCK_BYTES
        context.execution_no_progress_timeout_s = -1  # a 128K document or a wait for spot capacity is no fault
        for name in ("ray", "ray.data"):
            logging.getLogger(name).setLevel(logging.CRITICAL)  # what matters is raised, once
        warnings.filterwarnings("ignore", "The serialized size of your read function")  # a block of a plan may be 1 MiB

    def _init(self) -> None:
        address = self._address
        common: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
        try:
            with _native_stderr_closed():
                if address:
                    ray.init(address=address, **common)
                else:
                    ray.init(
                        num_cpus=self.config.num_cpus,
                        object_store_memory=self.config.object_store_mb * MIB,
                        include_dashboard=False,
                        **common,
                    )
        except ConnectionError as error:
            raise UserError(f"cluster.address={address!r}: no Ray cluster answers there ({error})") from error


def _require_listener(address: str) -> None:
    """Raise `UserError` where nobody listens at `host:port`: Ray itself would wait for minutes, deaf to signals."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        return  # auto, local and the like: Ray says at once what it finds
    try:
        socket.create_connection((host, int(port)), timeout=CONNECT_SECONDS).close()
    except OSError as error:
        raise UserError(f"cluster.address={address!r}: nobody answers there ({error})") from error


@contextmanager
def _native_stderr_closed() -> Iterator[None]:
    """Ray's C++ core writes a line about its log level past Python; errors come as exceptions all the same."""
    sys.stderr.flush()
    saved, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, 2)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(null)


def _read(plan: list[pa.Table], compute: TaskPoolStrategy | None = None) -> ray.data.Dataset:
    """The blocks of a plan. Ray fuses it into a next stage of one CPU: of actors, or of tasks with equal `compute`."""
    dataset: ray.data.Dataset = ray.data.read_datasource(
        Plan(plan), override_num_blocks=len(plan), compute=compute, num_cpus=1
    )
    return dataset


class Reader(AttachDocuments):
    """`AttachDocuments` on an actor."""

    def __init__(self, root: str) -> None:
        tables_as_ipc()
        super().__init__(root)


def _counted(stage: type) -> type:
    """`stage`, whose actors tell their watch how many blocks they work on."""

    class Counted(stage):  # type: ignore[misc]
        def __init__(self, *arguments: Any, **named: Any) -> None:
            tables_as_ipc()
            super().__init__(*arguments, **named)
            self.watch.ready()

        async def __call__(self, batch: pa.Table) -> pa.Table:
            with self.watch.block():
                return await super().__call__(batch)

    Counted.__name__ = Counted.__qualname__ = stage.__name__
    return Counted


def _without(plan: list[pa.Table], came: set[str]) -> list[pa.Table]:
    """The plan's bundles that are not among `came`."""
    known = pa.array(sorted(came), pa.string())
    left = [block.filter(pc.invert(pc.is_in(block["bundle_id"], value_set=known))) for block in plan]
    return [block for block in left if block.num_rows]


def _task(stage: Callable[[pa.Table], pa.Table], root: str | None) -> Callable[[pa.Table], pa.Table]:
    """`stage` as it runs in a task, after the documents under `root` are attached where one is given."""

    def run(batch: pa.Table) -> pa.Table:
        tables_as_ipc()
        return stage(batch if root is None else AttachDocuments(root)(batch))

    return run


def _results(dataset: ray.data.Dataset) -> Iterator[pa.Table]:
    try:
        yield from dataset.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=1)
    except (RayError, UserCodeException) as error:
        raise RunFailed(root_cause(error)) from error


_CAUSE = re.compile(r"^(?:[\w.]+\.)?(?P<name>\w*(?:Error|Failed|Exception|Exit|Dead))\b:? (?P<text>.+)$", re.MULTILINE)


def root_cause(error: BaseException) -> str:
    """What an actor raised, in one line: the first exception named in Ray's text that is not one of Ray's own."""
    text = str(error)
    causes = [found for found in _CAUSE.finditer(text) if not found[0].startswith("ray.")]
    found = causes[0] if causes else None
    if found and found["name"] in (RunFailed.__name__, UserError.__name__, StorageError.__name__):
        return found["text"]  # written for people already
    line = f"{found['name']}: {found['text']}" if found else " ".join(text.split())
    return line if len(line) <= MAX_CAUSE_CHARS else line[:MAX_CAUSE_CHARS] + " …"
