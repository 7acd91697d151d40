"""Recorded rows as far as plans want them: token counts of every run, and no text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from udfs.planning.assumptions import TURN_FIELDS
from udfs.tables.store import Store

RESPONSE_COLUMNS: Final = (
    "response_id",
    "question_id",
    "model",
    "model_revision",
    "method",
    "detector",
    "refused",
    "reformulation",
    *(f"turns.list.element.{name}" for name in TURN_FIELDS),
)
JUDGEMENT_COLUMNS: Final = ("judge", "measure", "status", "output_tokens")


def recorded_responses(store: Store) -> pl.DataFrame:
    """`RESPONSE_COLUMNS` of every run; a row that was written twice counts twice, which moves no mean by much."""
    return _read(store, "responses", RESPONSE_COLUMNS)


def recorded_judgements(store: Store) -> pl.DataFrame:
    """`JUDGEMENT_COLUMNS` of every run, of judges that are models."""
    return _read(store, "judgements", JUDGEMENT_COLUMNS).filter(pl.col("output_tokens") > 0)


def _read(store: Store, table: str, columns: Sequence[str]) -> pl.DataFrame:
    """Parquet leaves alone: the replies' texts, nearly all of a file, stay where they are."""
    parts: list[pa.Table] = []
    with store.explained():
        for file in store.files(table):
            with pq.ParquetFile(file.path, filesystem=store.filesystem) as parquet:
                parts.append(parquet.read(columns=list(columns)))
    if not parts:
        names = list(dict.fromkeys(column.partition(".")[0] for column in columns))
        return store.read(table, names)
    frame = pl.from_arrow(pa.concat_tables(parts))
    assert isinstance(frame, pl.DataFrame)
    return frame
