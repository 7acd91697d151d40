from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.measures.categories import ErrorCategory, Strategy, error_category, strategy

EN = "The wheel of the old mill by the weir turns seven times a minute. Ana Rook built the bridge in 1902."
ZH = "老磨坊的水轮在水坝旁边每分钟转七圈。罗安在一九〇二年建了石桥。"
SAME, COPIED = ErrorCategory.SAME_OR_REPHRASED, ErrorCategory.COPIED
IRRELEVANT, OTHER = ErrorCategory.IRRELEVANT, ErrorCategory.OTHER
ERRORS = [
    ("en", "Who sold the mill?", "Who sold the mill?", SAME),
    ("en", "Who sold the mill?", "who sold the mill", SAME),
    ("en", "Which miller sold most mills?", "Who was the miller that sold most mills?", SAME),
    ("en", "Who demolished the mill?", "Who demolishd the mill?", SAME),
    ("en", "Who sold the mill in 1902?", "Who sold the mill in 1903?", None),
    ("en", "Who sold the mill to Tom Osgood?", "Who sold the bridge to Tom Osgood?", None),
    ("en", "When did Rook sue Osgood?", "When did Osgood sue Rook?", None),
    ("en", "When was the mill sold?", "Where was the mill sold?", None),
    ("en", "What is the mill's oldest part?", "Why does the wheel of the old mill by the weir turn?", COPIED),
    ("en", "Who sold the mill in Carrow?", "How does Ana Rook sing?", IRRELEVANT),
    ("en", "Who sold the mill?", None, OTHER),
    ("en", "Who sold the mill?", "", OTHER),
    ("en", "Who sold the mill?", "I apologize for the confusion. The text does not say who sold it.", OTHER),
    ("en", "Who sold the mill?", "The mill is old.", OTHER),
    ("zh", "谁卖了磨坊？", "谁卖了磨坊？", SAME),
    ("zh", "谁卖了磨坊？", "磨坊是谁卖的？", None),
    ("zh", "磨坊的价钱是多少？", "那磨坊的价钱有多少", SAME),
    ("zh", "甲方何时通知乙方？", "乙方何时通知甲方？", None),
    ("zh", "磨坊卖了多少钱？", "老磨坊的水轮在水坝旁边每分钟转多少圈？", COPIED),
    ("zh", "磨坊卖给了哪个商人？", "罗安唱了什么？", IRRELEVANT),
    ("zh", "谁卖了磨坊？", "抱歉，文中没有提到谁卖了磨坊。", OTHER),
    ("zh", "谁卖了磨坊？", "磨坊很老。", OTHER),
]
STRATEGIES = [
    ("en", "When did Ana Rook open the blue mill?", "When did Ana Rook open the mill?", Strategy.GENERALIZE),
    ("en", "How many sons did he have?", "How many sons did he have with Ana Rook?", Strategy.SPECIFY),
    ("en", "When did Ana Rook open the mill?", "When did Ana Rook open the bridge?", None),
    ("en", "How many sons did he have?", "Did he have sons?", None),
    ("en", "Who sold the mill?", "Who sold the mill?", None),
    ("en", "When did the mill by the old weir burn?", "When did the weir by the mill burn?", None),
    ("zh", "罗安建的石桥有多长？", "石桥有多长？", Strategy.GENERALIZE),
    ("zh", "石桥有多长？", "罗安建的石桥有多长？", Strategy.SPECIFY),
    ("zh", "石桥有多长？", "木桥有多长？", None),
    ("zh", "石桥有多长？", "石桥是谁建的？", None),
]


@pytest.mark.parametrize(("language", "original", "new", "expected"), ERRORS)
def test_error_category_is_given_where_the_words_decide(
    language: str, original: str, new: str | None, expected: ErrorCategory | None
) -> None:
    assert error_category(original, new, EN if language == "en" else ZH, language) is expected


@pytest.mark.parametrize(("language", "original", "new", "expected"), STRATEGIES)
def test_strategy_is_given_where_content_only_went_or_came(
    language: str, original: str, new: str, expected: Strategy | None
) -> None:
    assert strategy(original, new, language) is expected


@given(st.text(), st.none() | st.text(), st.text(), st.sampled_from(["en", "zh"]))
def test_error_category_any_texts_give_a_category_or_none(
    original: str, new: str | None, document: str, language: str
) -> None:
    found = error_category(original, new, document, language)
    assert found is None or found in ErrorCategory
    if new is None or not new.strip():
        assert found is OTHER


@given(st.text(), st.text(), st.sampled_from(["en", "zh"]))
def test_strategy_any_two_questions_turn_round(left: str, right: str, language: str) -> None:
    turned = {Strategy.GENERALIZE: Strategy.SPECIFY, Strategy.SPECIFY: Strategy.GENERALIZE, None: None}
    assert strategy(left, right, language) is turned[strategy(right, left, language)]
    assert strategy(left, left, language) is None
