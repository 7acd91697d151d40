from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from udfs.records import Span
from udfs.report.spans import WHOLE_BELOW, excerpts, pieces, utf16_spans, windows

TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)


@st.composite
def marked(draw: st.DrawFn) -> tuple[str, list[Span], list[Span]]:
    text = draw(TEXT)

    def span() -> Span:
        start = draw(st.integers(0, len(text) - 1))
        return Span(start, draw(st.integers(start + 1, len(text))))

    return text, [span() for _ in range(draw(st.integers(0, 3)))], [span() for _ in range(draw(st.integers(0, 2)))]


@given(marked())
def test_pieces_of_any_marks_join_to_the_text_and_mark_exactly_the_spans(
    case: tuple[str, list[Span], list[Span]],
) -> None:
    text, evidence, redactions = case
    found = pieces(text, 0, len(text), evidence, redactions)
    assert "".join(part for _, part in found) == text
    marks = "".join(mark[:1] * len(part) if mark else " " * len(part) for mark, part in found)
    for place, mark in enumerate(marks):
        inside = any(a <= place < b for a, b in evidence)
        cut = any(a <= place < b for a, b in redactions)
        assert (mark == "e") == inside
        assert (mark != " ") == (inside or cut)


@given(marked())
def test_utf16_spans_of_any_text_cut_the_same_characters_as_a_browser_would(
    case: tuple[str, list[Span], list[Span]],
) -> None:
    text, evidence, _ = case
    units = text.encode("utf-16-le")
    for span, (start, end) in zip(evidence, utf16_spans(text, evidence), strict=True):
        assert units[2 * start : 2 * end].decode("utf-16-le") == text[span.start : span.end]


@given(st.integers(1, 200_000), st.lists(st.tuples(st.integers(0, 200_000), st.integers(1, 9_000)), max_size=6))
def test_windows_are_ordered_apart_and_show_both_ends_of_every_span(length: int, raw: list[tuple[int, int]]) -> None:
    spans = [Span(a, min(a + n, length)) for a, n in raw if a < length]
    found = windows(length, spans, 300)
    assert found
    assert all(0 <= a < b <= length for a, b in found)
    assert all(left[1] < right[0] for left, right in itertools.pairwise(found))
    for span in spans:
        assert any(a <= span.start < b for a, b in found)
        assert any(a < span.end <= b for a, b in found)


def test_excerpts_of_a_long_document_stay_small_whatever_its_length() -> None:
    text = "a" * 100_000
    found = excerpts(text, [Span(50_000, 50_040)], [Span(90_000, 99_000)], 300)
    assert [start for start, _ in found] == [49_700, 89_700, 98_700]
    assert sum(len(part) for _, parts in found for _, part in parts) < 3_000


def test_excerpts_of_a_short_document_are_the_whole_of_it() -> None:
    text = "字" * WHOLE_BELOW
    assert excerpts(text, [], [], 300) == [(0, [("", text)])]
