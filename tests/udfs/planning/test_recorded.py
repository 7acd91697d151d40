"""Recorded token counts, read without the texts beside them."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from tests.factories import frame, make_document, make_judgement, make_question, make_response
from udfs.planning.assumptions import TURN_FIELDS, refusal_rows, turn_rows
from udfs.planning.recorded import recorded_judgements, recorded_responses
from udfs.tables.store import Store


def test_recorded_rows_hold_token_counts_and_no_text(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    question = make_question(make_document())
    response = make_response(question)
    store.write("responses", "one", frame("responses", [response]).to_arrow())
    store.write("responses", "two", frame("responses", [response]).to_arrow())
    store.write("judgements", "one", frame("judgements", [make_judgement(response, "refusal", "refused")]).to_arrow())
    read = recorded_responses(store)
    assert read.height == 2, "of every run"
    assert [field.name for field in read.schema["turns"].inner.fields] == list(TURN_FIELDS)  # type: ignore[attr-defined]
    turns = turn_rows(read, response.model, response.model_revision)
    assert turns["output_tokens"].to_list() == 2 * [turn.output_tokens for turn in response.turns]
    gold = pl.DataFrame([{"question_id": question.question_id, "answerable": True, "question": "?"}])
    assert refusal_rows(read, gold, response.model, response.model_revision, response.detector).height <= 2
    assert recorded_judgements(store).height == 0, "a judge by rule has no calls"


def test_recorded_rows_of_a_store_without_any_are_none(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    assert turn_rows(recorded_responses(store), "m", "r").height == 0
    assert recorded_judgements(store).height == 0
