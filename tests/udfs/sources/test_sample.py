from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.udfs.sources.helpers import BRIDGE, take
from udfs.errors import UserError
from udfs.schema import Kind


def folder(root: Path, questions: Any, text: bytes = BRIDGE.encode()) -> Path:
    (root / "documents").mkdir()
    (root / "questions").mkdir()
    (root / "documents" / "bridge.txt").write_bytes(text)
    head = {"title": "Bridge", "language": "en", "domain": "law", "license": "CC0-1.0", "questions": questions}
    (root / "questions" / "bridge.yaml").write_text(yaml.safe_dump(head), encoding="utf-8")
    return root


def question(key: str = "a", **given: Any) -> dict[str, Any]:
    fields = {
        "id": key,
        "question": f"When ({key})?",
        "kind": "answerable",
        "answers": ["1902"],
        "evidence": ["in 1902"],
    }
    return fields | given


def test_sample_shipped_is_complete_and_without_rejects() -> None:
    taken = take("sample", None)
    assert taken.rejects == []
    assert taken.duplicates == []
    assert Counter(document.language for document in taken.documents) == {"en": 8, "zh": 8}
    assert len(taken.questions) >= 120
    assert {question.kind for question in taken.questions} >= {kind.value for kind in Kind if kind != Kind.UNANSWERABLE}
    for asked in taken.questions:
        assert asked.answerable or (asked.reference_response and asked.gold_reformulation)


def test_sample_evidence_must_occur_exactly_once(tmp_path: Path) -> None:
    text = b"It is green. It is old, opened in 1902."
    rows = [question("a", evidence=["It is"]), question("b", evidence=["absent"]), question("c")]
    taken = take("sample", folder(tmp_path, rows, text))
    assert taken.reasons() == [(1, "bad_evidence"), (2, "bad_evidence")]
    assert [span.start for span in taken.questions[0].evidence] == [text.index(b"in 1902")]


def test_sample_twin_is_the_id_of_the_other_question(tmp_path: Path) -> None:
    made = question("b", kind="lack_of_evidence", answers=[], twin="a")
    taken = take("sample", folder(tmp_path, [question("a"), made, question("c", twin="nobody")]))
    assert taken.questions[1].twin_id == taken.questions[0].question_id
    assert taken.questions[1].original_question == "When (a)?"
    assert taken.reasons() == [(3, "missing_field")]


def test_sample_kind_and_answers_must_agree(tmp_path: Path) -> None:
    rows = [question("a", answers=[]), question("b", kind="lack_of_evidence"), question("c", kind="odd"), "text"]
    taken = take("sample", folder(tmp_path, rows))
    assert taken.reasons() == [(1, "bad_label"), (2, "bad_label"), (3, "bad_label"), (4, "bad_field")]


def test_sample_file_without_its_document_is_rejected_whole(tmp_path: Path) -> None:
    root = folder(tmp_path, [question()])
    (root / "documents" / "bridge.txt").unlink()
    (root / "questions" / "broken.yaml").write_text("a: [", encoding="utf-8")
    assert take("sample", root).reasons() == [(0, "empty_document"), (0, "bad_file")]
    with pytest.raises(UserError, match="questions"):
        take("sample", tmp_path / "documents")
