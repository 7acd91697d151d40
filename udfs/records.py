"""One row of each table as a frozen dataclass: what dialogues, judges and sources work with.

`asdict`-shaped rows of these go straight into the pyarrow schemas of `udfs.schema`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, Self

from udfs.schema import Fate, ProposalFate, Status, Step


class Span(NamedTuple):
    """Half-open span in characters of a document's text."""

    start: int
    end: int


def _spans(value: Any) -> tuple[Span, ...]:
    return tuple(Span(s["start"], s["end"]) if isinstance(s, dict) else Span(*s) for s in value or ())


def row_of(record: Any) -> dict[str, Any]:
    """A record as a plain row (spans as structs, tuples as lists) that pyarrow takes with the table's schema."""

    def plain(value: Any) -> Any:
        if isinstance(value, Span):
            return {"start": value.start, "end": value.end}
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return row_of(value)
        if isinstance(value, tuple | list):
            return [plain(v) for v in value]
        return value

    return {f.name: plain(getattr(record, f.name)) for f in dataclasses.fields(record)}


@dataclass(frozen=True, slots=True)
class Document:
    doc_id: str
    dataset: str
    split: str
    language: str
    domain: str
    title: str
    source: str
    license: str
    text: str
    n_chars: int
    n_words: int
    n_tokens: int
    tokenizer: str
    length_bucket: str


@dataclass(frozen=True, slots=True)
class Question:
    question_id: str
    doc_id: str
    dataset: str
    split: str
    language: str
    question: str
    answerable: bool
    answers: tuple[str, ...]
    evidence: tuple[Span, ...]
    redactions: tuple[Span, ...]
    kind: str
    provenance: str = "{}"
    twin_id: str | None = None
    original_question: str | None = None
    topic: str | None = None
    entities: tuple[str, ...] = ()
    reference_response: str | None = None
    gold_reformulation: str | None = None
    gold_reformulation_answer: str | None = None

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> Self:
        """From a row of the questions table (extra columns are ignored)."""
        known = {f.name: row[f.name] for f in dataclasses.fields(cls) if f.name in row}
        known["answers"] = tuple(known["answers"] or ())
        known["entities"] = tuple(known.get("entities") or ())
        known["evidence"] = _spans(known["evidence"])
        known["redactions"] = _spans(known["redactions"])
        return cls(**known)


@dataclass(frozen=True, slots=True)
class Turn:
    purpose: str  # answer | reformulate
    text: str
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    finish_reason: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Response:
    response_id: str
    run: str
    question_id: str
    doc_id: str
    dataset: str
    model: str
    model_revision: str
    method: str
    layout: str
    template: str
    detector: str
    turns: tuple[Turn, ...]
    status: Status
    created_at: datetime
    answer: str | None = None
    refused: bool | None = None
    reformulation: str | None = None
    reformulation_couldask: str | None = None
    error: str | None = None

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> Self:
        """From a row of the responses table (extra columns are ignored)."""
        known = {f.name: row[f.name] for f in dataclasses.fields(cls) if f.name in row}
        known["turns"] = tuple(Turn(**t) for t in known["turns"] or ())
        known["status"] = Status(known["status"])
        return cls(**known)


@dataclass(frozen=True, slots=True)
class Judgement:
    judgement_id: str
    response_id: str
    question_id: str
    run: str
    measure: str
    judge: str
    status: Status
    created_at: datetime
    verdict: str | None = None
    score: float | None = None
    rationale: str | None = None
    error: str | None = None
    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question that was proposed, with its one fate."""

    candidate_id: str
    dataset: str
    spec: str
    model: str
    model_revision: str
    doc_id: str
    source_dataset: str
    language: str
    domain: str
    length_bucket: str
    kind: str
    fragment_index: int
    step: Step
    fate: Fate
    status: Status
    evidence: tuple[Span, ...]
    redactions: tuple[Span, ...]
    opinions: str
    created_at: datetime
    fragment: Span | None = None
    quality: int | None = None
    topic: str | None = None
    question: str | None = None
    answer: str | None = None
    twin_id: str | None = None
    original_question: str | None = None
    original: str | None = None
    replacement: str | None = None
    reference_response: str | None = None
    detail: str | None = None

    @property
    def accepted(self) -> bool:
        return self.fate is Fate.ACCEPTED

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> Self:
        """From a row of the candidates table (extra columns are ignored)."""
        known = {f.name: row[f.name] for f in dataclasses.fields(cls) if f.name in row}
        known["evidence"] = _spans(known["evidence"])
        known["redactions"] = _spans(known["redactions"])
        known["fragment"] = None if known.get("fragment") is None else _spans([known["fragment"]])[0]
        known |= {"step": Step(known["step"]), "fate": Fate(known["fate"]), "status": Status(known["status"])}
        return cls(**known)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A question that was written for curation, as far as its writing decides its fate."""

    proposal_id: str
    dataset: str
    spec: str
    model: str
    model_revision: str
    doc_id: str
    source_dataset: str
    language: str
    number: int
    fate: ProposalFate
    status: Status
    created_at: datetime
    excerpt: Span | None = None
    question: str | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class CheckSample:
    """One answer of the checker to a proposed question."""

    check_id: str
    proposal_id: str
    dataset: str
    spec: str
    checker: str
    checker_revision: str
    sample: int
    status: Status
    created_at: datetime
    text: str | None = None
    refused: bool | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Reject:
    """A row of input that was not taken, and why."""

    dataset: str
    file: str
    row: int
    key: str
    reason: str
    error: str
    raw: str = field(default="", repr=False)
