"""Whatever is in a file, a source ends, and every row is a document, a question, a reject or a duplicate."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.udfs.sources.helpers import BRIDGE, Taken, take
from udfs.errors import UserError
from udfs.records import row_of
from udfs.schema import TABLES

COLUMNS = {"question": "question", "text": "context", "answerable": "answerable", "evidence": "evidence", "id": "id"}
FORMS = [
    ("squad_v2", ".json"),
    ("banditqa", ".jsonl"),
    ("couldask", ".jsonl"),
    ("couldask", ".parquet"),
    ("couldask", ".csv"),
    ("factguard", ".jsonl"),
    ("table", ".jsonl"),
    ("table", ".csv"),
    ("text", ".txt"),
    ("text", ".txt.gz"),
    ("banditqa", ".jsonl.gz"),
]
FIELDS = (
    *("id", "question", "context", "document", "answerable", "feedback", "answerability", "entities", "annotation"),
    *("start_charidx", "annotations", "evidence", "response", "perturbation", "language", "topic", "answers"),
)
leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=2)
)
likely = st.sampled_from(
    [BRIDGE, "When?", "Answerable", "answerable", "1902", 0, 1, "none", "en", ["1902"], [[0, 3]], ""]
)
objects = st.dictionaries(st.sampled_from(FIELDS), likely | values, max_size=12)
quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def take_bytes(source: str, suffix: str, content: bytes) -> Taken:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a{suffix}"
        path.write_bytes(content)
        return take(source, path, columns=COLUMNS if source == "table" else None)


def check(source: str, taken: Taken) -> None:
    """Every row is accounted for, and what was taken fits the tables."""
    asked_about = {question.doc_id for question in taken.questions}
    alone = [document for document in taken.documents if document.doc_id not in asked_about]  # rows of their own
    assert len(taken.questions) + len(alone) + len(taken.rejects) + len(taken.duplicates) == taken.rows
    tables: dict[str, list[Any]] = {"documents": [*taken.documents], "questions": [*taken.questions]}
    for table, records in (tables | {"rejects": [*taken.rejects]}).items():
        pa.Table.from_pylist([row_of(record) for record in records], schema=TABLES[table])


@pytest.mark.parametrize(("source", "suffix"), FORMS)
@quick
@given(content=st.binary(max_size=400))
def test_source_any_bytes_end_in_rows_or_one_clear_error(source: str, suffix: str, content: bytes) -> None:
    try:
        taken = take_bytes(source, suffix, content)
    except UserError:
        return  # a table without the columns that the config names
    check(source, taken)


@pytest.mark.parametrize("source", ["banditqa", "couldask", "factguard", "table"])
@quick
@given(rows=st.lists(objects | values, max_size=6))
def test_source_any_json_rows_are_all_accounted_for(source: str, rows: list[Any]) -> None:
    content = "\n".join(json.dumps(row) for row in rows).encode()
    if content.lstrip().startswith(b"["):
        with pytest.raises(UserError, match="array"):
            take_bytes(source, ".jsonl", content)
        return
    taken = take_bytes(source, ".jsonl", content)
    check(source, taken)
    assert taken.rows == len(rows)


@quick
@given(rows=st.lists(objects | values, max_size=5), context=likely | values, title=values)
def test_squad_any_questions_are_all_accounted_for(rows: list[Any], context: Any, title: Any) -> None:
    data = {"data": [{"title": title, "paragraphs": [{"context": context, "qas": rows}]}]}
    taken = take_bytes("squad_v2", ".json", json.dumps(data).encode())
    check("squad_v2", taken)
    assert taken.rows == max(1, len(rows)), "a paragraph without questions is one row, its document"


@quick
@given(data=values)
def test_squad_any_structure_is_accounted_for(data: Any) -> None:
    check("squad_v2", take_bytes("squad_v2", ".json", json.dumps({"data": data}).encode()))


@quick
@given(
    rows=st.lists(st.tuples(st.text(max_size=6), st.sampled_from([BRIDGE, "", "x"]), st.integers(-1, 2)), max_size=30)
)
def test_couldask_any_parquet_rows_are_all_accounted_for(rows: list[tuple[str, str, int]]) -> None:
    names = ("question", "context", "answerable")
    with tempfile.TemporaryDirectory() as folder:
        plain = [dict(zip(names, row, strict=True)) for row in rows]
        schema = pa.schema([("question", pa.string()), ("context", pa.string()), ("answerable", pa.int64())])
        pq.write_table(pa.Table.from_pylist(plain, schema=schema), Path(folder) / "a.parquet")
        taken = take("couldask", Path(folder) / "a.parquet")
    check("couldask", taken)
    assert taken.rows == len(rows)
