from __future__ import annotations

import json
import re
from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tests.factories import frame
from tests.udfs.report.bench import EN_FACT, ZH_FACT, Run, small_run
from udfs.report.viewer import (
    NOT_JUDGED,
    Shelf,
    document_chunks,
    index_script,
    response_chunks,
    script,
    shown_responses,
)
from udfs.tables.observations import response_rows
from udfs.tables.texts import Text

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


def arguments(content: str, what: str) -> list[Any]:
    match = re.fullmatch(rf"askable\.{what}\((.*)\);\n", content, re.DOTALL)
    assert match
    return list(json.loads(f"[{match[1]}]"))


def shown_of(run: Run, most: int = 5000) -> pl.DataFrame:
    responses, judgements = frame("responses", run.responses), frame("judgements", run.judgements)
    rows = response_rows(responses, frame("questions", run.questions), frame("documents", run.documents))
    return shown_responses(responses, rows, judgements, "rules", most)


def texts_of(run: Run) -> list[Text]:
    return [Text(d.dataset, d.doc_id, d.title, d.source, d.language, d.text) for d in run.documents]


@given(JSON_VALUES)
def test_script_any_value_comes_back_and_cannot_close_a_script(value: Any) -> None:
    content = script("index", value)
    assert "<" not in content
    assert "\u2028" not in content
    assert arguments(content, "index") == [value]


def test_documents_are_written_once_in_chunks_and_excerpts_hold_the_evidence() -> None:
    run = small_run(documents=6, characters=400_000, questions=2)
    by_document: dict[tuple[str, str], list[Any]] = {}
    for question in run.questions:
        by_document.setdefault((question.dataset, question.doc_id), []).append(question)
    shelf = Shelf()
    chunks = dict(document_chunks(texts_of(run), by_document, 300, shelf))
    assert len(chunks) == 3
    found = [arguments(content, "documents")[1] for content in chunks.values()]
    assert sum(len(part) for part in found) == 6
    for question in run.questions:
        marked = [text for _, parts in shelf.shown[question.question_id]["excerpts"] for mark, text in parts if mark]
        assert marked == [ZH_FACT if question.language == "zh" else EN_FACT]


def test_index_and_chunks_name_the_same_responses_in_the_same_order() -> None:
    run = small_run()
    shown = shown_of(run)
    asked = {question.question_id: question for question in run.questions}
    (index,) = arguments(index_script(shown, asked, {"run": "main"}), "index")
    chunks = list(response_chunks(shown, frame("judgements", run.judgements), asked, Shelf()))
    rows = [row for _, content in chunks for row in arguments(content, "responses")[1]]
    assert len(rows) == len(index["rows"]["id"]) == len(run.responses)
    for place, row in enumerate(rows):
        assert asked[row["question_id"]].question == index["questions"][index["rows"]["question"][place]]
        verdict = index["names"]["verdict"][index["rows"]["verdict"][place]]
        judged = [v["verdict"] for v in row["verdicts"] if v["measure"] == "answer_consistency"]
        assert [verdict] == (judged or [NOT_JUDGED])


def test_shown_responses_beyond_the_limit_are_whole_questions_and_always_the_same() -> None:
    run = small_run(documents=10)
    some = shown_of(run, most=9)
    assert some.height == 8
    assert set(some.group_by("question_id").len()["len"]) == {2}
    run.responses.reverse()
    assert shown_of(run, most=9)["response_id"].to_list() == some["response_id"].to_list()
