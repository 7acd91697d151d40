"""The local cluster as a whole: up, down, status."""

from __future__ import annotations

import secrets
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from pyarrow import fs

from infra.local import ray_cluster
from infra.local.ports import free_ports
from infra.local.processes import Process, started, stop
from infra.local.ray_cluster import HOST, Node
from infra.local.s3_server import REGION, S3Server
from infra.local.state import State, exports, read_state, write_private
from udfs.errors import UserError

FOLDER: Final = Path(__file__).resolve().parents[2] / "runs" / "local"
BUCKET: Final = "askable"
STORAGE: Final = "S3 server"
START_SECONDS: Final = 120.0
LAST_LINES: Final = 6
NODE_ATTEMPTS: Final = 3
DOWN: Final = "python -m infra.local down"


@dataclass(frozen=True)
class Size:
    """How many worker nodes, and of what size each."""

    workers: int = 2
    node: Node = field(default_factory=Node)
    s3: bool = True

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise UserError(f"--workers={self.workers} is not allowed: at least 1, since the head has no CPUs")


def up(folder: Path, size: Size) -> State:
    """Start everything; give back what was started.

    Raises:
        UserError: a cluster of this folder runs already, or something does not start. Then nothing is left running.
    """
    _require_nothing_runs(folder)
    folder.mkdir(parents=True, exist_ok=True)
    gcs, dashboard, client = free_ports(3)
    ports = {"gcs": gcs, "dashboard": dashboard, "client": client}
    state = State(folder, tempfile.mkdtemp(prefix="askable-local-", dir="/tmp"), ports)
    try:
        state.write()
        token = secrets.token_hex(32)
        write_private(state.token_file, token)
        storage = _start_storage(state) if size.s3 else {}
        _start_ray(state, size, ray_cluster.environment(state.token_file, storage), token)
        shell = ray_cluster.token_environment(state.token_file) | storage
        shell["RAY_ADDRESS"] = f"{HOST}:{gcs}"
        shell["RAY_API_SERVER_ADDRESS"] = f"http://{HOST}:{dashboard}"
        write_private(state.environment_file, exports(shell))
        state.complete = True
        state.write()
    except BaseException:
        _remove(state)
        raise
    return state


def _require_nothing_runs(folder: Path) -> None:
    state = read_state(folder)
    if state is None:
        return
    alive = state.alive()
    if state.complete and len(alive) == len(state.processes):
        raise UserError(f"the local cluster is up already (source {state.environment_file}); {DOWN} stops it")
    if alive:
        raise UserError(
            f"{folder} holds the rest of a cluster that was not stopped: of its {len(state.processes)} processes "
            f"{', '.join(process.name for process in alive)} still run; {DOWN} removes it"
        )
    _remove(state)  # killed, or the machine was started anew: nothing runs


def _start_storage(state: State) -> dict[str, str]:
    """The S3 server with its bucket; give the environment that points at it."""
    server = S3Server.prepare(state.folder / "s3", secrets.token_hex(10).upper(), secrets.token_urlsafe(30))
    state.ports["s3"] = server.ports["s3.port"]
    process = server.start()
    _remember(state, started(STORAGE, process))
    server.wait(process)
    client = fs.S3FileSystem(
        access_key=server.access_key,
        secret_key=server.secret_key,
        endpoint_override=server.endpoint.removeprefix("http://"),
        scheme="http",
        region=REGION,
        allow_bucket_creation=True,
    )
    client.create_dir(BUCKET)
    return server.environment


def _start_ray(state: State, size: Size, environment: dict[str, str], token: str) -> None:
    """The head, then the workers one after the other: Ray gives up on a node that takes half a minute to start."""

    def head() -> Process:
        return ray_cluster.start_head("head", state.ports, state.ray_folder, environment, state.folder)

    def worker(name: str) -> Process:
        return ray_cluster.start_worker(name, state.ports["gcs"], size.node, environment, state.folder)

    _start_node(state, head, 1, token, attempts=1)
    for number in range(1, size.workers + 1):
        _start_node(state, partial(worker, f"worker {number}"), 1 + number, token, NODE_ATTEMPTS)


def _start_node(state: State, start: Callable[[], Process], nodes: int, token: str, attempts: int) -> None:
    """Start one more node, again where it ends at once, and wait until the cluster has so many `nodes`."""
    for left in reversed(range(attempts)):
        process = start()
        _remember(state, process)
        if _joined(state, process, nodes, token):
            return
        if left:
            state.processes.remove(process)
    log = ray_cluster.log_file(process.name, state.folder)
    raise UserError(
        f"the local cluster did not start: {process.name} ended or did not join within {START_SECONDS:g} s; "
        f"its log {log} ends with: {_last_words(log)}"
    )


def _joined(state: State, process: Process, nodes: int, token: str) -> bool:
    """Wait for the cluster to have so many nodes; False where the process ends or takes too long."""
    deadline = time.monotonic() + START_SECONDS
    while ray_cluster.nodes_alive(state.ports["dashboard"], token) != nodes:
        if not process.is_alive() or time.monotonic() > deadline:
            stop([process])
            return False
        time.sleep(0.25)
    return True


def _remember(state: State, process: Process) -> None:
    state.processes.append(process)
    state.write()


def _last_words(log: Path) -> str:
    """The end of a log, in one line."""
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n") if log.exists() else []
    said = [line.strip() for line in lines if line.strip()]
    return " | ".join(said[-LAST_LINES:]) or "it said nothing"


def down(folder: Path, delete: bool = False) -> State | None:
    """Stop what `up` started in `folder`, and nothing else; None where nothing was started.

    Args:
        delete: remove the S3 server's data and the logs, too.
    """
    state = read_state(folder)
    if state is not None:
        _remove(state)
    if delete and folder.exists():
        shutil.rmtree(folder)
    return state


def _remove(state: State) -> None:
    """The nodes first, without the grace that Ray gives to what runs there, then what they write to."""
    storage = [process for process in state.processes if process.name == STORAGE]
    stop([process for process in state.processes if process not in storage])
    stop(storage)
    shutil.rmtree(state.ray_folder, ignore_errors=True)
    state.forget()


def status(folder: Path) -> list[str]:
    """What runs, a line each; the first says it in one."""
    state = read_state(folder)
    if state is None:
        return ["the local cluster is down"]
    alive = state.alive()
    lines = [f"{one.name}: {'runs' if one in alive else 'ended'}, pid {one.pid}" for one in state.processes]
    if not state.complete or len(alive) < len(state.processes):
        return [f"the local cluster is broken ({len(alive)} of {len(lines)} processes run); {DOWN} removes it", *lines]
    nodes = ray_cluster.nodes_alive(state.ports["dashboard"], state.token_file.read_text(encoding="utf-8"))
    answer = "does not answer" if nodes is None else f"{nodes} nodes"
    return [f"the local cluster is up: {answer}, dashboard http://{HOST}:{state.ports['dashboard']}", *lines]
