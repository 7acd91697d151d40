"""Agreement of measures with people's preferences: κ against statsmodels, ties, words that changed since."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import fleiss_kappa

from tests.factories import WHEN, frame, make_document, make_judgement, make_question, make_response
from udfs.schema import Status
from udfs.tables.preferences import (
    annotator_agreement,
    disputed,
    fleiss_estimate,
    majorities,
    measured_agreement,
    pair_scores,
)

LETTERS = {"a": "first", "b": "second", "t": "tie"}


def preferences(said: dict[str, str], **given: Any) -> pl.DataFrame:
    """Pair → one letter an annotator: a (the first), b or t(ie); a blank for none. Each pair is of its own document."""
    rows = [
        {
            "review": "r",
            "annotator": f"p{number}",
            "item_id": item,
            "question_id": item,
            "doc_id": f"d{item}",
            "dataset": "bench",
            "language": "en",
            "first_run": "main",
            "first": f"{item}.1",
            "first_text": "One?",
            "second_run": "main",
            "second": f"{item}.2",
            "second_text": "Two?",
            "preferred": LETTERS[letter],
            "created_at": WHEN,
            "note": None,
        }
        | given
        for item, letters in said.items()
        for number, letter in enumerate(letters)
        if letter.strip()
    ]
    return frame("preferences", rows)


def scores(said: dict[str, tuple[float, float]], measure: str = "entity_overlap") -> pl.DataFrame:
    rows = [(item, measure, "rules", first, second) for item, (first, second) in said.items()]
    return pl.DataFrame(rows, ["item_id", "measure", "judge", "score_first", "score_second"], orient="row")


def test_majority_needs_more_than_half_of_all_annotators() -> None:
    found = majorities(preferences({"1": "aab", "2": "abt", "3": "bbb", "4": "ttb", "5": "aa "}))
    assert dict(found.select("item_id", "preferred").iter_rows()) == {
        "1": "first", "2": "tie", "3": "second", "4": "tie"  # 5 lacks an answer
    }  # fmt: skip


@pytest.mark.parametrize(
    ("measure", "first_is_nearer"), [("entity_overlap", True), ("cosine", True), ("edit_distance", False)]
)
def test_measure_prefers_the_higher_score_and_of_edit_distance_the_lower(measure: str, first_is_nearer: bool) -> None:
    people = preferences({"1": "a", "2": "b"})
    found = measured_agreement(people, scores({"1": (0.9, 0.1), "2": (0.2, 0.5)}, measure), 100)
    assert found["agree"].to_list() == [float(first_is_nearer)]


def test_ties_of_measure_and_people_are_counted_and_left_out_of_the_decided_pairs() -> None:
    people = preferences({"1": "a", "2": "b", "3": "a", "4": "t", "5": "a"})
    given_scores = {"1": (1.0, 0.0), "2": (1.0, 0.0), "3": (0.5, 0.5), "4": (0.0, 1.0)}
    (row,) = measured_agreement(people, scores(given_scores), 100).to_dicts()
    counts = {name: row[name] for name in ("pairs", "scored", "decided", "measure_ties", "people_ties")}
    assert counts == {"pairs": 5, "scored": 4, "decided": 2, "measure_ties": 1, "people_ties": 1}
    assert row["agree"] == 0.5
    assert row["kappa"] == pytest.approx(fleiss_kappa(np.array([[2, 0], [1, 1]])))
    assert row["kappa_ties"] == pytest.approx(fleiss_kappa(np.array([[2, 0, 0], [1, 1, 0], [1, 0, 1], [0, 1, 1]])))


def test_measure_that_always_agrees_has_kappa_one_and_a_coin_about_zero() -> None:
    people = preferences({str(place): "ab"[place % 2] for place in range(400)})
    same = scores({str(place): (1.0 - place % 2, float(place % 2)) for place in range(400)})
    coin = scores({str(place): (1.0 - place // 2 % 2, float(place // 2 % 2)) for place in range(400)})
    assert measured_agreement(people, same, 100)["kappa"].to_list() == [1.0]
    (row,) = measured_agreement(people, coin, 200).to_dicts()
    assert row["kappa_low"] < 0 < row["kappa_high"]
    assert abs(row["kappa"]) < 0.01


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=2, max_size=12))
def test_fleiss_equals_that_of_statsmodels(votes: list[list[int]]) -> None:
    table = np.array([[row.count(answer) for answer in range(3)] for row in votes], dtype=np.float64)
    found = fleiss_estimate(table, [str(place % 4) for place in range(len(table))], 50, 1)
    if (table.sum(axis=0) > 0).sum() < 2:
        assert found.value is None
    else:
        assert found.value == pytest.approx(fleiss_kappa(table))
        assert (found.low is None) == (found.high is None)
        if found.value is not None and found.low is not None and found.high is not None:
            assert found.low <= found.value <= found.high


def test_annotators_agreement_counts_unanimous_pairs_and_who_was_shown_first() -> None:
    said = preferences({"1": "aaa", "2": "aab", "3": "bbb", "4": "abt"})
    (row,) = annotator_agreement(said, 100).to_dicts()
    assert (row["annotators"], row["pairs"], row["unanimous"], row["ties"]) == (3, 4, 2, 1)
    assert row["first_share"] == pytest.approx(6 / 11)
    assert [item for item, _ in disputed(said)] == ["2", "4"]
    (alone,) = annotator_agreement(preferences({"1": "a", "2": "b"}), 100).to_dicts()
    assert alone["kappa"] is None


def test_pair_scores_are_the_newest_of_the_words_that_people_saw() -> None:
    document = make_document()
    question = make_question(document, 0, False)
    shown = [make_response(question, model=name, refused=True, reformulation=f"{name}?") for name in ("one", "two")]
    judged = [
        make_judgement(response, "entity_overlap", None, status=Status.OK, score=score)
        for response, score in zip(shown, (0.25, 0.75), strict=True)
    ]
    judged.append(make_judgement(shown[0], "cosine", None, status=Status.OK, score=0.5))  # the other has none
    sides = {"first": shown[0].response_id, "first_text": "one?", "second": shown[1].response_id, "second_text": "two?"}
    people = preferences({"1": "a"}, **sides)
    responses, judgements = frame("responses", shown), frame("judgements", judged)
    assert pair_scores(people, responses, judgements).rows() == [("1", "entity_overlap", "rules", 0.25, 0.75)]
    asked_again = responses.with_columns(reformulation=pl.lit("another?"))
    assert pair_scores(people, asked_again, judgements).is_empty()
