from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.measures.contradiction import contradicts

CASES = [
    ("en", "What may the tenant not paint?", "The tenant may paint the walls.", True),
    ("en", "What may the tenant not paint?", "The tenant shall not paint the columns.", False),
    ("en", "When did the herons take the oaks?", "They have never taken the oaks.", True),
    ("en", "When did the herons take the oaks?", "They took the oaks, but never the pines.", False),
    ("en", "What is the speed limit of a vessel?", "No vessel shall exceed 5 knots.", False),
    ("en", "What was built before the war?", "After the war a mill was built.", True),
    ("en", "What was built before the war?", "A mill was built before the war, a bridge after it.", False),
    ("en", "What did he sell before and after the war?", "After the war he sold oil.", False),
    ("en", "Who raised the fee?", "The Board lowered the fee.", True),
    ("en", "How many more nights will it burn?", "It will burn seven nights, less the last.", False),
    ("en", "Who lived on the northern bank?", "The miller lived on the south bank.", True),
    ("en", "On what date may he leave?", "He leaves on 1 July.", False),
    ("en", "Which is the largest mill?", "The mill stands by the weir.", True),
    ("en", "Which forest has a mill?", "The mill stands in the wood.", False),
    ("en", "How much may it cost at most?", "It may cost up to 5 crowns.", False),
    ("zh", "不得转租的是什么？", "乙方可以转租房屋。", True),
    ("zh", "双虹桥哪一年从名录中除名？", "古桥不得从名录中除名。", True),
    ("zh", "总质量不得超过多少？", "总质量为一吨。", False),
    ("zh", "捐钱最多的人捐了多少？", "捐钱者一百零七人。", True),
    ("zh", "夜市最晚营业到几点？", "夜市营业至二十三时。", False),
    ("zh", "甲方提前多少日通知乙方？", "乙方应当提前九十日通知。", True),
    ("zh", "乙方提前多少日通知甲方？", "乙方应当提前九十日通知。", False),
    ("zh", "今年比去年多几只？", "去年是二百五十只。", True),
    ("zh", "今年比去年多几只？", "今年多出三只。", False),
    ("zh", "他的祖父上去过几次？", "他的父亲上去过九次。", True),
]


@pytest.mark.parametrize(("language", "question", "passage", "expected"), CASES)
def test_contradicts_passage_turns_the_question_round_or_not(
    language: str, question: str, passage: str, expected: bool
) -> None:
    assert contradicts(question, passage, language) is expected


@given(st.text() | st.sampled_from([case[1] for case in CASES]), st.sampled_from(["en", "zh"]))
def test_contradicts_no_text_turns_itself_round(text: str, language: str) -> None:
    assert not contradicts(text, text, language)
