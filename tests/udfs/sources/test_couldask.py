from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.udfs.sources.helpers import BRIDGE, MILL, take, write_jsonl
from udfs.sources.rows import PARQUET_BATCH_ROWS


def row(**given: Any) -> dict[str, Any]:
    return {"context": BRIDGE, "question": "When did it open?", "answerable": 1, "entities": ["Arlow"]} | given


def test_couldask_jsonl_and_parquet_give_the_same_questions(tmp_path: Path) -> None:
    rows = [row(), row(question="Who built the mill?", context=MILL, answerable=0, entities=[])]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "test-00000.parquet")
    from_parquet = take("couldask", tmp_path / "test-00000.parquet")
    from_jsonl = take("couldask", write_jsonl(tmp_path / "test.jsonl.gz", rows))
    assert [q.question_id for q in from_parquet.questions] == [q.question_id for q in from_jsonl.questions]
    assert [(q.answerable, q.entities, q.split) for q in from_parquet.questions] == [
        (True, ("Arlow",), "test"),
        (False, (), "test"),
    ]


@pytest.mark.parametrize(("value", "answerable"), [(1, True), (0, False), (True, True), ("0", False), (1.0, True)])
def test_couldask_label_in_any_form_is_read(tmp_path: Path, value: object, answerable: bool) -> None:
    taken = take("couldask", write_jsonl(tmp_path / "a.jsonl", [row(answerable=value)]))
    assert [question.answerable for question in taken.questions] == [answerable]


@pytest.mark.parametrize("value", [2, -1, None, "", "maybe", 0.5, [1]])
def test_couldask_label_that_is_neither_is_rejected(tmp_path: Path, value: object) -> None:
    assert take("couldask", write_jsonl(tmp_path / "a.jsonl", [row(answerable=value)])).reasons() == [(1, "bad_label")]


def test_couldask_repeated_rows_are_kept_or_counted_as_duplicates(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [row(), row(), row(answerable=0)])
    kept = take("couldask", path, keep_repeats=True)
    assert len({question.question_id for question in kept.questions}) == 3
    dropped = take("couldask", path, keep_repeats=False)
    assert [duplicate.row for duplicate in dropped.duplicates] == [2]
    assert dropped.reasons() == [(3, "duplicate_id")]


def test_couldask_parquet_row_that_is_not_utf8_is_rejected_alone(tmp_path: Path) -> None:
    rows = [row(question=f"Question {i}?") for i in range(PARQUET_BATCH_ROWS + 3)]
    raw = [b"\xffWhat?" if i == 4 else r["question"].encode() for i, r in enumerate(rows)]
    questions = pa.Array.from_buffers(pa.string(), len(raw), pa.array(raw, pa.binary()).buffers())
    table = pa.Table.from_pylist(rows)
    pq.write_table(
        table.set_column(table.schema.get_field_index("question"), "question", questions), tmp_path / "a.parquet"
    )
    taken = take("couldask", tmp_path / "a.parquet")
    assert taken.reasons() == [(5, "bad_utf8")]
    assert len(taken.questions) == len(rows) - 1


def test_couldask_lone_surrogate_is_rejected(tmp_path: Path) -> None:
    line = json.dumps(row(question="When \ud800?")).encode()
    taken = take("couldask", write_jsonl(tmp_path / "a.jsonl", [line, row()]))
    assert taken.reasons() == [(1, "bad_utf8")]
    assert taken.rejects[0].raw.encode("utf-8")
