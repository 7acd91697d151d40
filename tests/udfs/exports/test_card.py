from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
import pytest
import yaml

from tests.factories import WHEN, frame, make_document, make_question, make_run
from udfs.exports.card import Card, code, data_files, render, yaml_head
from udfs.exports.facts import CANDIDATE_COLUMNS, counts, lengths, licences, origin, question_frame, size_category
from udfs.exports.folder import WrittenFile
from udfs.exports.plan import FACTS, Plan, make_plan
from udfs.records import Candidate, Document, Question
from udfs.schema import Fate, Status, Step

DOCUMENT = make_document("The bridge opened in 1902.", split="train")
FILES = (
    WrittenFile("questions/train.parquet", 2, 10),
    WrittenFile("questions/train.jsonl", 2, 10),
    WrittenFile("sft/train.jsonl", 1, 5),
)


def plan_of(documents: Sequence[Document], questions: Sequence[Question]) -> Plan:
    names = list(dict.fromkeys(document.dataset for document in documents))
    return make_plan(questions, frame("documents", documents).select(FACTS), names)


def make_card(plan: Plan, **given: Any) -> Card:
    values: dict[str, Any] = {
        "name": "made",
        "folder": "made",
        "plan": plan,
        "questions": question_frame(plan),
        "files": FILES,
        "parts": ("benchmark", "sft"),
        "split": "train",
        "sft_left_out": {},
        "pairs": None,
        "origins": [],
        "annotated": [],
        "warnings": [],
        "versions": {},
        "made_at": datetime(2026, 5, 1, tzinfo=UTC),
    }
    return Card(**(values | given))


def make_candidate(number: int, fate: Fate = Fate.ACCEPTED, step: Step = Step.CONSOLE, spec: str = "s") -> Candidate:
    return Candidate(
        candidate_id=f"c{number}", dataset="bench", spec=spec, model="m", model_revision="r", doc_id=DOCUMENT.doc_id,
        source_dataset="books", language="en", domain="book", length_bucket="0-16K", kind="answerable",
        fragment_index=number, step=step, fate=fate, status=Status.OK, evidence=(), redactions=(), opinions="[]",
        created_at=WHEN + timedelta(days=number),
    )  # fmt: skip


def candidates(*made: Candidate) -> pl.DataFrame:
    return frame("candidates", made).select(CANDIDATE_COLUMNS)


@pytest.mark.parametrize(
    ("license_", "head"),
    [
        ("CC-BY-4.0", {"license": "cc-by-4.0"}),
        ("CC BY-SA 4.0", {"license": "cc-by-sa-4.0"}),
        ("My: own [licence]", {"license": "other", "license_name": "my-own-licence"}),
        ("unknown", {}),
    ],
)
def test_yaml_head_names_a_single_known_licence(license_: str, head: dict[str, str]) -> None:
    document = replace(DOCUMENT, license=license_)
    parsed = yaml.safe_load(yaml_head(make_card(plan_of([document], [make_question(document)]))))
    assert {key: value for key, value in parsed.items() if key.startswith("license")} == head


def test_yaml_head_of_two_licences_names_none() -> None:
    other = make_document("Other.", license="MIT")
    parsed = yaml.safe_load(
        yaml_head(make_card(plan_of([DOCUMENT, other], [make_question(DOCUMENT), make_question(other, 1)])))
    )
    assert "license" not in parsed
    assert parsed["language"] == ["en"]
    assert parsed["size_categories"] == ["n<1K"]


def test_data_files_prefer_parquet() -> None:
    assert data_files(FILES) == {
        "questions": [{"split": "train", "path": "questions/train.parquet"}],
        "sft": [{"split": "train", "path": "sft/train.jsonl"}],
    }


def test_card_of_hostile_words_keeps_its_form() -> None:
    document = replace(DOCUMENT, source="a|b\n---\n# c", license="x\n---\n{{ 1/0 }}", title="```")
    text = render(make_card(plan_of([document], [make_question(document)]), warnings=["look out"]))
    _, head, body = text.split("---\n", 2)
    assert yaml.safe_load(head)["license"] == "other"
    assert "\n# c" not in body
    assert "{{ 1/0 }}" in body
    assert "- look out" in body


def test_card_tells_counts_and_lengths_and_licences() -> None:
    second = make_document("The tower fell in 1911, they say.", split="test", license="unknown", source="t")
    plan = plan_of(
        [DOCUMENT, second], [make_question(DOCUMENT, 0), make_question(DOCUMENT, 1, False), make_question(second, 2)]
    )
    asked = question_frame(plan)
    assert counts(asked).rows() == [
        ("train", "en", "answerable", 1, 1),
        ("train", "en", "unanswerable", 1, 1),
        ("test", "en", "answerable", 1, 1),
    ]
    assert lengths(asked).select("split", "documents", "words").rows() == [
        ("train", "1", "5.00"), ("test", "1", "7.00"),
    ]  # fmt: skip
    assert licences(asked).select("license", "documents", "questions", "source").rows() == [
        ("CC0-1.0", "1", "2", "made for tests"), ("unknown", "1", "1", "t"),
    ]  # fmt: skip


def test_origin_of_synthesis_accounts_for_its_own_candidates() -> None:
    provenance = '{"candidate_id": "c0", "model": "m", "model_revision": "r", "spec": "s", "source_dataset": "books"}'
    question = make_question(DOCUMENT, provenance=provenance)
    made = candidates(
        make_candidate(0),
        make_candidate(1, Fate.LOW_QUALITY, Step.QUALITY),
        make_candidate(2, Fate.EVIDENCE_SURVIVES, Step.RETRIEVAL),
        make_candidate(3, Fate.LOW_QUALITY, Step.QUALITY),
        make_candidate(4, spec="another"),
    )
    runs = frame("runs", [make_run("bench", 0, job="synthesize"), make_run("other", 1, job="synthesize")])
    marker: dict[str, Any] = {
        "job": "synthesize",
        "path": "/home/somebody",
        "settings": {"web": {"url": "http://inside", "n": 5}},
    }
    marker |= {"complete": True, "content": "c0ffee"}
    found = origin("bench", [question], marker, runs.select("run", "job", "versions"), made)
    assert found.attrition is not None
    assert (found.attrition.proposed, found.attrition.accepted) == (4, 1)
    assert found.attrition.ended == (("quality", "low_quality", 2), ("retrieval", "evidence_survives", 1))
    assert found.facts == {"job": "synthesize", "settings": '{"web": {"n": 5}}'}
    assert found.versions == {"vllm": "0.32.0", "ray": "2.60.0"}
    text = render(make_card(plan_of([DOCUMENT], [question]), origins=[found]))
    assert "4 candidates proposed, 1 accepted" in text
    assert "| quality | low_quality | 2 |" in text
    assert "1 questions made by `m`, revision `r`, spec `s`, from documents of `books`" in text
    assert "/home/somebody" not in text


def test_origin_of_ingested_data_has_no_attrition() -> None:
    found = origin("bench", [make_question(DOCUMENT)], None, frame("runs", []), candidates())
    assert (found.attrition, found.makers, found.facts) == (None, {}, {})
    assert "Nothing more is recorded" in render(
        make_card(plan_of([DOCUMENT], [make_question(DOCUMENT)]), origins=[found])
    )


def test_code_holds_any_text_on_one_line() -> None:
    assert code("a`b\n`` c") == "`a'b '' c`"


def test_size_category_bounds_are_exclusive() -> None:
    assert [size_category(n) for n in (999, 1000, 99_999, 100_000)] == ["n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M"]
