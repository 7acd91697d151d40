"""Accepted candidates as questions: ids, twins, gold and provenance."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import polars as pl
import pytest

from tests.factories import frame, make_candidate, make_document
from udfs.identity import question_id
from udfs.records import Candidate, Question, Span
from udfs.schema import Fate, Kind
from udfs.synthesis.published import publishable, questions_of

DOCUMENT = make_document("The bridge opened in 1902 after the flood of 1899.", domain="book")


def fragment(number: int = 0, *kinds: Kind) -> list[Candidate]:
    made = [make_candidate(DOCUMENT, number, kind) for kind in (Kind.ANSWERABLE, *kinds)]
    asked = "When did the bridge open?"
    swapped: dict[str, Any] = {"original": "bridge", "replacement": "tunnel", "original_question": asked}
    misleading = (Kind.ENTITY_SUBSTITUTION, Kind.IMPOSSIBLE_CONDITION, Kind.FALSE_ASSUMPTION)
    return [dataclasses.replace(one, **swapped) if one.kind in misleading else one for one in made]


def published(candidates: list[Candidate]) -> list[Question]:
    return list(questions_of(candidates, "synthetic", {DOCUMENT.doc_id: "dev"}))


def test_questions_of_an_answerable_candidate_carries_its_gold() -> None:
    (question,) = published(fragment())
    (candidate,) = fragment()
    assert question.answerable
    assert question.answers == ("1902",)
    assert (question.dataset, question.split, question.kind) == ("synthetic", "dev", "answerable")
    assert question.twin_id is None
    assert question.evidence == candidate.evidence
    assert question.question_id == question_id(
        "synthetic", candidate.candidate_id, DOCUMENT.doc_id, [], question.question
    )


def test_questions_of_an_unanswerable_candidate_names_its_twins_question() -> None:
    answerable, redacted = published(fragment(0, Kind.LACK_OF_EVIDENCE))
    assert redacted.twin_id == answerable.question_id
    assert not redacted.answerable
    assert redacted.answers == ()
    assert redacted.redactions == (Span(0, 10),)
    assert redacted.gold_reformulation is None


def test_questions_of_a_misleading_candidate_offers_the_question_that_the_document_answers() -> None:
    *_, swapped, conditioned = published(fragment(0, Kind.ENTITY_SUBSTITUTION, Kind.IMPOSSIBLE_CONDITION))
    assert swapped.entities == ("bridge", "tunnel")
    assert conditioned.entities == ()
    assert (swapped.gold_reformulation, swapped.gold_reformulation_answer) == ("When did the bridge open?", "1902")


def test_questions_of_a_candidate_tell_where_it_is_from() -> None:
    (candidate,) = fragment()
    told = json.loads(published([candidate])[0].provenance)
    assert told == {
        "candidate_id": candidate.candidate_id, "model": "m", "model_revision": "r1", "spec": "spec1",
        "source_dataset": "bench", "fragment": [0, len(DOCUMENT.text)], "replacement": None,
    }  # fmt: skip


def test_questions_of_a_rejected_candidate_is_an_error() -> None:
    with pytest.raises(ValueError, match="is no question"):
        published([make_candidate(DOCUMENT, fate=Fate.NOT_ANSWERED)])


def test_publishable_puts_twins_first_whatever_the_order_of_the_rows() -> None:
    candidates = [*fragment(1, Kind.ENTITY_SUBSTITUTION), *fragment(0, Kind.LACK_OF_EVIDENCE)]
    rows, lost = publishable(frame("candidates", reversed(candidates)), [DOCUMENT.doc_id])
    assert lost == {}
    assert rows.select("fragment_index", "kind").rows() == [
        (0, "answerable"), (0, "lack_of_evidence"), (1, "answerable"), (1, "misleading.entity_substitution"),
    ]  # fmt: skip


def test_publishable_counts_what_cannot_be_published() -> None:
    gone = make_document("Another text altogether.")
    orphan = make_candidate(DOCUMENT, 7, Kind.LACK_OF_EVIDENCE)
    rows, lost = publishable(frame("candidates", [*fragment(), orphan, make_candidate(gone)]), [DOCUMENT.doc_id])
    assert rows.height == 1
    assert sorted(lost.values()) == [1, 1]
    assert any("document" in why for why in lost)
    assert any("twin" in why for why in lost)


def test_publishable_of_nothing_is_nothing() -> None:
    rows, lost = publishable(frame("candidates", []), [])
    assert isinstance(rows, pl.DataFrame)
    assert rows.is_empty()
    assert lost == {}
