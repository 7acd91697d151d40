"""How many responses each cell of a run was to have, by what its starts wrote down: what coverage divides by.

A killed start records only some of its responses; over the recorded rows alone coverage would still read 100 %.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

import polars as pl

from udfs.tables.observations import CELL

PLANNED: Final[dict[str, type[pl.DataType]]] = {**dict.fromkeys(CELL, pl.String), "planned": pl.Int64}
COUNTS: Final[dict[str, type[pl.DataType]]] = {**PLANNED, "recorded": pl.Int64, "expected": pl.Int64}


def planned_cells(runs: pl.DataFrame, datasets: Sequence[str] = (), models: Sequence[str] = ()) -> pl.DataFrame:
    """Columns `PLANNED`: of each cell the most that one start of the run was to have.

    Starts cover different parts (a limit, fewer methods), and a later one goes on with an earlier one's work, so the
    widest start counts, not the last.

    Args:
        runs: rows of the runs table, of one run.
        datasets, models: only cells of these, [] for all.
    """
    asking = runs.filter((pl.col("job") == "evaluate") & pl.col("cells").is_not_null())
    found = [
        (model, cell["method"], cell["layout"], cell["dataset"], int(cell["expected"]))
        for model, cells in asking.select("model", "cells").iter_rows()
        for cell in json.loads(cells)
    ]
    frame = pl.DataFrame(found, schema=PLANNED, orient="row")
    for column, wanted in (("dataset", datasets), ("model", models)):
        if wanted:
            frame = frame.filter(pl.col(column).is_in(list(wanted)))
    return frame.group_by(CELL).agg(pl.col("planned").max()).sort(CELL)


def cell_counts(rows: pl.DataFrame, planned: pl.DataFrame | None = None) -> pl.DataFrame:
    """Columns `COUNTS`, one row a cell that is planned or recorded, sorted.

    `planned` is null where no start says how many were to come. `expected` is then what is recorded; it is so too
    where more is recorded than any one start was to have (starts over different splits).

    Args:
        rows: `observations.response_rows`.
        planned: `planned_cells`; None: nobody knows.
    """
    recorded = rows.group_by(CELL).agg(recorded=pl.len().cast(pl.Int64))
    known = pl.DataFrame(schema=PLANNED) if planned is None else planned
    return (
        recorded.join(known, on=CELL, how="full", coalesce=True)
        .with_columns(pl.col("recorded").fill_null(0))
        .with_columns(expected=pl.max_horizontal("recorded", "planned"))
        .select(list(COUNTS))
        .sort(CELL)
    )
