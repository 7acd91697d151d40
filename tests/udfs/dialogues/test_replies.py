from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.dialogues.replies import before_final_answer, final_answer, sentences

FINAL = [
    ("Answer: 30 crowns.", "30 crowns."),
    ("Thoughts.\n**Final answer:** 30", "30"),
    ("### Answer\n30 crowns", "30 crowns"),
    ("The fee is named. Answer: 30 crowns", "30 crowns"),
    ("On Tuesday the fee is 30. The final answer is 30 crowns.", "30 crowns."),
    ("Therefore, the correct answer is 30 crowns.", "30 crowns."),
    ("Let's think. So the answer is: 30 crowns", "30 crowns"),
    ("先想。答案：三十元。", "三十元。"),
    ("先想。因此，最终答案是三十元。", "三十元。"),
    # no label
    ("The final answer is not in the document.", "The final answer is not in the document."),
    ("I think the answer is 1932.", "I think the answer is 1932."),
    ("Thoughts.\nAnswer:", "Thoughts.\nAnswer:"),
    # another exchange, invented
    ("Answer: 30 crowns.\n\nQuestion: What colour is it?\nAnswer: I don't know.", "30 crowns."),
    ("Answer: 30 crowns.\n\nExample 9\nDocument: A cat.\nQuestion: Who?\nAnswer: A cat.", "30 crowns."),
    ("Thoughts.\nAnswer: 30\nDocument: A cat.\nAnswer: A cat.", "30"),
    ("30 crowns.\n\nExample 9\nDocument: A cat.\nQuestion: Who?\nAnswer: A cat.", "30 crowns."),
    ("答案：三十元。\n\n示例9\n文档：猫。\n问题：谁？\n答案：猫。", "三十元。"),
    ("答案：三十元。\n问题：谁？\n答案：猫。", "三十元。"),
    # reasoning that names a question or a document
    ("Question: what is paid?\nDocument: it says 30 crowns.\nAnswer: 30 crowns", "30 crowns"),
    ("Example 1 is like it.\nThe question: what is paid?\nAnswer: 30", "30"),
    ("问题：缴多少？\n文档：三十元。\n答案：三十元", "三十元"),
    ("Answer:\nQuestion: what is paid?\nAnswer: 30", "30"),
]


@pytest.mark.parametrize(("reply", "expected"), FINAL)
def test_replies_final_answer_is_what_the_reply_concludes(reply: str, expected: str) -> None:
    assert final_answer(reply) == expected


def test_replies_before_final_answer_is_the_reasoning_alone() -> None:
    assert before_final_answer("First.\nAnswer: 30\n\nQuestion: Who?\nAnswer: A cat.") == "First."
    assert before_final_answer("30 crowns.") == ""


def test_replies_quoted_mark_inside_a_sentence_does_not_end_it() -> None:
    assert sentences('Who said "why?" in it? Nobody.', quoted=True) == ['Who said "why?" in it?', "Nobody."]
    assert len(sentences('He asked "Why?" She left.', quoted=True)) == 2


PIECES = st.sampled_from(["Answer: ", "答案：", "Question: ", "Example 2\n", "Document: ", "30", "\n", " ", "是", "."])


@given(st.text() | st.lists(PIECES).map("".join))
def test_replies_any_text_is_cut_into_stripped_pieces_of_itself(text: str) -> None:
    for piece in (final_answer(text), before_final_answer(text)):
        assert piece in text
        assert piece == piece.strip()
    assert bool(final_answer(text)) == bool(text.strip())
