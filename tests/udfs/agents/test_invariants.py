"""What holds for every candidate, with the scripted engine: over the sample, over made-up and over real documents."""

from __future__ import annotations

import ast
import gzip
import json
from collections import Counter
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.udfs.agents.invariants import NEAR, check, check_replaced
from tests.udfs.agents.runs import Recording, synthesise
from tests.udfs.engines.made_texts import GAPS, sentences
from tests.udfs.sources.helpers import real_data
from udfs.agents.spec import KINDS, SynthesisSpec
from udfs.engines.base import Prompt
from udfs.identity import doc_id
from udfs.records import Candidate, Span
from udfs.schema import Fate, Kind, Step
from udfs.sources.base import RawDocument, RawQuestion, SourceOptions
from udfs.sources.sample import read
from udfs.synthesis.fragments import fragments
from udfs.synthesis.overlap import content, overlap
from udfs.synthesis.sentences import sentences as split
from udfs.views import view_text

ALPHA = 4
SPEC = SynthesisSpec()
SHORT = SynthesisSpec(fragment_min_words=30, fragment_max_words=120, passage_words=40, max_redacted_share=0.6)


@cache
def sample() -> tuple[RawDocument, ...]:
    """The shipped documents, each once."""
    found: dict[str, RawDocument] = {}
    for row in read(SourceOptions()):
        if isinstance(row.item, RawQuestion):
            found.setdefault(row.item.document.text, row.item.document)
        elif isinstance(row.item, RawDocument):
            found.setdefault(row.item.text, row.item)
    return tuple(found.values())


# --- the sample ------------------------------------------------------------------------------------------------------


@cache
def over_sample() -> tuple[tuple[RawDocument, Recording, list[Candidate]], ...]:
    found = []
    for document in sample():
        engine = Recording()
        found.append((document, engine, synthesise(document.text, str(document.language), range(2), SPEC, engine)))
    return tuple(found)


def test_sample_every_invariant_holds() -> None:
    looked_for = 0
    for document, engine, candidates in over_sample():
        check(document.text, str(document.language), candidates, engine, 2)
        looked_for += check_replaced(document.text, str(document.language), candidates)
    assert looked_for > 50


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", KINDS)
def test_sample_most_candidates_are_accepted(language: str, kind: Kind) -> None:
    fates = Counter(
        candidate.fate
        for document, _, candidates in over_sample()
        for candidate in candidates
        if (document.language, candidate.kind) == (language, kind)
    )
    assert fates.total() == 16
    assert fates[Fate.ACCEPTED] >= 12, fates


def test_sample_topics_are_balanced() -> None:
    topics = Counter(c.topic for _, _, candidates in over_sample() for c in candidates if c.accepted)
    assert len(topics) >= 5
    for _, _, candidates in over_sample():
        assert len({c.topic for c in candidates if c.kind == Kind.ANSWERABLE and c.topic}) > 1


def test_sample_same_run_gives_the_same_candidates() -> None:
    document, _, candidates = over_sample()[0]
    assert synthesise(document.text, str(document.language), range(2), SPEC) == candidates


def test_sample_common_sense_ends_what_is_known_and_all_that_hangs_on_it() -> None:
    document = sample()[0]
    engine = Recording(replace(Recording().config, common_sense=1.0))
    candidates = synthesise(document.text, str(document.language), range(2), SPEC, engine)
    check(document.text, str(document.language), candidates, engine, 2)
    assert {c.fate for c in candidates} <= {Fate.COMMON_SENSE, Fate.TWIN_REJECTED}
    assert {c.fate for c in candidates if c.kind == Kind.ANSWERABLE} == {Fate.COMMON_SENSE}


# --- made-up documents -----------------------------------------------------------------------------------------------


@st.composite
def documents(draw: st.DrawFn, language: str) -> str:
    """Sentences from templates, some of them again, as they are or varied a little, with real files' white space."""
    said = draw(st.lists(sentences(language), min_size=4, max_size=14))
    for number in draw(st.lists(st.integers(0, len(said) - 1), max_size=4)):
        said.insert(draw(st.integers(0, len(said))), draw(varied(said[number], language)))
    gaps = draw(st.lists(st.sampled_from(GAPS[language]), min_size=len(said), max_size=len(said)))
    return "".join(sentence + gap for sentence, gap in zip(said, gaps, strict=True))


def varied(sentence: str, language: str) -> st.SearchStrategy[str]:
    """The sentence again: whole, in other case or width, with a word before it, or with its inner spaces doubled."""
    others = {
        "en": [sentence.upper(), f"Indeed, {sentence}", sentence.replace(" ", "\n", 1), sentence.replace(" ", "  ")],
        "zh": [f"原来，{sentence}", sentence.replace("，", ","), sentence.replace("，", "，\n"), f"　　{sentence}"],
    }
    return st.sampled_from([sentence, *others[language]])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_made_documents_every_invariant_holds(language: str) -> None:
    accepted: Counter[str] = Counter()

    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(documents(language))
    def holds(text: str) -> None:
        engine = Recording()
        candidates = synthesise(text, language, range(2), SHORT, engine)
        check(text, language, candidates, engine, 2)
        check_replaced(text, language, candidates)
        accepted.update(candidate.kind for candidate in candidates if candidate.accepted)

    holds()
    assert all(accepted[kind] > 0 for kind in KINDS), accepted


# --- real documents --------------------------------------------------------------------------------------------------


@cache
def real(name: str) -> str:
    with gzip.open(real_data("docs", name), "rt", encoding="utf-8", newline="") as file:
        return file.read()


CRIMINAL_LAW = "zh_law_criminal_law_with_amendments.md.gz"
MCDONALD = "en_law_mcdonald_v_chicago.txt.gz"


@pytest.mark.parametrize(("name", "language"), [(CRIMINAL_LAW, "zh"), (MCDONALD, "en")])
def test_real_document_every_invariant_holds(name: str, language: str) -> None:
    text = real(name)
    engine = Recording()
    candidates = synthesise(text, language, range(ALPHA), SPEC, engine)
    check(text, language, candidates, engine, ALPHA)
    assert check_replaced(text, language, candidates) >= ALPHA
    accepted = Counter(candidate.kind for candidate in candidates if candidate.accepted)
    assert accepted[Kind.ANSWERABLE] >= ALPHA / 2
    assert accepted[Kind.LACK_OF_EVIDENCE] >= 1


def test_criminal_law_copies_of_the_evidence_are_cut_too() -> None:
    text = real(CRIMINAL_LAW)
    candidates = synthesise(text, "zh", range(2 * ALPHA), SPEC)
    copied = 0
    for candidate in candidates:
        if candidate.accepted and candidate.kind == Kind.LACK_OF_EVIDENCE:
            quoted = [text[start:end] for start, end in candidate.evidence]
            copied += len(candidate.redactions) > len(quoted)
            assert all(quotation in text for quotation in quoted)
            assert not any(quotation in view_text(text, candidate.redactions) for quotation in quoted)
    assert copied >= 2


def proposing(question: str, answer: str, evidence: str) -> Recording:
    """An engine whose QA agent says just this, whatever the fragment."""
    said = json.dumps({"evidence": [evidence], "question": question, "answer": answer})

    def override(prompt: Prompt) -> str | None:
        return said if prompt.purpose == "agent.qa" else None

    return Recording(override=override)


def sentence_with(text: str, *words: str, after: int = 0) -> Span:
    """The first sentence from `after` on that holds all the words."""
    found = (span for span in split(text, "en") if span.start >= after)
    return next(span for span in found if all(word in text[span.start : span.end] for word in words))


def test_mcdonald_paraphrase_in_the_syllabus_ends_the_candidate() -> None:
    text = real(MCDONALD)
    syllabus = text.index("Syllabus NOTE")
    restated = sentence_with(text, "championed", "Black", after=syllabus)
    evidence = sentence_with(text, "championed", "Black", after=restated.end)
    said, again = (text[span.start : span.end] for span in (evidence, restated))
    assert overlap(content(said, "en"), content(again, "en")) <= NEAR  # no copy: another wording
    engine = proposing(
        "Which Justice championed an alternative theory of the Bill of Rights and §1 of the Fourteenth Amendment?",
        "Justice Black",
        said,
    )
    index = fragment_holding(text, evidence)
    candidates = {candidate.kind: candidate for candidate in synthesise(text, "en", [index], SPEC, engine)}
    answerable, lacking = candidates[Kind.ANSWERABLE], candidates[Kind.LACK_OF_EVIDENCE]
    assert answerable.accepted, answerable.detail
    assert answerable.evidence == (evidence,)
    assert (lacking.fate, lacking.step) == (Fate.EVIDENCE_SURVIVES, Step.RETRIEVAL)
    view = view_text(text, lacking.redactions)
    assert said not in view
    assert again in view
    assert again in str(ast.literal_eval((lacking.detail or "").removeprefix("the view still says ")))
    assert engine.asked("agent.short_reading", lacking.candidate_id) == []  # a rule has seen it already


def fragment_holding(text: str, span: Span) -> int:
    """The index of the document's fragment that `span` lies in."""
    drawn = fragments(text, "en", doc_id(text), SPEC.seed, 400, SPEC.fragment_min_words, SPEC.fragment_max_words)
    holding = [i for i, one in enumerate(drawn) if one and one.start <= span.start and span.end <= one.end]
    return holding[0]
