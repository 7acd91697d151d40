from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.measures.stems import stem


@pytest.mark.parametrize(
    ("left", "right"),
    [("slipped", "slip"), ("began", "begin"), ("mills", "mill"), ("children", "child"), ("written", "wrote")],
)
def test_stems_forms_of_one_word_are_the_same(left: str, right: str) -> None:
    assert stem(left) == stem(right)


@given(st.text())
def test_stems_any_text_keeps_what_is_no_english_word(text: str) -> None:
    assert stem(text) == text or (text.isascii() and text.isalpha())
