"""Documents' texts one after another: never more than a few row groups in memory, whatever the dataset's size."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

import pyarrow.parquet as pq

from udfs.tables.store import Store

ROWS_AT_ONCE = 16


class Text(NamedTuple):
    """What a page shows of a document."""

    dataset: str
    doc_id: str
    title: str
    source: str
    language: str
    text: str


def texts(store: Store, dataset: str, doc_ids: Collection[str]) -> Iterator[Text]:
    """The texts of `doc_ids` in one dataset, each once, in the order of the files."""
    owed = set(doc_ids)
    for file in store.files("documents", dataset):
        if not owed:
            return
        with store.explained(), store.filesystem.open_input_file(file.path) as opened:
            parquet = pq.ParquetFile(opened)
            for group in range(parquet.num_row_groups):
                ids = parquet.read_row_group(group, columns=["doc_id"]).column("doc_id").to_pylist()
                if owed.isdisjoint(ids):
                    continue
                for batch in parquet.iter_batches(ROWS_AT_ONCE, row_groups=[group], columns=list(Text._fields)):
                    for row in batch.to_pylist():
                        if row["doc_id"] in owed:
                            owed.discard(row["doc_id"])
                            yield Text(**row)
