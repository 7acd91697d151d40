from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.udfs.sources.helpers import BRIDGE, MILL, take, write_jsonl
from udfs.errors import UserError
from udfs.records import Span

COLUMNS = {"question": "q", "text": "body", "answerable": "label"}


def test_table_csv_jsonl_and_parquet_give_the_same_questions(tmp_path: Path) -> None:
    rows = [{"q": "When?", "body": BRIDGE, "label": "yes"}, {"q": 'Who, "exactly"?', "body": MILL, "label": "no"}]
    csv = "q,body,label\n" + "".join(
        '"{}","{}",{}\n'.format(r["q"].replace('"', '""'), r["body"], r["label"]) for r in rows
    )
    (tmp_path / "a.csv").write_text(csv, encoding="utf-8")
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    write_jsonl(tmp_path / "a.jsonl", rows)
    ids = [
        [q.question_id for q in take("table", tmp_path / f"a.{suffix}", columns=COLUMNS).questions]
        for suffix in ("csv", "jsonl", "parquet")
    ]
    assert ids[0] == ids[1] == ids[2]
    assert len(ids[0]) == 2


def test_table_labels_mean_what_the_config_says(tmp_path: Path) -> None:
    rows = [{"q": f"When ({label})?", "body": BRIDGE, "label": label} for label in ("ok", "Nope", 1, None)]
    labels: dict[str, tuple[str, ...]] = {"answerable": ("OK",), "unanswerable": ("nope",)}
    taken = take("table", write_jsonl(tmp_path / "a.jsonl", rows), columns=COLUMNS, labels=labels)
    assert [question.answerable for question in taken.questions] == [True, False]
    assert taken.reasons() == [(3, "bad_label"), (4, "bad_label")]


def test_table_all_columns_reach_the_records(tmp_path: Path) -> None:
    names = ("id", "doc_id", "answers", "evidence", "kind", "title", "domain", "split", "source", "license", "topic")
    columns = COLUMNS | {name: name for name in (*names, "language", "entities", "gold_reformulation")}
    fields = {"q": "When?", "body": BRIDGE, "label": 0, "id": 7, "doc_id": "d", "answers": ["x"], "evidence": ["1902"]}
    fields |= {"kind": "misleading.false_assumption", "title": "T", "domain": "law", "split": "train", "source": "S"}
    fields |= {
        "license": "CC0",
        "topic": "time",
        "language": "EN",
        "entities": '["Arlow"]',
        "gold_reformulation": "Why?",
    }
    taken = take("table", write_jsonl(tmp_path / "a.jsonl", [fields]), columns=columns)
    question, document = taken.questions[0], taken.documents[0]
    assert (question.kind, question.answers, question.entities) == ("misleading.false_assumption", (), ("Arlow",))
    assert question.evidence == (Span(BRIDGE.index("1902"), BRIDGE.index("1902") + 4),)
    assert (question.gold_reformulation, question.topic, question.split) == ("Why?", "time", "train")
    assert (document.title, document.domain, document.source, document.license) == ("T", "law", "S", "CC0")


@pytest.mark.parametrize(
    ("evidence", "reason"),
    [
        (["nowhere in it"], "bad_evidence"),
        ([{"start": 5, "end": 5}], "bad_evidence"),
        ([[0, 9999]], "bad_evidence"),
        ([[0]], "bad_field"),
        ({"start": 0}, "bad_field"),
    ],
)
def test_table_evidence_that_is_not_in_the_text_is_rejected(tmp_path: Path, evidence: Any, reason: str) -> None:
    rows = [{"q": "When?", "body": BRIDGE, "label": 1, "ev": evidence}]
    taken = take("table", write_jsonl(tmp_path / "a.jsonl", rows), columns=COLUMNS | {"evidence": "ev"})
    assert taken.reasons() == [(1, reason)]


def test_table_one_doc_id_with_two_texts_rejects_the_second(tmp_path: Path) -> None:
    rows = [{"q": "A?", "body": BRIDGE, "label": 1, "d": "x"}, {"q": "B?", "body": MILL, "label": 1, "d": "x"}]
    taken = take("table", write_jsonl(tmp_path / "a.jsonl", rows), columns=COLUMNS | {"doc_id": "d"})
    assert taken.reasons() == [(2, "duplicate_id")]


def test_table_without_question_column_gives_documents(tmp_path: Path) -> None:
    rows = [{"body": BRIDGE}, {"body": BRIDGE}, {"body": " "}]
    taken = take("table", write_jsonl(tmp_path / "a.jsonl", rows), columns={"text": "body"})
    assert (len(taken.documents), len(taken.duplicates), taken.reasons()) == (1, 1, [(3, "empty_document")])


def test_table_csv_reads_long_fields_and_rejects_short_and_undecodable_records(tmp_path: Path) -> None:
    long = "word " * 60_000
    lines = [
        b"q,body,label",
        b"When?,%s,1" % long.encode(),
        b"When?,only two",
        b"Wh\xffn?,text,1",
        b'"New\nline?",text,0',
    ]
    (tmp_path / "a.csv").write_bytes(b"\r\n".join(lines))
    taken = take("table", tmp_path / "a.csv", columns=COLUMNS)
    assert [question.question for question in taken.questions] == ["When?", "New\nline?"]
    assert taken.reasons() == [(2, "missing_field"), (3, "bad_utf8")]


@pytest.mark.parametrize(
    ("columns", "labels", "wrong"),
    [
        ({"question": "q", "answerable": "label"}, {}, "columns.text"),
        ({"question": "q", "text": "body"}, {}, "columns.answerable"),
        (COLUMNS | {"colour": "c"}, {}, "columns.colour"),
        (COLUMNS | {"title": "absent"}, {}, "absent"),
        (COLUMNS, {"maybe": ("x",)}, "labels.maybe"),
        (COLUMNS, {"answerable": ("0",)}, "'0'"),
    ],
)
def test_table_wrong_mapping_is_told_before_any_row(
    tmp_path: Path, columns: dict[str, str], labels: dict[str, tuple[str, ...]], wrong: str
) -> None:
    (tmp_path / "a.csv").write_text(f"q,body,label\nWhen?,{MILL},1\n", encoding="utf-8")
    with pytest.raises(UserError, match=wrong):
        take("table", tmp_path / "a.csv", columns=columns, labels=labels)
