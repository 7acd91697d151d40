from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from udfs.records import Span
from udfs.sources.evidence import Located, locate

TEXT = "In start. The art of “war”,\nsaid the old man, is art."


def test_locate_offset_that_fits_is_kept() -> None:
    assert locate(TEXT, "art", 14) == Located(Span(14, 17), False)


def test_locate_wrong_offset_gives_the_nearest_on_word_borders() -> None:
    assert locate(TEXT, "art", 4) == Located(Span(14, 17), True)
    assert locate(TEXT, "art", len(TEXT)) == Located(Span(TEXT.rindex("art"), TEXT.rindex("art") + 3), True)


def test_locate_quote_up_to_white_space_and_quotes_gives_the_original_span() -> None:
    found = locate(TEXT, 'the art of "war", said the old man')
    assert found is not None
    assert TEXT[found.span.start : found.span.end] == "The art of “war”,\nsaid the old man"
    assert found.moved


def test_locate_what_is_not_there_is_none() -> None:
    assert locate(TEXT, "peace") is None
    assert locate(TEXT, " ") is None
    assert locate(TEXT, "!?", 3) is None


@given(st.text(min_size=1), st.text(max_size=30), st.integers(-5, 60) | st.none())
def test_locate_any_span_lies_in_the_text(text: str, quote: str, start: int | None) -> None:
    found = locate(text, quote, start)
    if found is not None:
        assert 0 <= found.span.start < found.span.end <= len(text)
