from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.udfs.synthesis.document_texts import TEXTS
from udfs.synthesis.fragments import fragments
from udfs.synthesis.sentences import sentences
from udfs.text import count_words

LONG_EN = "\n\n".join(
    f"Ship number {i} left the port. It carried {i} barrels of oil. Nobody saw it again." for i in range(90)
)
LONG_ZH = "\r\n\r\n".join(f"\u3000\u3000第{i}条船离开了港口。船上装着油桶。再也没有人见过它。" for i in range(90))


@settings(deadline=None)
@given(TEXTS, st.integers(0, 6), st.integers(1, 30), st.integers(0, 40), st.integers())
def test_fragments_of_any_text_are_disjoint_whole_sentences_within_bounds(
    case: tuple[str, str], alpha: int, least: int, more: int, seed: int
) -> None:
    language, text = case
    found = fragments(text, language, "doc", seed, alpha, least, least + more)
    assert len(found) == alpha
    spans = [span for span in found if span is not None]
    assert found[: len(spans)] == spans  # None only at the end
    starts = {span.start for span in sentences(text, language)}
    ends = {span.end for span in sentences(text, language)}
    assert all(span.start in starts and span.end in ends for span in spans)
    assert all(least <= count_words(text[start:end], language) <= least + more for start, end in spans)
    assert all(left.end <= right.start for left, right in pairwise(sorted(spans)))


@settings(deadline=None)
@given(TEXTS, st.integers(0, 8), st.integers(0, 8))
def test_fragments_of_a_larger_alpha_begin_with_those_of_a_smaller(case: tuple[str, str], one: int, two: int) -> None:
    language, text = case
    few, many = sorted((one, two))
    assert fragments(text, language, "doc", 7, many, 5, 40)[:few] == fragments(text, language, "doc", 7, few, 5, 40)


@settings(deadline=None)
@given(TEXTS, st.integers(1, 30), st.integers(0, 40))
def test_fragments_none_means_that_no_room_is_left(case: tuple[str, str], least: int, more: int) -> None:
    language, text = case
    found = fragments(text, language, "doc", 0, len(text) + 1, least, least + more)
    spans = [span for span in found if span is not None]
    free = [s for s in sentences(text, language) if not any(t.start <= s.start < t.end for t in spans)]
    assert not any(least <= count_words(text[start:end], language) <= least + more for start, end in free)


@pytest.mark.parametrize(("text", "language"), [(LONG_EN, "en"), (LONG_ZH, "zh")])
def test_fragments_lie_spread_over_the_document_and_move_with_the_seed(text: str, language: str) -> None:
    spans = [span for span in fragments(text, language, "doc", 1, 8, 20, 40) if span]
    starts = sorted(span.start / len(text) for span in spans)
    assert len(starts) == 8
    assert max(right - left for left, right in pairwise([0.0, *starts, 1.0])) < 0.3
    assert {tuple(fragments(text, language, "doc", seed, 8, 20, 40)) for seed in range(5)}.__len__() == 5
    assert fragments(text, language, "other", 1, 8, 20, 40) != spans


def test_fragments_begin_and_end_with_paragraphs_where_they_can() -> None:
    for span in fragments(LONG_EN, "en", "doc", 3, 6, 20, 40):
        assert span
        assert LONG_EN[span.start :].startswith("Ship number")
        assert LONG_EN[: span.end].endswith("again.")


@pytest.mark.parametrize(("alpha", "least", "most"), [(-1, 1, 2), (1, 0, 2), (1, 3, 2)])
def test_fragments_impossible_bounds_raise(alpha: int, least: int, most: int) -> None:
    with pytest.raises(ValueError, match="no fragments"):
        fragments("A text.", "en", "doc", 0, alpha, least, most)
