"""Ingest a dataset: files → rows → documents, questions and rejects.

python -m jobs.ingest source=squad_v2 path=dev-v2.0.json name=squad storage.root=runs/x

files ──▶ source (rows) ──▶ intake (ids, language, counts, duplicates) ──▶ documents, questions, rejects ──▶ summary
"""

from __future__ import annotations

import re
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from rich.console import Console
from rich.table import Table

from jobs.cli import job
from jobs.config import StorageConfig, require
from udfs.errors import RunFailed, UserError
from udfs.records import Document, Question, Reject
from udfs.sources import SOURCES
from udfs.sources.base import SourceOptions
from udfs.sources.files import shown
from udfs.sources.intake import Defaults, Duplicate, Intake, Record
from udfs.sources.tokens import token_counter
from udfs.sources.writer import DatasetWriter, write_dataset
from udfs.tables.store import Store

SourceName = Literal["sample", "squad_v2", "banditqa", "couldask", "qa2", "factguard", "text", "table"]
KEEPS_REPEATS = frozenset({"couldask"})
"""Sources without ids whose published counts include repeated rows."""


@dataclass(frozen=True)
class IngestConfig:
    """`jobs.ingest`: what to read, what it is, where to write."""

    source: SourceName
    path: str | None
    documents: str | None
    name: str
    storage: StorageConfig
    language: Literal["en", "zh"] | None
    split: str | None
    domain: str | None
    origin: str | None
    license: str | None
    tokenizer: str
    on_error: Literal["reject", "raise"]
    overwrite: bool
    repeats: Literal["keep", "drop"] | None
    columns: dict[str, Any]
    labels: dict[str, Any]

    def __post_init__(self) -> None:
        safe = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", self.name) is not None
        require(safe, "name", self.name, "letters, digits, '-', '_' and '.', with a letter or digit first")
        pages = self.documents is None or self.source == "qa2"
        require(pages, "documents", self.documents, "null: only source=qa2 has its documents apart from its questions")
        for key in ("columns", "labels"):
            given = _given(getattr(self, key))
            require(self.source == "table" or not given, key, given, "only source=table has columns and labels")
        for name, column in _given(self.columns).items():
            require(isinstance(column, str | int), f"columns.{name}", column, "the name of a column")
        for name, values in _given(self.labels).items():
            require(isinstance(values, list), f"labels.{name}", values, "a list such as [1,true,yes]")

    def source_options(self) -> SourceOptions:
        columns = {name: str(column) for name, column in _given(self.columns).items()}
        labels = {name: tuple(_label(value) for value in values) for name, values in _given(self.labels).items()}
        return SourceOptions(self.path, columns, labels, self.documents)

    def defaults(self) -> Defaults:
        return Defaults(self.language, self.split, self.domain, self.origin, self.license)


def _given(group: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in group.items() if value is not None}


def _label(value: object) -> str:
    """A label as rows are compared with it: YAML's true and 1.0 as they are written in data."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).casefold()


@dataclass
class Counts:
    """What became of the rows."""

    rows: int = 0
    documents: int = 0
    answerable: int = 0
    unanswerable: int = 0
    duplicates: int = 0
    rejects: Counter[str] = field(default_factory=Counter)
    spans_moved: int = 0
    spans_lost: int = 0

    def add(self, record: Record) -> None:
        if isinstance(record, Document):
            self.documents += 1
        elif isinstance(record, Question):
            self.answerable += record.answerable
            self.unanswerable += not record.answerable
        elif isinstance(record, Duplicate):
            self.duplicates += 1
        else:
            self.rejects[record.reason] += 1


def ingest(config: IngestConfig) -> tuple[Counts, bool]:
    """Ingest one dataset; what became of its rows, and whether anything was written.

    Raises:
        UserError: the input cannot be found or opened, the name is taken by other content, or, with on_error=raise, a
            row was rejected.
    """
    assert set(SOURCES) == set(get_args(SourceName))
    tokens = token_counter(config.tokenizer)
    store = Store(config.storage.root)
    keep_repeats = config.source in KEEPS_REPEATS if config.repeats is None else config.repeats == "keep"
    counts = Counts()

    def feed(writer: DatasetWriter) -> int:
        intake = Intake(config.name, config.defaults(), tokens, keep_repeats)
        for record in intake.records(SOURCES[config.source](config.source_options())):
            if isinstance(record, Reject) and config.on_error == "raise":
                raise UserError(f"{record.file}, row {record.row}: {record.reason}: {record.error}")
            counts.add(record)
            if not isinstance(record, Duplicate):
                writer.add(record)
        counts.rows, counts.spans_moved, counts.spans_lost = intake.rows, intake.spans_moved, intake.spans_lost
        return counts.documents

    path = None if config.path is None else shown(config.path)
    facts = {"source": config.source, "path": path, "tokenizer": tokens.name}
    written = write_dataset(store, config.name, config.overwrite, facts, feed)
    return counts, written


def print_summary(config: IngestConfig, counts: Counts, written: bool, seconds: float, console: Console) -> None:
    """The counts as a table; without lines where nobody looks at a terminal."""
    table = Table(title=f"dataset {config.name}", show_header=False, title_justify="left")
    if not console.is_terminal:
        table.box = None
    table.add_column("what", no_wrap=True)
    table.add_column("count", overflow="fold")
    lines: list[tuple[str, object]] = [
        ("rows read", counts.rows),
        ("documents", counts.documents),
        ("questions", counts.answerable + counts.unanswerable),
        ("  answerable", counts.answerable),
        ("  unanswerable", counts.unanswerable),
        ("duplicates", counts.duplicates),
        ("rejects", counts.rejects.total()),
        *((f"  {reason}", n) for reason, n in sorted(counts.rejects.items())),
    ]
    if counts.spans_moved or counts.spans_lost:
        lines += [("evidence found elsewhere", counts.spans_moved), ("evidence not found", counts.spans_lost)]
    store = Store(config.storage.root)
    lines.append(("tables", store.address("{documents,questions}", config.name)))
    if counts.rejects:
        lines.append(("rejected rows", store.address("rejects", config.name)))
    lines.append(("seconds", f"{seconds:.1f}"))
    for name, value in lines:
        table.add_row(name, f"{value:,}" if isinstance(value, int) else str(value))
    console.print(table)
    if not written:
        console.print("The same content was there already; nothing was written.")
    if counts.rejects and counts.documents:
        why = ", ".join(f"{n:,} {reason}" for reason, n in counts.rejects.most_common())
        console.print(f"warning: {counts.rejects.total():,} of {counts.rows:,} rows were rejected: {why}")


def require_something(config: IngestConfig, counts: Counts) -> None:
    """Raise `RunFailed` where nothing was taken: a dataset that is empty would only surprise the next job."""
    if counts.documents:
        return
    if not counts.rows:
        raise RunFailed(f"nothing was ingested as {config.name!r}: the input holds no rows")
    why = ", ".join(f"{n:,} {reason}" for reason, n in counts.rejects.most_common())
    rejects = Store(config.storage.root).address("rejects", config.name)
    raise RunFailed(
        f"nothing was ingested as {config.name!r}: none of {counts.rows:,} rows could be taken: {why}; {rejects} says "
        "what was wrong with each"
    )


@job("ingest", IngestConfig)
def main(config: IngestConfig) -> None:
    started = time.monotonic()
    counts, written = ingest(config)
    console = Console(highlight=False, soft_wrap=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=240)
    print_summary(config, counts, written, time.monotonic() - started, console)
    require_something(config, counts)


if __name__ == "__main__":
    main()
