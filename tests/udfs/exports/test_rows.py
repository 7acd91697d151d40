from __future__ import annotations

import io
import json

import pyarrow as pa
import pyarrow.json
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.factories import make_document, make_question
from tests.udfs.exports.bench import HOSTILE, ZH
from udfs.exports.pairs import Rejected
from udfs.exports.rows import (
    LeftOut,
    document_row,
    dpo_row,
    json_line,
    prompt,
    question_row,
    reference,
    sft_row,
    view_row,
)
from udfs.exports.schemas import DOCUMENTS, QUESTIONS, SCHEMAS, features
from udfs.prompts.render import build_answer
from udfs.records import Span, row_of
from udfs.views import view_text

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


def test_question_row_holds_evidence_as_the_document_has_it() -> None:
    document = make_document(HOSTILE)
    start = HOSTILE.index("1911")
    question = make_question(document, evidence=(Span(start, start + 4), Span(0, 7)), topic="time")
    row = question_row(question, row_of(document), HOSTILE)
    assert row["evidence"] == ["1911", "He said"]
    assert (row["evidence_start"], row["evidence_end"]) == ([start, 0], [start + 4, 7])
    assert (row["topic"], row["license"], row["n_tokens"]) == ("time", document.license, document.n_tokens)
    assert set(row) == set(QUESTIONS.names)


def test_document_row_is_in_the_split_of_its_questions() -> None:
    document = make_document(split="all")
    row = document_row(row_of(document), "test", document.text)
    assert set(row) == set(DOCUMENTS.names)
    assert (row["split"], row["text"]) == ("test", document.text)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)).map(sorted), max_size=6))
def test_view_row_offsets_rebuild_the_view(spans: list[list[int]]) -> None:
    text = "0123456789abcdefghij"
    question = make_question(make_document(text), redactions=tuple(Span(*pair) for pair in spans))
    row = view_row(question, len(text))
    kept, at = [], 0
    for start, end in zip(row["start"], row["end"], strict=True):
        assert at <= start < end
        kept.append(text[at:start])
        at = end
    assert "".join(kept) + text[at:] == view_text(text, question.redactions)


@pytest.mark.parametrize(
    ("answerable", "answers", "written", "good"),
    [
        (True, ("1902", "in 1902"), None, "1902"),
        (True, (" ", "1902"), "", "1902"),
        (True, ("1902",), "It opened in 1902.", "It opened in 1902."),
        (True, (), None, LeftOut.NO_ANSWER),
        (False, (), "It was 1902, not 1903.", "It was 1902, not 1903."),
        (False, (), "  ", LeftOut.NO_REFERENCE),
        (False, ("1902",), None, LeftOut.NO_REFERENCE),
    ],
)
def test_reference_is_the_response_or_the_answer(
    answerable: bool, answers: tuple[str, ...], written: str | None, good: str
) -> None:
    question = make_question(make_document(), answerable=answerable, answers=answers, reference_response=written)
    assert reference(question) == good


def test_prompt_is_what_evaluate_asks_of_the_view() -> None:
    question = make_question(make_document(ZH, language="zh"), redactions=(Span(0, 10),))
    view = view_text(ZH, question.redactions)
    asked = prompt(question, view)
    assert asked == [dict(message) for message in build_answer("zs", "document_first", "zh", view, question.question)]
    assert ZH[:10] not in asked[0]["content"]
    assert ZH[10:] in asked[0]["content"]


def test_training_rows_fit_their_schemas() -> None:
    question = make_question(make_document())
    asked = prompt(question, "text")
    sft = sft_row(question, asked, "good")
    dpo = dpo_row(question, asked, "good", Rejected(question.question_id, "r1", "m", "rules", "bad"))
    assert sft["messages"] == [*asked, {"role": "assistant", "content": "good"}]
    assert (dpo["prompt"], dpo["chosen"], dpo["rejected"]) == (
        *(asked, [{"role": "assistant", "content": "good"}], [{"role": "assistant", "content": "bad"}]),
    )
    for what, row in (("sft", sft), ("dpo", dpo)):
        assert set(row) == set(SCHEMAS[what].names)
        assert pa.Table.from_pylist([row], schema=SCHEMAS[what]).to_pylist() == [row]


@given(TEXTS, st.lists(TEXTS, max_size=2))
def test_json_line_of_any_text_is_one_line_for_every_reader(text: str, listed: list[str]) -> None:
    row = {"a": text, "b": listed, "c": None}
    line = json_line(row)
    assert json.loads(line) == row
    assert len(line.decode("utf-8").splitlines()) == 1
    assert line.count(b"\n") == 1


def test_json_line_of_hostile_text_survives_arrow() -> None:
    lines = json_line({"a": HOSTILE}) + json_line({"a": "next"})
    assert pyarrow.json.read_json(io.BytesIO(lines))["a"].to_pylist() == [HOSTILE, "next"]


def test_features_name_every_column_with_its_type() -> None:
    named = {feature["name"]: feature for feature in features(SCHEMAS["sft"])}
    assert list(named) == SCHEMAS["sft"].names
    assert named["messages"]["list"] == [
        {"name": "role", "dtype": "string"},
        {"name": "content", "dtype": "large_string"},
    ]
    assert {"name": "evidence_start", "list": "int64"} in features(QUESTIONS)
