"""What a run cost and how it went: sums over its starts, from the runs table and the responses."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import polars as pl


@dataclass(frozen=True, slots=True)
class StageFacts:
    """Totals of one kind of stage. Tokens are counts, `seconds` wall time; None where nobody knows."""

    seconds: float = 0.0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    bound_tokens: int | None = None
    bounded_computed_tokens: int | None = None  # computed tokens of the prompts that the bound is of
    gpu_hours: float = 0.0
    usd: float = 0.0
    busy_seconds: float | None = None  # over the engines: at least one request in flight; None where none told
    idle_seconds: float | None = None  # loaded and nothing in flight, up to the end of the last engine
    tail_seconds: float | None = None  # from the first engine without work to the end of the last, summed over stages

    @property
    def cached_share(self) -> float | None:
        """Share of the prompt tokens that came from the prefix cache."""
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else None

    @property
    def computed_over_bound(self) -> float | None:
        """Computed over bound prompt tokens, both of the same prompts."""
        if not self.bound_tokens or self.bounded_computed_tokens is None:
            return None
        return self.bounded_computed_tokens / self.bound_tokens


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """What one engine did in one stage. Seconds."""

    started_at: datetime  # of the stage
    stage: str  # the model, or the judge's name
    loading: float
    busy: float
    idle: float
    waited: float  # without work at the end, while others went on
    requests: int


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A stage whose newest start did not end well."""

    job: str  # evaluate | judge | synthesize
    model: str  # for job judge: the judge's name
    started_at: datetime
    status: str  # running (it still is, or was killed) | stopped | failed
    error: str


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Totals over the starts of one run: its dialogues; judges on stages of their own, and synthesis, apart."""

    starts: int = 0
    dialogues: StageFacts = field(default_factory=StageFacts)
    judging: StageFacts = field(default_factory=StageFacts)
    synthesis: StageFacts = field(default_factory=StageFacts)
    without_end: int = 0  # stages that left no totals
    versions: dict[str, str] = field(default_factory=dict)
    git_commits: tuple[str, ...] = ()
    config_hashes: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    unfinished: tuple[Unfinished, ...] = ()
    engines: tuple[EngineFacts, ...] = ()
    costs: pl.DataFrame | None = field(default=None, compare=False)  # `udfs.tables.costs.cell_costs`


def run_facts(runs: pl.DataFrame, models: Sequence[str] = ()) -> RunFacts:
    """Totals over `runs`, the stages of the starts of one run (rows of the runs table).

    Args:
        models: of these models alone it is told whether their newest start ended well; [] for all.
    """
    if not runs.height:
        return RunFacts()
    ordered = runs.sort("started_at", "run_id")
    versions: dict[str, dict[str, None]] = {}
    for text in ordered["versions"]:
        for package, version in json.loads(text or "{}").items():
            versions.setdefault(str(package), {})[str(version)] = None
    return RunFacts(
        starts=ordered.select(pl.coalesce("start_id", "run_id")).n_unique(),
        dialogues=_stage_facts(ordered.filter(pl.col("job") == "evaluate")),
        judging=_stage_facts(ordered.filter(pl.col("job") == "judge")),
        synthesis=_stage_facts(ordered.filter(pl.col("job") == "synthesize")),
        without_end=ordered.filter(pl.col("status") == "running").height,
        versions={package: " and ".join(found) for package, found in versions.items()},
        git_commits=_distinct(ordered["git_commit"]),
        config_hashes=_distinct(ordered["config_hash"]),
        errors=_distinct(ordered["error"]),
        unfinished=_unfinished(ordered, models),
        engines=tuple(_engines(ordered)),
    )


def _stage_facts(stages: pl.DataFrame) -> StageFacts:
    """Sums over stages of one job. The ratio to the bound takes those with a bound; of them the computed tokens of the
    prompts whose bound is known, or of all prompts where the stage does not say."""
    bounded = stages.filter(pl.col("bound_tokens").is_not_null() & (pl.col("bound_tokens") > 0))
    computed = pl.coalesce("bounded_computed_tokens", pl.col("prompt_tokens") - pl.col("cached_tokens"))
    return StageFacts(
        seconds=float(stages["seconds"].sum()),
        prompt_tokens=int(stages["prompt_tokens"].sum()),
        cached_tokens=int(stages["cached_tokens"].sum()),
        output_tokens=int(stages["output_tokens"].sum()),
        bound_tokens=int(bounded["bound_tokens"].sum()) if bounded.height else None,
        bounded_computed_tokens=int(bounded.select(computed.sum()).item()) if bounded.height else None,
        gpu_hours=float(stages["gpu_hours"].sum()),
        usd=float(stages["usd"].sum()),
        busy_seconds=_sum(stages["busy_seconds"]),
        idle_seconds=_sum(stages["idle_seconds"]),
        tail_seconds=_sum(stages["tail_seconds"]),
    )


def _sum(column: pl.Series) -> float | None:
    return float(column.sum()) if column.count() else None


def _engines(ordered: pl.DataFrame) -> Iterator[EngineFacts]:
    """Of every stage whose engines told, in the order of the stages and of the engines' ends."""
    told = ordered.filter(pl.col("engines").is_not_null())
    for started_at, stage, text in told.select("started_at", "model", "engines").iter_rows():
        engines = sorted(json.loads(text), key=lambda one: one["last_at"])
        end = max((one["last_at"] for one in engines), default=0.0)
        for one in engines:
            yield EngineFacts(
                started_at,
                stage,
                loading=one["loaded_at"] - one["started_at"],
                busy=one["busy_seconds"],
                idle=max(0.0, end - one["loaded_at"] - one["busy_seconds"]),
                waited=end - one["last_at"],
                requests=one["requests"],
            )


def _unfinished(ordered: pl.DataFrame, models: Sequence[str]) -> tuple[Unfinished, ...]:
    newest = ordered.unique(subset=["job", "model"], keep="last", maintain_order=True).filter(pl.col("status") != "ok")
    if models:
        newest = newest.filter((pl.col("job") == "judge") | pl.col("model").is_in(list(models)))
    return tuple(
        Unfinished(row["job"], row["model"], row["started_at"], row["status"], row["error"] or "")
        for row in newest.sort("job", "model").iter_rows(named=True)
    )


def _distinct(column: pl.Series) -> tuple[str, ...]:
    return tuple(str(value) for value in column.drop_nulls().unique(maintain_order=True) if value)


def newest_run(runs: pl.DataFrame, recorded: list[str], created: pl.DataFrame) -> str | None:
    """The run to report when none is named: the one started last of those that recorded something.

    Args:
        runs: run, started_at of the runs table.
        recorded: names of the runs that have responses, or candidates.
        created: run, created_at of these; looked at only where the runs table knows none of them.
    """
    known = runs.filter(pl.col("run").is_in(recorded)).sort("started_at", "run")
    if known.height:
        return str(known["run"][-1])
    made = created.sort("created_at", "run")
    return str(made["run"][-1]) if made.height else None
