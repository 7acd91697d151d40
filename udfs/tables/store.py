"""Where the tables live: `<root>/<table>/<part>/<file>.parquet`, root a path or an address (s3://, gs://, abfs://).

Files are written whole under a temporary name and then renamed (on object storage a put is atomic already), so a
reader never sees half a file. Readers take one row per key, the same one every time.
"""

from __future__ import annotations

import contextlib
import json
import os
import uuid
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from udfs.errors import UserError
from udfs.schema import KEYS, PERMANENT, TABLES, Status
from udfs.tables.object_storage import explained, open_address

DATASET_MARKER = "_dataset.json"
"""Beside a dataset's documents: what was written, and whether to its end (`udfs.sources.writer`)."""
ROW_GROUP_BYTES = 1024 * 1024
"""Text per row group of `documents`: what one bundle's read costs at least."""
READERS = 8
"""Files read at once from object storage, where each costs a few round trips."""
GCS = "gcs"
"""pyarrow's name for Google Cloud Storage, where it sees a folder only if somebody made an object for it."""


@dataclass(frozen=True)
class DataFile:
    """One Parquet file of a table."""

    path: str
    size: int


def _status_rank() -> pl.Expr:
    permanent = pl.col("status").is_in([str(status) for status in PERMANENT])
    return pl.when(pl.col("status") == Status.OK).then(0).when(permanent).then(1).otherwise(2)


def _with_new_columns(table: pa.Table, fields: pa.Schema) -> pa.Table:
    """`table`, which may have been written before an optional column was thought of: with nulls there."""
    for field in fields:
        if field.nullable and field.name not in table.schema.names:
            table = table.append_column(field, pa.nulls(table.num_rows, field.type))
    return table


class Store:
    """The tables under one storage root.

    Args:
        root: a folder, or an address (s3://bucket/prefix, gs://…, abfs://…; see `udfs.tables.object_storage`).
            Endpoint, region and credentials of object storage come from the environment.

    Nothing is asked of a server until something is read or written. What goes wrong there is a `StorageError`.
    """

    def __init__(self, root: str) -> None:
        if not root:
            raise UserError("storage.root is empty; give a folder or an address such as s3://bucket/prefix")
        self.root = root
        if "://" in root:
            self._fs, self._base = open_address(root, "storage.root")
        else:
            self._fs, self._base = fs.LocalFileSystem(), os.path.abspath(root)
            if os.path.exists(self._base) and not os.path.isdir(self._base):
                raise UserError(f"storage.root={root!r} is a file; give a folder or an address such as s3://bucket/x")

    def __reduce__(self) -> tuple[type[Store], tuple[str]]:
        """Only the root travels: who unpickles it finds endpoint and credentials in its own environment."""
        return Store, (self.root,)

    @property
    def filesystem(self) -> fs.FileSystem:
        """For what `Store` has no word for; use it inside `with store.explained():`."""
        return self._fs

    def explained(self) -> contextlib.AbstractContextManager[None]:
        """Around use of `filesystem`: what object storage raises becomes a `StorageError` with one clear sentence."""
        return explained(self.root)

    def address(self, *parts: str) -> str:
        """Where something under the root is, in the words that the user gave the root in."""
        return "/".join([self.root.rstrip("/"), *parts])

    def path(self, *parts: str) -> str:
        """A path under the root as `filesystem` takes it."""
        return "/".join([self._base.rstrip("/"), *parts])

    def files(self, table: str, part: str | None = None) -> list[DataFile]:
        """The table's files in a fixed order (by path), of one part or of all."""
        where = self.path(table, part) if part else self.path(table)
        selector = fs.FileSelector(where, recursive=True, allow_not_found=True)
        with self.explained():
            infos = self._fs.get_file_info(selector)
        found = [
            DataFile(info.path, info.size)
            for info in infos
            if info.is_file
            and info.base_name.endswith(".parquet")
            and not info.base_name.startswith(("_", "."))
            and info.size  # empty: an interrupt between opening and writing, on object storage
        ]
        return sorted(found, key=lambda file: file.path)

    def parts(self, table: str) -> list[str]:
        """Names of the table's parts: datasets for documents and questions, runs for responses and judgements."""
        by_files = self._fs.type_name == GCS
        selector = fs.FileSelector(self.path(table), recursive=by_files, allow_not_found=True)
        with self.explained():
            infos = self._fs.get_file_info(selector)
        if by_files:
            inside = (info.path.removeprefix(f"{self.path(table)}/") for info in infos if info.is_file)
            return sorted({path.partition("/")[0] for path in inside if "/" in path})
        return sorted(info.base_name for info in infos if info.type == fs.FileType.Directory)

    def write(self, table: str, part: str, rows: pa.Table | Iterable[dict[str, Any]], name: str | None = None) -> str:
        """Write one new file of `table`; give its address. An equal `name` replaces the file of that name at once."""
        schema = TABLES[table]
        data = rows if isinstance(rows, pa.Table) else pa.Table.from_pylist(list(rows), schema=schema)
        for column in schema:
            if not column.nullable and data[column.name].null_count:
                raise ValueError(f"{table}.{column.name} must not be null")
        data = data.select(schema.names).cast(schema)
        file = f"{name or uuid.uuid4().hex}.parquet"
        buffer = pa.BufferOutputStream()
        self._write_parquet(data, buffer)
        self._put(buffer.getvalue(), self.path(table, part, file))
        return self.address(table, part, file)

    def write_bytes(self, content: bytes, *parts: str) -> str:
        """Write a file that is no table, whole; give its address."""
        self._put(content, self.path(*parts))
        return self.address(*parts)

    def read_bytes(self, *parts: str) -> bytes | None:
        """The content of a file that is no table; None where there is none."""
        path = self.path(*parts)
        with self.explained():
            if self._fs.get_file_info(path).type != fs.FileType.File:
                return None
            with self._fs.open_input_stream(path) as stream:
                return bytes(stream.read())

    def delete(self, *parts: str) -> None:
        """Remove one file, which must be there."""
        with self.explained():
            self._fs.delete_file(self.path(*parts))

    def delete_folder(self, *parts: str) -> None:
        """Remove a folder with all that is in it; nothing happens where there is none."""
        with self.explained():
            path = self.path(*parts)
            if self._fs.type_name == GCS:
                for info in self._fs.get_file_info(fs.FileSelector(path, recursive=True, allow_not_found=True)):
                    if info.is_file:
                        self._fs.delete_file(info.path)
            elif self._fs.get_file_info(path).type == fs.FileType.Directory:
                self._fs.delete_dir(path)

    def _put(self, content: bytes | pa.Buffer, target: str) -> None:
        """Write `target` whole: it is there when this returns, else not at all."""
        if not isinstance(self._fs, fs.LocalFileSystem):
            with self.explained(), self._fs.open_output_stream(target) as stream:  # folders are but parts of a name
                stream.write(content)
            return
        folder, _, _ = target.rpartition("/")
        self._fs.create_dir(folder, recursive=True)
        temporary = f"{folder}/_{uuid.uuid4().hex}.tmp"
        try:
            with self._fs.open_output_stream(temporary) as stream:
                stream.write(content)
            os.replace(temporary, target)
        except BaseException:  # a full disk most of all: what is tried again must not fill it further
            with contextlib.suppress(OSError):
                os.remove(temporary)
            raise

    def _write_parquet(self, data: pa.Table, sink: pa.BufferOutputStream) -> None:
        row_group = max(1, min(data.num_rows, 64 * 1024))
        if "text" in data.schema.names and data.num_rows:
            mean_row = max(1, data.nbytes // data.num_rows)
            row_group = max(1, min(row_group, ROW_GROUP_BYTES // mean_row))
        pq.write_table(data, sink, compression="zstd", row_group_size=row_group)

    def read(self, table: str, columns: Sequence[str] | None = None, part: str | None = None) -> pl.DataFrame:
        """The table's rows, one per key. `columns` limits what is read from disk (keys come along regardless).

        Of rows with equal keys an `ok` one wins, then one of another permanent status (it is not asked again), then
        the newest by `created_at` where the table has it, then the one in the file first by path: the same one every
        time.
        """
        schema = TABLES[table]
        keys = KEYS[table]
        order = [] if table == "runs" else [name for name in ("status", "created_at") if name in schema.names]
        wanted = list(dict.fromkeys([*(columns or schema.names), *keys, *order]))
        fields = pa.schema([schema.field(name) for name in wanted])
        tables = self._read_files(self.files(table, part), fields)
        frame = pl.from_arrow(pa.concat_tables(tables) if tables else fields.empty_table())
        assert isinstance(frame, pl.DataFrame)
        if order:
            ranks = {"status": _status_rank(), "created_at": pl.col("created_at")}
            newest_first = [name == "created_at" for name in order]
            frame = frame.sort([ranks[name] for name in order], descending=newest_first, maintain_order=True)
        frame = frame.unique(subset=list(keys), keep="first", maintain_order=True)
        return frame.select(list(columns)) if columns else frame

    def _read_files(self, files: Sequence[DataFile], fields: pa.Schema) -> list[pa.Table]:
        """These columns of each file, in the files' order."""

        def read(file: DataFile) -> pa.Table:
            with pq.ParquetFile(file.path, filesystem=self._fs) as parquet:  # read_table wants every column to be there
                table = parquet.read(columns=fields.names)
            return _with_new_columns(table, fields).select(fields.names).cast(fields)

        with self.explained():
            if isinstance(self._fs, fs.LocalFileSystem) or len(files) < 2:
                return [read(file) for file in files]
            with ThreadPoolExecutor(READERS, "read") as pool:
                return list(pool.map(read, files))

    def dataset_names(self) -> list[str]:
        """Names of the datasets that have been ingested."""
        return self.parts("documents")

    def require_datasets(self, names: Sequence[str]) -> None:
        """Raise `UserError` unless every name is a dataset that is there and was written to its end."""
        have = self.dataset_names()
        if not have:
            raise UserError(
                f"no documents under {self.root}: ingest a dataset first, for example "
                f"`python -m jobs.ingest source=sample name=sample storage.root={self.root}`"
            )
        for name in names:
            if name not in have:
                raise UserError(f"unknown dataset {name!r} under {self.root}; ingested: {', '.join(have)}")
            if not self._is_complete(name):
                raise UserError(
                    f"dataset {name!r} under {self.root} is incomplete: the job that wrote it broke off; start it again"
                )

    def _is_complete(self, dataset: str) -> bool:
        """Whether the dataset's marker says so; one that nobody marked is taken as it is."""
        content = self.read_bytes("documents", dataset, DATASET_MARKER)
        if content is None:
            return True
        try:
            marker = json.loads(content)
        except ValueError:
            return False
        return isinstance(marker, dict) and bool(marker.get("complete"))
