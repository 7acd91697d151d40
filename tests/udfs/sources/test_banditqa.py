from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.udfs.sources.helpers import BRIDGE, real_data, take, write_jsonl


def row(key: str = "w-1", **given: Any) -> dict[str, Any]:
    start = BRIDGE.index("1902")
    plain = {"id": key, "question": "When did it open? ", "context": BRIDGE, "feedback": "Answerable", "topic": "Arlow"}
    marks = {
        "annotation": "1902",
        "start_charidx": start,
        "end_charidx": start + 4,
        "aspect": "History",
        "workerId": "w",
    }
    return plain | marks | given


def test_banditqa_marked_answer_becomes_answer_and_evidence(tmp_path: Path) -> None:
    rows = [row(annotations=["", "in 1902", "1902"])]
    question = take("banditqa", write_jsonl(tmp_path / "static_test.jsonl", rows)).questions[0]
    assert (question.question, question.answers, question.split) == ("When did it open?", ("1902", "in 1902"), "test")
    assert [BRIDGE[start:end] for start, end in question.evidence] == ["1902"]
    provenance = json.loads(question.provenance)
    assert (provenance["id"], provenance["row"], provenance["extra"]) == ("w-1", 1, {"aspect": "History"})


def test_banditqa_unanswerable_has_neither_answer_nor_evidence(tmp_path: Path) -> None:
    rows = [row(feedback="Unanswerable", annotation="", start_charidx=-1, annotations=["1902"])]
    question = take("banditqa", write_jsonl(tmp_path / "dev.jsonl.gz", rows)).questions[0]
    assert (question.answerable, question.answers, question.evidence) == (False, (), ())


def test_banditqa_answer_with_changed_white_space_is_found_in_the_original(tmp_path: Path) -> None:
    text = "Bridge:\n\nIt opened\nin  1902, in May."
    rows = [row(context=text, annotation="It opened in 1902, in May.", start_charidx=2)]
    taken = take("banditqa", write_jsonl(tmp_path / "dev.jsonl", rows))
    assert [text[start:end] for start, end in taken.questions[0].evidence] == ["It opened\nin  1902, in May"]
    assert (taken.spans_moved, taken.spans_lost) == (1, 0)


def test_banditqa_answer_that_is_not_in_the_text_keeps_the_question_without_span(tmp_path: Path) -> None:
    taken = take("banditqa", write_jsonl(tmp_path / "dev.jsonl", [row(annotation="Im Jahr neunzehnhundertzwei")]))
    assert taken.questions[0].answers == ("Im Jahr neunzehnhundertzwei",)
    assert taken.questions[0].evidence == ()
    assert taken.spans_lost == 1


def test_banditqa_bad_rows_are_rejected_with_line_and_reason(tmp_path: Path) -> None:
    rows: list[Any] = [
        row("a", question=None),
        row("b", context=" \n"),
        row("c", feedback="Perhaps"),
        b'{"question": "\xff"}',
        b"{not json}",
        b"",
        b"[1]",
        row("d"),
        row("d"),
        row("d", question="Another?"),
        row("e", question=7),
    ]
    taken = take("banditqa", write_jsonl(tmp_path / "dev.jsonl", rows))
    assert taken.reasons() == [
        (1, "no_question"),
        (2, "empty_document"),
        (3, "bad_label"),
        (4, "bad_utf8"),
        (5, "bad_json"),
        (7, "bad_json"),
        (10, "duplicate_id"),
        (11, "bad_field"),
    ]
    assert [(d.row, d.file.endswith("dev.jsonl")) for d in taken.duplicates] == [(9, True)]
    assert "Perhaps" in taken.rejects[2].error
    assert "unanswerable" in taken.rejects[2].error


@pytest.mark.parametrize(
    ("name", "questions", "unanswerable"),
    [("banditqa_dev", 402, 160), ("banditqa_static_test", 316, 116), ("banditqa_long_term", 869, 302)],
)
def test_banditqa_real_files_give_every_question(name: str, questions: int, unanswerable: int) -> None:
    taken = take("banditqa", real_data("qa", f"{name}.jsonl.gz"))
    assert (len(taken.questions), len(taken.rejects), len(taken.duplicates)) == (questions, 0, 0)
    assert sum(not question.answerable for question in taken.questions) == unanswerable
    assert len({question.question_id for question in taken.questions}) == questions
