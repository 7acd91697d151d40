"""What is owed: expected ids minus recorded ids, an anti-join over id columns before any text is read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import polars as pl

from udfs.dialogues.dialogue import DialogueSpec, expected_response_id
from udfs.errors import UserError
from udfs.judges.base import Judge, judgeable
from udfs.judges.classifier import ClassifierJudge
from udfs.judges.cosine import CosineJudge
from udfs.judges.reformulation import ReformulationJudge
from udfs.judges.rules import RulesJudge
from udfs.records import Question, Response
from udfs.schema import PERMANENT, QUESTIONS
from udfs.stages.judge import OWED
from udfs.tables.store import Store

Items = dict[str, list[dict[str, Any]]]
"""Items of the plan (`udfs.bundles.ITEM`) by doc_id."""

QUESTION_COLUMNS = [name for name in QUESTIONS.names if name != "provenance"]


@dataclass(frozen=True)
class Owed:
    """Work to do, by document, and how much was expected and recorded before."""

    items: Items
    expected: int
    recorded: int
    cells: list[dict[str, Any]] = field(default_factory=list)
    """For responses: how many each cell expects, as `runs.cells`."""
    response_ids: list[str] = field(default_factory=list)
    """For responses: every id in scope, owed or recorded."""

    @property
    def rows(self) -> int:
        """Rows that are still owed."""
        return self.expected - self.recorded


def select_questions(store: Store, datasets: Sequence[str], split: str | None, limit: int | None) -> pl.DataFrame:
    """The run's questions (all columns but provenance), in an order that no file layout changes.

    `limit` keeps the first questions of each dataset, by document, documents in the order of their ids (which are
    hashes: an arbitrary but fixed sample).

    Raises:
        UserError: no question is left.
    """
    store.require_datasets(datasets)
    frames = []
    for dataset in dict.fromkeys(datasets):
        frame = store.read("questions", QUESTION_COLUMNS, part=dataset)
        if frame.is_empty():
            raise UserError(f"dataset {dataset!r} has documents but no questions: nothing to evaluate")
        if split is not None:
            splits = frame["split"].unique().sort().to_list()
            frame = frame.filter(pl.col("split") == split)
            if frame.is_empty():
                raise UserError(f"dataset {dataset!r} has no split {split!r}; it has {', '.join(splits)}")
        frame = frame.sort("doc_id", "question_id")
        frames.append(frame.head(limit) if limit else frame)
    return pl.concat(frames)


def owed_responses(
    store: Store,
    questions: pl.DataFrame,
    specs: Mapping[str, DialogueSpec],
    model: str,
    revision: str,
    run: str,
    retry: Sequence[str] = (),
) -> Owed:
    """Dialogues that `run` has no permanent row of yet, or one of a status in `retry`."""
    records = {row["question_id"]: row for row in questions.to_dicts()}
    expected = pl.DataFrame(
        [
            (question_id, method, expected_response_id(spec, Question.from_row(row), model, revision))
            for question_id, row in records.items()
            for method, spec in specs.items()
        ],
        schema=["question_id", "method", "response_id"],
        orient="row",
    )
    recorded = store.read("responses", ["response_id", "status"], part=run)
    recorded = recorded.filter(pl.col("status").is_in([str(s) for s in PERMANENT if s not in retry]))
    owed = expected.join(recorded, on="response_id", how="anti", maintain_order="left")
    items: Items = {}
    for (question_id,), asks in owed.group_by("question_id", maintain_order=True):
        row = records[str(question_id)]
        item = {**row, "asks": asks.select("method", "response_id").to_dicts(), "responses": []}
        items.setdefault(row["doc_id"], []).append(item)
    layouts = {method: spec.layout for method, spec in specs.items()}
    counted = questions.group_by("dataset", maintain_order=True).len()
    cells = [
        {"method": method, "layout": layout, "dataset": dataset, "expected": count}
        for method, layout in layouts.items()
        for dataset, count in counted.iter_rows()
    ]
    response_ids = expected["response_id"].to_list()
    return Owed(items, expected.height, expected.height - owed.height, cells, response_ids)


def owed_judgements(
    store: Store,
    questions: pl.DataFrame,
    judge: Judge | RulesJudge | ReformulationJudge | CosineJudge | ClassifierJudge,
    response_ids: Sequence[str],
    run: str,
) -> Owed:
    """Responses in scope that `judge` has not judged yet, under their questions; none that it has no judgement for."""
    recorded = store.read("judgements", ["judgement_id", "status"], part=run)
    done = set(recorded.filter(pl.col("status").is_in([str(s) for s in PERMANENT]))["judgement_id"])
    records = {row["question_id"]: row for row in questions.to_dicts()}
    responses = store.read("responses", part=run).filter(pl.col("response_id").is_in(list(response_ids)))
    items: Items = {}
    expected_total = recorded_total = 0
    by_question: dict[str, dict[str, Any]] = {}
    for row in responses.iter_rows(named=True):
        question_row = records[row["question_id"]]
        response = Response.from_row(row)
        if response.status not in PERMANENT or not judgeable(response):
            continue  # nothing to judge, or it will be asked again and judged then
        question = Question.from_row(question_row)
        expected = set(judge.expected_judgement_ids(question, response))
        expected_total += len(expected)
        recorded_total += len(expected & done)
        if expected <= done:
            continue
        item = by_question.get(question.question_id)
        if item is None:
            item = by_question[question.question_id] = {**question_row, "asks": [], "responses": []}
            items.setdefault(question.doc_id, []).append(item)
        row[OWED] = sorted(expected - done)
        item["responses"].append(json.dumps(row, ensure_ascii=False, default=_plain))
    return Owed(items, expected_total, recorded_total)


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"cannot write {type(value).__name__} as JSON")


def a_few(owed: Owed, documents: int) -> Owed:
    """`owed`, of so many of its documents alone; which ones does not depend on how they are stored."""
    names = sorted(owed.items)
    step = max(1, len(names) // documents)
    items = {name: owed.items[name] for name in names[::step][:documents]}
    rows = sum(len(item["asks"]) for of_one in items.values() for item in of_one)
    return Owed(items, owed.recorded + rows, owed.recorded, owed.cells, owed.response_ids)
