from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import polars as pl
import pytest

from tests.factories import frame, make_document, make_question
from udfs.errors import UserError
from udfs.exports.notices import benchmark_notices, training_notices
from udfs.exports.pairs import Pairs, Passed
from udfs.exports.plan import FACTS, Plan, make_plan, references, split_names
from udfs.exports.rows import LeftOut
from udfs.records import Document, Question, Span

A = make_document("The bridge opened in 1902.", "a", split="train")
B = make_document("The tower fell in 1911.", "a", split="test", title="A tower")


def planned(documents: Sequence[Document], questions: Sequence[Question], datasets: Sequence[str] = ("a",)) -> Plan:
    return make_plan(questions, pl.DataFrame(frame("documents", documents).select(FACTS)), datasets)


def test_plan_document_in_two_splits_is_a_user_error() -> None:
    questions = [make_question(A, 0), make_question(A, 1, split="test"), make_question(B, 2)]
    with pytest.raises(UserError, match=f"1 documents have questions in more than one split.*{A.doc_id}"):
        planned([A, B], questions)


def test_plan_same_document_in_splits_of_two_datasets_is_a_user_error() -> None:
    other = replace(A, dataset="b", split="test")
    with pytest.raises(UserError, match="'test' of dataset 'b', 'train' of dataset 'a'"):
        planned([A, other], [make_question(A, 0), make_question(other, 1)], ("a", "b"))


def test_plan_same_document_of_two_datasets_is_read_once() -> None:
    other = replace(A, dataset="b", license="MIT")
    plan = planned([A, other], [make_question(A, 0), make_question(other, 1)], ("b", "a"))
    assert plan.homes == {"b": (A.doc_id,)}
    assert len(plan.by_document[A.doc_id]) == 2
    assert {plan.facts(question)["license"] for question in plan.questions} == {"MIT", "CC0-1.0"}


def test_plan_document_without_questions_is_counted_and_left_out() -> None:
    plan = planned([A, B], [make_question(A, 0)])
    assert (list(plan.by_document), plan.unasked) == ([A.doc_id], 1)


def test_plan_question_without_its_document_is_a_user_error() -> None:
    with pytest.raises(UserError, match=r"not among the documents"):
        planned([A], [make_question(A, 0), make_question(B, 1)])


@pytest.mark.parametrize("given", ["evidence", "redactions"])
def test_plan_span_beyond_the_document_leaves_the_question_out(given: str) -> None:
    bad = replace(make_question(A, 1), **{given: (Span(0, A.n_chars + 1),)})  # type: ignore[arg-type]
    plan = planned([A], [make_question(A, 0), bad])
    assert [question.question_id for question in plan.questions] == [make_question(A, 0).question_id]
    assert plan.bad_offsets == 1
    assert "1 questions are left out" in " ".join(benchmark_notices(plan))
    with pytest.raises(UserError, match="offsets"):
        planned([A], [bad])


def test_plan_counts_lost_twins_and_titles_in_two_splits() -> None:
    titled = replace(B, title=A.title)
    plan = planned([A, titled], [make_question(A, 0, twin_id="gone"), make_question(titled, 1)])
    assert (plan.lost_twins, plan.shared_titles) == (1, 1)
    assert len(benchmark_notices(plan)) == 2
    assert planned([A, B], [make_question(A, 0), make_question(B, 1)]).shared_titles == 0


def test_notices_unknown_licence_counts_documents() -> None:
    unknown = replace(A, license="unknown")
    plan = planned([unknown, B], [make_question(unknown, 0), make_question(unknown, 1), make_question(B, 2)])
    (said,) = benchmark_notices(plan)
    assert "licence of 1 documents of dataset a is unknown" in said


def test_split_names_keep_their_own_and_their_order() -> None:
    assert list(split_names({"test", "other", "train", "dev"}).items()) == [
        ("train", "train"), ("dev", "dev"), ("test", "test"), ("other", "other"),
    ]  # fmt: skip
    assert split_names({"all"}) == {"all": "full"}
    assert split_names({"../../etc", "dev-2"}) == {"../../etc": "etc", "dev-2": "dev_2"}


@pytest.mark.parametrize("splits", [{"dev-2", "dev 2"}, {"all", "full"}, {"Test", "test"}])
def test_split_names_two_of_one_name_is_a_user_error(splits: set[str]) -> None:
    with pytest.raises(UserError, match="would both be exported"):
        split_names(splits)


def test_references_count_those_without_by_reason() -> None:
    questions = [
        make_question(A, 0),
        make_question(A, 1, answers=()),
        make_question(A, 2, answerable=False),
        make_question(A, 3, answerable=False, reference_response="It does not say."),
    ]
    found, without = references(questions)
    assert list(found.values()) == ["1902", "It does not say."]
    assert without == {LeftOut.NO_ANSWER: 1, LeftOut.NO_REFERENCE: 1}


def test_references_of_questions_that_forbid_training_are_left_out_and_told_with_their_canary() -> None:
    marked = json.dumps({"file": "a.csv", "row": 1, "id": "1", "extra": {"canary": "canary GUID 12-34"}})
    questions = [
        make_question(A, 0, answers=("1902",)),
        make_question(A, 1, answers=("1902",), provenance=marked),
        make_question(A, 2, answerable=False, reference_response="It does not say.", provenance=marked),
    ]
    found, without = references(questions)
    assert list(found) == [questions[0].question_id]
    assert without == {LeftOut.NO_TRAINING: 2}
    (notice,) = benchmark_notices(planned([A], questions))
    assert "2 questions of dataset a must never be trained on" in notice
    assert "canary GUID 12-34" in notice


def test_training_notices_say_what_to_do() -> None:
    def said(pairs: Pairs | None, split: str = "train", good: int = 10) -> str:
        return " ".join(training_notices(split, ["train", "test"], good, pairs, "rules", "evaluate it"))

    assert "only of train, test" in said(None, split="all")
    assert "no question of split 'train' has" in said(None, good=0)
    assert said(None) == ""
    assert "`evaluate it`" in said(Pairs())
    unjudged = Pairs(responses=3, judges=("llm:m",))
    unjudged.passed[Passed.NOT_JUDGED] = 3
    assert "but by llm:m" in said(unjudged)
    right = Pairs(responses=3)
    right.passed[Passed.NOT_WRONG] = 3
    assert "not_wrong 3" in said(right)
