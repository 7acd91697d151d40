"""Writing rows as Parquet and JSONL, many files at once, none of them held in memory."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import IO, Any, Final, Protocol, Self

import pyarrow as pa
import pyarrow.parquet as pq

from udfs.exports.folder import ExportFolder, WrittenFile
from udfs.exports.rows import json_line
from udfs.exports.schemas import SCHEMAS

ROW_GROUP_BYTES: Final = 4 * 1024 * 1024
"""About so much text is in one row group of Parquet, and in memory for each file that is being written."""
ROW_GROUP_ROWS: Final = 10_000
FORMATS: Final = ("parquet", "jsonl")


class _Rows(Protocol):
    def add(self, row: Mapping[str, Any], size: int) -> None: ...

    def end(self, whole: bool) -> None: ...


class _JsonlRows:
    def __init__(self, stream: IO[bytes], schema: pa.Schema) -> None:
        self._stream = stream
        self._names = schema.names

    def add(self, row: Mapping[str, Any], size: int) -> None:
        self._stream.write(json_line({name: row[name] for name in self._names}))

    def end(self, whole: bool) -> None:
        """Nothing is waiting."""


@dataclass
class _Waiting:
    rows: list[Mapping[str, Any]] = field(default_factory=list)
    bytes: int = 0


class _ParquetRows:
    def __init__(self, stream: IO[bytes], schema: pa.Schema) -> None:
        self._schema = schema
        self._writer = pq.ParquetWriter(stream, schema, compression="zstd")
        self._waiting = _Waiting()

    def add(self, row: Mapping[str, Any], size: int) -> None:
        self._waiting.rows.append(row)
        self._waiting.bytes += size
        if self._waiting.bytes >= ROW_GROUP_BYTES or len(self._waiting.rows) >= ROW_GROUP_ROWS:
            self._flush()

    def _flush(self) -> None:
        rows, self._waiting = self._waiting.rows, _Waiting()
        if rows:
            self._writer.write_table(pa.Table.from_pylist(rows, schema=self._schema))

    def end(self, whole: bool) -> None:
        """Write what is waiting, unless the file is given up."""
        if whole:
            self._flush()
        self._writer.close()


@contextlib.contextmanager
def _rows(folder: ExportFolder, name: str, format_: str, schema: pa.Schema) -> Iterator[_Rows]:
    with folder.output(name) as stream:
        rows: _Rows = _ParquetRows(stream, schema) if format_ == "parquet" else _JsonlRows(stream, schema)
        try:
            yield rows
        except BaseException:
            with contextlib.suppress(OSError):  # the first error is the one to tell
                rows.end(whole=False)
            raise
        rows.end(whole=True)


class RowFiles:
    """All row files of an export, as a context: at its end they are whole; after an error none of them is there.

    Args:
        folder: where to.
        formats: of `FORMATS`; every row is written in each.
    """

    def __init__(self, folder: ExportFolder, formats: Sequence[str]) -> None:
        self._folder = folder
        self._formats = formats
        self._open: dict[str, _Rows] = {}
        self._counts: dict[str, int] = {}
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def add(self, what: str, split: str, row: Mapping[str, Any], size: int) -> None:
        """Write one row of `what` (a key of `SCHEMAS`); `size` is about how much text is in it."""
        for format_ in self._formats:
            name = file_name(what, split, format_)
            if name not in self._open:
                self._open[name] = self._stack.enter_context(_rows(self._folder, name, format_, SCHEMAS[what]))
                self._counts[name] = 0
            self._open[name].add(row, size)
            self._counts[name] += 1

    def written(self) -> list[WrittenFile]:
        """What has been written, once the context has ended: by folder in the order of `SCHEMAS`, then as begun."""
        order = list(SCHEMAS)
        names = sorted(self._counts, key=lambda name: (order.index(name.split("/")[0]), _format_rank(name)))
        return [WrittenFile(name, self._counts[name], self._folder.size(name)) for name in names]


def file_name(what: str, split: str, format_: str) -> str:
    """Where the rows of one split lie, under the folder."""
    return f"{what}/{split}.{format_}"


def _format_rank(name: str) -> int:
    return FORMATS.index(name.rsplit(".", 1)[1])
