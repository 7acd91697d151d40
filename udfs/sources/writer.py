"""Writing one dataset's tables so that ingesting the same input again changes nothing.

Files are named by a hash of what they hold (paths of the input left out). A marker beside the documents, written last,
says which content is complete. Memory holds one file's worth of rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from udfs.errors import UserError
from udfs.identity import content_hash
from udfs.records import Document, Question, Reject, row_of
from udfs.tables.store import DATASET_MARKER as MARKER
from udfs.tables.store import Store

FILE_TEXT_BYTES: Final = 128 * 1024 * 1024
FILE_ROWS: Final = 16_384
TABLES: Final = ("documents", "questions", "rejects")


@dataclass
class _Buffer:
    """Rows of one table that wait for their file."""

    rows: list[Any] = field(default_factory=list)
    bytes: int = 0


class DatasetWriter:
    """Gathers records into files of the three tables.

    Args:
        store: where to.
        dataset: the part's name.
        dry: only name the files, write none (to compare with what is there).
        file_text_bytes: text in one documents file, at most (a longer document has a file to itself).
    """

    def __init__(self, store: Store, dataset: str, dry: bool, file_text_bytes: int = FILE_TEXT_BYTES) -> None:
        self._store = store
        self._dataset = dataset
        self._dry = dry
        self._limit = file_text_bytes
        self._buffers = {table: _Buffer() for table in TABLES}
        self._names: dict[str, list[str]] = {table: [] for table in TABLES}
        self._before = {table: _file_names(store, table, dataset) for table in TABLES}

    def add(self, record: Document | Question | Reject) -> None:
        """Take one record; files are written as they fill up."""
        if isinstance(record, Document):
            size = len(record.text.encode("utf-8"))
            if self._buffers["documents"].bytes + size > self._limit:
                self._flush("documents")
            self._append("documents", record, size)
        elif isinstance(record, Question):
            self._append("questions", record, 0)
        else:
            self._append("rejects", record, 0)

    def _append(self, table: str, record: Any, size: int) -> None:
        buffer = self._buffers[table]
        buffer.rows.append(record)
        buffer.bytes += size
        if len(buffer.rows) >= FILE_ROWS:
            self._flush(table)

    def _flush(self, table: str) -> None:
        rows = self._buffers[table].rows
        self._buffers[table] = _Buffer()
        if not rows:
            return
        if table == "documents":  # longest first: how they are handed out
            rows.sort(key=lambda document: (-document.n_tokens, document.doc_id))
        name = content_hash(table, self._dataset, [_identity(row) for row in rows])
        self._names[table].append(name)
        if not self._dry:
            self._store.write(table, self._dataset, (row_of(row) for row in rows), name)

    def finish(self) -> str:
        """Write what is left; give the fingerprint of the whole content."""
        for table in TABLES:
            self._flush(table)
        return content_hash("dataset", {table: sorted(names) for table, names in self._names.items()})

    def remove_stale(self) -> None:
        """Remove the dataset's files that this content does not contain."""
        for table in TABLES:
            self._remove(table, self._before[table] - set(self._names[table]))

    def roll_back(self) -> None:
        """Remove the files that this writer added."""
        if not self._dry:
            for table in TABLES:
                self._remove(table, set(self._names[table]) - self._before[table])

    def is_there(self) -> bool:
        """Whether every file that this content makes lies there already."""
        return all(set(self._names[table]) <= self._before[table] for table in TABLES)

    def _remove(self, table: str, names: set[str]) -> None:
        for name in sorted(names & _file_names(self._store, table, self._dataset)):
            self._store.delete(table, self._dataset, f"{name}.parquet")


def _identity(row: Document | Question | Reject) -> list[Any]:
    """What a row is, without where it was read from."""
    if isinstance(row, Document):
        return [row.doc_id, row.split, row.language, row.domain, row.title, row.license, row.n_tokens, row.tokenizer]
    if isinstance(row, Reject):
        return [row.row, row.key, row.reason, row.raw]
    plain = row_of(row)
    plain.pop("provenance")
    return [plain]


def _file_names(store: Store, table: str, part: str) -> set[str]:
    return {file.path.rsplit("/", 1)[-1].removesuffix(".parquet") for file in store.files(table, part)}


def read_marker(store: Store, dataset: str) -> dict[str, Any] | None:
    """What the dataset's last ingest wrote about itself, `complete` among it; None where no ingest wrote it."""
    content = store.read_bytes("documents", dataset, MARKER)
    if content is None:
        return None
    try:
        marker = json.loads(content)
    except ValueError:
        marker = None
    if not isinstance(marker, dict):
        raise UserError(f"{store.address('documents', dataset, MARKER)} is damaged; remove it and ingest again")
    return marker


def _write_marker(store: Store, dataset: str, content: dict[str, Any]) -> None:
    store.write_bytes(json.dumps(content, ensure_ascii=False, indent=1).encode("utf-8"), "documents", dataset, MARKER)


def _restore_marker(store: Store, dataset: str, marker: dict[str, Any] | None) -> None:
    """The marker as it was; without one and without files, no trace of the dataset among the documents."""
    if marker is not None:
        _write_marker(store, dataset, marker)
        return
    store.delete("documents", dataset, MARKER)
    if not store.files("documents", dataset):
        store.delete_folder("documents", dataset)


def write_dataset(
    store: Store, dataset: str, overwrite: bool, facts: dict[str, Any], feed: Callable[[DatasetWriter], int]
) -> bool:
    """Write a dataset from `feed(writer)`, which adds all records and gives the number of documents. False where the
    same content was there already.

    A complete dataset of that name is compared first, without writing, unless `overwrite`. What an ingest that broke
    off left behind is completed or replaced.

    Args:
        facts: what else the marker tells.

    Raises:
        UserError: the name has other content and `overwrite` is false, or it would be overwritten by nothing.
    """
    before = read_marker(store, dataset)
    taken = before["complete"] if before is not None else bool(store.files("documents", dataset))
    if taken and not overwrite:
        writer = DatasetWriter(store, dataset, dry=True)
        feed(writer)
        if before is not None and writer.finish() == before["fingerprint"]:
            if writer.is_there():
                return False
            return write_dataset(store, dataset, True, facts, feed)  # the same content, but files of it are gone
        raise UserError(
            f"dataset {dataset!r} under {store.root} exists with other content (or other options, such as tokenizer); "
            "give overwrite=true to replace it, or another name="
        )
    writer = DatasetWriter(store, dataset, dry=False)
    _write_marker(store, dataset, {"complete": False, **facts})
    try:
        n_documents = feed(writer)
        fingerprint = writer.finish()
        if taken and not n_documents:
            raise UserError(f"nothing could be taken from the input, so dataset {dataset!r} is left as it was")
    except BaseException:
        writer.roll_back()
        _restore_marker(store, dataset, before)
        raise
    writer.remove_stale()
    if n_documents:
        _write_marker(store, dataset, {"complete": True, "fingerprint": fingerprint, **facts})
    else:
        _restore_marker(store, dataset, None)
    return True
