"""Windows over a document: together they show all of it, each fits, a question that fills one is over_length."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from udfs.engines.base import OverLength, Unreadable
from udfs.engines.classifier_input import FORMS, InputForm, WindowMaker, form_for
from udfs.errors import UserError

pytest.importorskip("transformers")
import itertools

from tests.udfs.training.tiny import WORDS, tiny_tokenizer

QUESTION = "When did the bridge open?"
LEXICON = [word for word in WORDS if word.isalnum()]


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return tiny_tokenizer()


def maker(tokenizer: Any, form: str, window: int = 64, stride: int = 8) -> WindowMaker:
    assert form in get_args(InputForm)
    return WindowMaker(tokenizer, form, window, stride)  # type: ignore[arg-type]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from(LEXICON), max_size=300), st.integers(44, 80), st.integers(0, 40), st.sampled_from(FORMS)
)
def test_windows_of_any_document_fit_and_show_every_word_of_it(
    words: list[str], window: int, stride: int, form: str
) -> None:
    text = " ".join(words)
    made = maker(tiny_tokenizer(), form, window, stride).windows(text, QUESTION)
    assert all(len(one.ids) <= window for one in made)
    shown = {place for one in made for place in range(*one.shown)}
    assert all(text[place] == " " or place in shown for place in range(len(text)))
    assert all(later.shown.start > earlier.shown.start for earlier, later in itertools.pairwise(made))


@pytest.mark.parametrize("form", FORMS)
def test_windows_of_a_long_document_share_stride_tokens(tokenizer: Any, form: str) -> None:
    made = maker(tokenizer, form).windows(" ".join(LEXICON * 5), QUESTION)
    for earlier, later in itertools.pairwise(made):
        shared = {at[1:] for at in earlier.at} & {at[1:] for at in later.at}
        assert len(shared) == 8


def test_window_of_a_pair_is_the_tokenizers_own_with_token_types(tokenizer: Any) -> None:
    (made,) = maker(tokenizer, "pair").windows("The bridge opened in 1 9 .", QUESTION)
    expected = tokenizer(QUESTION, "The bridge opened in 1 9 .")
    assert made.ids == expected["input_ids"]
    assert made.second_from == expected["token_type_ids"].index(1)


def test_window_of_couldask_is_document_newline_question(tokenizer: Any) -> None:
    text = "The bridge opened in 1 9 ."
    (made,) = maker(tokenizer, "couldask").windows(text, QUESTION)
    assert made.ids == tokenizer(f"{text}\n{QUESTION}")["input_ids"]
    assert made.second_from is None


@pytest.mark.parametrize("form", FORMS)
def test_window_knows_where_each_token_of_the_document_stands(tokenizer: Any, form: str) -> None:
    text = " ".join(LEXICON * 5)
    for made in maker(tokenizer, form).windows(text, QUESTION):
        assert made.at
        for place, start, end in made.at:
            assert tokenizer.convert_ids_to_tokens(made.ids[place]) == text[start:end]


@pytest.mark.parametrize("form", FORMS)
def test_question_that_leaves_no_room_is_over_length_and_not_cut(tokenizer: Any, form: str) -> None:
    with pytest.raises(OverLength, match="window of 64"):
        maker(tokenizer, form).windows(" ".join(LEXICON * 5), "when " * 40)
    with pytest.raises(OverLength):
        maker(tokenizer, form).windows("The bridge .", "when " * 90)
    assert len(maker(tokenizer, form).windows("The bridge .", "when " * 40)) == 1  # a short document fits beside it


def test_question_of_unknown_words_is_unreadable(tokenizer: Any) -> None:
    with pytest.raises(Unreadable, match="question's 3 tokens"):
        maker(tokenizer, "pair").windows("The bridge .", "qui quo quae")


def test_tokenizer_that_does_not_tell_two_texts_apart_is_refused_as_a_pair() -> None:
    from tokenizers import processors

    plain = tiny_tokenizer()
    plain.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="$A", pair="$A $B:1", special_tokens=[]
    )
    assert form_for(plain) == "couldask"
    assert form_for(tiny_tokenizer()) == "pair"
    with pytest.raises(UserError, match="input=couldask"):
        maker(plain, "pair")
