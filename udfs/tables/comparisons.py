"""Paired differences: two methods of one model, or two models under one method, on the questions both have ok rows for.

McNemar's test asks whether the questions that only one side gets right lean to one side; exact below 25 of them.
Its p-values take questions as independent; the interval of the difference is drawn by document.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, Final

import numpy as np
import polars as pl
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from udfs.tables.expected import cell_counts
from udfs.tables.intervals import Estimate, ratio_estimate, seed_of
from udfs.tables.observations import CELL, correctness

EXACT_BELOW: Final = 25
SCHEMA: Final[dict[str, type[pl.DataType]]] = {
    "compared": pl.String,  # method | model
    "a": pl.String,
    "b": pl.String,
    "model": pl.String,  # of both sides; "" where models are compared
    "method": pl.String,  # of both sides; "" where methods are compared
    "layout": pl.String,
    "dataset": pl.String,
    "measure": pl.String,
    "judge": pl.String,
    "pairs": pl.Int64,
    "coverage": pl.Float64,  # pairs over the questions that a and b (the one with more) were to answer
    "only_a": pl.Int64,  # questions that a alone gets right
    "only_b": pl.Int64,
    "accuracy_a": pl.Float64,  # over the pairs, as are its interval and b's
    "a_low": pl.Float64,
    "a_high": pl.Float64,
    "accuracy_b": pl.Float64,
    "b_low": pl.Float64,
    "b_high": pl.Float64,
    "difference": pl.Float64,  # accuracy of a minus accuracy of b
    "ci_low": pl.Float64,
    "ci_high": pl.Float64,
    "p_value": pl.Float64,
    "p_holm": pl.Float64,  # adjusted over all comparisons of the same measure and judge
}


def comparisons(
    rows: pl.DataFrame,
    judgements: pl.DataFrame,
    resamples: int = 1000,
    seed: int = 0,
    planned: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Every paired difference of a run, columns as in `SCHEMA`; pairs of sides without a common question are left out.

    Args:
        rows: `observations.response_rows`.
        judgements: rows of the judgements table; measures answer_consistency and refusal are compared.
        planned: `expected.planned_cells`; None: nobody knows, coverage is over recorded rows.
    """
    counts = cell_counts(rows, planned).select(*CELL, "expected")
    expected = {tuple(row[:4]): row[4] for row in counts.iter_rows()}
    found: list[dict[str, Any]] = []
    for measure in ("answer_consistency", "refusal"):
        marked = correctness(rows, judgements, measure).filter("ok")
        for compared, fixed in (("method", "model"), ("model", "method")):
            pairs = _pairs(marked, compared, fixed, resamples, seed)
            for row in pairs:
                sides = ({**row, compared: row[side]} for side in ("a", "b"))
                most = max(expected[tuple(side[name] for name in CELL)] for side in sides)
                found.append(row | {"measure": measure, "coverage": row["pairs"] / most})
    frame = pl.DataFrame(found, schema=SCHEMA)
    return _holm(frame)


def _pairs(marked: pl.DataFrame, compared: str, fixed: str, resamples: int, seed: int) -> Iterator[dict[str, Any]]:
    # Sides are compared by one judge: two models that each judge themselves are not compared.
    shared = [fixed, "layout", "dataset", "judge"]
    for key, group in marked.sort([*shared, compared, "question_id"]).group_by(shared, maintain_order=True):
        sides = {str(name[0]): side for name, side in group.group_by([compared], maintain_order=True)}
        for a, b in combinations(sides, 2):
            both = (
                sides[a]
                .select("question_id", "doc_id", a="correct")
                .join(sides[b].select("question_id", b="correct"), on="question_id")
            )
            if not both.height:
                continue
            cell = dict(zip(shared, (str(k) for k in key), strict=True)) | {compared: "", "compared": compared}
            yield cell | {"a": a, "b": b} | paired_difference(both, resamples, seed_of(seed, cell["dataset"]))


def paired_difference(both: pl.DataFrame, resamples: int, seed: int) -> dict[str, Any]:
    """Difference and test for one pair. `both`: columns doc_id, a, b (bool: right), one row a question."""
    a, b = both["a"].to_numpy(), both["b"].to_numpy()
    table = np.array([[np.sum(a & b), np.sum(a & ~b)], [np.sum(~a & b), np.sum(~a & ~b)]])
    only_a, only_b = int(table[0, 1]), int(table[1, 0])
    estimate = _estimate(both, pl.col("a").cast(pl.Float64) - pl.col("b").cast(pl.Float64), resamples, seed, False)
    right_a, right_b = (_estimate(both, pl.col(x).cast(pl.Float64), resamples, seed, True) for x in ("a", "b"))
    test = mcnemar(table, exact=only_a + only_b < EXACT_BELOW, correction=True)
    return {
        "pairs": both.height,
        "only_a": only_a,
        "only_b": only_b,
        "accuracy_a": right_a.value,
        "a_low": right_a.low,
        "a_high": right_a.high,
        "accuracy_b": right_b.value,
        "b_low": right_b.low,
        "b_high": right_b.high,
        "difference": estimate.value,
        "ci_low": estimate.low,
        "ci_high": estimate.high,
        "p_value": min(1.0, float(test.pvalue)),
    }


def _estimate(both: pl.DataFrame, value: pl.Expr, resamples: int, seed: int, proportion: bool) -> Estimate:
    sums = both.group_by("doc_id").agg(num=value.sum(), den=pl.len().cast(pl.Float64)).sort("doc_id")
    return ratio_estimate(sums["num"].to_numpy(), sums["den"].to_numpy(), resamples, seed, proportion)


def _holm(frame: pl.DataFrame) -> pl.DataFrame:
    if not frame.height:
        return frame
    groups = [
        group.with_columns(p_holm=pl.Series(multipletests(group["p_value"].to_numpy(), method="holm")[1]))
        for _, group in frame.group_by(["measure", "judge"], maintain_order=True)
    ]
    return pl.concat(groups).select(list(SCHEMA))
