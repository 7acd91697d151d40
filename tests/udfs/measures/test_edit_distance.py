from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.measures.edit_distance import (
    couldask_edit_distance,
    edit_similarity,
    edit_units,
    word_edit_distance,
)


@pytest.mark.parametrize(
    ("original", "reformulated", "expected"),
    [
        ("Who built the mill?", "Who built the mill?", 0),
        ("Who built the mill?", "Who sold the mill?", 1),
        ("Who built the mill?", "who built the mill?", 1),
        ("Who built the mill?", "Who built the mill ?", 2),
        ("Who built the mill?", "Who built the  mill?", 1),
        ("Who built the mill?", "the mill?", 2),
        ("Who built the mill?", "", 4),
        ("", "", 0),
        ("谁建了磨坊？", "谁卖了磨坊？", 1),
    ],
)
def test_edit_distance_couldask_counts_words_between_spaces(original: str, reformulated: str, expected: int) -> None:
    assert couldask_edit_distance(original, reformulated) == expected


@pytest.mark.parametrize(
    ("original", "reformulated", "distance", "similarity"),
    [
        ("Who built the mill?", "who built the  MILL", 0, 1.0),
        ("Who built the mill?", "Who sold the mill?", 1, 0.75),
        ("Who built the mill?", "", 4, 0.0),
        ("Who built the mill?", "Who built the mill of 1,200?", 2, 4 / 6),
        ("谁建了磨坊？", "谁卖了磨坊", 1, 0.8),
        ("2021年谁建了磨坊？", "2022年谁建了磨坊？", 1, 6 / 7),
        ("", "?!", 0, 1.0),
    ],
)
def test_edit_distance_of_words_takes_no_account_of_case_and_marks(
    original: str, reformulated: str, distance: int, similarity: float
) -> None:
    assert word_edit_distance(original, reformulated) == distance
    assert edit_similarity(original, reformulated) == pytest.approx(similarity)


@given(st.text(), st.text())
def test_edit_similarity_any_texts_is_symmetric_and_between_0_and_1(left: str, right: str) -> None:
    assert 0.0 <= edit_similarity(left, right) <= 1.0
    assert edit_similarity(left, right) == pytest.approx(edit_similarity(right, left))
    assert (edit_similarity(left, right) == 1.0) == (edit_units(left) == edit_units(right))
    assert word_edit_distance(left, right) <= max(len(edit_units(left)), len(edit_units(right)))
