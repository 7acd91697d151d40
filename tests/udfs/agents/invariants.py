"""What holds for every candidate that the program gives, as assertions."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache

from tests.udfs.agents.runs import Recording
from udfs.agents.spec import KINDS
from udfs.measures.answers import contains_answer
from udfs.records import Candidate
from udfs.schema import Fate, Kind, Status, Step
from udfs.synthesis.index import DocumentIndex
from udfs.synthesis.overlap import content, overlap
from udfs.synthesis.sentences import sentences
from udfs.text import detect_language, normalize
from udfs.views import view_text

NEAR = 0.8  # the issue's own number, not the code's


def check(text: str, language: str, candidates: list[Candidate], engine: Recording, alpha: int) -> None:
    """Every invariant, over all candidates of a document."""
    assert [(c.fragment_index, c.kind) for c in candidates] == [(i, kind) for i in range(alpha) for kind in KINDS]
    assert len({c.candidate_id for c in candidates}) == len(candidates)
    by_id = {c.candidate_id: c for c in candidates}
    for candidate in candidates:
        check_fate(candidate)
        if candidate.accepted:
            check_accepted(text, language, candidate)
            check_twin(candidate, by_id)
            check_reviewed(text, candidate, engine)
            if candidate.kind == Kind.LACK_OF_EVIDENCE:
                check_cut(text, language, candidate)
            else:
                assert candidate.redactions == ()


def check_fate(candidate: Candidate) -> None:
    assert (candidate.step is Step.CONSOLE) == (candidate.fate in (Fate.ACCEPTED, Fate.TWIN_REJECTED))
    assert (candidate.status is Status.OK) == (candidate.fate.value not in set(Status))
    against = {opinion["against"] for opinion in json.loads(candidate.opinions)} - {None}
    assert (
        against <= {candidate.fate.value}
        if candidate.accepted
        else candidate.fate.value in against | {Fate.TWIN_REJECTED.value}
    )


def check_accepted(text: str, language: str, candidate: Candidate) -> None:
    assert candidate.question
    assert candidate.answer
    assert candidate.topic
    assert candidate.fragment is not None
    assert detect_language(candidate.question) == language == candidate.language
    assert not contains_answer(candidate.question, candidate.answer)
    assert candidate.evidence
    for span in candidate.evidence:
        assert candidate.fragment.start <= span.start < span.end <= candidate.fragment.end
        assert text[span.start : span.end].strip()
    assert contains_answer(" ".join(text[start:end] for start, end in candidate.evidence), candidate.answer)


def check_twin(candidate: Candidate, by_id: dict[str, Candidate]) -> None:
    if candidate.kind == Kind.ANSWERABLE:
        assert candidate.twin_id is None
        return
    twin = by_id[candidate.twin_id or ""]
    assert twin.accepted
    assert twin.kind == Kind.ANSWERABLE
    assert (twin.fragment, twin.answer, twin.evidence) == (candidate.fragment, candidate.answer, candidate.evidence)
    assert candidate.reference_response
    assert detect_language(candidate.reference_response) == candidate.language
    if candidate.kind == Kind.LACK_OF_EVIDENCE:
        assert candidate.question == twin.question
        assert not contains_answer(candidate.reference_response, candidate.answer or "")
    else:
        assert candidate.original_question == twin.question != candidate.question


def check_cut(text: str, language: str, candidate: Candidate) -> None:
    """Of an accepted lack of evidence: nothing that is left says what the evidence says."""
    assert candidate.redactions
    view = view_text(text, candidate.redactions)
    quotations = [text[start:end] for start, end in candidate.evidence]
    for quotation in quotations:
        assert quotation not in view
    targets = [content(quotation, language) for quotation in quotations]
    for start, end in sentences(view, language):
        said = content_of(view[start:end], language)
        assert all(overlap(said, target) <= NEAR for target in targets), view[start:end]


content_of = lru_cache(100_000)(content)  # the views of a document have most sentences in common


def check_reviewed(text: str, candidate: Candidate, engine: Recording) -> None:
    """The document has the evidence word for word as the QA agent quoted it; readers saw the view alone, and none of an
    unanswerable question found an answer, whatever stands there.
    """
    (proposed,) = engine.asked("agent.qa", candidate.twin_id or candidate.candidate_id)
    assert [text[start:end] for start, end in candidate.evidence] == proposed.reply["evidence"]
    view = view_text(text, candidate.redactions)
    short = engine.asked("agent.short_reading", candidate.candidate_id)
    whole = engine.asked("agent.full_view", candidate.candidate_id)
    assert [call.gold["text"] for call in whole] == [view]
    assert view in whole[0].prompt.messages[0]["content"]
    for call in short:
        for line in call.gold["text"].split("\n"):
            assert line in view
            assert line in call.prompt.messages[0]["content"]
    for call in [*short, *whole]:
        assert call.gold["question"] == candidate.question
        assert (candidate.question or "") in call.prompt.messages[0]["content"]
        assert call.reply["answerable"] is False or candidate.kind == Kind.ANSWERABLE


def check_replaced(text: str, language: str, candidates: Iterable[Candidate]) -> int:
    """Substituted entities are nowhere in the document; gives how many were looked for."""
    index, folded, said = DocumentIndex(text, language), text.casefold(), normalize(text)
    found = 0
    for candidate in candidates:
        if candidate.accepted and candidate.replacement:
            found += 1
            assert candidate.replacement.casefold() not in folded
            assert normalize(candidate.replacement) not in said
            assert not index.occurs(candidate.replacement)
            assert normalize(candidate.replacement) in normalize(candidate.question or "")
            if candidate.kind == Kind.ENTITY_SUBSTITUTION:
                assert candidate.original
                assert not contains_answer(candidate.question or "", candidate.original)
                assert candidate.original.casefold() in folded
    return found
