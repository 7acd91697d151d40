"""Several judges as one, and which of them are asked when some of their judgements are there."""

from __future__ import annotations

import pytest

from tests.udfs.dialogues.fake_engine import FakeEngine, a_question
from tests.udfs.judges.factories import NOW
from tests.udfs.judges.test_llm_reformulation import DOCUMENT, NEW, reformulated, replies
from udfs.judges.base import Judge
from udfs.judges.joint import JointJudge, judge_of
from udfs.judges.llm import LlmJudge
from udfs.judges.llm_reformulation import LlmReformulationJudge
from udfs.judges.minimum_span import MinimumSpanJudge

RESPONSE = LlmJudge("fake", clock=lambda: NOW)
NEW_QUESTIONS = LlmReformulationJudge("fake", clock=lambda: NOW)
SPANS = MinimumSpanJudge("fake", clock=lambda: NOW)
JOINT = JointJudge((RESPONSE, NEW_QUESTIONS, SPANS))
QUESTION, ANSWER = a_question(), reformulated(NEW["en"])
SAID = replies() | {
    "judge.response": ['{"rationale": "", "verdict": "direct_refusal"}'],
    "judge.minimum_span": ['{"reason": "", "span": "Tannet"}'],
}


async def test_joint_gives_what_its_judges_give_in_order() -> None:
    made = await JOINT.judge(ANSWER, QUESTION, DOCUMENT["en"], FakeEngine(SAID))
    assert [j.judgement_id for j in made] == JOINT.expected_judgement_ids(QUESTION, ANSWER)
    assert [j.judgement_id for j in made] == [
        one for judge in JOINT.judges for one in judge.expected_judgement_ids(QUESTION, ANSWER)
    ]
    assert JOINT.name == "llm:fake"


async def test_joint_reports_the_prefill_only_when_the_document_is_read() -> None:
    engine = FakeEngine(SAID)
    at: list[str] = []
    await JOINT.judge(
        ANSWER, QUESTION, DOCUMENT["en"], engine, on_prefill=lambda: at.append(engine.prompts[-1].purpose)
    )
    assert at == ["judge.answerable", "judge.minimum_span"]
    at.clear()
    alone = FakeEngine(SAID)
    await JointJudge((RESPONSE,)).judge(ANSWER, QUESTION, DOCUMENT["en"], alone, on_prefill=lambda: at.append("once"))
    assert at == ["once"]


@pytest.mark.parametrize(
    ("owing", "left"),
    [
        ((RESPONSE,), (RESPONSE,)),
        ((NEW_QUESTIONS, SPANS), (NEW_QUESTIONS, SPANS)),
        ((RESPONSE, NEW_QUESTIONS, SPANS), (RESPONSE, NEW_QUESTIONS, SPANS)),
    ],
)
def test_judge_of_keeps_the_judges_that_owe_a_judgement(owing: tuple[Judge, ...], left: tuple[Judge, ...]) -> None:
    owed = [judge.expected_judgement_ids(QUESTION, ANSWER)[-1] for judge in owing]
    assert judge_of(JOINT, QUESTION, ANSWER, owed) == JointJudge(left)
    assert judge_of(RESPONSE, QUESTION, ANSWER, owed) is RESPONSE


@pytest.mark.parametrize("judges", [(), (LlmJudge("a"), LlmJudge("b"))])
def test_joint_of_none_or_of_several_names_raises(judges: tuple[Judge, ...]) -> None:
    with pytest.raises(ValueError, match="one name"):
        JointJudge(judges)
