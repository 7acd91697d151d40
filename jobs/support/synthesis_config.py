"""The configuration of `jobs.synthesize` as frozen dataclasses, range-checked as they are made."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from jobs.config import BudgetConfig, ClusterConfig, StorageConfig, require
from udfs.agents.spec import KINDS, SynthesisSpec, WebSearch
from udfs.engines.base import Sampling
from udfs.schema import LENGTH_BUCKETS, Kind, Language
from udfs.synthesis.splits import check_ratios

QUALITY_SCORES = (1, 5)
MAX_ALPHA = 10_000
"""Far more than a document of 128K tokens has fragments; each is a candidate of every kind, and has its row."""


@dataclass(frozen=True)
class SynthesisConfig:
    """How candidates are made. All but `alpha` is part of their identity."""

    alpha: int
    kinds: tuple[str, ...]
    fragment_min_words: int
    fragment_max_words: int
    quality_threshold: int
    passages: int
    passage_words: int
    full_view: bool
    common_sense: bool
    max_redacted_share: float
    seed: int

    def __post_init__(self) -> None:
        for key in ("alpha", "fragment_min_words", "passages", "passage_words"):
            require(getattr(self, key) >= 1, f"synthesis.{key}", getattr(self, key), "at least 1")
        require(self.alpha <= MAX_ALPHA, "synthesis.alpha", self.alpha, f"at most {MAX_ALPHA}")
        for kind in self.kinds:
            require(kind in KINDS, "synthesis.kinds", kind, f"any of {', '.join(KINDS)}")
        require(
            Kind.ANSWERABLE in self.kinds,
            "synthesis.kinds",
            list(self.kinds),
            "answerable must be among them: it is the twin that the others are made from",
        )
        low, high = QUALITY_SCORES
        require(
            low <= self.quality_threshold <= high,
            "synthesis.quality_threshold",
            self.quality_threshold,
            f"from {low} to {high}",
        )
        require(
            self.fragment_max_words >= self.fragment_min_words,
            "synthesis.fragment_max_words",
            self.fragment_max_words,
            f"at least synthesis.fragment_min_words={self.fragment_min_words}",
        )
        share = self.max_redacted_share
        require(0 < share <= 1, "synthesis.max_redacted_share", share, "more than 0 and at most 1")
        require(self.seed >= 0, "synthesis.seed", self.seed, "at least 0")

    def spec(self, sampling: Sampling, web: WebSearch | None) -> SynthesisSpec:
        """The settings as the agents' program takes them; kinds in their fixed order, each once."""
        return SynthesisSpec(
            kinds=tuple(kind for kind in KINDS if kind in self.kinds),
            fragment_min_words=self.fragment_min_words,
            fragment_max_words=self.fragment_max_words,
            quality_threshold=self.quality_threshold,
            passages=self.passages,
            passage_words=self.passage_words,
            full_view=self.full_view,
            common_sense=self.common_sense,
            max_redacted_share=self.max_redacted_share,
            seed=self.seed,
            sampling=sampling,
            web=web,
        )


@dataclass(frozen=True)
class SplitsConfig:
    """Shares of the published documents."""

    train: float
    dev: float
    test: float

    def __post_init__(self) -> None:
        check_ratios(self.ratios)

    @property
    def ratios(self) -> dict[str, float]:
        return {"train": self.train, "dev": self.dev, "test": self.test}


@dataclass(frozen=True)
class TargetConfig:
    """How many accepted candidates are wanted of a kind × language × length bucket; null: of all together."""

    count: int
    kind: str | None = None
    language: str | None = None
    length_bucket: str | None = None

    def __post_init__(self) -> None:
        require(self.count >= 1, "targets.count", self.count, "at least 1")
        allowed = {"kind": KINDS, "language": tuple(Language), "length_bucket": LENGTH_BUCKETS}
        for key, values in allowed.items():
            value = getattr(self, key)
            require(value is None or value in values, f"targets.{key}", value, f"null or one of {', '.join(values)}")

    def served_by(self, language: str, length_bucket: str) -> bool:
        """Whether a document of that language and length can add to it."""
        return self.language in (None, language) and self.length_bucket in (None, length_bucket)

    def counts(self, kind: str, language: str, length_bucket: str) -> bool:
        """Whether such a candidate counts for it."""
        return self.kind in (None, kind) and self.served_by(language, length_bucket)

    def __str__(self) -> str:
        return " · ".join(
            [self.kind or "any kind", self.language or "any language", self.length_bucket or "any length"]
        )


@dataclass(frozen=True)
class SynthesizeConfig:
    """`jobs.synthesize`: of which documents, how, until when, and what the dataset is called."""

    model: dict[str, Any]
    datasets: tuple[str, ...]
    name: str
    synthesis: SynthesisConfig
    web: WebSearch | None
    splits: SplitsConfig
    targets: tuple[TargetConfig, ...]
    budget: BudgetConfig
    storage: StorageConfig
    cluster: ClusterConfig
    language: Literal["en", "zh"] | None
    split: str | None
    limit: int | None
    overwrite: bool
    kv_share: float
    max_candidates: int
    flush_rows: int
    flush_seconds: float

    def __post_init__(self) -> None:
        require(len(self.datasets) > 0, "datasets", list(self.datasets), "name at least one ingested dataset")
        safe = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", self.name) is not None
        require(safe, "name", self.name, "letters, digits, '-', '_' and '.', with a letter or digit first")
        require(self.name not in self.datasets, "name", self.name, "another name than the datasets that are read")
        require(self.limit is None or self.limit >= 1, "limit", self.limit, "at least 1, or null for all")
        require(0 < self.kv_share <= 1, "kv_share", self.kv_share, "more than 0 and at most 1")
        require(self.max_candidates >= 1, "max_candidates", self.max_candidates, "at least 1")
        require(self.flush_rows >= 1, "flush_rows", self.flush_rows, "at least 1")
        require(self.flush_seconds > 0, "flush_seconds", self.flush_seconds, "more than 0")
        for target in self.targets:
            known = target.kind is None or target.kind in self.synthesis.kinds
            require(known, "targets.kind", target.kind, f"among synthesis.kinds={list(self.synthesis.kinds)}")
            can_be = self.language is None or target.language in (None, self.language)
            require(can_be, "targets.language", target.language, f"language={self.language} takes no such document")
        if self.budget.max_usd is not None:
            require(
                self.cluster.gpu_price > 0,
                "budget.max_usd",
                self.budget.max_usd,
                "set cluster.usd_per_gpu_hour, or nothing is known to cost",
            )
