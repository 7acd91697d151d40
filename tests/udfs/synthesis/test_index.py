from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.udfs.synthesis.document_texts import TEXTS
from udfs.records import Span
from udfs.synthesis.index import DocumentIndex
from udfs.synthesis.overlap import NEAR_COPY, content, overlap
from udfs.synthesis.sentences import sentences


@settings(deadline=None)
@given(TEXTS)
def test_index_holds_sentences_and_what_they_say(case: tuple[str, str]) -> None:
    language, text = case
    index = DocumentIndex(text, language)
    assert index.sentences == sentences(text, language)
    assert index.contents == [content(text[start:end], language) for start, end in index.sentences]


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_index_near_finds_what_comparing_all_sentences_finds(case: tuple[str, str], other: tuple[str, str]) -> None:
    language, text = case
    index = DocumentIndex(text, language)
    units = content(other[1], language)
    expected = [i for i, found in enumerate(index.contents) if overlap(units, found) > NEAR_COPY]
    assert index.near(units, NEAR_COPY) == expected


@settings(deadline=None)
@given(TEXTS, st.data())
def test_whole_sentences_is_the_smallest_run_that_holds_the_span(case: tuple[str, str], data: st.DataObject) -> None:
    language, text = case
    index = DocumentIndex(text, language)
    start, end = sorted((data.draw(st.integers(0, len(text))), data.draw(st.integers(0, len(text)))))
    touched = [s for s in index.sentences if max(s.start, start) < min(s.end, end)]
    expected = Span(min(start, touched[0].start), max(end, touched[-1].end)) if touched else Span(start, end)
    assert index.whole_sentences(Span(start, end)) == expected


@pytest.mark.parametrize(
    ("text", "language", "phrase", "expected"),
    [
        ("The Port of\r\nEllery froze.", "en", "port of ellery", True),
        ("The Port of Ellery froze.", "en", "port of ell", False),
        ("The incor-\nporated town.", "en", "incorporated", True),
        ("The “PORT,” it froze", "en", "port it", True),
        ("They paid 1,200 pounds.", "en", "1200 pounds", True),
        ("They paid 1,200 pounds.", "en", "200 pounds", False),
        ("A two-year-old port.", "en", "two year old", True),
        ("The port froze.", "en", "...", False),
        ("The port froze.", "en", "", False),
        ("", "en", "port", False),
        ("于是**埃勒里**\n港封冻。", "zh", "埃勒里港", True),
        ("于是埃勒里港封冻。", "zh", "勒里港封", True),
        ("罚款１２００元。", "zh", "1200元", True),
        ("罚款1200元。", "zh", "200元", False),
        ("于是埃勒里港封冻。", "zh", "埃里港", False),
    ],
)
def test_occurs_finds_a_phrase_up_to_writing(text: str, language: str, phrase: str, expected: bool) -> None:
    assert DocumentIndex(text, language).occurs(phrase) is expected


@settings(deadline=None)
@given(TEXTS)
def test_occurs_every_sentence_with_content_is_in_its_document(case: tuple[str, str]) -> None:
    language, text = case
    index = DocumentIndex(text, language)
    for span, units in zip(index.sentences, index.contents, strict=True):
        joined = text[: span.start][-1:].strip() or text[span.end :][:1].strip()  # "A.B" is one abbreviation
        assert not units or joined or index.occurs(text[span.start : span.end])
