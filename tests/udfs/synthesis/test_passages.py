from __future__ import annotations

from itertools import pairwise

import bm25s
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.udfs.synthesis.document_texts import TEXTS
from udfs.records import Span
from udfs.synthesis.index import DocumentIndex
from udfs.synthesis.overlap import STOP_WORDS, tokens
from udfs.synthesis.passages import Passages
from udfs.text import count_words
from udfs.views import View, view_text

TEXT = (
    "The harbour froze in 1871. Forty ships lay in the ice.\n\n"
    "The keeper lit nine lamps. He wrote the log.\n\n"
    "The council met in May. It paid the widows.\n\n"
    "A pier of oak was built. The keeper painted it."
)
INDEX = DocumentIndex(TEXT, "en")


def cuts(data: st.DataObject, text: str) -> list[Span]:
    edge = st.integers(0, len(text))
    return [Span(*sorted((data.draw(edge), data.draw(edge)))) for _ in range(data.draw(st.integers(0, 3)))]


@settings(deadline=None)
@given(TEXTS, st.integers(1, 60))
def test_passages_hold_every_sentence_and_are_about_as_long_as_asked(case: tuple[str, str], words: int) -> None:
    language, text = case
    index = DocumentIndex(text, language)
    spans = Passages(index, words).spans
    starts, ends = {span.start for span in index.sentences}, {span.end for span in index.sentences}
    assert all(span.start in starts and span.end in ends for span in spans)
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    assert edges == sorted(edges)
    assert not any(text[left:right].strip() for left, right in list(pairwise(edges))[::2])
    for start, end in spans:
        assert count_words(text[start:end], language) <= words or Span(start, end) in index.sentences


@settings(deadline=None)
@given(TEXTS, st.integers(5, 40), st.integers(0, 4), st.data())
def test_top_ranks_as_bm25_over_the_whole_vocabulary_of_the_view(
    case: tuple[str, str], words: int, n: int, data: st.DataObject
) -> None:
    language, text = case
    redactions = cuts(data, text)
    passages = Passages(DocumentIndex(text, language), words)
    query = data.draw(st.sampled_from(["Who lit the lamps in the harbour ice?", "三月有几条船出海？", text[:40], "…"]))
    view = View(len(text), tuple(redactions))
    shown = {span: tokens(passages.text(span, redactions), language) for span in passages.spans}
    shown = {span: found for span, found in shown.items() if found}
    asked = [token for token in tokens(query, language) if token not in STOP_WORDS] or tokens(query, language)
    expected: list[tuple[float, Span]] = []
    if shown and asked:
        scorer = bm25s.BM25()
        scorer.index(list(shown.values()), show_progress=False)
        known = [token for token in asked if token in scorer.vocab_dict]
        scores = scorer.get_scores(known) if known else [0.0] * len(shown)
        expected = [(float(score), span) for score, span in zip(scores, shown, strict=True) if score > 0]
    top = passages.top([query], n, redactions)
    score_of = {span: score for score, span in expected}
    assert len(top) == len(set(top)) == min(n, len(expected))
    best = sorted((score for score, _ in expected), reverse=True)[:n]
    assert [score_of[span] for span in top] == pytest.approx(best)
    for span in top:
        seen = view.to_view(span)
        assert seen is not None
        assert view.text(text)[seen.start : seen.end] == passages.text(span, redactions) != ""


def test_top_a_cut_sentence_lifts_no_passage() -> None:
    passages = Passages(INDEX, 12)
    lamps = Span(TEXT.index("The keeper lit"), TEXT.index(" He wrote"))
    (first,) = passages.top(["Who lit the lamps?"], 1)
    assert passages.text(first, ()) == "The keeper lit nine lamps. He wrote the log."
    assert passages.top(["Who lit the lamps?"], 5, [lamps]) == []
    assert passages.text(first, [lamps]) == " He wrote the log."
    assert passages.top(["Who lit the lamps?"], 1) == [first]  # nothing of the cut is remembered


def test_top_passage_cut_wholly_is_never_returned() -> None:
    passages = Passages(INDEX, 12)
    for span in passages.spans:
        assert span not in passages.top(["keeper lamps harbour ships council oak"], 9, [span])


def test_top_several_queries_take_turns_without_repeats() -> None:
    passages = Passages(INDEX, 12)
    ice, lamp, council, pier = passages.spans
    assert passages.top(["the frozen harbour ships", "keeper lamps", "harbour"], 2) == [ice, lamp, pier]
    assert passages.top(["council keeper", "oak pier"], 1) == [council, pier]


def test_top_chinese_finds_by_bigrams() -> None:
    text = "港口封冻了。\n\n守塔人点亮九盏灯。\n\n镇议会开会。"
    passages = Passages(DocumentIndex(text, "zh"), 4)
    (found,) = passages.top(["谁点亮了九盏灯？"], 1)
    assert passages.text(found, ()) == "守塔人点亮九盏灯。"


@pytest.mark.parametrize(("queries", "n"), [([], 3), (["", "…"], 3), (["harbour"], 0), (["submarine"], 3)])
def test_top_nothing_to_find_is_empty(queries: list[str], n: int) -> None:
    assert Passages(INDEX, 12).top(queries, n) == []


def test_top_query_of_stop_words_alone_is_scored_by_them() -> None:
    text = "Rain fell.\n\nTo be or not to be."
    passages = Passages(DocumentIndex(text, "en"), 3)
    assert [passages.text(span, ()) for span in passages.top(["to be"], 3)] == ["To be or not to be."]


def test_top_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    Passages(INDEX, 12).top(["keeper"], 3)
    assert capfd.readouterr() == ("", "")


def test_text_is_the_view_of_the_span() -> None:
    passages = Passages(INDEX, 12)
    redactions = [Span(4, 12), Span(0, 2), Span(20, 60)]
    view = view_text(TEXT, redactions)
    assert passages.text(Span(0, len(TEXT)), redactions) == view
