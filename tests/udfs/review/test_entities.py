"""Hand tags: what is proposed on a sheet, what an answer may hold, and files of tags with their faults."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.factories import WHEN, make_document, make_judgement, make_question, make_response, write_rows
from udfs.errors import UserError
from udfs.review.entities import CHECK, file_rows, proposals, tag_pool
from udfs.review.sheet import Tagging
from udfs.schema import TABLES, Status
from udfs.tables.store import Store

ASKED = "When was the bridge at Lower Hasp opened by Ada Finch?"
ZH_ASKED = "灯塔是哪一年建成的？"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    root = str(tmp_path / "root")
    document = make_document()
    chinese = make_document("灯塔建于一九零二年。", language="zh")
    asked = [
        make_question(document, 0, False, question=ASKED),
        make_question(document, 1, False, question="What did it cost?"),
        make_question(chinese, 2, False, question=ZH_ASKED, language="zh"),
    ]
    response = make_response(asked[0], refused=True)
    rationale = json.dumps({"original": ["Ada Finch", "lower hasp"], "new": []})
    tagged = make_judgement(
        response, "entity_overlap", None, judge="llm:m", status=Status.OK, score=0.0, rationale=rationale
    )
    write_rows(root, "documents", "bench", [document, chinese])
    write_rows(root, "questions", "bench", asked)
    write_rows(root, "responses", "main", [response])
    write_rows(root, "judgements", "main", [tagged])
    return Store(root)


def test_pool_is_of_the_questions_that_every_tagger_has_tagged(store: Store) -> None:
    pool = tag_pool(store, ())
    assert [row["question"] for row in pool.questions.values()] == [ASKED]
    assert pool.about["taggers"] == "llm:m, rules"
    assert "1 of 3 questions, those that every tagger" in pool.about["drawn from"]
    (item,) = pool.items(store, pool.strata, 100)
    (check,) = item.checks
    assert isinstance(check, Tagging)
    folded = [words.casefold() for words in check.proposals]
    assert len(set(folded)) == len(folded)
    assert {"ada finch", "lower hasp"} <= set(folded)


def test_proposals_stand_in_the_order_of_the_question() -> None:
    assert proposals(ASKED, ["Ada Finch", "bridge", "ada finch", None, " ", "Lower Hasp"]) == (
        "bridge",
        "Lower Hasp",
        "Ada Finch",
    )


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        ([], None),
        (["Lower Hasp", "ada finch", "opened by"], None),
        (["a proposal that is nowhere"], None),
        (["Upper Hasp"], "does not stand in"),
        (["…"], "does not stand in"),
        ("bridge", "not a list"),
    ],
)
def test_tagging_takes_proposals_and_words_of_the_text(value: Any, wrong: str | None) -> None:
    check = Tagging(CHECK, "What?", ASKED, ("a proposal that is nowhere",))
    said = check.refuses(value)
    assert said is None if wrong is None else wrong in (said or "")


def write(path: Path, rows: list[Any]) -> str:
    text = "".join(row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, "utf-8")
    return str(path)


def test_file_of_tags_knows_the_questions_of_datasets_and_takes_others(store: Store, tmp_path: Path) -> None:
    path = write(
        tmp_path / "hand.jsonl",
        [
            {"question": ASKED.upper(), "entities": ["BRIDGE", "Lower Hasp"], "annotator": "Ada"},
            {"question": "Who was Sela Brook?", "entities": []},
            {"question": ZH_ASKED, "entities": ["灯塔"]},
        ],
    )
    rows = file_rows(store, path, "hand", WHEN)
    assert all(row.keys() == set(TABLES["tags"].names) for row in rows)
    known = store.read("questions").filter(question=ASKED)["question_id"].item()
    assert [(row["item_id"] == known, row["dataset"], row["language"], row["annotator"]) for row in rows] == [
        (True, "bench", "en", "Ada"),
        (False, "", "en", "hand.jsonl"),
        (False, "bench", "zh", "hand.jsonl"),
    ]


def test_csv_of_tags_holds_json_lists_and_empty_cells(store: Store, tmp_path: Path) -> None:
    path = write(
        tmp_path / "hand.csv",
        ["question,entities\n", 'Who was Sela Brook?,"[""Sela Brook""]"\n', "And then?,\n", "So what?,[]\n"],
    )
    assert [row["entities"] for row in file_rows(store, path, "hand", WHEN)] == [["Sela Brook"], [], []]


def test_faults_of_a_file_are_named_row_by_row_and_nothing_is_taken(store: Store, tmp_path: Path) -> None:
    path = write(
        tmp_path / "hand.jsonl",
        [
            {"question": "Who was Sela Brook?", "entities": ["Sela Brook"]},
            {"question": "Who was Sela Brook?", "entities": ["Sela"]},
            {"question": " ", "entities": []},
            {"question": "Who was it?"},
            {"question": "Who was it?", "entities": ["Sela"]},
            {"question": "Who was it?", "entities": {"a": 1}},
            {"question": "Кто это был?", "entities": []},
            "{not json\n",
        ],
    )
    with pytest.raises(UserError) as caught:
        file_rows(store, path, "hand", WHEN)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("7 rows cannot be used")
    wanted = [
        "row 2: duplicate_id",
        "row 3: no_question",
        "row 4: missing_field",
        "row 5: bad_field: 'Sela' do not stand in",
        "row 6: bad_field",
        "row 7: unknown_language",
        "row 8: bad_json",
    ]
    assert all(f"hand.jsonl, {start}" in line for start, line in zip(wanted, lines[1:], strict=True))


def test_empty_file_of_tags_is_a_user_error(store: Store, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no rows"):
        file_rows(store, write(tmp_path / "hand.jsonl", []), "hand", WHEN)
