from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from tests.udfs.sources.helpers import BRIDGE, MILL, real_data, take


def squad(path: Path, *paragraphs: tuple[str, list[Any]]) -> Path:
    data = [{"title": "Arlow_Bridge", "paragraphs": [{"context": text, "qas": qas} for text, qas in paragraphs]}]
    path.write_text(json.dumps({"version": "v2.0", "data": data}), encoding="utf-8")
    return path


def question(key: str, text: str = "When did it open?", **given: Any) -> dict[str, Any]:
    answers = [{"text": "1902", "answer_start": BRIDGE.index("1902")}]
    return {"id": key, "question": text, "is_impossible": False, "answers": answers} | given


def test_squad_answerable_and_impossible_become_questions_of_one_document(tmp_path: Path) -> None:
    impossible = question("b", "Who built it?", is_impossible=True, answers=[])
    impossible["plausible_answers"] = [{"text": "Arlow", "answer_start": 14}]
    taken = take("squad_v2", squad(tmp_path / "dev.json", (BRIDGE, [question("a"), impossible])))
    assert [document.text for document in taken.documents] == [BRIDGE]
    assert taken.documents[0].title == "Arlow Bridge"
    first, second = taken.questions
    assert (first.answerable, first.answers, first.kind, first.split) == (True, ("1902",), "answerable", "dev")
    assert [BRIDGE[start:end] for start, end in first.evidence] == ["1902"]
    assert (second.answerable, second.answers, second.kind) == (False, (), "unanswerable")
    assert json.loads(second.provenance)["extra"] == {"plausible_answers": ["Arlow"]}


def test_squad_wrong_offset_is_moved_to_the_nearest_occurrence(tmp_path: Path) -> None:
    text = "In 1902 it opened. In 1903 it closed. In 1902 nobody came."
    moved = question("a", answers=[{"text": "1902", "answer_start": 38}])
    taken = take("squad_v2", squad(tmp_path / "dev.json", (text, [moved])))
    assert [span.start for span in taken.questions[0].evidence] == [text.rindex("1902")]
    assert taken.spans_moved == 1


def test_squad_answer_that_is_nowhere_rejects_its_question(tmp_path: Path) -> None:
    lost = question("a", answers=[{"text": "Vienna", "answer_start": 3}])
    taken = take("squad_v2", squad(tmp_path / "dev.json", (BRIDGE, [lost, question("b")])))
    assert taken.reasons() == [(1, "bad_evidence")]
    assert [q.answers for q in taken.questions] == [("1902",)]


def test_squad_bad_rows_are_rejected_by_their_running_number(tmp_path: Path) -> None:
    qas = [question("a", "  "), question("b", is_impossible="maybe"), question("c"), "not an object"]
    taken = take("squad_v2", squad(tmp_path / "dev.json", (BRIDGE, qas), ("", [question("d")])))
    assert taken.reasons() == [(1, "no_question"), (2, "bad_label"), (4, "bad_json"), (5, "empty_document")]
    assert taken.rejects[1].key == "b"
    assert len(taken.questions) == 1


def test_squad_impossible_with_answers_contradicts_itself(tmp_path: Path) -> None:
    taken = take("squad_v2", squad(tmp_path / "dev.json", (BRIDGE, [question("a", is_impossible=True)])))
    assert taken.reasons() == [(1, "bad_label")]


def test_squad_bytes_that_are_not_utf8_cost_only_their_question(tmp_path: Path) -> None:
    path = squad(tmp_path / "dev.json", (BRIDGE, [question("a", "When QQ?"), question("b")]))
    path.write_bytes(path.read_bytes().replace(b"QQ", b"\xff\xfe"))
    taken = take("squad_v2", path)
    assert taken.reasons() == [(1, "bad_utf8")]
    assert len(taken.questions) == 1


def test_squad_file_of_another_form_is_one_reject_of_the_whole_file(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{", encoding="utf-8")
    (tmp_path / "b.json").write_text('{"rows": []}', encoding="utf-8")
    (tmp_path / "c.json.gz").write_bytes(gzip.compress(b'{"data": []}')[:-9])
    assert take("squad_v2", tmp_path).reasons() == [(0, "bad_json"), (0, "missing_field"), (0, "bad_file")]


def test_squad_same_id_twice_is_a_duplicate_or_a_reject(tmp_path: Path) -> None:
    other = question("a", "When was it painted?")
    taken = take("squad_v2", squad(tmp_path / "dev.json", (BRIDGE, [question("a"), question("a"), other]), (MILL, [])))
    assert [duplicate.row for duplicate in taken.duplicates] == [2]
    assert taken.reasons() == [(3, "duplicate_id")]
    assert len(taken.documents) == 2, "the paragraph without questions too"


def test_squad_real_part_gives_every_question() -> None:
    taken = take("squad_v2", real_data("qa", "squad_v2_dev_part.json.gz"))
    assert (len(taken.questions), len(taken.rejects), len(taken.duplicates)) == (4020, 0, 0)
    assert sum(not question.answerable for question in taken.questions) == 2073
    texts = {document.doc_id: document.text for document in taken.documents}
    for asked in taken.questions:
        assert {texts[asked.doc_id][start:end] for start, end in asked.evidence} == set(asked.answers)


def test_squad_paragraph_without_questions_is_still_a_document(tmp_path: Path) -> None:
    taken = take("squad_v2", squad(tmp_path / "dev.json", (BRIDGE, [question("a")]), (MILL, [])))
    assert [document.text for document in taken.documents] == [BRIDGE, MILL]
    assert len(taken.questions) == 1
