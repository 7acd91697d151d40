from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.dialogues.extraction_cases import CASES, COULDASK
from udfs.dialogues.extraction import couldask_uncut, extract_question, extract_question_couldask

WORDS = st.lists(st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=8), min_size=1, max_size=8)
ANY_TEXT = st.text() | st.lists(st.sampled_from([case[2] for case in CASES])).map("\n".join)


@pytest.mark.parametrize(("language", "original", "reply", "expected"), CASES)
def test_extraction_reply_gives_expected_question(
    language: str, original: str, reply: str, expected: str | None
) -> None:
    assert extract_question(reply, language, original) == expected


@pytest.mark.parametrize(("reply", "expected"), COULDASK)
def test_extraction_couldask_reply_gives_expected_cut(reply: str, expected: str | None) -> None:
    assert extract_question_couldask(reply) == expected


def test_extraction_couldask_uncut_keeps_what_follows_the_mark() -> None:
    assert couldask_uncut("New question: Who is it? It is named.") == "Who is it? It is named."


@given(ANY_TEXT, st.sampled_from(["en", "zh"]), st.text())
def test_extraction_any_text_gives_one_bare_question_or_none(text: str, language: str, original: str) -> None:
    question = extract_question(text, language, original)
    assert question is None or (
        question[-1] in "?？" and question == question.strip() and "\n" not in question and len(question) > 1
    )


@given(ANY_TEXT)
def test_extraction_couldask_any_text_gives_a_cut_at_the_first_mark_or_none(text: str) -> None:
    question = extract_question_couldask(text)
    assert question is None or (question.count("?") == 1 and question.endswith("?"))


@given(
    WORDS,
    st.sampled_from(["New question: {}", "**New question:** {}", '"{}"', "Reasoning first.\nNew question: {}", "{}"]),
)
def test_extraction_english_question_in_any_frame_comes_back(words: list[str], frame: str) -> None:
    question = "What " + " ".join(words) + "?"
    assert extract_question(frame.format(question), "en", "Who was it?") == question


@given(
    st.text("东南西北山水田", min_size=1, max_size=10),
    st.sampled_from(["新问题：{}", "**新问题：** {}", "“{}”", "先想一想。\n新问题：{}"]),
)
def test_extraction_chinese_question_in_any_frame_comes_back(words: str, frame: str) -> None:
    question = f"{words}在哪里？"
    assert extract_question(frame.format(question), "zh", "谁？") == question
