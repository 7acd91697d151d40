from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.measures.number_words import fold_number_words


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("zero", "0"),
        ("twenty one", "21"),
        ("ninety nine crowns", "99 crowns"),
        ("one hundred", "100"),
        ("two hundred and five", "205"),
        ("one thousand two hundred", "1200"),
        ("five hundred thousand men", "500000 men"),
        ("3 thousand", "3000"),
        ("nineteen ninety", "19 90"),
        ("twenty and thirty", "20 and 30"),
        ("three two", "3 2"),
        ("no one knows", "no one knows"),
        ("a crown", "a crown"),
    ],
)
def test_number_words_known_runs(text: str, folded: str) -> None:
    assert " ".join(fold_number_words(text.split())) == folded


@given(st.lists(st.sampled_from(["one", "six", "ten", "twenty", "hundred", "thousand", "and", "5", "9" * 5000, "x"])))
def test_number_words_folding_twice_loses_no_other_word(words: list[str]) -> None:
    folded = fold_number_words(words)
    assert folded.count("x") == words.count("x")
    assert all(word in {"one", "and", "x"} or word.isdecimal() for word in folded)
