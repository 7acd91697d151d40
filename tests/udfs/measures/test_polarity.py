from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.measures.answers import tokens
from udfs.measures.polarity import agrees, asserts_answer

FEE = "What is the fee?"
DOG = "May the tenant keep a dog?"
RENT_ZH = "承租人可以转租吗？"

RIGHT = [
    ("It is not 30 but 40 crowns.", "40 crowns", FEE),
    ("No, 30 crowns.", "30 crowns", FEE),
    ("Not less than 30 crowns.", "30 crowns", FEE),
    ("Not only 30 crowns but the goods too.", "30 crowns", FEE),
    ("On May 5, 1990.", "May 5, 1990", "When?"),
    ("He did not know the law.", "he did not know the law", "Why?"),
    ("You may not sublet the house.", "sublet the house", "What may the tenant not do?"),
    ("Yes.", "yes", DOG),
    ("Yes, with consent.", "Yes.", DOG),
    ("The tenant may keep a dog.", "Yes", DOG),
    ("He may not.", "No", DOG),
    ("It isn't allowed.", "No", DOG),
    ("No, he may not.", "No", DOG),
    ("可以。", "可以", RENT_ZH),
    ("不得转租。", "不可以", RENT_ZH),
    ("不到三十元", "三十元", "费用多少？"),
    ("没有。", "没有", "他有没有孩子？"),
]
WRONG = [
    ("The fee is not 30 crowns, it is 50 crowns.", "30 crowns", FEE),
    ("It isn't 30 crowns.", "30 crowns", FEE),
    ("It was never 30 crowns.", "30 crowns", FEE),
    ("The fee is not 30 crowns a day", "the fee is 30 crowns a day", FEE),
    ("Yes, there is no doubt, he may.", "No", DOG),
    ("No.", "Yes", DOG),
    ("No one knows.", "No", "Who came?"),
    ("No one knows.", "No", DOG),
    ("30 crowns", "yes", DOG),
    ("不可以，不得转租", "可以", RENT_ZH),
    ("不是三十元，是五十元", "三十元", "费用多少？"),
    ("可以", "不可以", RENT_ZH),
    ("", "30 crowns", FEE),
]


@pytest.mark.parametrize(("answer", "gold", "question"), RIGHT)
def test_polarity_answer_that_asserts_the_gold_agrees(answer: str, gold: str, question: str) -> None:
    assert agrees(answer, gold, question, 0.6)


@pytest.mark.parametrize(("answer", "gold", "question"), WRONG)
def test_polarity_answer_that_denies_the_gold_does_not_agree(answer: str, gold: str, question: str) -> None:
    assert not agrees(answer, gold, question, 0.6)


@given(st.text("abc not no是不可以没30 ,.，。", min_size=1, max_size=30))
def test_polarity_text_asserts_itself(text: str) -> None:
    assert asserts_answer(text, text) == bool(tokens(text))


@given(st.text(), st.text(), st.text())
def test_polarity_any_texts_give_the_same_word_twice(answer: str, gold: str, question: str) -> None:
    assert agrees(answer, gold, question, 0.6) is agrees(answer, gold, question, 0.6)
