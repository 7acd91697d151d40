from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.udfs.synthesis.document_texts import LANGUAGES, TEXTS, documents, real_index
from udfs.records import Span
from udfs.synthesis.copies import redactions, surviving
from udfs.synthesis.index import DocumentIndex
from udfs.synthesis.overlap import NEAR_COPY, content, overlap
from udfs.synthesis.passages import Passages
from udfs.synthesis.sentences import sentences
from udfs.synthesis.view_sentences import REACH, anew
from udfs.text import normalize
from udfs.views import View, merged, view_text


def span_of(text: str, quote: str) -> Span:
    return Span(text.index(quote), text.index(quote) + len(quote))


def surviving_read_anew(index: DocumentIndex, cuts: Sequence[Span], quotes: Sequence[str]) -> list[Span]:
    """What `surviving` finds, by reading the whole view."""
    seen, language = view_text(index.text, cuts), index.language
    parts = [quote[start:end] for quote in quotes for start, end in sentences(quote, language)]
    targets = [content(quote, language) for quote in [*quotes, *parts]]
    targets.append(frozenset[str]().union(*targets))
    found = sentences(seen, language)
    return [x for x in found if any(overlap(content(seen[x.start : x.end], language), t) > NEAR_COPY for t in targets)]


def view(text: str, language: str, *quotes: str) -> str:
    return view_text(text, redactions(DocumentIndex(text, language), [span_of(text, quote) for quote in quotes]))


@settings(deadline=None)
@given(TEXTS, st.data())
def test_redactions_leave_nothing_surviving(case: tuple[str, str], data: st.DataObject) -> None:
    language, text = case
    edge = st.integers(0, len(text))
    evidence = [Span(*sorted((data.draw(edge), data.draw(edge)))) for _ in range(data.draw(st.integers(1, 3)))]
    index = DocumentIndex(text, language)
    cut = redactions(index, evidence)
    assert cut == merged(cut, len(text))
    assert all(any(c.start <= e.start and e.end <= c.end for c in cut) for e in evidence if e.start < e.end)
    seen = view_text(text, cut)
    quotes = [text[start:end] for start, end in evidence]
    assert surviving(index, cut, quotes) == surviving_read_anew(index, cut, quotes) == []
    whole = frozenset[str]().union(*(content(quote, language) for quote in quotes))
    for start, end in sentences(seen, language):
        assert overlap(content(seen[start:end], language), whole) <= NEAR_COPY


@settings(deadline=None)
@given(LANGUAGES.flatmap(lambda language: st.tuples(st.just(language), documents(language))), st.data())
def test_redactions_cut_whole_sentences_and_every_copy(case: tuple[str, str], data: st.DataObject) -> None:
    language, text = case
    index = DocumentIndex(text, language)
    if not index.sentences:
        return
    evidence = data.draw(st.sampled_from(index.sentences))
    cut = redactions(index, [evidence])
    quote = normalize(text[evidence.start : evidence.end])
    for start, end in index.sentences:
        if any(max(start, c.start) < min(end, c.end) for c in cut):
            assert any(c.start <= start and end <= c.end for c in cut)
        elif content(text[evidence.start : evidence.end], language):
            assert normalize(text[start:end]) != quote


def test_redactions_english_copies_and_near_copies_go_and_others_stay() -> None:
    text = (
        "The keeper lit nine lamps at dusk. Rain fell.\r\n\r\n"
        "THE KEEPER lit,\nnine lamps -- at dusk!\r\n\r\n"
        "At dusk the old keeper lit nine brass lamps. The kee-\nper lit nine lamps at dusk, we read. "
        "The kee per lit ni ne lamps at dusk. Nine lamps burned all night."
    )
    left = view(text, "en", "nine lamps at dusk")
    assert "".join(left.split()) == "Rainfell.Ninelampsburnedallnight."


def test_redactions_chinese_copies_and_near_copies_go_and_others_stay() -> None:
    text = (
        "**第一条**\u3000守塔人黄昏点亮九盏灯。下雨了。\r\n\r\n\u3000\u3000守塔人，黄昏点亮“九盏灯”！"
        "守塔人黄昏时点亮九盏灯。九盏灯亮了一夜。"
    )
    assert "".join(view(text, "zh", "点亮九盏灯").split()) == "下雨了。九盏灯亮了一夜。"


def test_redactions_sentence_made_by_a_cut_goes_too() -> None:
    text = "It began with the keeper, e.g. Ash lit nine lamps. The keeper Ash lit nine lamps. Rain fell."
    index = DocumentIndex(text, "en")
    for evidence in index.sentences:
        cut = redactions(index, [evidence])
        assert surviving_read_anew(index, cut, [text[evidence.start : evidence.end]]) == []


def test_redactions_several_quotations_are_also_one_evidence() -> None:
    text = "Ash lit the lamps. Vane wrote the log. Ash lit lamps and Vane wrote his log. Rain fell."
    assert view(text, "en", "Ash lit the lamps.", "Vane wrote the log.").split() == ["Rain", "fell."]


def test_redactions_evidence_outside_the_document_raises() -> None:
    with pytest.raises(ValueError, match="does not lie"):
        redactions(DocumentIndex("Rain fell.", "en"), [Span(3, 99)])


def test_surviving_finds_what_was_not_cut() -> None:
    text = "Ash lit nine lamps. Rain fell. At dusk Ash lit his nine lamps."
    index = DocumentIndex(text, "en")
    found = surviving(index, (), ["Ash lit nine lamps."])
    assert [text[start:end] for start, end in found] == ["Ash lit nine lamps.", "At dusk Ash lit his nine lamps."]
    assert surviving(index, (), ["Snow melted."]) == []
    rain = span_of(text, "Rain fell. ")
    left = view_text(text, [rain])
    found = surviving(index, [rain], ["Ash lit nine lamps."])
    assert [left[start:end] for start, end in found] == ["Ash lit nine lamps.", "At dusk Ash lit his nine lamps."]


@settings(deadline=None)
@given(TEXTS, st.data())
def test_surviving_is_what_reading_the_whole_view_finds(case: tuple[str, str], data: st.DataObject) -> None:
    language, text = case
    index = DocumentIndex(text, language)
    edge = st.integers(0, len(text))
    spans = st.lists(st.tuples(edge, edge).map(lambda pair: Span(*sorted(pair))), max_size=4)
    cuts, quotes = data.draw(spans), [text[start:end] for start, end in data.draw(spans)]
    assert surviving(index, cuts, quotes) == surviving_read_anew(index, cuts, quotes)


@settings(deadline=None)
@given(TEXTS, st.data())
def test_view_sentences_around_cuts_are_those_of_the_whole_view(case: tuple[str, str], data: st.DataObject) -> None:
    language, text = case
    index = DocumentIndex(text * 3, language)
    edge = st.integers(0, len(index.text))
    cuts = data.draw(st.lists(st.tuples(edge, edge).map(lambda pair: Span(*sorted(pair))), max_size=3))
    assert view_sentences(index, cuts, data.draw(st.integers(0, 100))) == sentences(
        view_text(index.text, cuts), language
    )


@pytest.mark.parametrize(
    "name", ["zh_book_shuihu.txt", "en_law_usc_title_17.txt", "en_law_brown_v_plata.txt", "zh_law_civil_code.md"]
)
def test_view_sentences_around_cuts_of_a_real_document_are_those_of_the_whole_view(name: str) -> None:
    whole = real_index(name)
    index = DocumentIndex(whole.text[:150_000], whole.language)
    draw = random.Random(name)
    for _ in range(5):
        cuts = merged((draw.choice(index.sentences) for _ in range(4)), len(index.text))
        seen = sentences(view_text(index.text, cuts), index.language)
        for reach in (0, 100, REACH):
            assert view_sentences(index, cuts, reach) == seen


def view_sentences(index: DocumentIndex, cuts: Sequence[Span], reach: int) -> list[Span]:
    """The sentences of a view: those around its cuts, and the document's beside them."""
    shown = View(len(index.text), merged(cuts, len(index.text)))
    around = anew(index, shown, reach)
    others = (span for number, span in enumerate(index.sentences) if not around.holds(number))
    spans = sorted([*around.sentences, *others])
    return [seen for span in spans if (seen := shown.to_view(span)) is not None]


def test_redactions_of_a_real_law_take_every_copy_of_a_duplicated_sentence() -> None:
    index = real_index("zh_law_criminal_law_with_amendments.md")
    text = index.text
    found: dict[str, list[Span]] = {}
    for start, end in index.sentences:
        found.setdefault(normalize(text[start:end]), []).append(Span(start, end))
    copied = [copies for quote, copies in found.items() if len(copies) > 1 and len(quote) > 30]
    assert len(copied) > 100
    for copies in copied[::40]:
        cut = redactions(index, [copies[-1]])
        assert all(any(c.start <= copy.start and copy.end <= c.end for c in cut) for copy in copies)
        seen = view_text(text, cut)
        assert text[copies[0].start : copies[0].end] not in seen
        assert surviving(index, cut, [text[copies[-1].start : copies[-1].end]]) == []


@pytest.mark.parametrize(
    ("evidence", "paraphrase", "question", "answer"),
    [
        (
            "was championed by Justice Black",
            "Justice Black championed the alternative",
            "Who championed another theory of how the Bill of Rights and the Fourteenth Amendment are related?",
            "Justice Black",
        ),
        (
            "rights that predated the creation",
            "rights predating the creation",
            "Which other rights did the Court hold not to be protected by the Privileges or Immunities Clause?",
            "rights that predated the creation of the Federal Government",
        ),
        (
            "systematic efforts were made to disarm",
            "engaged in systematic efforts to disarm",
            "What happened to African Americans of the Union Army who went home to the South after the Civil War?",
            "systematic efforts were made to disarm them",
        ),
    ],
)
def test_redactions_of_a_real_opinion_leave_its_paraphrase_which_retrieval_finds(
    evidence: str, paraphrase: str, question: str, answer: str
) -> None:
    index = real_index("en_law_mcdonald_v_chicago.txt")
    text = index.text
    told = index.whole_sentences(span_of(text, evidence))
    told_again = index.whole_sentences(span_of(text, paraphrase))
    assert told_again.end < text.index("announced the judgment of the Court") < told.start  # syllabus, then opinion
    cut = redactions(index, [told])
    assert surviving(index, cut, [text[told.start : told.end]]) == []
    assert not any(max(c.start, told_again.start) < min(c.end, told_again.end) for c in cut)
    top = Passages(index, 120).top([question, f"{question} {answer}"], 5, cut)[:5]
    assert any(passage.start <= told_again.start and told_again.end <= passage.end for passage in top)
