"""The papers' tables filled from the metrics table: each function gives one grid, measured rows first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final
from urllib.parse import quote

import polars as pl

from udfs.report.grid import Cell, Grid, Row
from udfs.schema import LENGTH_BUCKETS, Kind
from udfs.tables.metrics import ALL, AVERAGE, MEASURES, RESPONSE_CLASSES
from udfs.tables.published import (
    COULDASK_TABLE4,
    FACTGUARD_TABLE5,
    FACTGUARD_TABLE6,
    FACTGUARD_TABLE7,
    Published,
    published,
)

METHOD_ORDER: Final = ("zs", "zs_cot", "fs", "fs_cot")
KIND_NAMES: Final = {
    "all": "all",
    "answerable": "answerable",
    "unanswerable": "unanswerable",
    "lack_of_evidence": "lack of evidence",
    "misleading": "misleading",
    Kind.ENTITY_SUBSTITUTION.value: "entity substitution",
    Kind.IMPOSSIBLE_CONDITION.value: "impossible condition",
    Kind.FALSE_ASSUMPTION.value: "false assumption",
}
CLASS_NAMES: Final = {
    "incorrect": "incorrect",
    "direct_refusal": "direct refusal",
    "reasoned_answer": "reasoned answer",
}
METRIC_NAMES: Final = {
    "detection.f1": "F1",
    "detection.precision": "precision",
    "detection.recall": "recall",
    "detection.false_refusal_rate": "false refusals",
    "detection.accuracy": "accuracy",
}
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


def _published_rows(
    table: Published, labels: Sequence[str], columns: Iterable[str | None], dataset: str = ""
) -> list[Row]:
    rows = []
    for printed in published(table).iter_rows(named=True):
        named = {
            "model": printed["model"],
            "method": printed.get("method", ""),
            "judge": "published",
            "dataset": dataset,
        }
        cells = tuple(Cell(None if name is None else printed[name] / 100) for name in columns)
        rows.append(Row(tuple(named.get(name, "") for name in labels), cells, published=True, note=printed["note"]))
    return rows


def _rate(cell: Cell) -> Cell:
    """A side remark: the rate alone."""
    return Cell(cell.value)


def detection_f1(found: Lookup) -> Grid:
    """F1 of the unanswerable class by dataset (CouldAsk, Table 4)."""
    datasets = found.datasets("detection.f1")
    labels = found.label_names(dataset=False)
    rows = [
        Row(
            found.labels(row, dataset=False),
            tuple(found.cell(row | {"dataset": name}, "detection.f1") for name in datasets),
            link=viewer_link(row),
        )
        for row in found.rows("detection.f1", over_datasets=True)
    ]
    return Grid("F1 by dataset", labels, tuple(("", name) for name in datasets), tuple(rows)).trimmed()


def published_detection() -> Grid:
    """CouldAsk's printed Table 4."""
    columns = ("SQuADv2", "QA2", "BanditQA", "BBC", "Reddit", "Yelp", "Average")
    labels = ("model", "method")
    rows = tuple(_published_rows(COULDASK_TABLE4, labels, columns))
    return Grid("Published F1", labels, tuple(("", c) for c in columns), rows, COULDASK_TABLE4.source)


def detection_parts(found: Lookup) -> Grid:
    """F1 with what it is made of, and how many verdicts could not be read."""
    rows = []
    for row in found.rows("detection.f1"):
        cells = [found.cell(row, metric) for metric in METRIC_NAMES]
        rows.append(
            Row(
                found.labels(row),
                (*cells, _rate(found.cell(row, "refusal.parse_failure_rate"))),
                link=viewer_link(row),
            )
        )
    columns = tuple(("", name) for name in (*METRIC_NAMES.values(), "parse failures"))
    return Grid("What the F1 is made of", found.label_names(), columns, tuple(rows)).trimmed()


def consistency_by_language(found: Lookup) -> Grid:
    """Accuracy by language × kind (FactGuard, Table 5)."""
    kinds = ("answerable", "lack_of_evidence", "misleading", "unanswerable")
    plan = [("", "overall", ALL, ALL)]
    plan += [(language, KIND_NAMES[kind], language, kind) for language in ("en", "zh") for kind in kinds]
    rows = [
        Row(
            found.labels(row),
            (
                *(found.cell(row, ACCURACY, language, kind) for _, _, language, kind in plan),
                _rate(found.cell(row, "answer_consistency.parse_failure_rate")),
            ),
            link=viewer_link(row),
        )
        for row in found.rows(ACCURACY)
    ]
    printed = [
        None if kind == "unanswerable" else ("overall" if language == ALL else f"{language} {kind}")
        for _, _, language, kind in plan
    ]
    rows += _published_rows(FACTGUARD_TABLE5, found.label_names(), [*printed, None], "FactGuard-Bench")
    names = {"en": "English", "zh": "Chinese", "": ""}
    columns = (*((names[group], name) for group, name, _, _ in plan), ("", "parse failures"))
    return Grid(
        "Accuracy by language and kind", found.label_names(), tuple(columns), tuple(rows), FACTGUARD_TABLE5.source
    ).trimmed()


def consistency_by_misleading_kind(found: Lookup) -> Grid:
    """Accuracy for each way in which a question can mislead."""
    kinds = [Kind.ENTITY_SUBSTITUTION.value, Kind.IMPOSSIBLE_CONDITION.value, Kind.FALSE_ASSUMPTION.value]
    rows = [
        Row(found.labels(row), tuple(found.cell(row, ACCURACY, kind=kind) for kind in kinds), link=viewer_link(row))
        for row in found.rows(ACCURACY)
    ]
    columns = tuple(("", KIND_NAMES[kind]) for kind in kinds)
    return Grid("Misleading questions by what misleads", found.label_names(), columns, tuple(rows)).trimmed()


def consistency_by_length(found: Lookup) -> Grid:
    """Accuracy by length bucket × kind (FactGuard, Table 6)."""
    kinds = ("answerable", "lack_of_evidence", "misleading", "unanswerable")
    plan = [(kind, bucket) for kind in kinds for bucket in LENGTH_BUCKETS]
    rows = [
        Row(
            found.labels(row),
            tuple(found.cell(row, ACCURACY, kind=kind, bucket=bucket) for kind, bucket in plan),
            link=viewer_link(row),
        )
        for row in found.rows(ACCURACY)
    ]
    printed = [
        f"{kind} {bucket}" if kind != "unanswerable" and bucket != LENGTH_BUCKETS[-1] else None for kind, bucket in plan
    ]
    rows += _published_rows(FACTGUARD_TABLE6, found.label_names(), printed, "FactGuard-Bench")
    columns = tuple((KIND_NAMES[kind], bucket) for kind, bucket in plan)
    return Grid(
        "Accuracy by document length (tokens) and kind",
        found.label_names(),
        columns,
        tuple(rows),
        FACTGUARD_TABLE6.source,
    ).trimmed()


def response_classes(found: Lookup) -> Grid:
    """Shares of the three classes of responses to unanswerable questions (FactGuard, Table 7)."""
    metrics = [f"response_class.{name}" for name in RESPONSE_CLASSES]
    rows = [
        Row(
            found.labels(row),
            (
                *(found.cell(row, metric) for metric in metrics),
                _rate(found.cell(row, "response_class.parse_failure_rate")),
            ),
            link=viewer_link(row, gold="unanswerable"),
        )
        for row in found.rows(metrics[0])
    ]
    rows += _published_rows(FACTGUARD_TABLE7, found.label_names(), [*RESPONSE_CLASSES, None], "FactGuard-Bench")
    columns = (*(("", CLASS_NAMES[name]) for name in RESPONSE_CLASSES), ("", "parse failures"))
    return Grid(
        "Shares of responses to unanswerable questions",
        found.label_names(),
        columns,
        tuple(rows),
        FACTGUARD_TABLE7.source,
    ).trimmed()


def dialogue(found: Lookup) -> Grid:
    """How often a refusal came with a new question, and how many turns a dialogue took."""
    rows = []
    for row in found.rows("turns.mean"):
        turns = found.cell(row, "turns.mean")
        cells = (
            found.cell(row, "reformulation.rate"),
            found.cell(row, "reformulation.rate_couldask"),
            Cell(turns.value, turns.low, turns.high, turns.n, turns.coverage, "number"),
        )
        rows.append(Row(found.labels(row), cells, link=viewer_link(row, said="refused")))
    columns = (("", "new question after a refusal"), ("", "by CouldAsk's cut"), ("", "turns"))
    labels = tuple("detector" if name == "judge" else name for name in found.label_names())
    return Grid("Reformulation", labels, columns, tuple(rows)).trimmed()


def statuses(found: Lookup, names: Sequence[str]) -> Grid:
    """What became of the responses that were expected."""
    rows = []
    for row in found.rows("status.ok"):
        shares = [found.cell(row, f"status.{name}") for name in names]
        total = shares[0].n or 0
        shares.append(found.cell(row, "turns.cut_rate"))
        counts = [Cell(round(float(cell.value or 0) * total), unit="integer") for cell in shares]
        rows.append(Row(found.labels(row)[:-1], (Cell(total, unit="integer"), *counts), link=viewer_link(row)))
    columns = (("", "responses"), *(("", name) for name in names), ("", "cut at max_tokens"))
    return Grid("Statuses", found.label_names()[:-1], columns, tuple(rows))


def differences(compared: pl.DataFrame, measure: str, judge: str) -> Grid:
    """Paired differences with McNemar's test, by one judge's verdicts of one measure."""
    told = compared.filter((pl.col("measure") == measure) & (pl.col("judge") == judge))
    labels = ("dataset", "within", *(("layout",) if compared["layout"].n_unique() > 1 else ()), "a", "b")
    rows = []
    for row in told.sort("dataset", "compared", "model", "method", "a", "b").iter_rows(named=True):
        named: dict[str, Any] = row | {"within": row["model"] or row["method"]}
        cells = (
            Cell(row["difference"], row["ci_low"], row["ci_high"], row["pairs"], 1.0, "points"),
            Cell(row["accuracy_a"]),
            Cell(row["accuracy_b"]),
            Cell(row["only_a"], unit="integer"),
            Cell(row["only_b"], unit="integer"),
            Cell(row["p_value"], unit="p"),
            Cell(row["p_holm"], unit="p"),
        )
        rows.append(Row(tuple(str(named[name]) for name in labels), cells))
    columns = ("a − b, points", "a, %", "b, %", "only a right", "only b right", "p (McNemar)", "p (Holm)")
    title = f"Accuracy of {MEASURE_NAMES[measure]}, judge {judge}: paired differences"
    return Grid(title, labels, tuple(("", name) for name in columns), tuple(rows))


MEASURE_NAMES: Final = dict(zip(MEASURES, ("detection", "answer consistency", "response class"), strict=True))
