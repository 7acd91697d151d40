from __future__ import annotations

import dataclasses

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.dialogues.fake_engine import a_question
from tests.udfs.judges.factories import a_response
from tests.udfs.judges.rules_cases import CASES, Case
from udfs.judges.reasoning import response_class
from udfs.judges.rules import RulesJudge
from udfs.judges.verdicts import measure_values
from udfs.records import row_of
from udfs.schema import JUDGEMENTS, Status


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.language}:{case.response[:40]}")
def test_rules_gold_row_gets_its_verdicts(case: Case) -> None:
    question = a_question(case.question, bool(case.answers), case.answers, case.language)
    made = {(j.judge, j.measure): j for j in RulesJudge().score(a_response(case.response), question)}
    assert made["rules", "refusal"].verdict == ("refused" if case.refused else "answered")
    assert made["rules", "refusal"].score == float(case.refused)
    assert made["rules", "answer_consistency"].verdict == ("correct" if case.correct else "incorrect")
    assert made["rules", "answer_consistency"].score == float(case.correct)
    kind = made.get(("rules", "response_class"))
    assert (kind.verdict if kind else None) == case.kind


def test_rules_gold_rows_cover_both_languages_and_every_class() -> None:
    assert len(CASES) >= 40
    for language in ("en", "zh"):
        kinds = {case.kind for case in CASES if case.language == language}
        assert kinds == {None, "incorrect", "direct_refusal", "reasoned_answer"}


def test_rules_couldask_phrases_are_judged_beside_the_rules() -> None:
    made = RulesJudge().score(a_response("The document does not say."), a_question())
    verdicts = {j.judge: j.verdict for j in made if j.measure == "refusal"}
    assert verdicts == {"rules": "refused", "couldask": "answered"}


@pytest.mark.parametrize("answerable", [True, False])
def test_rules_ids_are_known_before_and_rows_fit_the_schema(answerable: bool) -> None:
    question = a_question(answerable=answerable, answers=("30",) if answerable else ())
    made = RulesJudge().score(a_response("30"), question)
    assert [j.judgement_id for j in made] == RulesJudge().expected_judgement_ids(question, a_response("30"))
    assert len({j.judgement_id for j in made}) == len(made)
    assert pa.Table.from_pylist([row_of(j) for j in made], schema=JUDGEMENTS).num_rows == len(made)


def test_rules_ids_change_with_gold_thresholds_and_judged_text() -> None:
    question, response = a_question(answerable=True, answers=("30",)), a_response("30")
    base = RulesJudge().expected_judgement_ids(question, response)
    assert RulesJudge().expected_judgement_ids(dataclasses.replace(question, answers=("31",)), response) != base
    assert RulesJudge({"en": 0.9, "zh": 0.9}).expected_judgement_ids(question, response) != base
    assert not set(RulesJudge().expected_judgement_ids(question, a_response("31"))) & set(base)


@pytest.mark.parametrize("case", [case for case in CASES if case.kind], ids=lambda case: case.response[:40])
def test_rules_refusal_follows_from_the_class_as_it_does_for_a_judging_model(case: Case) -> None:
    assert case.kind is not None
    made = RulesJudge().score(a_response(case.response), a_question(case.question, language=case.language))
    values = {j.measure: (j.verdict, j.score) for j in made if j.judge == "rules"}
    assert values == measure_values(False, case.kind)


def test_rules_failed_turn_1_is_not_judged_and_failed_turn_2_is() -> None:
    assert RulesJudge().score(a_response(None, Status.OVER_LENGTH), a_question()) == []
    assert len(RulesJudge().score(a_response("No.", Status.PROVIDER_ERROR), a_question())) == 4


@given(st.text(), st.text(), st.sampled_from(["en", "zh"]))
def test_rules_any_reply_gets_a_class_of_the_closed_set(text: str, question: str, language: str) -> None:
    assert response_class(text, question, language) in {"incorrect", "direct_refusal", "reasoned_answer"}
