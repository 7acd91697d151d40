from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.measures.changed_words import Change, changed_words

SAME, REMOVED, ADDED = Change.SAME, Change.REMOVED, Change.ADDED


@pytest.mark.parametrize(
    ("language", "original", "new", "expected"),
    [
        ("en", "Who sold it?", "Who sold it?", [(SAME, "Who sold it?")]),
        ("en", "who sold it?", "Who sold it?", [(SAME, "Who sold it?")]),
        (
            "en",
            "Who sold it?",
            "Who sold the mill?",
            [(SAME, "Who sold "), (ADDED, "the mill"), (REMOVED, "it"), (SAME, "?")],
        ),
        (
            "en",
            "When was USB-C made?",
            "When was USB made?",
            [(SAME, "When was "), (ADDED, "USB "), (REMOVED, "USB-C "), (SAME, "made?")],
        ),
        ("en", "Who?", "", [(REMOVED, "Who?")]),
        ("en", "", "Who?", [(ADDED, "Who?")]),
        ("en", "", "", []),
        ("zh", "石桥有多长？", "木桥有多长？", [(ADDED, "木"), (REMOVED, "石"), (SAME, "桥有多长？")]),
        ("zh", "2021年谁建桥？", "2022年谁建桥？", [(ADDED, "2022"), (REMOVED, "2021"), (SAME, "年谁建桥？")]),
    ],
)
def test_changed_words_two_questions_give_their_pieces(
    language: str, original: str, new: str, expected: list[tuple[Change, str]]
) -> None:
    found = changed_words(original, new, language)
    assert sorted(found) == sorted(expected)
    assert [piece for piece in found if piece.kind is SAME] == [piece for piece in expected if piece[0] is SAME]


@given(st.text(), st.text(), st.sampled_from(["en", "zh"]))
def test_changed_words_any_texts_put_together_are_the_new_question(original: str, new: str, language: str) -> None:
    found = changed_words(original, new, language)
    assert "".join(piece.text for piece in found if piece.kind is not REMOVED) == new
    kept = "".join(piece.text for piece in found if piece.kind is not ADDED)
    assert "".join(kept.split()).casefold() == "".join(original.split()).casefold()
    assert all(piece.text for piece in found)
    assert all(left.kind is not right.kind for left, right in pairwise(found))
