"""Which part of a question makes it unanswerable, and what that does to its new questions (Figure 3, Table 7)."""

from __future__ import annotations

from typing import Final

import polars as pl

from udfs.report.grid import Cell, Grid, Row
from udfs.report.lookup import Lookup, viewer_link
from udfs.tables.published import COULDASK_FIGURE3, COULDASK_TABLE7, published
from udfs.tables.reformulations import ANSWERABLE, Q_SPAN, SHORT_SPAN, SPANS, VALUES

SPAN_NAMES: Final = {Q_SPAN: "the whole question (q span)", SHORT_SPAN: "a part of it (short span)"}
ORIGINAL, WORDS, NEW = "original question", "minimum span", "new question"


def spans(found: Lookup) -> Grid:
    """How often the whole question is to blame, and how often a part of it."""
    return _by_span(found, "Minimum span of the detected questions", "reformulation.span")


def answerable_by_span(found: Lookup) -> Grid:
    """How many new questions are answerable, by the minimum span of their originals (CouldAsk, Figure 3)."""
    return _by_span(found, "Answerable new questions by minimum span", VALUES[ANSWERABLE])


def _by_span(found: Lookup, title: str, metric: str) -> Grid:
    metrics = [f"{metric}.{span}" for span in SPANS]
    rows = {found.labels(row): row for name in metrics for row in found.rows(name)}
    lines = [
        Row(
            labels,
            tuple(found.cell(row, name) for name in metrics),
            link=viewer_link(row, gold="unanswerable", said="refused"),
        )
        for labels, row in rows.items()
    ]
    return Grid(title, found.label_names(), tuple(("", SPAN_NAMES[span]) for span in SPANS), tuple(lines)).trimmed()


def printed_figure() -> Grid:
    """On which span the paper finds fewer answerable new questions."""
    rows = tuple(
        Row((row["model"], row["dataset"]), (Cell(SPAN_NAMES[row["fewer"]], unit="text"),), published=True)
        for row in published(COULDASK_FIGURE3).iter_rows(named=True)
    )
    columns = (("", "fewer are answerable where to blame is"),)
    title = "Published: which span is harder"
    return Grid(title, ("model", "dataset"), columns, rows, COULDASK_FIGURE3.source)


def examples(shown: pl.DataFrame) -> Grid:
    """Questions of each span with a new question that is answerable, beside the paper's two (Table 7).

    Args:
        shown: `udfs.tables.span_examples.span_examples`.
    """
    labels = ("minimum span", "dataset", "model", "method")
    rows = [
        Row(
            (SPAN_NAMES[row["span"]], row["dataset"], row["model"], row["method"]),
            tuple(Cell(row[name], unit="text") for name in ("original", "words", "reformulated")),
        )
        for row in shown.iter_rows(named=True)
    ]
    if rows:
        rows += [
            Row(
                (SPAN_NAMES[row["span"]], "", "", ""),
                (Cell(row["original"], unit="text"), Cell(), Cell(row["reformulated"], unit="text")),
                published=True,
            )
            for row in published(COULDASK_TABLE7).iter_rows(named=True)
        ]
    columns = (("", ORIGINAL), ("", WORDS), ("", NEW))
    judges = sorted(set(shown["judge"]))
    note = f"Spans were found by {', '.join(judges)}; the new questions shown are answerable." if judges else ""
    return Grid("Examples of each span", labels, columns, tuple(rows), COULDASK_TABLE7.source, note)
