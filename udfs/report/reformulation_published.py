"""CouldAsk's printed tables about reformulated questions by dataset, as grids of published rows alone."""

from __future__ import annotations

from typing import Final

import polars as pl

from udfs.report.grid import Cell, Grid, Row
from udfs.tables.published import (
    COULDASK_TABLE5,
    COULDASK_TABLE9,
    COULDASK_TABLE10,
    COULDASK_TABLE13,
    COULDASK_TABLE14,
    COULDASK_TABLE15,
    Published,
    published,
)

COULDASK_SUBSETS: Final = ("SQuADv2", "QA2", "BanditQA", "BBC", "Reddit", "Yelp", "Average")


def success() -> Grid:
    """CouldAsk's printed Table 5."""
    return _printed("Published success rates", COULDASK_TABLE5)


def hacks() -> tuple[Grid, Grid]:
    """CouldAsk's printed Tables 9 and 10."""
    both = published(COULDASK_TABLE10)
    heads = [(name, "answerability") for name in COULDASK_SUBSETS] + [
        (name, "entity_overlap") for name in COULDASK_SUBSETS
    ]
    rows = []
    for method in both["method"].unique(maintain_order=True):
        of = {row["measure"]: row for row in both.filter(pl.col("method") == method).iter_rows(named=True)}
        cells = tuple(Cell(of[measure][name] / 100) for name, measure in heads)
        rows.append(Row((method,), cells, published=True, note=of["answerability"]["note"]))
    columns = tuple((measure.replace("_", " "), name) for name, measure in heads)
    table10 = Grid("Published parts of success", ("method",), columns, tuple(rows), COULDASK_TABLE10.source)
    return _printed("Published methods made to hack", COULDASK_TABLE9), table10


def parts() -> Grid:
    """CouldAsk's printed Table 13, its two halves side by side."""
    halves = published(COULDASK_TABLE13).partition_by("measure", as_dict=True, maintain_order=True)
    answerable, overlap = halves["answerability",], halves["entity_overlap",]
    rows = tuple(
        Row(
            (left["model"], left["method"]),
            tuple(Cell(half[name] / 100) for half in (left, right) for name in COULDASK_SUBSETS),
            published=True,
        )
        for left, right in zip(answerable.iter_rows(named=True), overlap.iter_rows(named=True), strict=True)
    )
    columns = tuple((group, name) for group in ("answerability", "entity overlap") for name in COULDASK_SUBSETS)
    return Grid("Published parts of success", ("model", "method"), columns, rows, COULDASK_TABLE13.source)


def cosine() -> Grid:
    """CouldAsk's printed Table 14."""
    return _printed("Published cosine similarities", COULDASK_TABLE14)


def edits() -> Grid:
    """CouldAsk's printed Table 15."""
    return _printed("Published edit distances", COULDASK_TABLE15, number=True)


def _printed(title: str, table: Published, number: bool = False) -> Grid:
    frame = published(table)
    labels = tuple(name for name in ("model", "method") if name in frame.columns)
    rows = tuple(
        Row(
            tuple(printed[name] for name in labels),
            tuple(_printed_cell(printed[name], number) for name in COULDASK_SUBSETS),
            published=True,
            note=printed["note"],
        )
        for printed in frame.iter_rows(named=True)
    )
    return Grid(title, labels, tuple(("", name) for name in COULDASK_SUBSETS), rows, table.source)


def _printed_cell(value: float | None, number: bool) -> Cell:
    if value is None:
        return Cell(None)
    return Cell(value, unit="number") if number else Cell(value / 100)
