"""Rows of JSONL, CSV and Parquet files, one at a time, as plain dicts; a row that cannot be read is a `Bad`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any, Final, cast

import pyarrow as pa
import pyarrow.parquet as pq

from udfs.errors import UserError
from udfs.sources.base import Bad
from udfs.sources.files import BROKEN, bare_suffix, numbered_lines, opened, resolve, seekable
from udfs.sources.reasons import Reason

JSON_SUFFIXES: Final = (".jsonl", ".ndjson", ".json")
CSV_SUFFIXES: Final = (".csv", ".tsv")
PARQUET_SUFFIXES: Final = (".parquet", ".pq")
TABLE_SUFFIXES: Final = (*JSON_SUFFIXES, *CSV_SUFFIXES, *PARQUET_SUFFIXES)
PARQUET_BATCH_ROWS: Final = 16
"""Rows decoded at once: documents of a megabyte must not pile up."""
FIELD_LIMIT: Final = 1 << 30
"""Longest CSV field in characters; the csv module's own limit (131,072) is less than a long document."""

FileRow = tuple[int, dict[str, Any] | Bad]


def read_files(path: str, suffixes: Sequence[str] = TABLE_SUFFIXES) -> Iterator[tuple[str, int, dict[str, Any] | Bad]]:
    """(file, row from 1, fields or Bad) of every row in every file of `path`."""
    for file in resolve(path, suffixes):
        for number, fields in read_rows(file):
            yield file, number, fields


def read_rows(file: str) -> Iterator[FileRow]:
    """The rows of one file, by its suffix. Rows count from 1: lines of JSONL, records of CSV after the header.

    A damaged file gives its readable rows and then one Bad.
    """
    suffix = bare_suffix(file)
    readers = [(JSON_SUFFIXES, _jsonl), (CSV_SUFFIXES, _csv), (PARQUET_SUFFIXES, _parquet)]
    reader = next((read for suffixes, read in readers if suffix in suffixes), None)
    if reader is None:
        raise UserError(f"{file}: of no known kind; its name must end in {', '.join(TABLE_SUFFIXES)}, also .gz")
    number = 0
    try:
        for number, fields in reader(file):
            yield number, fields
    except BROKEN as error:
        yield number + 1, Bad(Reason.BAD_FILE, f"damaged compression ({error})")


def parse_json(text: str | bytes) -> Any:
    """JSON, or `ValueError` for whatever is wrong with it (syntax, depth, numbers too long to read)."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _jsonl(file: str) -> Iterator[FileRow]:
    with opened(file) as stream:
        for number, line in numbered_lines(stream):
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
                if line.lstrip().startswith(b"["):
                    raise UserError(f"{file} is one JSON array; give one object a line (`jq -c '.[]'` makes it so)")
            yield number, _json_line(line)


def _json_line(line: bytes) -> dict[str, Any] | Bad:
    raw = line.decode("utf-8", "replace")
    try:
        value = parse_json(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        return Bad(Reason.BAD_UTF8, f"byte {error.start + 1}: {error.reason}", raw=raw)
    except ValueError as error:
        return Bad(Reason.BAD_JSON, str(error)[:200], raw=raw)
    if not isinstance(value, dict):
        return Bad(Reason.BAD_JSON, f"it is a {type(value).__name__}", raw=raw)
    return value


def _csv(file: str) -> Iterator[FileRow]:
    csv.field_size_limit(FIELD_LIMIT)
    with opened(file) as stream:
        # Bytes that are not UTF-8 come through as lone surrogates, so that only their row is lost.
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="")
        reader = csv.reader(text, delimiter="\t" if bare_suffix(file) == ".tsv" else ",")
        number = 0
        header: list[str] | None = None
        while True:
            try:
                record = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                number += 1
                yield number, Bad(Reason.BAD_FIELD, f"not CSV: {error}")
                continue
            if not record:
                continue
            if header is None:
                header = record
                continue
            number += 1
            yield number, _csv_record(header, record)


def _csv_record(header: list[str], record: list[str]) -> dict[str, Any] | Bad:
    raw = ",".join(record)[:1000]
    if any(map(_has_surrogate, record)):
        return Bad(Reason.BAD_UTF8, raw=raw)
    if len(record) != len(header):
        return Bad(Reason.MISSING_FIELD, f"{len(record)} fields where the header has {len(header)}", raw=raw)
    return dict(zip(header, record, strict=True))


def _has_surrogate(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text)


def _parquet(file: str) -> Iterator[FileRow]:
    number = 0
    with seekable(file) as stream:
        try:
            table = pq.ParquetFile(stream, pre_buffer=False)
            for batch in table.iter_batches(batch_size=PARQUET_BATCH_ROWS):
                for fields in _batch_rows(batch):
                    number += 1
                    yield number, fields
        except (pa.ArrowException, OSError) as error:
            yield number + 1, Bad(Reason.BAD_FILE, f"not a sound Parquet file ({error})")


def _batch_rows(batch: pa.RecordBatch) -> Iterator[dict[str, Any] | Bad]:
    try:
        yield from batch.to_pylist()
        return
    except (UnicodeDecodeError, ValueError, OverflowError):
        pass  # one value of the batch has no Python form; find the row
    for i in range(batch.num_rows):
        try:
            yield cast("dict[str, Any]", batch.slice(i, 1).to_pylist()[0])
        except UnicodeDecodeError as error:
            yield Bad(Reason.BAD_UTF8, f"byte {error.start + 1}: {error.reason}")
        except (ValueError, OverflowError) as error:
            yield Bad(Reason.BAD_FIELD, str(error)[:200])
