from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.dialogues import refusal_wordings
from tests.udfs.dialogues.refusal_cases import ANSWERED, REFUSED
from udfs.dialogues.refusal import COULDASK_PHRASES, detect_refusal, detect_refusal_couldask
from udfs.prompts.library import library

ANY_TEXT = st.text() | st.lists(st.sampled_from([reply for _, reply in REFUSED + ANSWERED])).map("\n".join)


@pytest.mark.parametrize(("language", "reply"), REFUSED + refusal_wordings.REFUSED)
def test_refusal_reply_that_refuses_is_detected(language: str, reply: str) -> None:
    assert detect_refusal(reply, language)


@pytest.mark.parametrize(("language", "reply"), ANSWERED + refusal_wordings.ANSWERED)
def test_refusal_reply_that_answers_is_not_detected(language: str, reply: str) -> None:
    assert not detect_refusal(reply, language)


@pytest.mark.parametrize("method", ["fs", "fs_cot"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_refusal_few_shot_replies_are_read_as_they_are_meant(language: str, method: str) -> None:
    examples = library().examples(method, language)
    assert {bool(example.get("new_question")) for example in examples} == {True, False}
    for example in examples:
        reply = library().render(language, f"{method}/example_answer.j2", example=example)
        assert detect_refusal(reply, language) is bool(example.get("new_question")), reply
        assert detect_refusal(example["answer"], language) is bool(example.get("new_question"))


@given(ANY_TEXT, st.sampled_from(["en", "zh"]))
def test_refusal_any_text_gives_the_same_word_twice(text: str, language: str) -> None:
    assert detect_refusal(text, language) is detect_refusal(text, language)


@given(st.text(), st.sampled_from([("en", "Answer: I don't know."), ("zh", "答案：不知道。")]))
def test_refusal_final_line_whatever_stands_before_decides(before: str, final: tuple[str, str]) -> None:
    assert detect_refusal(f"{before}\n{final[1]}", final[0])


@given(st.sampled_from([reply for language, reply in REFUSED if language == "en"]))
def test_refusal_before_a_final_answer_does_not_count(reasoning: str) -> None:
    assert not detect_refusal(f"{reasoning}\nAnswer: 30 crowns", "en")


@pytest.mark.parametrize("phrase", COULDASK_PHRASES)
def test_refusal_couldask_phrase_anywhere_is_detected(phrase: str) -> None:
    assert detect_refusal_couldask(f"Well, the {phrase} that. 30 crowns.")


@pytest.mark.parametrize(
    "reply",
    [
        "I do not know.",
        "The article didn't say.",
        "The Passage does not say.",
        "DON'T KNOW",
        "No information.",
        "passage\ndoes not",
    ],
)
def test_refusal_couldask_other_wording_is_not_detected(reply: str) -> None:
    assert not detect_refusal_couldask(reply)


def test_refusal_couldask_list_has_nine_phrases() -> None:
    assert len(set(COULDASK_PHRASES)) == 9
