from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.measures.answers import contains_answer, exact_match, token_f1, tokens
from udfs.measures.numerals import CHARACTERS, to_digits

CONTAINED = [
    ("It costs 30 crowns.", "30 crowns"),
    ("The fee is 1,200 florins a year.", "1200 florins"),
    ("It rose by 5% in May.", "5 per cent"),
    ("On the 15th of June", "15"),
    ("Ines Bahr's boat", "Ines Bahr"),
    ("the U.S. Army", "US Army"),
    ("at the CAFÉ", "cafe"),
    ("一共三十五名学生。", "35名"),
    ("罚款三千五百元", "3500元"),
    ("缴费３０元", "三十元"),
    ("他在上海出生。", "上海"),
    ("minus -5 degrees", "-5"),
    ("three", "3"),
    ("He pays thirty crowns.", "30 crowns"),
    ("30 crowns", "thirty crowns"),
    ("twenty-one", "21"),
    ("two hundred and five men", "205 men"),
    ("5 thousand", "five thousand"),
    ("one", "1"),
    ("There was one.", "1"),
    ("He pays one crown.", "1 crown"),
    ("百分之三十", "30%"),
    ("百分之三点五", "3.5 %"),
    ("about 30 %", "thirty percent"),
]
NOT_CONTAINED = [
    ("15 crowns", "5"),
    ("5.5 metres", "5"),
    ("50 percent", "5 percent"),
    ("1,200 florins", "200 florins"),
    ("A4 paper", "4"),
    ("十五名", "五名"),
    ("No one knows.", "1"),
    ("No one knows.", "one"),
    ("One may borrow five tools.", "1"),
    ("The one who came", "1"),
    ("twenty-one", "20"),
    ("thirty-five crowns", "5 crowns"),
    ("一百元", "1 元"),
    ("三千五百元", "五百元"),
    ("2019年", "19年"),
    ("the cartwright", "cart"),
    ("anything", ""),
    ("the", "the"),
    ("", "30"),
]


@pytest.mark.parametrize(("answer", "gold"), CONTAINED)
def test_answers_gold_in_the_answer_is_contained(answer: str, gold: str) -> None:
    assert contains_answer(answer, gold)


@pytest.mark.parametrize(("answer", "gold"), NOT_CONTAINED)
def test_answers_part_of_a_number_or_word_is_not_contained(answer: str, gold: str) -> None:
    assert not contains_answer(answer, gold)


@pytest.mark.parametrize(
    ("answer", "gold", "expected"),
    [
        ("the old mill", "old mill", 1.0),
        ("old mill", "new mill", 0.5),
        ("old", "new", 0.0),
        ("青浦队", "白浦队", 2 / 3),
        ("", "", 1.0),
        ("", "x", 0.0),
    ],
)
def test_answers_f1_of_known_pairs(answer: str, gold: str, expected: float) -> None:
    assert token_f1(answer, gold) == pytest.approx(expected)


def test_answers_exact_match_ignores_case_articles_and_punctuation() -> None:
    assert exact_match("The Old Mill.", "old mill")
    assert not exact_match("The Old Mill House", "old mill")


@pytest.mark.parametrize(
    ("numeral", "digits"),
    [
        ("十", "10"),
        ("十五", "15"),
        ("二十", "20"),
        ("一百零五", "105"),
        ("两千", "2000"),
        ("三万五千", "35000"),
        ("三亿五千万", "350000000"),
        ("二〇一九", "2019"),
        ("万一", "万一"),
        ("一二十", "一二十"),
    ],
)
def test_numerals_known_runs(numeral: str, digits: str) -> None:
    assert to_digits(numeral) == digits


@given(st.text(CHARACTERS, min_size=1, max_size=12))
def test_numerals_any_run_is_digits_or_itself(numeral: str) -> None:
    digits = to_digits(numeral)
    assert (digits.isascii() and digits.isdigit()) or digits == numeral


@given(st.text(), st.text())
def test_answers_f1_is_symmetric_and_within_0_and_1(left: str, right: str) -> None:
    assert token_f1(left, right) == pytest.approx(token_f1(right, left))
    assert 0.0 <= token_f1(left, right) <= 1.0


@given(st.text())
def test_answers_text_matches_itself(text: str) -> None:
    assert exact_match(text, text)
    assert token_f1(text, text) == pytest.approx(1.0)
    assert contains_answer(text, text) or not tokens(text)


@given(st.text("abc 东西", max_size=12), st.text("abc 东西", max_size=12))
def test_answers_gold_between_other_words_is_contained(before: str, after: str) -> None:
    assert contains_answer(f"{before} 42 mills {after}", "42 mills")
