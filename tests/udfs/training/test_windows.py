"""Which window an example is learnt from."""

from __future__ import annotations

from udfs.records import Span
from udfs.training.windows import pieces, training_window

TEXT = "The mill closed in 1950. The ferry left at noon. The bridge opened in 1902."
SHOWN = (Span(0, 24), Span(20, 48), Span(25, 76))


def test_training_window_of_an_answerable_question_holds_its_evidence() -> None:
    at = TEXT.index("1902")
    assert training_window(SHOWN, TEXT, "When did the mill close?", (Span(at, at + 4),)) == 2


def test_training_window_of_several_with_the_evidence_is_the_one_with_most_around_it() -> None:
    at = TEXT.index("noon")
    assert training_window(SHOWN, TEXT, "When?", (Span(at, at + 4),)) == 2
    assert training_window((SHOWN[1], Span(25, 48)), TEXT, "When?", (Span(at, at + 4),)) == 0


def test_training_window_that_holds_part_of_the_evidence_loses_to_the_one_with_more() -> None:
    assert training_window((Span(0, 22), Span(20, 48)), TEXT, "When?", (Span(19, 30),)) == 1


def test_training_window_without_evidence_is_the_one_with_most_of_the_questions_words() -> None:
    assert training_window(SHOWN, TEXT, "When was the BRIDGE opened?", ()) == 2
    assert training_window(SHOWN, TEXT, "Nothing alike", ()) == 0


def test_pieces_of_chinese_are_characters() -> None:
    assert pieces("诗人Li的 诗") == {"诗", "人", "li", "的"}
