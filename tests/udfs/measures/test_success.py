from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.measures.couldask_cases import CASES, Case
from udfs.dialogues.extraction import couldask_uncut, extract_question_couldask
from udfs.dialogues.refusal import detect_refusal_couldask
from udfs.measures.success import CouldAskScores, couldask_scores, succeeded


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_couldask_scores_of_a_response_are_those_of_the_papers_code(case: Case) -> None:
    detected = detect_refusal_couldask(case.turn_1)
    assert detected is case.detected
    turn_2 = case.turn_2 if detected else ""
    assert extract_question_couldask(turn_2) == case.cut
    scores = couldask_scores(
        case.question,
        case.entities,
        couldask_uncut(turn_2) if turn_2 else None,
        case.answerable,
        case.new_entities,
    )
    assert scores.overlap == pytest.approx(case.overlap)
    assert (scores.asked, scores.answerable, scores.edit_distance) == (
        case.cut is not None,
        case.scored_answerable,
        case.distance,
    )
    assert (scores.success_at_least, scores.success_more_than) == (case.at_least, case.more_than)


def test_couldask_cases_are_enough_and_have_names_of_their_own() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 40


@pytest.mark.parametrize(
    ("answerable", "relevance", "at_least", "more_than"),
    [
        (True, 1.0, True, True),
        (True, 0.5, True, False),
        (True, 0.49, False, False),
        (True, 0.0, False, False),
        (False, 1.0, False, False),
        (False, 0.5, False, False),
        (True, None, None, None),
        (False, None, None, None),
    ],
)
def test_succeeded_both_thresholds_differ_at_one_half_only(
    answerable: bool, relevance: float | None, at_least: bool | None, more_than: bool | None
) -> None:
    assert succeeded(answerable, relevance, at_least=True) is at_least
    assert succeeded(answerable, relevance, at_least=False) is more_than


@given(
    st.text(),
    st.lists(st.text()),
    st.none() | st.text(),
    st.booleans(),
    st.lists(st.text()),
)
def test_couldask_scores_any_values_hold_together(
    question: str, entities: list[str], uncut: str | None, answerable: bool, new_entities: list[str]
) -> None:
    scores = couldask_scores(question, entities, uncut, answerable, new_entities)
    assert scores.edit_distance >= 0
    assert scores.asked == (uncut is not None and "?" in uncut)
    if uncut is None:
        assert scores == CouldAskScores(False, False, 0.0, 0, False, False)
    if scores.success_more_than:
        assert scores.success_at_least
    if scores.success_at_least:
        assert scores.answerable
        assert (scores.overlap or 0.0) >= 0.5
    if not scores.asked:
        assert (scores.answerable, scores.overlap) == (False, 0.0)
