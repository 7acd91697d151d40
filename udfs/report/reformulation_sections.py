"""The report's parts about the questions that a model offers instead; without grids where no judge looked at them."""

from __future__ import annotations

import polars as pl

from udfs.report import reformulation_published as printed_tables
from udfs.report import reformulation_tables as tables
from udfs.report import span_tables
from udfs.report.explanations import says
from udfs.report.grid import Grid, Section
from udfs.report.lookup import Lookup


def reformulation_sections(found: Lookup, examples: pl.DataFrame | None = None) -> list[Section]:
    """Success, what it is made of, errors, strategies and minimum spans: CouldAsk's tables, each with the paper's rows.

    Args:
        examples: `udfs.tables.span_examples.span_examples`.
    """
    return [
        Section("success", "Success of the new question", says("success"), _success(found)),
        Section("reformulation-parts", "What success is made of", says("reformulation-parts"), _parts(found)),
        Section(
            "reformulation-errors",
            "How new questions fail and succeed",
            says("reformulation-errors"),
            _measured(tables.errors(found), tables.strategies(found)),
        ),
        Section(
            "reformulation-spans",
            "What makes the question unanswerable",
            says("reformulation-spans"),
            _spans(found, examples),
        ),
    ]


def _measured(*grids: Grid) -> tuple[Grid, ...]:
    return tuple(grid for grid in grids if grid.measured)


def _with_print(measured: tuple[Grid, ...], *printed: Grid) -> tuple[Grid, ...]:
    """The paper's table behind the measured ones that it belongs to; nothing where these are missing."""
    return (*measured, *printed) if measured else ()


def _spans(found: Lookup, examples: pl.DataFrame | None) -> tuple[Grid, ...]:
    rates = _with_print(_measured(span_tables.answerable_by_span(found)), span_tables.printed_figure())
    shown = () if examples is None else (span_tables.examples(examples),)
    return (*rates, *_measured(span_tables.spans(found), *shown))


def _success(found: Lookup) -> tuple[Grid, ...]:
    rates = _measured(tables.success(found), tables.success_detected(found), tables.success_by_language(found))
    hacked = _measured(tables.hacks(found))
    if not rates:
        return ()
    return (*_with_print(rates, printed_tables.success()), *hacked, *printed_tables.hacks())


def _parts(found: Lookup) -> tuple[Grid, ...]:
    halves = _measured(*(tables.parts(found, detected) for detected in (False, True)))
    return (
        *_with_print(halves, printed_tables.parts()),
        *_with_print(_measured(tables.cosine(found)), printed_tables.cosine()),
        *_with_print(_measured(tables.edits(found)), printed_tables.edits()),
    )
