"""The configuration of `jobs.curate` as a frozen dataclass, range-checked as it is made."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from jobs.config import ClusterConfig, StorageConfig, require


@dataclass(frozen=True)
class CurateConfig:
    """`jobs.curate`: questions about which documents, by whom, checked how; or whose files are collected."""

    action: Literal["generate", "collect"]
    name: str
    model: dict[str, Any]
    storage: StorageConfig
    cluster: ClusterConfig
    datasets: tuple[str, ...]
    language: Literal["en", "zh"] | None
    split: str | None
    limit: int | None
    checker: str
    checker_overrides: dict[str, Any] | None
    questions_per_document: int
    questions_per_call: int
    samples: int
    temperature: float
    generator_temperature: float
    excerpt_words: int | None
    seed: int
    annotators: int
    whole_chars: int
    context_chars: int
    kv_share: float
    flush_rows: int
    flush_seconds: float
    files: tuple[str, ...]
    label: Literal["majority", "unanimous"]
    partial: bool
    overwrite: bool

    def __post_init__(self) -> None:
        safe = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", self.name) is not None
        require(safe, "name", self.name, "letters, digits, '-', '_' and '.', with a letter or digit first")
        require(self.name not in self.datasets, "name", self.name, "another name than the datasets that are read")
        for key in ("questions_per_document", "questions_per_call", "samples", "flush_rows"):
            require(getattr(self, key) >= 1, key, getattr(self, key), "at least 1")
        for key in ("limit", "excerpt_words"):
            value = getattr(self, key)
            require(value is None or value >= 1, key, value, "at least 1, or null for all")
        for key in ("temperature", "generator_temperature"):
            require(0 <= getattr(self, key) <= 2, key, getattr(self, key), "0 to 2")
        alike = self.temperature == 0 and self.samples > 1
        require(not alike, "temperature", self.temperature, "more than 0, or samples=1: all samples would be the same")
        require(self.seed >= 0, "seed", self.seed, "at least 0")
        require(2 <= self.annotators <= 100, "annotators", self.annotators, "2 to 100")
        require(50 <= self.context_chars <= 20_000, "context_chars", self.context_chars, "50 to 20000")
        require(self.whole_chars >= 0, "whole_chars", self.whole_chars, "at least 0")
        require(0 < self.kv_share <= 1, "kv_share", self.kv_share, "more than 0 and at most 1")
        require(self.flush_seconds > 0, "flush_seconds", self.flush_seconds, "more than 0")
        if self.action == "generate":
            require(len(self.datasets) > 0, "datasets", list(self.datasets), "name at least one ingested dataset")
            require(not self.files, "files", list(self.files), "only collect takes files: jobs.curate collect …")
        else:
            wanted = f"name {self.annotators} files that annotators sent, each once (annotators= says how many)"
            given = list(self.files)
            require(self.annotators == len(given) == len(set(given)), "files", given, wanted)
