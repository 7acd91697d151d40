"""What people said of a sample: quality of questions and of judges' verdicts (FactGuard, Tables 4 and 8), agreement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import polars as pl

from udfs.report.grid import Cell, Grid, Row
from udfs.report.run_tables import MEASURE_NAMES
from udfs.report.tables import CLASS_NAMES, KIND_NAMES
from udfs.review.agreement import (
    ALL,
    BOTH,
    MAJORITY,
    MISLEADING,
    UNANIMOUS,
    UNANSWERABLE,
    complete_votes,
    review_agreement,
    review_quality,
)
from udfs.schema import Kind
from udfs.tables.published import FACTGUARD_TABLE4, FACTGUARD_TABLE8, Published, published

_MISLEADING_KINDS: Final = [kind.value for kind in Kind if kind.value.startswith(f"{MISLEADING}.")]
_KINDS: Final = (Kind.ANSWERABLE.value, UNANSWERABLE, Kind.LACK_OF_EVIDENCE.value, MISLEADING, *_MISLEADING_KINDS)
GROUP_NAMES: Final = {**KIND_NAMES, **CLASS_NAMES, "correct": "correct", ALL: "all"}
CHECK_NAMES: Final = {BOTH: "question and answer", "question": "question", "answer": "answer", "verdict": "verdict"}
RULES: Final = (UNANIMOUS, MAJORITY)
PAPER: Final = "FactGuard-Bench"
WILSON: Final = "Intervals are Wilson's, over items; only items that every annotator has answered in full are counted."


def question_quality(annotations: pl.DataFrame) -> Grid:
    """Share of questions, of their answers, and of both that pass, by kind (FactGuard, Table 4).

    Args:
        annotations: rows of the annotations table with target questions.
    """
    plan = [(check, rule) for check in (BOTH, "question", "answer") for rule in RULES]
    printed = {row["group"]: row for row in published(FACTGUARD_TABLE4).iter_rows(named=True)}
    title = "Questions that pass a manual review"
    return _quality(title, "kind", review_quality(annotations), (*_KINDS, ALL), plan, printed, FACTGUARD_TABLE4)


def verdict_quality(annotations: pl.DataFrame, measures: Mapping[str, str], measure: str) -> Grid:
    """Share of a judge's verdicts that people find right, by kind or by verdict (FactGuard, Table 8).

    Args:
        annotations: rows of the annotations table with target judgements.
        measures: the measure of each judgement_id.
        measure: answer_consistency | response_class.
    """
    by_kind = measure == "answer_consistency"
    groups = (*_KINDS, "correct", "incorrect", ALL) if by_kind else (*CLASS_NAMES, ALL)
    mine = annotations.filter(pl.col("item_id").is_in([name for name, of in measures.items() if of == measure]))
    printed = {
        row["group"]: row
        for row in published(FACTGUARD_TABLE8).filter(pl.col("measure") == measure).iter_rows(named=True)
    }
    title = f"Verdicts on {MEASURE_NAMES[measure]} that people find right"
    label = "kind or verdict" if by_kind else "verdict"
    plan = [("verdict", rule) for rule in RULES]
    return _quality(title, label, review_quality(mine), groups, plan, printed, FACTGUARD_TABLE8)


def _quality(
    title: str,
    label: str,
    quality: pl.DataFrame,
    groups: Sequence[str],
    plan: Sequence[tuple[str, str]],
    printed: Mapping[str, dict[str, Any]],
    table: Published,
) -> Grid:
    """One row a review and group, one column a (check, rule) of `plan`; the paper's numbers under its first column."""
    told = {
        (row["review"], row["group"], row["check"], row["rule"]): Cell(
            row["value"], row["ci_low"], row["ci_high"], row["n"]
        )
        for row in quality.iter_rows(named=True)
    }
    rows = [
        Row((review, GROUP_NAMES[group]), tuple(told.get((review, group, *place), Cell()) for place in plan))
        for review in sorted(set(quality["review"]))
        for group in groups
    ]
    blank = (Cell(),) * (len(plan) - 1)
    rows = [row for row in rows if any(cell.holds for cell in row.cells)] + [
        Row((PAPER, GROUP_NAMES[group]), (Cell(row["quality"] / 100, n=row["n"]), *blank), published=True)
        for group in groups
        if (row := printed.get(group))
    ]
    columns = tuple((CHECK_NAMES[check], rule) for check, rule in plan)
    return Grid(title, ("review", label), columns, tuple(rows), table.source, WILSON).trimmed()


def agreement(annotations: pl.DataFrame) -> Grid:
    """How far the annotators of each review agree: unanimous items and Fleiss' κ.

    Args:
        annotations: rows of the annotations table.
    """
    rows = []
    for row in review_agreement(annotations).iter_rows(named=True):
        undefined = "" if row["kappa"] is not None else "κ is not defined: one annotator, or all answers alike"
        cells = (
            Cell(row["annotators"], unit="integer"),
            Cell(row["unanimous"] / row["items"], n=row["items"], whole=True),
            Cell(row["kappa"], unit="number", note=undefined),
        )
        rows.append(Row((row["review"], row["check"]), cells))
    items, complete = annotations["item_id"].n_unique(), complete_votes(annotations)["item_id"].n_unique()
    left_out = f"{items - complete:,} of {items:,} items are left out: not every annotator has answered them."
    columns = (("", "annotators"), ("", "unanimous, %"), ("", "Fleiss' κ"))
    note = left_out if complete < items else ""
    return Grid("Agreement of the annotators", ("review", "check"), columns, tuple(rows), note=note)
