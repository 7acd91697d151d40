"""Small valid rows for tests (documents, questions, candidates, responses, …), with what the test is about given."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
import pyarrow as pa

from udfs.identity import content_hash, doc_id
from udfs.records import Candidate, Document, Judgement, Question, Response, Span, Turn, row_of
from udfs.schema import TABLES, Fate, Kind, Status, Step, Topic, length_bucket
from udfs.tables.store import Store

WHEN = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def make_document(text: str = "The bridge opened in 1902.", dataset: str = "bench", **given: Any) -> Document:
    values: dict[str, Any] = {
        "doc_id": doc_id(text),
        "dataset": dataset,
        "split": "test",
        "language": "en",
        "domain": "book",
        "title": "A bridge",
        "source": "made for tests",
        "license": "CC0-1.0",
        "text": text,
        "n_chars": len(text),
        "n_words": len(text.split()),
        "n_tokens": len(text) // 4,
        "tokenizer": "characters / 4",
        "length_bucket": length_bucket(len(text) // 4),
    }
    return Document(**(values | given))


def make_question(document: Document, number: int = 0, answerable: bool = True, **given: Any) -> Question:
    values: dict[str, Any] = {
        "question_id": content_hash("question", document.dataset, document.doc_id, number),
        "doc_id": document.doc_id,
        "dataset": document.dataset,
        "split": document.split,
        "language": document.language,
        "question": f"Question {number}: when did it open?",
        "answerable": answerable,
        "answers": ("1902",) if answerable else (),
        "evidence": (Span(0, min(10, len(document.text))),),
        "redactions": (),
        "kind": "answerable" if answerable else "unanswerable",
    }
    return Question(**(values | given))


def make_candidate(
    document: Document, number: int = 0, kind: Kind = Kind.ANSWERABLE, fate: Fate = Fate.ACCEPTED, **given: Any
) -> Candidate:
    """An accepted candidate over fragment `number`; with another `fate`, one that ended (at step qa unless given)."""
    undecided = fate.value in {status.value for status in Status}
    spec, span = str(given.get("spec", "spec1")), Span(0, min(10, len(document.text)))

    def name(of: Kind) -> str:
        return content_hash("candidate", spec, document.doc_id, number, of.value)

    values: dict[str, Any] = {
        "candidate_id": name(kind),
        "dataset": "synthetic",
        "spec": spec,
        "model": "m",
        "model_revision": "r1",
        "doc_id": document.doc_id,
        "source_dataset": document.dataset,
        "language": document.language,
        "domain": document.domain,
        "length_bucket": document.length_bucket,
        "kind": kind.value,
        "fragment_index": number,
        "step": Step.CONSOLE if fate is Fate.ACCEPTED else Step.QA,
        "fate": fate,
        "status": Status(fate.value) if undecided else Status.OK,
        "evidence": (span,),
        "redactions": (span,) if kind is Kind.LACK_OF_EVIDENCE else (),
        "opinions": "[]",
        "created_at": WHEN,
        "fragment": Span(0, len(document.text)),
        "quality": 4,
        "topic": Topic.TIME.value,
        "question": f"Question {number}: when did it open?",
        "answer": "1902",
        "twin_id": None if kind is Kind.ANSWERABLE else name(Kind.ANSWERABLE),
        "detail": None if fate is Fate.ACCEPTED else "as the rule says",
    }
    return Candidate(**(values | given))


def make_turn(text: str = "It opened in 1902.", purpose: str = "answer", **given: Any) -> Turn:
    values: dict[str, Any] = {
        "purpose": purpose,
        "text": text,
        "prompt_tokens": 120,
        "cached_tokens": 100,
        "output_tokens": 8,
        "finish_reason": "stop",
        "seconds": 0.25,
    }
    return Turn(**(values | given))


def make_response(question: Question, model: str = "m", method: str = "zs", **given: Any) -> Response:
    refused = bool(given.get("refused", False))
    turns = (make_turn("The text does not say."), make_turn("What opened in 1902?", "reformulate"))
    values: dict[str, Any] = {
        "response_id": content_hash("response", question.question_id, model, method, given.get("layout", "")),
        "run": "main",
        "question_id": question.question_id,
        "doc_id": question.doc_id,
        "dataset": question.dataset,
        "model": model,
        "model_revision": "r1",
        "method": method,
        "layout": "document_first",
        "template": "t1",
        "detector": "rules",
        "turns": turns if refused else (make_turn(),),
        "status": Status.OK,
        "created_at": WHEN,
        "answer": "The text does not say." if refused else "It opened in 1902.",
        "refused": refused,
        "reformulation": "What opened in 1902?" if refused else None,
    }
    return Response(**(values | given))


def make_judgement(response: Response, measure: str, verdict: str | None, **given: Any) -> Judgement:
    judge = given.get("judge", "rules")
    values: dict[str, Any] = {
        "judgement_id": content_hash("judgement", response.response_id, measure, judge),
        "response_id": response.response_id,
        "question_id": response.question_id,
        "run": response.run,
        "measure": measure,
        "judge": judge,
        "status": Status.OK if verdict is not None else Status.PARSE_FAILURE,
        "created_at": WHEN,
        "verdict": verdict,
        "rationale": None if verdict is None else "as the text says",
    }
    return Judgement(**(values | given))


def make_run(run: str = "main", number: int = 0, **given: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "run_id": content_hash("run", run, number),
        "run": run,
        "job": "evaluate",
        "model": "m",
        "started_at": WHEN + timedelta(hours=number),
        "seconds": 60.0,
        "status": "ok",
        "config": "{}",
        "config_hash": "c0ffee",
        "versions": '{"vllm": "0.32.0", "ray": "2.60.0"}',
        "expected": 10,
        "recorded_before": 0,
        "recorded": 10,
        "failed": 0,
        "prompt_tokens": 1000,
        "cached_tokens": 800,
        "output_tokens": 50,
        "gpu_hours": 0.0,
        "usd": 0.0,
        "git_commit": "abc1234",
        "bound_tokens": 180,
        "bound_block_tokens": 190,
        "bounded_computed_tokens": 200,
        "computed_over_bound": 200 / 180,
        "start_id": content_hash("start", run, number),
        "cells": None,
        "error": None,
    }
    return values | given


def frame(table: str, records: Iterable[Any]) -> pl.DataFrame:
    """Records (or plain rows) as rows of `table`, as a reader gives them."""
    rows = [record if isinstance(record, dict) else row_of(record) for record in records]
    found = pl.from_arrow(pa.Table.from_pylist(rows, schema=TABLES[table]))
    assert isinstance(found, pl.DataFrame)
    return found


def write_rows(root: str, table: str, part: str, records: Iterable[Any], name: str = "rows") -> None:
    """Records (or plain rows) as one file of `table` under a storage root."""
    Store(root).write(table, part, frame(table, records).to_arrow(), name=name)
