"""The metrics table: tidy rows, each a ratio of sums over a cell's rows with n, a 95 % interval and coverage.

Coverage divides by the rows that the run's starts were to record (`udfs.tables.expected`), recorded or not. In a slice
(a language, kind or length; the gold of recall and false refusals) the rows that are not recorded are shared out as
the recorded ones are.

- detection.*: of the unanswerable class, for each refusal detector (CouldAsk, Table 4); dataset "average" is the
  unweighted mean over every dataset of the run in that layout, null where the cell lacks one.
- answer_consistency.accuracy: for each judge, by language × kind and by length bucket × kind (FactGuard, Tables 5, 6).
- response_class.*: shares of incorrect, direct_refusal, reasoned_answer over unanswerable questions (Table 7).
- <measure>.parse_failure_rate: judgements that could not be read, over all judgements.
- reformulation.rate, reformulation.rate_couldask, turns.mean: of the dialogue itself; `judge` is the detector that
  decided on turn 2.
- reformulation.*, the others: of the new questions (`udfs.tables.reformulations`), with averages as for detection.
- turns.cut_rate: responses with a turn that ended at the token limit (sampling.max_tokens), not by itself.
- status.*: shares of the recorded responses' statuses.
- responses.expected: how many responses the cell was to have (null where no start says), n those recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from udfs.schema import METRICS, Status
from udfs.tables.expected import cell_counts
from udfs.tables.intervals import Estimate, mean_estimate, ratio_estimate, seed_of
from udfs.tables.observations import CELL, correctness, verdict_rows
from udfs.tables.ratios import ALL as ALL
from udfs.tables.ratios import BY_LANGUAGE, KEY, Ratio, Slice, document_sums
from udfs.tables.reformulations import is_averaged, reformulation_sums

AVERAGE: Final = "average"
RESPONSE_CLASSES: Final = ("incorrect", "direct_refusal", "reasoned_answer")
MEASURES: Final = ("refusal", "answer_consistency", "response_class")
EXPECTED: Final = "responses.expected"

BY_KIND: Final = tuple(
    Slice(language=language, kind=kind, length_bucket=bucket)
    for language, bucket in ((False, False), (True, False), (False, True))
    for kind in ("all", "each", "misleading")
)


@dataclass(frozen=True)
class Plan:
    """What the cells of a run were to have."""

    counts: pl.DataFrame  # `expected.cell_counts`

    @property
    def factors(self) -> dict[tuple[str, ...], float]:
        """Expected over recorded rows of each cell that has any."""
        some = self.counts.filter(pl.col("recorded") > 0)
        return {tuple(row[:4]): row[4] / row[5] for row in some.select(*CELL, "expected", "recorded").iter_rows()}

    @property
    def expected(self) -> dict[tuple[str, ...], int]:
        return {tuple(row[:4]): row[4] for row in self.counts.select(*CELL, "expected").iter_rows()}

    def datasets(self) -> dict[str, list[str]]:
        """The datasets of each layout, sorted."""
        return {str(layout): sorted(set(part["dataset"])) for (layout,), part in self.counts.group_by(["layout"])}


def metrics(
    rows: pl.DataFrame,
    judgements: pl.DataFrame,
    run: str,
    resamples: int = 1000,
    seed: int = 0,
    planned: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Every metric of one run, as rows of the metrics table.

    Args:
        rows: `observations.response_rows`.
        judgements: rows of the judgements table.
        resamples: bootstrap resamples an interval.
        seed: of the bootstrap; equal input and seed give equal rows, whatever the input's order.
        planned: `expected.planned_cells`; None: nobody knows, coverage is over recorded rows.
    """
    plan = Plan(cell_counts(rows, planned))
    parts = (
        _detection(rows, judgements),
        _verdicts(rows, judgements),
        _dialogue(rows),
        reformulation_sums(rows, judgements),
    )
    sums = pl.concat([frame for part in parts for frame in part])
    found = [*_expected(plan), *_estimates(sums, plan, resamples, seed)]
    names = METRICS.names
    return pl.DataFrame([{"run": run, **row} for row in found], schema=_polars_schema(), orient="row").select(names)


def _polars_schema() -> dict[str, Any]:
    frame = pl.from_arrow(METRICS.empty_table())
    assert isinstance(frame, pl.DataFrame)
    return dict(frame.schema)


def _expected(plan: Plan) -> Iterator[dict[str, Any]]:
    alike = {"language": ALL, "kind": ALL, "length_bucket": ALL, "judge": ALL, "metric": EXPECTED}
    for row in plan.counts.iter_rows(named=True):
        known = None if row["planned"] is None else float(row["expected"])
        coverage = row["recorded"] / row["expected"] if row["expected"] else 1.0
        values = _values(Estimate(known), row["recorded"], coverage)
        yield {name: row[name] for name in CELL} | alike | values


def _detection(rows: pl.DataFrame, judgements: pl.DataFrame) -> Iterator[pl.DataFrame]:
    judged = verdict_rows(rows, judgements, "refusal").with_columns(
        gold=~pl.col("answerable"), said=(pl.col("verdict") == "refused").fill_null(False)
    )
    gold, said, every = pl.col("gold"), pl.col("said"), pl.lit(True)
    hit = gold & said
    for ratio in (
        Ratio("detection.f1", 2 * hit.cast(pl.Int64), gold.cast(pl.Int64) + said.cast(pl.Int64), every),
        Ratio("detection.precision", hit, said, said),
        Ratio("detection.recall", hit, gold, gold, expected=gold),
        Ratio("detection.false_refusal_rate", ~gold & said, ~gold, ~gold, expected=~gold),
        Ratio("detection.accuracy", gold == said, every, every),
    ):
        yield from (document_sums(judged, ratio, part) for part in BY_LANGUAGE)


def _verdicts(rows: pl.DataFrame, judgements: pl.DataFrame) -> Iterator[pl.DataFrame]:
    every = pl.lit(True)
    consistent = correctness(rows, judgements, "answer_consistency")
    accuracy = Ratio("answer_consistency.accuracy", pl.col("correct").fill_null(False), every, every)
    yield from (document_sums(consistent, accuracy, part) for part in BY_KIND)
    classed = verdict_rows(rows.filter(~pl.col("answerable")), judgements, "response_class")
    for name in RESPONSE_CLASSES:
        share = Ratio(f"response_class.{name}", (pl.col("verdict") == name).fill_null(False), every, every)
        yield from (document_sums(classed, share, part) for part in BY_LANGUAGE)
    for measure in MEASURES:
        judged = verdict_rows(rows, judgements, measure)
        if measure == "response_class":
            judged = judged.filter(~pl.col("answerable"))
        failed = Ratio(
            f"{measure}.parse_failure_rate",
            pl.col("unparsed"),
            pl.col("judged"),
            pl.col("judged"),
            ok=pl.col("judged"),
        )
        yield document_sums(judged, failed, Slice())


def _dialogue(rows: pl.DataFrame) -> Iterator[pl.DataFrame]:
    every, refused = pl.lit(True), pl.col("refused").fill_null(False)
    detected = rows.with_columns(judge="detector")
    new, new_couldask = pl.col("reformulation").is_not_null(), pl.col("reformulation_couldask").is_not_null()
    for ratio in (
        Ratio("reformulation.rate", refused & new, refused, refused),
        Ratio("reformulation.rate_couldask", refused & new_couldask, refused, refused),
        Ratio("turns.mean", pl.col("n_turns"), every, every, proportion=False),
    ):
        yield document_sums(detected, ratio, Slice())
    cut = Ratio("turns.cut_rate", pl.col("cut"), every, every, ok=every)
    yield document_sums(rows.with_columns(judge=pl.lit(ALL)), cut, Slice())
    for status in Status:
        share = Ratio(f"status.{status}", pl.col("status") == status, every, every, ok=every)
        yield document_sums(rows.with_columns(judge=pl.lit(ALL)), share, Slice())


@dataclass(frozen=True, slots=True)
class Part:
    """One dataset's share in an average."""

    estimate: Estimate
    n: float
    ok: float
    expected: float


def _estimates(sums: pl.DataFrame, plan: Plan, resamples: int, seed: int) -> Iterator[dict[str, Any]]:
    """One row a cell and metric, and the averages over datasets of detection and reformulation."""
    factors = plan.factors
    averaged: dict[tuple[str, ...], dict[str, Part]] = {}
    # Rows over the same documents follow each other, so that they share one matrix of draws.
    by_slice = ["dataset", "language", "kind", "length_bucket", "metric"]
    ordered = sums.sort([*by_slice, *KEY, "doc_id"])
    nums, dens = ordered["num"].to_numpy(), ordered["den"].to_numpy()
    totals = ordered.group_by(KEY, maintain_order=True).agg(
        pl.col("n", "ok", "expected").sum(), pl.col("proportion").first(), documents=pl.len()
    )
    stop = 0
    for total in totals.iter_rows(named=True):
        cell = {name: str(total[name]) for name in KEY}
        start, stop = stop, stop + total["documents"]
        expected = total["expected"] * factors[tuple(cell[name] for name in CELL)]
        draw = seed_of(seed, cell["dataset"])
        estimate = ratio_estimate(nums[start:stop], dens[start:stop], resamples, draw, total["proportion"])
        if expected:  # else the dataset has no such question: no row, though its average has to know
            yield cell | _values(estimate, int(total["n"]), total["ok"] / expected)
        unsliced = cell["language"] == cell["kind"] == cell["length_bucket"] == ALL
        averages = cell["metric"].startswith("detection.") or is_averaged(cell["metric"])
        if averages and unsliced:
            rest = tuple(cell[name] for name in KEY if name != "dataset")
            averaged.setdefault(rest, {})[cell["dataset"]] = Part(estimate, total["n"], total["ok"], expected)
    yield from _averages(averaged, plan)


def _averages(averaged: Mapping[tuple[str, ...], dict[str, Part]], plan: Plan) -> Iterator[dict[str, Any]]:
    """The means over datasets: a row for each cell of a layout with several, null where the cell lacks one of them.

    A mean over fewer datasets would stand in one column with means over all, and be read as if it were one.
    """
    datasets, expected = plan.datasets(), plan.expected
    for rest, parts in averaged.items():
        cell = dict(zip([name for name in KEY if name != "dataset"], rest, strict=True)) | {"dataset": AVERAGE}
        wanted = datasets[cell["layout"]]
        lacking = [name for name in wanted if name not in parts]
        total = sum(part.expected for part in parts.values())
        total += sum(expected.get((cell["model"], cell["method"], cell["layout"], name), 0) for name in lacking)
        if len(wanted) < 2 or not total:
            continue
        estimate = Estimate(None) if lacking else mean_estimate([part.estimate for part in parts.values()])
        n, ok = sum(part.n for part in parts.values()), sum(part.ok for part in parts.values())
        yield cell | _values(estimate, int(n), ok / total)


def _values(estimate: Estimate, n: int, coverage: float) -> dict[str, Any]:
    finite = {"value": estimate.value, "ci_low": estimate.low, "ci_high": estimate.high}
    return {k: None if v is None or np.isnan(v) else v for k, v in finite.items()} | {"n": n, "coverage": coverage}
