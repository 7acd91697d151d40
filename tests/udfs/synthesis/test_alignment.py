from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.udfs.synthesis.document_texts import TEXTS, real_text
from udfs.records import Span
from udfs.synthesis.alignment import CUTOFF, align
from udfs.text import normalize

TEXT = (
    "Early on.\r\n\r\nMr. Vane, the keeper of the light,\r\ncounted  forty ships in the ice. He slept. "
    "他清点了四十条船，然后睡了。"
)
ALL = Span(0, len(TEXT))


@settings(deadline=None)
@given(TEXTS, st.data())
def test_align_of_a_quotation_of_the_fragment_is_found_at_its_words(case: tuple[str, str], data: st.DataObject) -> None:
    _, text = case
    low, start, end, high = sorted(data.draw(st.integers(0, len(text))) for _ in range(4))
    quote = text[start:end].strip()
    span = align(text, quote, Span(low, high))
    exact = [at for at in range(low, high - len(quote) + 1) if quote and text.startswith(quote, at)]
    if any(not _parts_a_word(text[low:high], at - low, at - low + len(quote)) for at in exact):
        assert span is not None
        assert low <= span.start < span.end <= high
        assert text[span.start : span.end] == quote


def _parts_a_word(text: str, start: int, end: int) -> bool:
    pairs = [text[at - 1 : at + 1] for at in (start, end) if 0 < at < len(text)]
    return any(all(char.isalnum() and char < "\u2e80" for char in pair) for pair in pairs)


@settings(deadline=None)
@given(TEXTS, TEXTS, st.data())
def test_align_never_leaves_the_fragment(case: tuple[str, str], other: tuple[str, str], data: st.DataObject) -> None:
    _, text = case
    low, high = sorted((data.draw(st.integers(0, len(text))), data.draw(st.integers(0, len(text)))))
    span = align(text, other[1], Span(low, high))
    assert span is None or low <= span.start < span.end <= high


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("counted  forty ships", "counted  forty ships"),
        (" counted  forty ships \n", "counted  forty ships"),
        ("The keeper of the light counted forty ships", "the keeper of the light,\r\ncounted  forty ships"),
        ("Mr Vane, a keeper of the lights, counted", "Mr. Vane, the keeper of the light,\r\ncounted"),
        ("the keeper of the ligth, counted forty shi", "the keeper of the light,\r\ncounted  forty ships"),
        ("他清点了四十条船然后睡了", "他清点了四十条船，然后睡了"),
        ("他清点了四十余条船，然后睡了", "他清点了四十条船，然后睡了"),
        ("ice", "ice"),
        ("ise", None),
        ("", None),
        (" \n", None),
        ("forty dogs", None),
        ("The mayor of the town sold forty goats in the market", None),
        ("x" * 500, None),
    ],
)  # fmt: skip
def test_align_quotation_copied_with_small_changes_is_found(quote: str, expected: str | None) -> None:
    span = align(TEXT, quote, ALL)
    assert (span and TEXT[span.start : span.end]) == expected


def test_align_quotation_elsewhere_in_the_document_is_not_found() -> None:
    assert align(TEXT, "counted  forty ships", Span(0, 30)) is None


def test_align_fragment_outside_the_document_raises() -> None:
    with pytest.raises(ValueError, match="does not lie"):
        align("abc", "abc", Span(0, 4))


@pytest.mark.parametrize("name", ["en_book_the_common_law.txt", "zh_book_sanguo.txt"])
def test_align_real_quotation_with_a_slip_is_found_where_it_stands(name: str) -> None:
    text = real_text(name)
    within = Span(len(text) // 2, len(text) // 2 + 2000)
    start = text.index(" " if name.startswith("en") else "。", within.start + 500) + 1
    quote = text[start : start + 120]
    slip = " ".join(quote[:60].split()) + quote[61:]  # lines joined, a character lost
    span = align(text, slip, within)
    assert span is not None
    assert abs(span.start - start) <= 2
    assert len(normalize(text[span.start : span.end])) >= CUTOFF / 100 * len(normalize(quote))
