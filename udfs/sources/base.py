"""What a source is: a generator of rows, each of them a document, a question with its document, or a bad row.

A source only reads and maps fields. Ids, languages, counts and duplicates are the intake's (`udfs.sources.intake`), the
same for every source. For each row of a file a source yields exactly one `Row`, so every row can be accounted for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from udfs.records import Span
from udfs.schema import Kind
from udfs.sources.reasons import Reason


@dataclass(frozen=True, slots=True)
class RawDocument:
    """A document as its source gives it; None where the source does not say."""

    text: str
    key: str = ""  # the source's own id of the text, if it has one: one id, one text
    title: str = ""
    source: str | None = None
    split: str | None = None
    language: str | None = None
    domain: str | None = None
    license: str | None = None


@dataclass(frozen=True, slots=True)
class Twin:
    """The question, of the same document, that a question was made from: its id in the source and its words."""

    key: str
    question: str


@dataclass(frozen=True, slots=True)
class RawQuestion:
    """A question as its source gives it, with its document."""

    document: RawDocument
    question: str
    answerable: bool
    kind: Kind
    key: str = ""  # the source's own id, "" where it has none
    answers: tuple[str, ...] = ()
    evidence: tuple[Span, ...] = ()
    twin: Twin | None = None
    original_question: str | None = None
    topic: str | None = None
    entities: tuple[str, ...] = ()
    reference_response: str | None = None
    gold_reformulation: str | None = None
    gold_reformulation_answer: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)  # goes into provenance
    spans_moved: int = 0  # evidence that lay elsewhere than its offset said
    spans_lost: int = 0  # evidence that is nowhere in the document


@dataclass(frozen=True, slots=True)
class Bad:
    """A row that cannot be taken."""

    reason: Reason
    detail: str = ""
    key: str = ""
    raw: str = ""


class Row(NamedTuple):
    """One row of a file: `row` counts from 1; 0 is the file itself."""

    file: str
    row: int
    item: RawDocument | RawQuestion | Bad


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """What a source is told: where to read, for `table` which column is what, for `qa2` where the pages are.

    Args:
        path: a file, folder, glob or address; None only for the shipped sample.
        columns: field of a question or document → column of the table.
        labels: `answerable` and `unanswerable` → the values that say so.
        documents: the texts of the pages that rows name by their addresses (`udfs.sources.pages`).
    """

    path: str | None = None
    columns: dict[str, str] = field(default_factory=dict)
    labels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    documents: str | None = None


Source = Callable[[SourceOptions], Iterator[Row]]
