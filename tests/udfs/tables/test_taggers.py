"""Taggers beside hand tags: what counts as the same entity, majorities, and where taggers' tags come from."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.factories import WHEN, frame, make_document, make_judgement, make_question, make_response
from udfs.schema import Status
from udfs.tables.taggers import between_annotators, hand_tags, matched, tagger_quality, taggers_say


def tags(said: dict[str, list[list[str]]], **given: Any) -> pl.DataFrame:
    """Question → one list an annotator."""
    rows = [
        {
            "review": "r",
            "annotator": f"p{number}",
            "item_id": item,
            "dataset": "bench",
            "language": "en",
            "question": f"Question {item}?",
            "entities": entities,
            "created_at": WHEN,
            "doc_id": None,
            "note": None,
        }
        | given
        for item, lists in said.items()
        for number, entities in enumerate(lists)
    ]
    return frame("tags", rows)


def tagged(said: dict[str, list[str]], tagger: str = "rules") -> pl.DataFrame:
    rows = [(item, tagger, entities) for item, entities in said.items()]
    kinds: dict[str, Any] = {"item_id": pl.String, "tagger": pl.String, "entities": pl.List(pl.String)}
    return pl.DataFrame(rows, schema=kinds, orient="row")


@pytest.mark.parametrize(
    ("left", "right", "language", "exact", "soft"),
    [
        (["Lower Hasp"], ["lower  hasp"], "en", 1, 1),
        (["the Empire State Building"], ["Empire State Building"], "en", 0, 1),
        (["art"], ["party"], "en", 0, 0),  # a part is whole words
        (["bridge", "Bridge"], ["bridge"], "en", 1, 1),
        (["bridge"], ["old bridge", "bridge toll"], "en", 0, 1),
        (["old bridge", "bridge"], ["bridge", "old bridge at Hasp"], "en", 1, 2),
        (["a b", "b"], ["b", "b c"], "en", 1, 2),  # greedy pairing would leave one alone
        (["灯塔"], ["旧灯塔"], "zh", 0, 1),
        (["塔"], ["灯塔"], "zh", 0, 0),
        ([], ["bridge"], "en", 0, 0),
    ],
)
def test_matched_counts_each_entity_once(
    left: list[str], right: list[str], language: str, exact: int, soft: int
) -> None:
    for a, b in ((left, right), (right, left)):
        assert (matched(a, b, "exact", language), matched(a, b, "soft", language)) == (exact, soft)


@given(st.lists(st.sampled_from("abcd"), max_size=5), st.lists(st.sampled_from("abcd"), max_size=5))
def test_matched_of_single_words_is_the_intersection(left: list[str], right: list[str]) -> None:
    assert matched(left, right, "exact", "en") == matched(left, right, "soft", "en") == len(set(left) & set(right))


def test_hand_tags_are_what_more_than_half_mark_in_questions_that_all_tagged() -> None:
    said = tags({"1": [["Bridge", "toll"], ["bridge"], ["mayor"]], "2": [["x"], ["x"]], "3": [[], [], ["y"]]})
    assert hand_tags(said) == {"1": ("Bridge",), "3": ()}


def test_quality_sums_over_questions_and_says_what_was_not_tagged() -> None:
    hand = tags({"1": [["a", "b"]], "2": [["c"]], "3": [[]], "4": [["d"]]})
    found = tagger_quality(hand, tagged({"1": ["a"], "2": ["c", "x"], "3": ["y"]}), 100).to_dicts()
    exact = next(row for row in found if row["matching"] == "exact")
    assert (exact["questions"], exact["coverage"]) == (3, 0.75)
    assert (exact["right"], exact["tagged"], exact["hand"]) == (2, 4, 3)
    assert (exact["precision"], exact["recall"]) == (0.5, pytest.approx(2 / 3))
    assert exact["f1"] == pytest.approx(2 * 2 / 7)
    assert exact["precision_low"] <= exact["precision"] <= exact["precision_high"]


def test_quality_of_two_languages_has_each_and_all() -> None:
    hand = pl.concat([tags({"1": [["bridge"]]}), tags({"2": [["灯塔"]]}, language="zh")])
    found = tagger_quality(hand, tagged({"1": ["bridge"], "2": ["塔"]}), 100)
    recall = dict(found.filter(pl.col("matching") == "exact").select("language", "recall").iter_rows())
    assert recall == {"all": 0.5, "en": 1.0, "zh": 0.0}


def test_annotators_agree_by_the_f1_of_each_two() -> None:
    said = tags({"1": [["a", "b"], ["a"], ["a"]], "2": [["c"], ["c"], []]})
    annotators, questions, f1 = between_annotators(said, 100)["r"]
    assert (annotators, questions) == (3, 2)
    assert f1.value == pytest.approx((2 + 2 + 2 + 2) / (3 + 3 + 2 + 2 + 1 + 1))
    assert between_annotators(tags({"1": [["a"]]}), 100) == {}


def test_taggers_are_the_rules_the_dataset_and_every_model_with_its_newest_tags() -> None:
    document = make_document()
    question = make_question(document, 0, False, question="When was Lower Hasp opened?", entities=("Hasp",))
    response = make_response(question, refused=True)

    def overlap(rationale: str | None, judge: str, **given: Any) -> Any:
        values = {"judge": judge, "status": Status.OK, "score": 1.0, "rationale": rationale} | given
        return make_judgement(response, "entity_overlap", None, **values)

    def lists(*original: str) -> str:
        return json.dumps({"original": original, "new": []})

    older = overlap(lists("old"), "llm:m", judgement_id="older", created_at=WHEN.replace(year=2025))
    judgements = [overlap(lists("Lower Hasp"), "llm:m"), older, overlap("no list", "llm:n"), overlap(None, "rules")]
    questions = pl.DataFrame({"item_id": [question.question_id], "question": [question.question], "language": ["en"]})
    found = taggers_say(questions, frame("questions", [question]), frame("judgements", judgements))
    said = dict(found.select("tagger", "entities").iter_rows())
    assert said.keys() == {"rules", "dataset", "llm:m"}
    assert said["dataset"] == ["Hasp"]
    assert said["llm:m"] == ["Lower Hasp"]
    assert "Lower Hasp" in said["rules"]
