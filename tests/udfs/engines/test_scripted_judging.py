"""The scripted engine as judge of new questions, through the judges themselves: right by rule, or wrong on demand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.udfs.dialogues.fake_engine import a_question
from tests.udfs.judges.test_llm_reformulation import DOCUMENT, reformulated
from udfs.engines.config import ScriptedModel
from udfs.engines.scripted import ScriptedEngine, revision
from udfs.engines.scripted_judging import reply
from udfs.judges.llm_reformulation import GIVES, LlmReformulationJudge
from udfs.judges.minimum_span import MinimumSpanJudge
from udfs.records import Judgement
from udfs.schema import Status

SURE = ScriptedModel(judge_accuracy=1)
ORIGINAL = {"en": "In 1911, who was the cox of Tannet?", "zh": "白水镇的龙舟队由谁掌舵？"}
NEW = {"en": "In 1911, who was the cox of Harlow?", "zh": "青石镇的龙舟队由谁掌舵？"}


async def judged(config: ScriptedModel, language: str, new: str) -> dict[str, Judgement]:
    question, engine = a_question(ORIGINAL[language], language=language), ScriptedEngine(config)
    made = []
    for judge in (LlmReformulationJudge("scripted"), MinimumSpanJudge("scripted")):
        made += await judge.judge(reformulated(new), question, DOCUMENT[language], engine)
    return {j.measure: j for j in made}


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_good_new_question_is_a_success_with_its_quote(language: str) -> None:
    made = await judged(SURE, language, NEW[language])
    assert {j.status for j in made.values()} == {Status.OK}
    assert made["reformulation_answerable"].verdict == "answerable"
    assert made["error_category"].verdict == "none"
    assert made["strategy"].verdict == "nearest_match"
    assert made["minimum_span"].verdict == "short_span"
    assert str(made["minimum_span"].rationale) in ORIGINAL[language]


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_poor_new_question_is_a_failure_with_a_category(language: str) -> None:
    new = {"en": "Which film did the king of Norway like best?", "zh": "挪威国王最喜欢哪部电影？"}[language]
    made = await judged(SURE, language, new)
    assert made["reformulation_answerable"].verdict == "unanswerable"
    assert made["error_category"].verdict == "irrelevant"
    assert made["strategy"].verdict == "none"


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_inaccurate_judge_says_the_opposite_in_the_right_form(language: str) -> None:
    wrong = replace(SURE, judge_accuracy=0)
    good, poor = await judged(wrong, language, NEW[language]), await judged(wrong, language, "Who ate the moon?")
    assert {j.status for j in (*good.values(), *poor.values())} == {Status.OK}
    assert good["reformulation_answerable"].verdict == "unanswerable"
    assert poor["reformulation_answerable"].verdict == "answerable"
    assert good["minimum_span"].verdict == "q_span"


async def test_garbage_is_a_parse_failure_of_every_measure() -> None:
    made = await judged(replace(SURE, garbage_rate=1), "en", NEW["en"])
    assert {made[measure].status for measure in (*GIVES, "minimum_span")} == {Status.PARSE_FAILURE}


def test_reply_to_another_purpose_or_without_gold_is_none() -> None:
    assert reply("judge.response", {"view": "x"}, True) is None
    assert reply("judge.answerable", {}, True) is None


def test_revision_knows_the_scripted_model_and_not_its_faults() -> None:
    assert revision(SURE) == revision(replace(SURE, error_rate=0.5))
    assert revision(SURE) != revision(replace(SURE, judge_accuracy=0.5))
