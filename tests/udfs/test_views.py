from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.records import Span
from udfs.views import View, merged, view_text


@st.composite
def texts_with_redactions(draw: st.DrawFn) -> tuple[str, tuple[Span, ...]]:
    text = draw(st.text(max_size=60))
    bounds = st.integers(0, len(text))
    pairs = draw(st.lists(st.tuples(bounds, bounds), max_size=6))
    return text, tuple(Span(min(pair), max(pair)) for pair in pairs)


def test_view_without_redactions_is_the_same_string() -> None:
    text = "a" * 100
    assert view_text(text, ()) is text


@pytest.mark.parametrize(
    ("redactions", "expected"),
    [
        ([Span(2, 4)], "abefgh"),
        ([Span(2, 4), Span(4, 6)], "abgh"),
        ([Span(3, 6), Span(2, 4)], "abgh"),
        ([Span(2, 6), Span(3, 4)], "abgh"),
        ([Span(0, 8)], ""),
        ([Span(3, 3)], "abcdefgh"),
    ],
)
def test_view_redactions_touching_or_overlapping_are_cut_once(redactions: list[Span], expected: str) -> None:
    assert view_text("abcdefgh", redactions) == expected


@pytest.mark.parametrize("span", [Span(-1, 2), Span(5, 9), Span(4, 2)])
def test_view_redaction_outside_the_text_raises(span: Span) -> None:
    with pytest.raises(ValueError, match="does not lie within"):
        view_text("abcdefgh", [span])


@given(texts_with_redactions())
def test_view_text_is_the_text_without_redacted_characters(case: tuple[str, tuple[Span, ...]]) -> None:
    text, redactions = case
    kept = [c for i, c in enumerate(text) if not any(start <= i < end for start, end in redactions)]
    assert view_text(text, redactions) == "".join(kept)


@given(texts_with_redactions(), st.data())
def test_view_span_to_document_and_back_is_the_same_span(
    case: tuple[str, tuple[Span, ...]], data: st.DataObject
) -> None:
    text, redactions = case
    view = View(len(text), redactions)
    shown = view.text(text)
    if not shown:
        return
    start = data.draw(st.integers(0, len(shown) - 1))
    span = Span(start, data.draw(st.integers(start + 1, len(shown))))
    origin = view.to_document(span)
    assert view.to_view(origin) == span
    assert view_text(text, redactions)[span.start : span.end] == "".join(
        c
        for i, c in enumerate(text)
        if origin.start <= i < origin.end and not any(low <= i < high for low, high in redactions)
    )


@given(texts_with_redactions(), st.data())
def test_view_span_of_document_in_view_holds_what_is_left_of_it(
    case: tuple[str, tuple[Span, ...]], data: st.DataObject
) -> None:
    text, redactions = case
    start = data.draw(st.integers(0, len(text)))
    span = Span(start, data.draw(st.integers(start, len(text))))
    view = View(len(text), redactions)
    left = "".join(text[i] for i in range(span.start, span.end) if not any(low <= i < high for low, high in redactions))
    there = view.to_view(span)
    assert (view.text(text)[there.start : there.end] if there else "") == left


def test_view_span_to_document_includes_the_cut_inside_it() -> None:
    assert View(8, (Span(2, 4),)).to_document(Span(1, 3)) == Span(1, 5)


def test_view_empty_span_to_document_raises() -> None:
    with pytest.raises(ValueError, match="does not lie within"):
        View(8, ()).to_document(Span(2, 2))


@given(texts_with_redactions())
def test_view_merged_spans_are_apart_and_in_order(case: tuple[str, tuple[Span, ...]]) -> None:
    text, redactions = case
    spans = merged(redactions, len(text))
    assert all(left.end < right.start for left, right in itertools.pairwise(spans))
