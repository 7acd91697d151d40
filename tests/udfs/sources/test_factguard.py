from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.udfs.sources.helpers import BRIDGE, take, write_jsonl
from udfs.errors import UserError

TEXTS = (
    *("id", "document_id", "document", "question", "response", "answerability", "category", "perturbation", "language"),
    *("domain", "source_file", "legacy_length_bucket", "evidence", "original_question", "original_answer"),
    *("unanswerable_reason", "original_entity", "substituted_entity", "unsupported_condition", "question_type"),
)
NUMBERS = ("document_char_length", "question_char_length", "response_char_length")


def row(key: str, perturbation: str = "none", **given: Any) -> dict[str, Any]:
    unanswerable = perturbation != "none"
    fields: dict[str, Any] = dict.fromkeys(TEXTS, "") | dict.fromkeys(NUMBERS, 0)
    return fields | {
        "id": key,
        "document_id": "article-1",
        "document": BRIDGE,
        "question": f"When did it open ({key})?",
        "response": "The text does not say." if unanswerable else "In 1902",
        "answerability": "unanswerable" if unanswerable else "answerable",
        "perturbation": perturbation,
        "language": "en",
        "domain": "law",
        "evidence": "The bridge at Arlow opened in 1902.",
        **given,
    }


def parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def test_factguard_kinds_and_golds_follow_the_perturbation(tmp_path: Path) -> None:
    reduced = "It was painted green."
    made = {"original_question": "When did it open?", "original_answer": "In 1902"}
    rows = [
        row("a"),
        row("b", "evidence_removal", document=reduced, **made),
        row("c", "entity_substitution", original_entity="Arlow", substituted_entity="Orlow", **made),
        row("d", "impossible_condition", unsupported_condition="in winter", question_type="time", **made),
    ]
    taken = take("factguard", parquet(tmp_path / "validation.parquet", rows))
    plain, removed, swapped, conditioned = taken.questions
    assert [question.kind for question in taken.questions] == [
        "answerable",
        "lack_of_evidence",
        "misleading.entity_substitution",
        "misleading.impossible_condition",
    ]
    assert (plain.answers, plain.reference_response) == (("In 1902",), None)
    assert [BRIDGE[start:end] for start, end in plain.evidence] == ["The bridge at Arlow opened in 1902."]
    assert (removed.evidence, removed.gold_reformulation) == ((), None)
    assert json.loads(removed.provenance)["extra"]["evidence"].startswith("The bridge")
    assert (swapped.gold_reformulation, swapped.gold_reformulation_answer) == ("When did it open?", "In 1902")
    assert swapped.reference_response == "The text does not say."
    assert json.loads(swapped.provenance)["extra"]["substituted_entity"] == "Orlow"
    assert conditioned.topic == "time"
    assert {(d.split, d.language, d.domain, d.title) for d in taken.documents} == {
        ("validation", "en", "law", "article-1")
    }
    assert len(taken.documents) == 2


def test_factguard_other_spellings_of_fields_are_taken(tmp_path: Path) -> None:
    fields = row("a", "evidence_removal")
    for name, other in {"document": "context", "response": "output", "id": "example_id"}.items():
        fields[other] = fields.pop(name)
    taken = take("factguard", parquet(tmp_path / "test.parquet", [fields]))
    assert [question.reference_response for question in taken.questions] == ["The text does not say."]
    assert json.loads(taken.questions[0].provenance)["id"] == "a"


def test_factguard_parquet_without_a_needed_field_says_which(tmp_path: Path) -> None:
    fields = row("a")
    del fields["answerability"]
    with pytest.raises(UserError, match="answerability"):
        take("factguard", parquet(tmp_path / "test.parquet", [fields]))


def test_factguard_label_against_perturbation_is_rejected(tmp_path: Path) -> None:
    rows = [
        row("a", "entity_substitution", answerability="answerable"),
        row("b", "rotation"),
        row("c", answerability="unsure"),
        row("d", language="fr"),
        row("e", response=""),
        row("f", document=""),
        row("g"),
    ]
    taken = take("factguard", write_jsonl(tmp_path / "test.jsonl", rows))
    assert taken.reasons() == [
        (1, "bad_label"),
        (2, "bad_label"),
        (3, "bad_label"),
        (4, "unknown_language"),
        (5, "missing_field"),
        (6, "empty_document"),
    ]
    assert [question.answers for question in taken.questions] == [("In 1902",)]


def test_factguard_category_serves_where_perturbation_is_empty(tmp_path: Path) -> None:
    rows = [row("a", "evidence_removal") | {"perturbation": "", "category": "lack_of_evidence"}]
    rows.append(row("b", "x") | {"perturbation": "", "category": "misleading_evidence"})
    taken = take("factguard", parquet(tmp_path / "test.parquet", rows))
    assert [question.kind for question in taken.questions] == ["lack_of_evidence", "unanswerable"]
