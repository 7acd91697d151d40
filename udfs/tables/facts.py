"""What a run cost and how it went: sums over its starts, from the runs table and the responses."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import polars as pl


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Totals over the starts of one run's job. Tokens are counts, `seconds` wall time; None where nobody knows."""

    starts: int = 0
    seconds: float = 0.0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    bound_tokens: int | None = None
    computed_over_bound: float | None = None
    gpu_hours: float = 0.0
    usd: float = 0.0
    versions: dict[str, str] = field(default_factory=dict)
    git_commits: tuple[str, ...] = ()
    config_hashes: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()

    @property
    def cached_share(self) -> float | None:
        """Share of the prompt tokens that came from the prefix cache."""
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else None


def run_facts(runs: pl.DataFrame) -> RunFacts:
    """Totals over `runs`, the starts of one run (rows of the runs table).

    computed ÷ bound is over the starts that report a bound: their computed (prompt minus cached) tokens over the sum
    of their bounds.
    """
    if not runs.height:
        return RunFacts()
    ordered = runs.sort("started_at")
    bounded = ordered.filter(pl.col("bound_tokens").is_not_null() & (pl.col("bound_tokens") > 0))
    bound = int(bounded["bound_tokens"].sum()) if bounded.height else None
    computed = int((bounded["prompt_tokens"] - bounded["cached_tokens"]).sum())
    versions: dict[str, str] = {}
    for text in ordered["versions"]:
        versions |= {str(k): str(v) for k, v in json.loads(text or "{}").items()}
    return RunFacts(
        starts=ordered.height,
        seconds=float(ordered["seconds"].sum()),
        prompt_tokens=int(ordered["prompt_tokens"].sum()),
        cached_tokens=int(ordered["cached_tokens"].sum()),
        output_tokens=int(ordered["output_tokens"].sum()),
        bound_tokens=bound,
        computed_over_bound=computed / bound if bound else None,
        gpu_hours=float(ordered["gpu_hours"].sum()),
        usd=float(ordered["usd"].sum()),
        versions=versions,
        git_commits=_distinct(ordered["git_commit"]),
        config_hashes=_distinct(ordered["config_hash"]),
        errors=_distinct(ordered["error"]),
    )


def _distinct(column: pl.Series) -> tuple[str, ...]:
    return tuple(str(value) for value in column.drop_nulls().unique(maintain_order=True) if value)


def newest_run(runs: pl.DataFrame, recorded: list[str], created: pl.DataFrame) -> str | None:
    """The run to report when none is named: the one started last of those that have responses.

    Args:
        runs: run, started_at of the runs table.
        recorded: names of the runs that have responses.
        created: run, created_at of the responses; looked at only where the runs table knows none of them.
    """
    known = runs.filter(pl.col("run").is_in(recorded)).sort("started_at", "run")
    if known.height:
        return str(known["run"][-1])
    made = created.sort("created_at", "run")
    return str(made["run"][-1]) if made.height else None
