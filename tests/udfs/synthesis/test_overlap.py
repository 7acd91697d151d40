from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.udfs.synthesis.document_texts import TEXTS
from udfs.synthesis.overlap import STOP_WORDS, content, overlap, tokens

UNITS = st.frozensets(st.sampled_from("abcdefgh"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", set()),
        ("It is so.", set()),
        ("The Keeper's ships sank!", {"keeper", "ships", "sank"}),
        ("the ships’ 1,200 sailors paid 3.5 %", {"ships", "1200", "sailors", "paid", "3.5", "%"}),
        ("an incor-\r\nporated town, a two-year-old port", {"incorporated", "town", "two", "year", "old", "port"}),
        ("an un\xad\nbroken **line**", {"unbroken", "line"}),
        ("U. S. and U.S.", {"u", "us"}),
    ],
)
def test_content_english_is_words_that_say_something(text: str, expected: set[str]) -> None:
    assert content(text, "en") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", set()),
        ("港", {"港"}),
        ("封冻，了", {"封冻", "冻了"}),
        ("**第七条**\u3000罚３.５元", {"第七", "七条", "条罚", "3.5", "元"}),
        ("ABC公司", {"abc", "公司"}),
    ],
)
def test_content_chinese_is_bigrams_and_other_runs(text: str, expected: set[str]) -> None:
    assert content(text, "zh") == expected


@settings(deadline=None)
@given(TEXTS)
def test_content_of_any_text_is_its_tokens_without_stop_words(case: tuple[str, str]) -> None:
    language, text = case
    stop = STOP_WORDS if language == "en" else frozenset[str]()
    assert content(text, language) == frozenset(tokens(text, language)) - stop


@settings(deadline=None)
@given(UNITS, UNITS)
def test_overlap_is_the_share_of_the_smaller_set(left: frozenset[str], right: frozenset[str]) -> None:
    value = overlap(left, right)
    assert value == overlap(right, left)
    assert 0 <= value <= 1
    assert (value == 1) == (bool(left and right) and (left <= right or right <= left))
    assert (value == 0) == (not left & right)


def test_overlap_of_one_empty_set_is_zero() -> None:
    assert overlap(frozenset(), frozenset({"a"})) == 0.0
