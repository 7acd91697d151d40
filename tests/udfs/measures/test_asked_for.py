from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.measures.answer_types import holds_answer
from udfs.measures.asked_for import AskedFor, asked_for

KINDS = [
    ("en", "How many sacks are there?", AskedFor.NUMBER, "How many"),
    ("en", "For how long is it closed?", AskedFor.NUMBER, "how long"),
    ("en", "What percentage of it is lost?", AskedFor.NUMBER, "What percentage of"),
    ("en", "What is the population of Arlow?", AskedFor.NUMBER, "What"),
    ("en", "When was it built?", AskedFor.TIME, "When"),
    ("en", "In which year did it open?", AskedFor.TIME, "which year"),
    ("en", "On which days of the week is it open?", AskedFor.TIME, "which days of the week"),
    ("en", "When the mill closes, who pays?", AskedFor.PERSON, "who"),
    ("en", "Whose mill is it?", AskedFor.PERSON, "Whose"),
    ("en", "Where is it?", AskedFor.PLACE, "Where"),
    ("en", "Why is it green?", AskedFor.REASON, "Why"),
    ("en", "How is flour made?", AskedFor.MANNER, "How"),
    ("en", "Is it green?", AskedFor.YES_NO, ""),
    ("en", "What did he buy?", AskedFor.THING, "What"),
    ("en", "Name the mill.", AskedFor.THING, ""),
    ("zh", "有多少座磨坊？", AskedFor.NUMBER, "多少座"),
    ("zh", "写了几封信？", AskedFor.NUMBER, "几封"),
    ("zh", "桥有多长？", AskedFor.NUMBER, "多长"),
    ("zh", "是哪一年建的？", AskedFor.TIME, "哪一年"),
    ("zh", "几点关门？", AskedFor.TIME, "几点"),
    ("zh", "谁出的钱？", AskedFor.PERSON, "谁"),
    ("zh", "磨坊在哪里？", AskedFor.PLACE, "哪里"),
    ("zh", "为什么漆成绿色？", AskedFor.REASON, "为什么"),
    ("zh", "面粉是怎么磨的？", AskedFor.MANNER, "怎么"),
    ("zh", "磨坊是绿色的吗？", AskedFor.YES_NO, "吗"),
    ("zh", "他买了什么？", AskedFor.THING, "什么"),
    ("zh", "作了怎样的陈述？", AskedFor.THING, "怎样的"),
]
HOLDS = [
    ("en", "How many sacks are ground?", "Forty sacks are ground.", True),
    ("en", "How many sacks are ground?", "The wheel turns seven times.", False),
    ("en", "How many sacks are ground?", "Of the sacks, 29 were full.", True),
    ("en", "How many sacks are ground?", "In 1902 sacks were dear.", False),
    ("en", "How many sacks are ground?", "(3) Sacks are ground.[1]", False),
    ("en", "How many of the 40 sacks are full?", "There are 40 sacks.", False),
    ("en", "In which year was it built?", "It was built in 1902.", True),
    ("en", "In which year was it built?", "It was built in the 1920s.", False),
    ("en", "On which days of the week is it open?", "It is open in May.", False),
    ("en", "On which days of the week is it open?", "It is open on Mondays.", True),
    ("en", "In which month is it open?", "It is open in May.", True),
    ("en", "On what date was it built?", "It was built long ago.", False),
    ("en", "When is it open?", "It is open every morning.", True),
    ("en", "Why is it green?", "It is green since rust shows less.", True),
    ("en", "Why is it green?", "It is green.", False),
    ("en", "Who pays?", "the sum is paid.", False),
    ("en", "Who pays?", "Then the tenant pays.", True),
    ("en", "Where is it?", "By the weir.", True),
    ("en", "Where is it?", "…", False),
    ("zh", "有多少座磨坊？", "镇上有三座磨坊。", True),
    ("zh", "有多少座磨坊？", "镇上有三口井。", False),
    ("zh", "收多少钱？", "每人三文。", True),
    ("zh", "哪一年建的？", "建于一九〇二年。", True),
    ("zh", "一九〇二年以后，哪一年修的？", "一九〇二年建成。", False),
    ("zh", "哪一天开门？", "九月开门。", False),
    ("zh", "什么时候开门？", "春天开门。", True),
    ("zh", "为什么是绿色？", "漆成绿色，以免生锈。", True),
    ("zh", "为什么是绿色？", "漆成绿色。", False),
    ("zh", "磨坊主叫什么？", "磨坊主姓欧。", True),
    ("zh", "磨坊主姓什么？", "磨坊主养鹅。", False),
]


@pytest.mark.parametrize(("language", "question", "kind", "words"), KINDS)
def test_asked_for_question_gives_its_kind_and_words(language: str, question: str, kind: AskedFor, words: str) -> None:
    asked = asked_for(question, language)
    assert (asked.kind, asked.words) == (kind, words)
    assert not words or words not in asked.rest


@pytest.mark.parametrize(("language", "question", "passage", "expected"), HOLDS)
def test_answer_types_passage_holds_what_is_asked_for_or_not(
    language: str, question: str, passage: str, expected: bool
) -> None:
    assert holds_answer(asked_for(question, language), question, passage, language) is expected


@given(st.text(), st.text(), st.sampled_from(["en", "zh"]))
def test_asked_for_any_text_has_a_kind_and_stands_behind_its_words(text: str, passage: str, language: str) -> None:
    asked = asked_for(text, language)
    assert text.endswith(asked.words + asked.after)
    assert holds_answer(asked, text, passage, language) in (True, False)
