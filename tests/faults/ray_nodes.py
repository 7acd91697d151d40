"""A Ray cluster of several nodes on this machine, each a `ray start --block` as in a pod, to be killed one by one."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

RAY = Path(sys.executable).with_name("ray")
WAIT_SECONDS = 300  # on a machine that does much else; on an idle one nothing takes a tenth of it
POLL_SECONDS = 0.2
DRAIN_SECONDS = 4
START_ATTEMPTS = 3
"""Ray gives a node half a minute to start, which may be too little on a machine that does much else."""
# A dead node is noticed within about five seconds instead of fifteen; a lost head after five instead of sixty.
PACE = {
    "RAY_health_check_period_ms": "1000",
    "RAY_enable_worker_prestart": "0",
    "RAY_prestart_worker_first_driver": "0",
    "RAY_gcs_rpc_server_reconnect_timeout_s": "5",
    "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S": str(DRAIN_SECONDS),
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": secrets.token_hex(32),
}


def environment() -> dict[str, str]:
    """What nodes and jobs are started with."""
    return {**os.environ, **PACE, "RAY_ADDRESS": ""}


def wait_for(found: Callable[[], bool], what: str, seconds: float = WAIT_SECONDS) -> None:
    """Until `found()`; fails with `what` that was waited for."""
    deadline = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
        time.sleep(POLL_SECONDS)


@dataclass
class Node:
    """One node: the `ray start` process and what it started."""

    process: subprocess.Popen[bytes]
    log: Path

    def is_up(self) -> bool:
        """Whether Ray says so."""
        return b"Ray runtime started" in self.log.read_bytes()

    @property
    def raylet(self) -> psutil.Process:
        return next(child for child in psutil.Process(self.process.pid).children() if child.name() == "raylet")

    def titles(self) -> list[str]:
        """What this node's workers call themselves."""
        return [" ".join(worker.cmdline()) for worker in self.raylet.children()]

    def holders(self, file: Path) -> list[psutil.Process]:
        """This node's workers that have `file` open."""
        found = []
        try:
            workers = self.raylet.children()
        except (psutil.NoSuchProcess, StopIteration):
            return []
        for worker in workers:
            try:
                if any(opened.path == str(file) for opened in worker.open_files()):
                    found.append(worker)
            except psutil.Error:
                continue
        return found

    def kill(self) -> None:
        """As when a machine is taken away: nothing on it hears of it. Once more does no harm."""
        family: list[psutil.Process] = []
        with contextlib.suppress(psutil.NoSuchProcess):
            started = psutil.Process(self.process.pid)
            family = [*started.children(recursive=True), started]
        for process in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self.process.wait(WAIT_SECONDS)

    def drain(self) -> None:
        """As when a pod is deleted: SIGTERM to its first process. Comes back at once."""
        self.process.send_signal(signal.SIGTERM)


class Nodes:
    """A head without CPUs, as in a cluster that keeps work off it, and worker nodes that come and go."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="askable-faults-", dir="/tmp"))  # sockets need short paths
        self.workers: list[Node] = []
        self.address = ""
        self.head = self._start(self._as_head)

    def _as_head(self) -> list[str]:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"127.0.0.1:{port}"
        return [
            "--head",
            f"--port={port}",
            "--num-cpus=0",
            "--include-dashboard=false",
            f"--temp-dir={self.folder}/ray",
        ]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for node in [*self.workers, self.head]:
            node.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def add(self, cpus: int = 2, object_store_mb: int = 100) -> Node:
        """A new worker node."""
        node = self._start(lambda: [f"--address={self.address}", f"--num-cpus={cpus}"], object_store_mb)
        self.workers.append(node)
        return node

    def working(self, file: Path) -> list[Node]:
        """The worker nodes on which somebody has `file` open."""
        return [node for node in self.workers if node.holders(file)]

    def clear(self) -> None:
        """Take all worker nodes away."""
        for node in self.workers:
            node.kill()
        self.workers.clear()

    def _start(self, options: Callable[[], list[str]], object_store_mb: int = 100) -> Node:
        for _ in range(START_ATTEMPTS):
            node = self._try([*options(), f"--object-store-memory={object_store_mb * 2**20}"])
            if node.is_up():
                return node
            node.kill()
        raise AssertionError(f"no Ray node starts: {node.log.read_text(errors='replace')[-2000:]}")

    def _try(self, options: list[str]) -> Node:
        """A node that is up, or whose process has ended."""
        log = self.folder / f"node-{time.monotonic_ns()}.log"
        command = [str(RAY), "start", "--block", "--disable-usage-stats", "--node-ip-address=127.0.0.1", *options]
        command += ["--min-worker-port=0", "--max-worker-port=0"]
        with log.open("wb") as output:
            process = subprocess.Popen(
                command, env=environment(), stdout=output, stderr=subprocess.STDOUT, start_new_session=True
            )
        node = Node(process, log)
        wait_for(lambda: node.is_up() or process.poll() is not None, f"a Ray node ({log})")
        return node
