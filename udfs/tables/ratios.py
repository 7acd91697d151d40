"""Metrics as ratios of sums: what is summed over which rows, in which slices, and the sums by document."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

import polars as pl

from udfs.tables.observations import CELL, MISLEADING

ALL: Final = "all"
KEY: Final = (*CELL, "language", "kind", "length_bucket", "judge", "metric")


@dataclass(frozen=True)
class Ratio:
    """One metric as a ratio of sums over rows that have `ok` (and what the expressions name)."""

    name: str
    num: pl.Expr
    den: pl.Expr
    rows: pl.Expr
    """Which ok rows `n` counts."""
    expected: pl.Expr = field(default_factory=lambda: pl.lit(True))
    """Which rows should have been there: what coverage divides by, with those not recorded."""
    ok: pl.Expr = field(default_factory=lambda: pl.col("ok"))
    proportion: bool = True


@dataclass(frozen=True, slots=True)
class Slice:
    """By which columns a metric is split; the others become "all"."""

    language: bool = False
    kind: Literal["all", "each", "misleading"] = "all"
    length_bucket: bool = False

    def apply(self, rows: pl.DataFrame) -> pl.DataFrame:
        kind = {"all": pl.lit(ALL), "each": pl.col("kind"), "misleading": pl.lit(MISLEADING)}[self.kind]
        if self.kind == "misleading":
            rows = rows.filter(pl.col("kind").str.starts_with(MISLEADING + "."))
        return rows.with_columns(
            language=pl.col("language") if self.language else pl.lit(ALL),
            kind=kind,
            length_bucket=pl.col("length_bucket") if self.length_bucket else pl.lit(ALL),
        )


BY_LANGUAGE: Final = (Slice(), Slice(language=True))


def document_sums(rows: pl.DataFrame, ratio: Ratio, part: Slice) -> pl.DataFrame:
    """Per-document sums of one metric in one slicing: KEY, doc_id, num, den, n, ok, expected, proportion."""

    def total(expression: pl.Expr, where: pl.Expr) -> pl.Expr:
        return pl.when(where).then(expression.cast(pl.Float64) * one).otherwise(0.0).sum()

    one = pl.col("one")  # a column: a literal would be summed once and not once a row
    return (
        part.apply(rows)
        .with_columns(metric=pl.lit(ratio.name), one=pl.lit(1.0))
        .group_by([*KEY, "doc_id"])
        .agg(
            num=total(ratio.num, ratio.ok),
            den=total(ratio.den, ratio.ok),
            n=total(one, ratio.ok & ratio.rows),
            ok=total(one, ratio.ok & ratio.expected),
            expected=total(one, ratio.expected),
            proportion=pl.lit(ratio.proportion).first(),
        )
    )
