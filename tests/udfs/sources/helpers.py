"""Files of every form, and what a source makes of them."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from udfs.records import Document, Question, Reject
from udfs.sources import SOURCES
from udfs.sources.base import SourceOptions
from udfs.sources.intake import Defaults, Duplicate, Intake
from udfs.sources.tokens import EstimatedTokens

BRIDGE = "The bridge at Arlow opened in 1902. It was painted green."
MILL = "The mill stands by the weir. Nobody knows who built it."


@dataclass
class Taken:
    """The records of a source, by sort."""

    rows: int = 0
    documents: list[Document] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    duplicates: list[Duplicate] = field(default_factory=list)
    spans_moved: int = 0
    spans_lost: int = 0

    def reasons(self) -> list[tuple[int, str]]:
        return [(reject.row, reject.reason) for reject in self.rejects]


def take(
    source: str,
    path: Path | str | None,
    keep_repeats: bool = False,
    defaults: Defaults | None = None,
    columns: dict[str, str] | None = None,
    labels: dict[str, tuple[str, ...]] | None = None,
    documents: Path | str | None = None,
) -> Taken:
    """Everything that `source` makes of `path` (and of `documents`, for a source that has them apart)."""
    taken = Taken()
    intake = Intake("bench", defaults or Defaults(), EstimatedTokens(), keep_repeats)
    apart = None if documents is None else str(documents)
    options = SourceOptions(None if path is None else str(path), columns or {}, labels or {}, apart)
    sorts: dict[type, list[Any]] = {
        Document: taken.documents,
        Question: taken.questions,
        Reject: taken.rejects,
        Duplicate: taken.duplicates,
    }
    for record in intake.records(SOURCES[source](options)):
        sorts[type(record)].append(record)
    taken.rows, taken.spans_moved, taken.spans_lost = intake.rows, intake.spans_moved, intake.spans_lost
    return taken


def write_jsonl(path: Path, rows: Iterable[Any]) -> Path:
    """Rows as JSON lines (bytes are written as they are), gzipped where the name says so."""
    lines = b"".join(row + b"\n" if isinstance(row, bytes) else json.dumps(row).encode() + b"\n" for row in rows)
    path.write_bytes(gzip.compress(lines) if path.suffix == ".gz" else lines)
    return path


def real_data(*parts: str) -> Path:
    """A file of the real input; skips the test where the folder is absent."""
    default = Path(__file__).resolve().parents[3] / ".." / "shared" / "data"
    path = Path(os.environ.get("ASKABLE_DATA", default)).joinpath(*parts)
    if not path.exists():
        pytest.skip(f"real input is absent: {path} (set ASKABLE_DATA to the folder that holds qa/ and docs/)")
    return path
