"""The jobs' configuration as frozen dataclasses, one a Hydra group, range-checked as they are made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from omegaconf import OmegaConf

from udfs.errors import UserError

RETRYABLE = ("over_length", "parse_failure", "filtered")
MODELS = Path(__file__).resolve().parent.parent / "conf" / "model"


def require(ok: bool, key: str, value: object, allowed: str) -> None:
    """Raise `UserError` naming the key, its value and what is allowed, unless `ok`."""
    if not ok:
        raise UserError(f"{key}={value!r} is not allowed: {allowed}")


@dataclass(frozen=True)
class StorageConfig:
    """Where every table and report lies: a folder or an address such as s3://bucket/prefix."""

    root: str

    def __post_init__(self) -> None:
        require(bool(self.root.strip()), "storage.root", self.root, "give a folder or an address")


@dataclass(frozen=True)
class ClusterConfig:
    """Placement: the only place that knows of actors, CPUs and GPUs."""

    address: str | None
    num_cpus: int
    object_store_mb: int
    actors: int
    actor_cpus: float
    actor_gpus: float
    tensor_parallel_size: int
    attach_tasks: int
    blocks_per_actor: int
    max_restarts: int
    usd_per_gpu_hour: float
    reassign_s: float = 60.0
    spot: bool = False
    spot_usd_per_gpu_hour: float | None = None
    preemptions_per_engine_hour: float = 0.05
    engine_start_s: float = 180.0

    def __post_init__(self) -> None:
        require(self.object_store_mb >= 80, "cluster.object_store_mb", self.object_store_mb, "at least 80")
        for key in ("actors", "tensor_parallel_size", "attach_tasks", "blocks_per_actor"):
            require(getattr(self, key) >= 1, f"cluster.{key}", getattr(self, key), "at least 1")
        zero_up = ("actor_cpus", "actor_gpus", "max_restarts", "usd_per_gpu_hour", "preemptions_per_engine_hour")
        for key in (*zero_up, "engine_start_s"):
            require(getattr(self, key) >= 0, f"cluster.{key}", getattr(self, key), "at least 0")
        require(self.reassign_s > 0, "cluster.reassign_s", self.reassign_s, "more than 0")
        spot = self.spot_usd_per_gpu_hour
        require(spot is None or spot >= 0, "cluster.spot_usd_per_gpu_hour", spot, "at least 0, or null")
        if self.spot and self.usd_per_gpu_hour > 0:
            require(
                spot is not None, "cluster.spot", True, "give cluster.spot_usd_per_gpu_hour, the price of spot GPUs"
            )
        needed = self.actors * self.actor_cpus + self.attach_tasks + 1
        require(
            self.address is not None or self.num_cpus >= needed,
            "cluster.num_cpus",
            self.num_cpus,
            f"actors, readers and one more need {needed:g} logical CPUs",
        )

    @property
    def gpu_price(self) -> float:
        """USD of one GPU for one hour, of the kind that is used."""
        return self.spot_usd_per_gpu_hour or 0.0 if self.spot else self.usd_per_gpu_hour


@dataclass(frozen=True)
class BudgetConfig:
    """Caps; null: none. Bundles that have begun when a cap is reached are finished."""

    max_tokens: int | None
    max_gpu_hours: float | None
    max_usd: float | None

    def __post_init__(self) -> None:
        for key in ("max_tokens", "max_gpu_hours", "max_usd"):
            value = getattr(self, key)
            require(value is None or value > 0, f"budget.{key}", value, "more than 0, or null for no cap")

    @property
    def capped(self) -> bool:
        """Whether there is any cap."""
        return any(cap is not None for cap in (self.max_tokens, self.max_gpu_hours, self.max_usd))


@dataclass(frozen=True)
class RunBudget(BudgetConfig):
    """Caps of a run of `jobs.evaluate`, over all its starts.

    Args:
        partial: start although the whole run is expected to cost more than a cap.
    """

    partial: bool


def load_model(name: str) -> dict[str, Any]:
    """A config under conf/model as a plain mapping, for where a second model is named (a judge).

    Raises:
        UserError: there is none of that name.
    """
    file = MODELS / f"{name}.yaml"
    if not file.is_file():
        known = ", ".join(sorted(path.stem for path in MODELS.glob("*.yaml")))
        raise UserError(f"unknown model {name!r}; configs under conf/model: {known}")
    loaded = OmegaConf.to_container(OmegaConf.load(file), resolve=True)
    assert isinstance(loaded, dict)
    return {str(key): value for key, value in loaded.items()}


@dataclass(frozen=True)
class JudgeConfig:
    """Who judges: `rules`, or a model (`same`: the evaluated one) that sees the gold or the whole document.

    Args:
        reformulations: the model judges new questions too; it sees the document for that.
        spans: the model finds the minimum spans of unanswerable questions too.
    """

    kind: Literal["rules", "llm"]
    model: str | None
    overrides: dict[str, Any] | None
    context: Literal["gold", "document"]
    reformulations: bool
    spans: bool

    def __post_init__(self) -> None:
        if self.kind == "llm":
            require(bool(self.model), "judge.model", self.model, "same, or the name of a config under conf/model")
        else:
            for key in ("reformulations", "spans"):
                require(not getattr(self, key), f"judge.{key}", True, "a model has to judge: judge=llm")


@dataclass(frozen=True)
class EvaluateConfig:
    """`jobs.evaluate`: every model × method × dataset cell, and its judge."""

    model: dict[str, Any]
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    layout: str
    detector: Literal["rules", "couldask", "llm"]
    judge: JudgeConfig
    embedding: dict[str, Any]
    classifier: dict[str, Any]
    storage: StorageConfig
    cluster: ClusterConfig
    budget: RunBudget
    split: str | None
    limit: int | None
    run: str
    resume: bool
    retry: tuple[str, ...]
    kv_share: float
    max_dialogues: int
    flush_rows: int
    flush_seconds: float

    def __post_init__(self) -> None:
        require(len(self.datasets) > 0, "datasets", list(self.datasets), "name at least one ingested dataset")
        require(len(self.methods) > 0, "methods", list(self.methods), "name at least one prompt method")
        for status in self.retry:
            require(status in RETRYABLE, "retry", status, f"one of {', '.join(RETRYABLE)}")
        require(self.limit is None or self.limit >= 1, "limit", self.limit, "at least 1, or null for all")
        require(0 < self.kv_share <= 1, "kv_share", self.kv_share, "more than 0 and at most 1")
        require(self.max_dialogues >= 1, "max_dialogues", self.max_dialogues, "at least 1")
        require(self.flush_rows >= 1, "flush_rows", self.flush_rows, "at least 1")
        require(self.flush_seconds > 0, "flush_seconds", self.flush_seconds, "more than 0")
        safe = self.run.replace("-", "").replace("_", "").replace(".", "")
        require(safe.isalnum(), "run", self.run, "letters, digits, '-', '_' and '.'")
