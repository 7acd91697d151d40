from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.agents.agreement import close_answer, same_answer


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("1911", "1911"),
        ("in 1911", "1911"),
        ("一九一一年", "1911年"),
        ("eleven days", "11 days"),
        ("Brook", "Sela Brook"),
        ("the miller Sela Brook", "Sela Brook"),
        ("Sela of Brook", "Sela Brook"),
        ("28 July 1914", "1914"),
        ("nine brass lamp was lit", "nine brass lamps lit"),
        ("He was found not guilty", "not guilty"),
        ("not later than 30 days", "30 days"),
        ("石伯安", "匠人石伯安"),
        ("独龙冈上祝家庄", "独龙冈的祝家庄"),
    ],
)
def test_same_answers_confirm_each_other(answer: str, gold: str) -> None:
    assert same_answer(answer, gold)
    assert same_answer(gold, answer)
    assert close_answer(answer, gold)


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("1912", "1911"),
        ("60 days after the filing of the notice", "30 days after the filing of the notice"),
        ("within 30 months of filing", "within 30 days of filing"),
        ("自收到通知之日起六十日内", "自收到通知之日起三十日内"),
        ("King Henry VII of England", "King Henry VIII of England"),
        ("独龙冈上的李家庄", "独龙冈上的祝家庄"),
        ("guilty", "not guilty"),
        ("not 30 crowns", "30 crowns"),
        ("成年人", "未成年人"),
        ("可以", "不可以"),
        ("沈阿福", "石伯安"),
    ],
)
def test_answers_that_differ_in_a_name_number_unit_or_negation_are_not_the_same(answer: str, gold: str) -> None:
    assert not same_answer(answer, gold)
    assert not same_answer(gold, answer)


@pytest.mark.parametrize(("answer", "gold"), [("", "1911"), ("…", "1911"), ("of", "Duke of York"), ("days", "30 days")])
def test_answer_that_says_too_little_confirms_nothing(answer: str, gold: str) -> None:
    assert not same_answer(answer, gold)


def test_answer_to_a_negative_question_may_stand_behind_its_negation() -> None:
    assert same_answer("He may not leave the city", "leave the city", "What may he not do?")
    assert not same_answer("He may not leave the city", "leave the city", "What may he do?")


@given(st.text(max_size=40), st.text(max_size=40))
def test_answers_that_are_the_same_are_close(answer: str, gold: str) -> None:
    if same_answer(answer, gold):
        assert close_answer(answer, gold)
