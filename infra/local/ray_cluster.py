"""A Ray cluster of several nodes on this machine: a head without CPUs, and workers, each a `ray start` of its own."""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from infra.local.ports import free_ports
from infra.local.processes import Process, start
from udfs.errors import UserError

HOST: Final = "127.0.0.1"
MIB: Final = 1024 * 1024
SMALLEST_STORE_MB: Final = 80  # Ray's own bound


@dataclass(frozen=True)
class Node:
    """What a worker node offers.

    Args:
        cpus: logical CPUs: how many actors and tasks of one CPU it takes, whatever the machine has.
        object_store_mb: shared memory for objects.
    """

    cpus: int = 4
    object_store_mb: int = 256

    def __post_init__(self) -> None:
        if self.cpus < 1:
            raise UserError(f"--cpus={self.cpus} is not allowed: at least 1 logical CPU")
        if self.object_store_mb < SMALLEST_STORE_MB:
            raise UserError(f"--object-store-mb={self.object_store_mb} is not allowed: at least {SMALLEST_STORE_MB}")


def environment(token_file: Path, others: Mapping[str, str]) -> dict[str, str]:
    """The environment of every node, and so of every job: this process's, this Python first on the path, the token.

    Args:
        others: what else the cluster's processes find: endpoint and credentials of object storage.
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    inherited = {name: value for name, value in os.environ.items() if name not in ("RAY_ADDRESS", "RAY_AUTH_TOKEN")}
    return {
        **inherited,
        "PATH": path,
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_enable_worker_prestart": "0",
        **token_environment(token_file),
        **others,
    }


def token_environment(token_file: Path) -> dict[str, str]:
    """What whoever talks to the cluster needs, too."""
    return {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token_file)}


def start_head(name: str, ports: Mapping[str, int], ray_folder: str, env: Mapping[str, str], folder: Path) -> Process:
    """The head: it schedules, and runs the drivers of submitted jobs, which need no CPU of their own."""
    options = [
        "--head",
        "--num-cpus=0",
        "--num-gpus=0",
        f"--port={ports['gcs']}",
        f"--dashboard-host={HOST}",
        f"--dashboard-port={ports['dashboard']}",
        f"--ray-client-server-port={ports['client']}",
        f"--object-store-memory={Node().object_store_mb * MIB}",
        f"--temp-dir={ray_folder}",
    ]
    return _ray_start(name, options, env, folder)


def start_worker(name: str, gcs_port: int, node: Node, env: Mapping[str, str], folder: Path) -> Process:
    """One worker node: a raylet with its own object store."""
    options = [
        f"--address={HOST}:{gcs_port}",
        f"--num-cpus={node.cpus}",
        "--num-gpus=0",
        f"--object-store-memory={node.object_store_mb * MIB}",
        "--include-log-monitor=false",  # one a machine, the head's
    ]
    return _ray_start(name, options, env, folder)


def _ray_start(name: str, options: list[str], env: Mapping[str, str], folder: Path) -> Process:
    agent, metrics = free_ports(2)
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", *options, f"--node-ip-address={HOST}"]
    command += [f"--dashboard-agent-listen-port={agent}", f"--metrics-export-port={metrics}"]
    command += ["--disable-usage-stats", "--block"]  # it stays, and its end is the node's end
    return start(name, command, env, log_file(name, folder), folder)


def log_file(name: str, folder: Path) -> Path:
    """What the node called `name` prints."""
    return folder / f"{name.replace(' ', '-')}.log"


def nodes_alive(dashboard_port: int, token: str) -> int | None:
    """How many nodes the cluster has, the head among them; None where it does not answer (yet)."""
    answer = _get(f"http://{HOST}:{dashboard_port}/nodes?view=summary", token)
    if answer is None:
        return None
    states = [node.get("raylet", {}).get("state") for node in answer["data"]["summary"]]
    return states.count("ALIVE")


def _get(address: str, token: str) -> Any:
    request = urllib.request.Request(address, headers={"Authorization": f"Bearer {token}"})
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return json.loads(answer.read())
    except (OSError, ValueError, urllib.error.URLError):
        return None
