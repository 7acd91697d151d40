"""The papers' tables filled from the metrics table: each function gives one grid, measured rows first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from udfs.report.grid import Cell, Grid, Row
from udfs.report.lookup import ACCURACY, Lookup, viewer_link
from udfs.schema import LENGTH_BUCKETS, Kind
from udfs.tables.metrics import ALL, AVERAGE, RESPONSE_CLASSES
from udfs.tables.published import (
    COULDASK_TABLE4,
    FACTGUARD_TABLE5,
    FACTGUARD_TABLE6,
    FACTGUARD_TABLE7,
    Published,
    published,
)

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


def detection_f1(found: Lookup) -> Grid:
    """F1 of the unanswerable class by dataset (CouldAsk, Table 4)."""
    datasets = found.datasets("detection.f1")
    labels = found.label_names(dataset=False)
    rows = [
        Row(
            found.labels(row, dataset=False),
            tuple(_f1(found, row, name) for name in datasets),
            link=viewer_link(row),
        )
        for row in found.rows("detection.f1", over_datasets=True)
    ]
    return Grid("F1 by dataset", labels, tuple(("", name) for name in datasets), tuple(rows)).trimmed()


def _f1(found: Lookup, row: dict[str, str], dataset: str) -> Cell:
    cell = found.cell(row | {"dataset": dataset}, "detection.f1")
    if dataset != AVERAGE or cell.value is not None:
        return cell
    without = [
        name
        for name in found.layout_datasets(row["layout"])
        if found.cell(row | {"dataset": name}, "detection.f1").value is None
    ]
    return replace(cell, note=f"no average, for there is no F1 on {', '.join(without)}")


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
                (*cells, found.cell(row, "refusal.parse_failure_rate")),
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
                found.cell(row, "answer_consistency.parse_failure_rate"),
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
                found.cell(row, "response_class.parse_failure_rate"),
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
