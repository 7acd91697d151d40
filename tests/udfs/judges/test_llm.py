from __future__ import annotations

import dataclasses

import pyarrow as pa
import pytest

from tests.udfs.dialogues.fake_engine import FakeEngine, a_question
from tests.udfs.judges.factories import NOW, a_response
from udfs.engines.base import Completion, EngineDead, Filtered, OverLength, ProviderError, Sampling
from udfs.errors import UserError
from udfs.judges.llm import LlmJudge
from udfs.prompts.library import library
from udfs.records import Span, row_of
from udfs.schema import JUDGEMENTS, Status

DOCUMENT = "Harlow Rowers won. Their cox is Ines Bahr."
UNANSWERABLE = a_question(evidence=(Span(19, 42),))
ANSWERABLE = a_question("Who is the cox of Harlow Rowers?", True, ("Ines Bahr",), evidence=(Span(19, 42),))


def judge(context: str = "gold") -> LlmJudge:
    return LlmJudge("fake", context=context, clock=lambda: NOW)


@pytest.mark.parametrize(
    ("verdict", "values"),
    [
        ("incorrect", ["answered", "incorrect", "incorrect"]),
        ("direct_refusal", ["refused", "correct", "direct_refusal"]),
        ("reasoned_answer", ["refused", "correct", "reasoned_answer"]),
    ],
)
async def test_llm_unanswerable_one_verdict_gives_three_judgements(verdict: str, values: list[str]) -> None:
    engine = FakeEngine({"judge.response": [f'{{"rationale": "why", "verdict": "{verdict}"}}']})
    made = await judge().judge(a_response("Something."), UNANSWERABLE, DOCUMENT, engine)
    assert [j.verdict for j in made] == values
    assert {j.rationale for j in made} == {"why"}
    assert len(engine.prompts) == 1


@pytest.mark.parametrize(
    ("verdict", "values"),
    [
        ("correct", ["answered", "correct"]),
        ("incorrect", ["answered", "incorrect"]),
        ("refused", ["refused", "incorrect"]),
    ],
)
async def test_llm_answerable_one_verdict_gives_two_judgements(verdict: str, values: list[str]) -> None:
    engine = FakeEngine({"judge.response": [f'{{"rationale": "", "verdict": "{verdict}"}}']})
    made = await judge().judge(a_response("Ines Bahr"), ANSWERABLE, DOCUMENT, engine)
    assert [j.verdict for j in made] == values


async def test_llm_prompt_holds_evidence_and_gold_row_and_not_the_document() -> None:
    engine = FakeEngine({"judge.response": ['{"verdict": "correct"}']})
    await judge().judge(a_response("Bahr"), ANSWERABLE, DOCUMENT, engine)
    prompt = engine.prompts[0]
    assert "- Their cox is Ines Bahr." in prompt.messages[0]["content"]
    assert "Harlow Rowers won" not in prompt.messages[0]["content"]
    assert prompt.gold["response"] == "Bahr"
    assert prompt.gold["question"]["question_id"] == "q1"


async def test_llm_context_document_starts_with_the_view() -> None:
    engine = FakeEngine({"judge.response": ['{"verdict": "incorrect"}']})
    question = dataclasses.replace(UNANSWERABLE, redactions=(Span(0, 19),))
    await judge("document").judge(a_response("Bahr"), question, DOCUMENT, engine)
    assert engine.prompts[0].messages[0]["content"].startswith(library().document_block("en", DOCUMENT[19:]))


async def test_llm_unreadable_twice_is_a_parse_failure_without_verdict() -> None:
    engine = FakeEngine({"judge.response": ["It is fine.", "correct"]})
    made = await judge().judge(a_response("Bahr"), ANSWERABLE, DOCUMENT, engine)
    assert {(j.status, j.verdict, j.score) for j in made} == {(Status.PARSE_FAILURE, None, None)}
    assert all(j.error for j in made)


async def test_llm_readable_on_retry_is_ok_and_both_calls_are_counted_once() -> None:
    engine = FakeEngine({"judge.response": ["It is fine.", '{"verdict": "correct"}']})
    seen: list[Completion] = []
    made = await judge().judge(a_response("Bahr"), ANSWERABLE, DOCUMENT, engine, observe=seen.append)
    assert {j.status for j in made} == {Status.OK}
    assert sum(j.prompt_tokens for j in made) == 20 == sum(completion.prompt_tokens for completion in seen)
    assert engine.prompts[1].messages[1] == {"role": "assistant", "content": "It is fine."}


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (OverLength("9000"), Status.OVER_LENGTH),
        (ProviderError("503"), Status.PROVIDER_ERROR),
        (Filtered("policy"), Status.FILTERED),
    ],
)
async def test_llm_engine_error_is_the_status_of_every_judgement(error: Exception, status: Status) -> None:
    made = await judge().judge(a_response("x"), UNANSWERABLE, DOCUMENT, FakeEngine({"judge.response": [error]}))
    assert [(j.status, j.verdict) for j in made] == [(status, None)] * 3


async def test_llm_engine_dead_propagates() -> None:
    with pytest.raises(EngineDead):
        await judge().judge(a_response("x"), UNANSWERABLE, DOCUMENT, FakeEngine({"judge.response": [EngineDead("x")]}))


async def test_llm_failed_turn_1_is_not_judged() -> None:
    engine = FakeEngine({})
    assert await judge().judge(a_response(None, Status.OVER_LENGTH), UNANSWERABLE, DOCUMENT, engine) == []


@pytest.mark.parametrize("question", [ANSWERABLE, UNANSWERABLE])
async def test_llm_ids_are_known_before_and_rows_fit_the_schema(question: object) -> None:
    assert question in (ANSWERABLE, UNANSWERABLE)
    one = ANSWERABLE if question is ANSWERABLE else UNANSWERABLE
    engine = FakeEngine({"judge.response": ['{"verdict": "incorrect"}']})
    made = await judge().judge(a_response("x"), one, DOCUMENT, engine)
    assert [j.judgement_id for j in made] == judge().expected_judgement_ids(one, a_response("x"))
    assert pa.Table.from_pylist([row_of(j) for j in made], schema=JUDGEMENTS).num_rows == len(made)


def test_llm_ids_change_with_judge_context_sampling_gold_and_judged_text() -> None:
    ids = {
        tuple(one.expected_judgement_ids(question, a_response(text)))
        for one, question, text in [
            (LlmJudge("a"), UNANSWERABLE, "x"),
            (LlmJudge("a"), UNANSWERABLE, "y"),
            (LlmJudge("b"), UNANSWERABLE, "x"),
            (LlmJudge("a", revision="2"), UNANSWERABLE, "x"),
            (LlmJudge("a", context="document"), UNANSWERABLE, "x"),
            (LlmJudge("a", sampling=Sampling(temperature=1.0)), UNANSWERABLE, "x"),
            (LlmJudge("a"), dataclasses.replace(UNANSWERABLE, reference_response="It is not said."), "x"),
        ]
    }
    assert len(ids) == 7


def test_llm_unknown_context_raises_with_the_allowed_ones() -> None:
    with pytest.raises(UserError, match="gold, document"):
        LlmJudge("a", context="all")


async def test_llm_evidence_that_the_view_lacks_is_named_as_cut_out() -> None:
    question = a_question(evidence=(Span(0, 18), Span(19, 42)), redactions=(Span(19, 42),))
    engine = FakeEngine({"judge.response": ['{"rationale": "", "verdict": "incorrect"}']})
    await judge().judge(a_response("Ines Bahr"), question, DOCUMENT, engine)
    content = engine.prompts[0].messages[0]["content"]
    says, _, cut = content.partition("cut out of the document")
    assert "- Harlow Rowers won." in says
    assert "- Their cox is Ines Bahr." not in says
    assert "- Their cox is Ines Bahr." in cut
