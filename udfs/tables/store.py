"""Where the tables live: `<root>/<table>/<part>/<file>.parquet`, root a path or an address (s3://, gs://, abfs://).

Files are written whole under a temporary name and then renamed (on object storage a put is atomic already), so a
reader never sees half a file. Readers take one row per key, the same one every time.
"""

from __future__ import annotations

import contextlib
import json
import os
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from udfs.errors import UserError
from udfs.schema import KEYS, PERMANENT, TABLES, Status

DATASET_MARKER = "_dataset.json"
"""Beside a dataset's documents: what was written, and whether to its end (`udfs.sources.writer`)."""
ROW_GROUP_BYTES = 1024 * 1024
"""Text per row group of `documents`: what one bundle's read costs at least."""


@dataclass(frozen=True)
class DataFile:
    """One Parquet file of a table."""

    path: str
    size: int


def _status_rank() -> pl.Expr:
    permanent = pl.col("status").is_in([str(status) for status in PERMANENT])
    return pl.when(pl.col("status") == Status.OK).then(0).when(permanent).then(1).otherwise(2)


class Store:
    """The tables under one storage root.

    Args:
        root: a folder, or an address that pyarrow's filesystems know (s3://bucket/prefix, gs://…, abfs://…).
            Endpoint, region and credentials of object storage come from the environment.
    """

    def __init__(self, root: str) -> None:
        if not root:
            raise UserError("storage.root is empty; give a folder or an address such as s3://bucket/prefix")
        self.root = root
        if "://" in root:
            try:
                self._fs, self._base = fs.FileSystem.from_uri(root)
            except (pa.ArrowInvalid, OSError) as error:
                raise UserError(f"storage.root={root!r} cannot be opened: {error}") from error
        else:
            self._fs, self._base = fs.LocalFileSystem(), os.path.abspath(root)
            if os.path.exists(self._base) and not os.path.isdir(self._base):
                raise UserError(f"storage.root={root!r} is a file; give a folder or an address such as s3://bucket/x")

    @property
    def filesystem(self) -> fs.FileSystem:
        return self._fs

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
        found = [
            DataFile(info.path, info.size)
            for info in self._fs.get_file_info(selector)
            if info.is_file and info.base_name.endswith(".parquet") and not info.base_name.startswith(("_", "."))
        ]
        return sorted(found, key=lambda file: file.path)

    def parts(self, table: str) -> list[str]:
        """Names of the table's parts: datasets for documents and questions, runs for responses and judgements."""
        selector = fs.FileSelector(self.path(table), recursive=False, allow_not_found=True)
        infos = self._fs.get_file_info(selector)
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
        with self._whole(self.path(table, part, file)) as path:
            self._write_parquet(data, path)
        return self.address(table, part, file)

    def write_bytes(self, content: bytes, *parts: str) -> str:
        """Write a file that is no table, whole; give its address."""
        with self._whole(self.path(*parts)) as path, self._fs.open_output_stream(path) as stream:
            stream.write(content)
        return self.address(*parts)

    @contextlib.contextmanager
    def _whole(self, target: str) -> Iterator[str]:
        """Where to write what is to be at `target`: it appears there when the block ends well, else not at all."""
        folder, _, _ = target.rpartition("/")
        self._fs.create_dir(folder, recursive=True)
        if not isinstance(self._fs, fs.LocalFileSystem):
            yield target
            return
        temporary = f"{folder}/_{uuid.uuid4().hex}.tmp"
        try:
            yield temporary
            os.replace(temporary, target)
        except BaseException:  # a full disk most of all: what is tried again must not fill it further
            with contextlib.suppress(OSError):
                os.remove(temporary)
            raise

    def _write_parquet(self, data: pa.Table, path: str) -> None:
        row_group = max(1, min(data.num_rows, 64 * 1024))
        if "text" in data.schema.names and data.num_rows:
            mean_row = max(1, data.nbytes // data.num_rows)
            row_group = max(1, min(row_group, ROW_GROUP_BYTES // mean_row))
        pq.write_table(data, path, filesystem=self._fs, compression="zstd", row_group_size=row_group)

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
        tables = [
            pq.read_table(file.path, columns=wanted, filesystem=self._fs)
            .select(wanted)
            .cast(pa.schema([schema.field(name) for name in wanted]))
            for file in self.files(table, part)
        ]
        empty = pa.schema([schema.field(name) for name in wanted]).empty_table()
        frame = pl.from_arrow(pa.concat_tables(tables) if tables else empty)
        assert isinstance(frame, pl.DataFrame)
        if order:
            ranks = {"status": _status_rank(), "created_at": pl.col("created_at")}
            newest_first = [name == "created_at" for name in order]
            frame = frame.sort([ranks[name] for name in order], descending=newest_first, maintain_order=True)
        frame = frame.unique(subset=list(keys), keep="first", maintain_order=True)
        return frame.select(list(columns)) if columns else frame

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
        path = self.path("documents", dataset, DATASET_MARKER)
        if self._fs.get_file_info(path).type != fs.FileType.File:
            return True
        with self._fs.open_input_stream(path) as stream:
            try:
                marker = json.loads(stream.read())
            except ValueError:
                return False
        return isinstance(marker, dict) and bool(marker.get("complete"))
