"""How far the measures agree with people: preferences between new questions, and entity tags (Tables 8 and 11)."""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from udfs.report.explanations import says
from udfs.report.explorer import SCORE_NAMES
from udfs.report.grid import Cell, Grid, Row, Section
from udfs.tables.intervals import Estimate
from udfs.tables.published import COULDASK_TABLE8, COULDASK_TABLE11, published
from udfs.tables.taggers import ALL, EXACT
from udfs.tables.validation import Validation

MEASURES: Final = SCORE_NAMES | {"entity_overlap": "entity overlap", "entity_overlap_soft": "soft entity overlap"}
LANGUAGES: Final = {ALL: "all", "en": "English", "zh": "Chinese"}
PRINTED_PAIRS: Final = 200


def validation_section(validation: Validation) -> Section:
    """Both tables with the agreement of the annotators; without grids where people said nothing."""
    grids = (
        measures_beside_people(validation.measured),
        preferring(validation.between),
        taggers_beside_people(validation.quality),
        tagging(validation.tagging),
    )
    title = "Whether the measures agree with people"
    return Section("validation", title, says("validation"), tuple(grid for grid in grids if grid.measured))


def _bounded(
    row: dict[str, Any], name: str, n: int | None = None, coverage: float | None = None, number: bool = False
) -> Cell:
    return Cell(row[name], row[f"{name}_low"], row[f"{name}_high"], n, coverage, unit="number" if number else "percent")


def measures_beside_people(measured: pl.DataFrame) -> Grid:
    """Agreement of each measure with the majority's preference, beside the paper's two (CouldAsk, Table 8).

    Args:
        measured: `udfs.tables.preferences.measured_agreement`.
    """
    rows = [
        Row(
            (row["review"], MEASURES[row["measure"]], row["judge"]),
            (
                _bounded(row, "agree", row["decided"], row["scored"] / row["pairs"]),
                _bounded(row, "kappa", row["decided"], row["scored"] / row["pairs"], number=True),
                _bounded(row, "kappa_ties", row["scored"], row["scored"] / row["pairs"], number=True),
                Cell(row["measure_ties"], unit="integer"),
                Cell(row["people_ties"], unit="integer"),
            ),
        )
        for row in measured.iter_rows(named=True)
    ]
    if rows:
        rows += [
            Row(
                ("BanditQA", MEASURES[row["measure"]], "published"),
                (Cell(), Cell(row["kappa"] / 100, n=PRINTED_PAIRS, unit="number"), Cell(), Cell(), Cell()),
                published=True,
            )
            for row in published(COULDASK_TABLE8).iter_rows(named=True)
        ]
    columns = (
        ("decided pairs", "agreement, %"),
        ("decided pairs", "Fleiss' κ"),
        ("ties as an answer", "Fleiss' κ"),
        ("ties", "of the measure"),
        ("ties", "of the people"),
    )
    title = "Which new question is nearer to the original: measures beside people"
    return Grid(title, ("review", "measure", "judge"), columns, tuple(rows), COULDASK_TABLE8.source)


def preferring(between: pl.DataFrame) -> Grid:
    """How far the annotators agree on pairs.

    Args:
        between: `udfs.tables.preferences.annotator_agreement`.
    """
    rows = tuple(
        Row(
            (row["review"],),
            (
                Cell(row["annotators"], unit="integer"),
                Cell(row["unanimous"] / row["pairs"], n=row["pairs"], whole=True),
                Cell(
                    row["kappa"], row["kappa_low"], row["kappa_high"], row["pairs"], unit="number", note=_undefined(row)
                ),
                Cell(row["ties"], unit="integer"),
                Cell(row["first_share"], whole=True),
            ),
        )
        for row in between.iter_rows(named=True)
    )
    heads = ("annotators", "unanimous, %", "Fleiss' κ", "ties", "votes for the first shown, %")
    return Grid("Agreement of the annotators on pairs", ("review",), tuple(("", head) for head in heads), rows)


def _undefined(row: dict[str, Any]) -> str:
    return "" if row["kappa"] is not None else "κ is not defined: one annotator, or all answers alike"


def taggers_beside_people(quality: pl.DataFrame) -> Grid:
    """Precision, recall and F1 of each tagger against hand tags, beside the paper's tagger (CouldAsk, Table 11).

    Args:
        quality: `udfs.tables.taggers.tagger_quality`.
    """
    rows = [
        Row(
            (row["review"], row["tagger"], row["matching"], LANGUAGES[row["language"]]),
            (
                _bounded(row, "precision", row["tagged"], row["coverage"]),
                _bounded(row, "recall", row["hand"], row["coverage"]),
                _bounded(row, "f1", row["questions"], row["coverage"]),
            ),
        )
        for row in quality.iter_rows(named=True)
    ]
    if rows:
        rows += [
            Row(
                ("CouldAsk", row["tagger"], "", ""),
                (Cell(row["precision"] / 100), Cell(row["recall"] / 100), Cell()),
                published=True,
            )
            for row in published(COULDASK_TABLE11).iter_rows(named=True)
        ]
    note = (
        "n is the tagger's entities under precision, the people's under recall, questions under F1. "
        f"{EXACT.capitalize()}: the same words, case aside; soft: one is a part of the other. The tagger dataset is "
        "what the dataset came with."
    )
    columns = (("", "precision"), ("", "recall"), ("", "F1"))
    labels = ("review", "tagger", "matching", "language")
    title = "Entity tags beside people's"
    return Grid(title, labels, columns, tuple(rows), COULDASK_TABLE11.source, note if rows else "")


def tagging(agreed: dict[str, tuple[int, int, Estimate]]) -> Grid:
    """How far the annotators agree on entities.

    Args:
        agreed: `udfs.tables.taggers.between_annotators`.
    """
    rows = tuple(
        Row(
            (review,),
            (Cell(annotators, unit="integer"), Cell(found.value, found.low, found.high, questions)),
        )
        for review, (annotators, questions, found) in agreed.items()
    )
    columns = (("", "annotators"), ("", "F1 of each two"))
    return Grid("Agreement of the annotators on entities", ("review",), columns, rows)
