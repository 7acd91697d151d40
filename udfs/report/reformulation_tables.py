"""CouldAsk's tables about reformulated questions, filled from the metrics table, beside what the paper prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from udfs.report.grid import Cell, Grid, Row
from udfs.report.lookup import Lookup, viewer_link
from udfs.schema import Language
from udfs.tables.metrics import ALL, AVERAGE
from udfs.tables.published import (
    COULDASK_TABLE1,
    COULDASK_TABLE6,
    Published,
    published,
)
from udfs.tables.reformulations import (
    ANSWERABLE,
    COSINE,
    DETECTED,
    EDIT_DISTANCE,
    EDIT_SIMILARITY,
    ENTITY_OVERLAP,
    ENTITY_OVERLAP_SOFT,
    ERROR_CATEGORIES,
    STRATEGIES,
    SUCCESS,
    SUCCESS_STRICT,
    VALUES,
)

SUCCESS_METRIC: Final = VALUES[SUCCESS]
AT_LEAST, MORE_THAN = "relevance ≥ 0.5 (CouldAsk's code)", "relevance > 0.5 (its paper)"
HACKS: Final = ("explicit", "rule_based")
"""Methods that try to get a high success rate without a good question (CouldAsk, Tables 9 and 10)."""
LABEL_NAMES: Final = {
    "same_or_rephrased": "same or rephrased",
    "copied": "copied from the document",
    "irrelevant": "irrelevant",
    "other": "other",
    "correct": "correct",
    "generalize": "generalize",
    "nearest_match": "nearest match",
    "specify": "specify",
    "undecided": "undecided",
}
"""Error categories and strategies as tables head them."""
LANGUAGE_NAMES: Final = {Language.EN.value: "English", Language.ZH.value: "Chinese"}


@dataclass(frozen=True, slots=True)
class Group:
    """The columns of one metric in a table by dataset."""

    name: str
    metric: str
    number: bool = False  # not a share


def success(found: Lookup) -> Grid:
    """Success rate by dataset over all unanswerable questions (CouldAsk, Table 5)."""
    return _by_dataset(found, "Success rate over all unanswerable questions", _success_groups(""))


def success_detected(found: Lookup) -> Grid:
    """The same over the questions that were detected, and so reformulated."""
    return _by_dataset(found, "Success rate over the detected ones", _success_groups(DETECTED))


def _success_groups(end: str) -> tuple[Group, ...]:
    return (Group(AT_LEAST, VALUES[SUCCESS] + end), Group(MORE_THAN, VALUES[SUCCESS_STRICT] + end))


def success_by_language(found: Lookup) -> Grid:
    """Success rate by language, of the datasets that hold several; without rows where there is none."""
    told = found.metrics.filter((pl.col("metric") == SUCCESS_METRIC) & (pl.col("language") != ALL))
    spoken = told.group_by("dataset").agg(pl.col("language").n_unique()).filter(pl.col("language") > 1)
    plan = [(name, group) for name in LANGUAGE_NAMES for group in _success_groups("")]
    rows = [
        Row(
            found.labels(row),
            tuple(found.cell(row, group.metric, language) for language, group in plan),
            link=viewer_link(row, gold="unanswerable"),
        )
        for row in found.rows(SUCCESS_METRIC)
        if row["dataset"] in spoken["dataset"]
    ]
    columns = tuple((LANGUAGE_NAMES[name], group.name.split(" (")[0]) for name, group in plan)
    return Grid("Success rate by language", found.label_names(), columns, tuple(rows)).trimmed()


def hacks(found: Lookup) -> Grid:
    """The methods made to hack the success rate beside the zero-shot prompt; without rows where there is none."""
    methods = set(found.metrics["method"])
    kept = Lookup(found.metrics.filter(pl.col("method").is_in(["zs", *HACKS])))
    title = "Methods made to hack the success rate"
    if methods.isdisjoint(HACKS):
        return Grid(title, found.label_names(dataset=False), (), ())
    groups = (Group("success, ≥ 0.5", SUCCESS_METRIC), Group("answerable", VALUES[ANSWERABLE]), *_overlaps(""))
    return _by_dataset(kept, title, groups)


def parts(found: Lookup, detected: bool) -> Grid:
    """What success is made of, by dataset: answerability and entity overlap (CouldAsk, Table 13).

    Args:
        detected: over the detected questions, else over all unanswerable ones.
    """
    end = DETECTED if detected else ""
    unread = Group("verdicts that could not be read", f"{ANSWERABLE}.parse_failure_rate")
    shares = found.metrics.filter(pl.col("metric") == unread.metric)["value"]
    groups = [Group("answerable", VALUES[ANSWERABLE] + end), *_overlaps(end)]
    groups += [unread] if not detected and any(value for value in shares) else []
    over = "the detected ones" if detected else "all unanswerable questions"
    return _by_dataset(found, f"Answerability and entity overlap over {over}", groups)


def _overlaps(end: str) -> tuple[Group, Group]:
    return (
        Group("entity overlap", VALUES[ENTITY_OVERLAP] + end),
        Group("soft entity overlap", VALUES[ENTITY_OVERLAP_SOFT] + end),
    )


def cosine(found: Lookup) -> Grid:
    """Cosine similarity of the two questions, where an embedding model judged it (CouldAsk, Table 14)."""
    groups = (Group("all (undetected: 0)", VALUES[COSINE]), Group("detected ones", VALUES[COSINE] + DETECTED))
    return _by_dataset(found, "Cosine similarity of the two questions", groups)


def edits(found: Lookup) -> Grid:
    """Edit distance in words, and its normalised counterpart (CouldAsk, Table 15)."""
    groups = (
        Group("words, all (undetected: 0)", VALUES[EDIT_DISTANCE], number=True),
        Group("words, detected ones", VALUES[EDIT_DISTANCE] + DETECTED, number=True),
        Group("similarity, %, detected ones", VALUES[EDIT_SIMILARITY] + DETECTED),
    )
    note = (
        "Undetected questions count 0 words over all questions, so lower is not better there: a model that detects "
        "nothing has the lowest distance."
    )
    return replace(_by_dataset(found, "Edit distance", groups), note=note)


def errors(found: Lookup) -> Grid:
    """What failed new questions are (CouldAsk, Table 6)."""
    printed = {row["category"]: row["share"] for row in published(COULDASK_TABLE6).iter_rows(named=True)}
    names = {"dataset": "100 new questions", "model": "five models", "method": ""}
    title = "What failed new questions are"
    return _shares(found, title, "error", ERROR_CATEGORIES, "failed", COULDASK_TABLE6, printed, names)


def strategies(found: Lookup) -> Grid:
    """How successful new questions were made (CouldAsk, Table 1)."""
    printed = {row["strategy"]: row["share"] for row in published(COULDASK_TABLE1).iter_rows(named=True)}
    names = {"dataset": "100 questions", "model": "a person", "method": ""}
    title = "How successful new questions were made"
    return _shares(found, title, "strategy", STRATEGIES, "success", COULDASK_TABLE1, printed, names)


def _shares(
    found: Lookup,
    title: str,
    kind: str,
    labels: Sequence[str],
    outcome: str,
    table: Published,
    printed: Mapping[str, float],
    names: Mapping[str, str],
) -> Grid:
    """Shares of `labels` a dataset, with the paper's one row.

    Args:
        outcome: the value of the page's filter `success` that shows the responses behind a row.
    """
    metrics = [f"reformulation.{kind}.{label}" for label in labels]
    rows = [
        Row(
            found.labels(row),
            tuple(found.cell(row, metric) for metric in metrics),
            link=viewer_link(row, success=outcome),
        )
        for row in found.rows(metrics[0])
    ]
    cells = tuple(Cell(printed[label] / 100 if label in printed else None) for label in labels)
    named = {"judge": "published", **names}
    rows.append(Row(tuple(named.get(name, "") for name in found.label_names()), cells, published=True))
    columns = tuple(("", LABEL_NAMES[label]) for label in labels)
    return Grid(title, found.label_names(), columns, tuple(rows), table.source).trimmed()


def _by_dataset(found: Lookup, title: str, groups: Sequence[Group]) -> Grid:
    """One row a judge, model and method; for each group a column a dataset, and the average."""
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for group in groups:
        for row in found.rows(group.metric, over_datasets=True):
            rows.setdefault(found.labels(row, dataset=False), row)
    columns = [(group, name) for group in groups for name in found.datasets(group.metric)]
    lines = tuple(
        Row(
            labels,
            tuple(_cell(found, row, group, name) for group, name in columns),
            link=viewer_link(row, gold="unanswerable"),
        )
        for labels, row in rows.items()
    )
    heads = tuple((group.name, name) for group, name in columns)
    return Grid(title, found.label_names(dataset=False), heads, lines).trimmed()


def _cell(found: Lookup, row: dict[str, str], group: Group, dataset: str) -> Cell:
    cell = found.cell(row | {"dataset": dataset}, group.metric)
    cell = replace(cell, unit="number") if group.number else cell
    if dataset != AVERAGE or cell.value is not None or cell.n is None:
        return cell
    lacking = [
        name
        for name in found.layout_datasets(row["layout"])
        if found.cell(row | {"dataset": name}, group.metric).value is None
    ]
    why = "none was detected or judged" if group.metric.endswith(DETECTED) else "there is no value"
    over = " over the detected ones" if group.metric.endswith(DETECTED) else ""
    return replace(cell, note=f"no average{over}, for {why} on {', '.join(lacking)}")
