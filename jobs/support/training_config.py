"""The configuration of `jobs.train` as a frozen dataclass, range-checked as it is made."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import Literal

from jobs.config import ClusterConfig, StorageConfig, require
from udfs.training.settings import Fitting


@dataclass(frozen=True)
class TrainConfig:
    """`jobs.train`: what is trained, from what, on which datasets, how."""

    target: Literal["answerability"]
    name: str
    base: str
    datasets: tuple[str, ...]
    also_test: tuple[str, ...]
    storage: StorageConfig
    cluster: ClusterConfig
    test_share: float
    seed: int
    input: Literal["pair", "couldask"] | None
    window: int
    stride: int
    epochs: int
    batch_size: int
    learning_rate: float
    head_rate: float
    warmup: float
    weight_decay: float
    evidence_weight: float
    lexical_head: bool
    freeze_layers: int
    bf16: bool
    threads: int | None
    workers: int
    save_steps: int
    max_minutes: float | None
    resamples: int
    overwrite: bool

    def __post_init__(self) -> None:
        named = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", self.name) is not None
        require(named, "name", self.name, "letters, digits, '-', '_' and '.', with a letter or digit first")
        require(bool(self.base.strip()), "base", self.base, "minilm, smollm2-135m, a folder, or an id of the hub")
        require(len(self.datasets) > 0, "datasets", list(self.datasets), "name at least one ingested dataset")
        both = sorted(set(self.datasets) & set(self.also_test))
        require(not both, "also_test", list(self.also_test), f"{', '.join(both)} is trained on already")
        require(0 < self.test_share < 1, "test_share", self.test_share, "more than 0 and less than 1")
        require(self.window >= 64, "window", self.window, "at least 64 tokens")
        require(0 <= self.stride < self.window, "stride", self.stride, f"from 0 to less than window={self.window}")
        for key in ("epochs", "batch_size", "workers", "save_steps"):
            require(getattr(self, key) >= 1, key, getattr(self, key), "at least 1")
        require(self.threads is None or self.threads >= 1, "threads", self.threads, "at least 1, or null")
        for key in ("learning_rate", "head_rate"):
            require(getattr(self, key) > 0, key, getattr(self, key), "more than 0")
        minutes = self.max_minutes
        require(minutes is None or minutes > 0, "max_minutes", minutes, "more than 0, or null")
        require(0 <= self.warmup < 1, "warmup", self.warmup, "at least 0 and less than 1")
        for key in ("weight_decay", "evidence_weight", "freeze_layers", "seed"):
            require(getattr(self, key) >= 0, key, getattr(self, key), "at least 0")
        require(self.resamples >= 1000, "resamples", self.resamples, "at least 1000")
        whole = self.batch_size % self.workers == 0
        require(whole, "batch_size", self.batch_size, f"a multiple of workers={self.workers}, for they share a batch")

    def fitting(self, base: str) -> Fitting:
        """The settings of one fine-tuning; `base`: the folder or hub id that `base` stands for."""
        shared = {field.name for field in dataclasses.fields(Fitting)} - {"base"}
        return Fitting(base=base, **{name: getattr(self, name) for name in shared})
