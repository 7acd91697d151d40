"""Cells of the metrics table by address, and the names and orders that the report's tables share."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

import polars as pl

from udfs.report.grid import Cell
from udfs.tables.metrics import ALL, AVERAGE, EXPECTED

METHOD_ORDER: Final = ("zs", "zs_cot", "fs", "fs_cot")
ACCURACY: Final = "answer_consistency.accuracy"
Address = tuple[str, ...]


class Lookup:
    """Cells of the metrics table by address, and the rows (model × method × …) that the report's tables have."""

    def __init__(self, metrics: pl.DataFrame) -> None:
        self.metrics = metrics
        self.several_layouts = metrics["layout"].n_unique() > 1
        axes = ["model", "method", "layout", "dataset", "judge", "metric", "language", "kind", "length_bucket"]
        self._cells: dict[Address, Cell] = {
            tuple(row[axis] for axis in axes): Cell(
                row["value"], row["ci_low"], row["ci_high"], row["n"], row["coverage"]
            )
            for row in metrics.iter_rows(named=True)
        }

    def cell(self, row: dict[str, str], metric: str, language: str = ALL, kind: str = ALL, bucket: str = ALL) -> Cell:
        address = (row["model"], row["method"], row["layout"], row["dataset"], row["judge"], metric)
        return self._cells.get((*address, language, kind, bucket), Cell())

    def rows(self, metric: str, over_datasets: bool = False) -> list[dict[str, str]]:
        """What there is of `metric`, in the order of reading: judge, (dataset,) model, layout, method."""
        axes = ["judge", *([] if over_datasets else ["dataset"]), "model", "layout", "method"]
        found = self.metrics.filter((pl.col("metric") == metric) & (pl.col("dataset") != AVERAGE)).select(axes).unique()
        rows = [{"dataset": ALL, **row} for row in found.iter_rows(named=True)]

        def place(row: dict[str, str]) -> list[str]:
            ranked = row | {"method": method_rank(row["method"]), "judge": judge_rank(metric, row["judge"])}
            return [ranked[axis] for axis in axes]

        return sorted(rows, key=place)

    def datasets(self, metric: str) -> list[str]:
        """Datasets that have `metric`, "average" last where it is there."""
        names = set(self.metrics.filter(pl.col("metric") == metric)["dataset"])
        return [*sorted(names - {AVERAGE}), *([AVERAGE] if AVERAGE in names else [])]

    def layout_datasets(self, layout: str) -> list[str]:
        """Datasets that cells of that layout were to have, or have, sorted."""
        rows = self.metrics.filter((pl.col("metric") == EXPECTED) & (pl.col("layout") == layout))
        return sorted(set(rows["dataset"]))

    def label_names(self, dataset: bool = True) -> tuple[str, ...]:
        return (
            *(("dataset",) if dataset else ()),
            "model",
            "method",
            *(("layout",) if self.several_layouts else ()),
            "judge",
        )

    def labels(self, row: dict[str, str], dataset: bool = True) -> tuple[str, ...]:
        return tuple(row[name] for name in self.label_names(dataset))


def method_rank(method: str) -> str:
    """Sort key: the papers' four methods in their order, then any other by name."""
    return f"{METHOD_ORDER.index(method):02d}" if method in METHOD_ORDER else f"99{method}"


def judge_rank(metric: str, judge: str) -> str:
    """Sort key: for detection the rules come first, elsewhere a model judge does; CouldAsk's phrases last."""
    order = ("rules", "llm", "couldask") if metric.startswith("detection.") else ("llm", "rules", "couldask")
    kind = judge.split(":")[0]
    return f"{order.index(kind) if kind in order else len(order)}{judge}"


def main_judge(metrics: pl.DataFrame, metric: str) -> str:
    """The judge that plots, marks and differences go by: the first by `judge_rank`; "" where nothing was judged."""
    judges = set(metrics.filter(pl.col("metric") == metric)["judge"])
    return min(judges, key=lambda name: judge_rank(metric, name), default="")


def viewer_link(row: dict[str, str], **more: str) -> str:
    """The fragment under which the responses page shows the responses behind a row."""
    wanted = {name: row[name] for name in ("model", "method", "layout", "dataset") if row.get(name, ALL) != ALL} | more
    return "&".join(f"{name}={quote(value, safe='')}" for name, value in wanted.items())
