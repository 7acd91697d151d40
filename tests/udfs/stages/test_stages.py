"""The stages called directly, as Ray would: blocks in, RESULTS out; no Ray, a scripted engine."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.factories import make_document, make_question, make_response
from udfs.bundles import PLAN, Place, bundle_row, question_of
from udfs.dialogues.dialogue import DialogueSpec, expected_response_id
from udfs.engines.base import Completion
from udfs.engines.config import ScriptedModel, model_config
from udfs.engines.scripted import ScriptedEngine
from udfs.errors import RunFailed
from udfs.judges.joint import JointJudge
from udfs.judges.llm import LlmJudge
from udfs.judges.llm_reformulation import GIVES as NEW_QUESTION_MEASURES
from udfs.judges.llm_reformulation import LlmReformulationJudge
from udfs.judges.minimum_span import MINIMUM_SPAN, MinimumSpanJudge
from udfs.judges.reformulation import GIVES, ReformulationJudge
from udfs.judges.rules import RulesJudge
from udfs.records import Question, Response, Span, row_of
from udfs.stages import engine_stage
from udfs.stages.engine_stage import EnginePlacement
from udfs.stages.evaluate import EvaluateStage
from udfs.stages.judge import OWED, JudgeStage, ReformulationStage, RulesStage
from udfs.stages.results import RESULTS
from udfs.stages.watch import Flight

MODEL: dict[str, Any] = {"engine": "scripted", "name": "scripted", "detection": 1.0, "false_refusal": 0.0}
PLACEMENT = EnginePlacement(1, 0.9)
SPANS = MinimumSpanJudge("scripted")
JOINT = JointJudge((LlmJudge("scripted"), LlmReformulationJudge("scripted"), SPANS))
SPECS = {method: DialogueSpec(method) for method in ("zs", "fs")}


class Watching:
    """A watch that keeps what it is told."""

    def __init__(self, end: Exception | None = None) -> None:
        self.flight = Flight()
        self.deaths: list[str] = []
        self.end = end

    def completed(self, completion: Completion) -> None:
        self.flight.add_completion(completion)

    def row(self, status: str) -> None:
        self.flight.statuses[status] += 1

    def flush(self) -> None:
        return None

    def engine_died(self, error: str) -> None:
        self.deaths.append(error)
        if self.end is not None:
            raise self.end


def questions() -> list[Question]:
    document = make_document()
    return [
        make_question(document, number=number, answerable=number % 2 == 0, answers=("1902",) if number % 2 == 0 else ())
        for number in range(4)
    ]


def block(rows: list[dict[str, Any]], text: str | None) -> pa.Table:
    place = Place("d", "en", 10, "none", 0, 0)
    plan = pa.Table.from_pylist([bundle_row(place, rows)], schema=PLAN)
    if text is None:
        return plan
    return plan.append_column(pa.field("text", pa.large_string()), pa.array([text], pa.large_string()))


def asked(question: Question) -> dict[str, Any]:
    asks = [
        {"method": method, "response_id": expected_response_id(spec, question, "scripted", "r")}
        for method, spec in SPECS.items()
    ]
    return {**row_of(question), "asks": asks, "responses": []}


async def test_evaluate_stage_gives_every_response_that_was_asked_for() -> None:
    watch = Watching()
    stage = EvaluateStage(MODEL, PLACEMENT, watch, SPECS, "main")
    rows = [asked(question) for question in questions()]
    results = await stage(block(rows, make_document().text))
    assert results.schema.equals(RESULTS)
    (result,) = results.to_pylist()
    wanted = {ask["response_id"] for row in rows for ask in row["asks"]}
    assert {response["response_id"] for response in result["responses"]} == wanted
    assert len(result["responses"]) == 8
    refused = [response for response in result["responses"] if response["refused"]]
    assert len(refused) == 4, "the two unanswerable questions, by both methods"
    assert all(len(response["turns"]) == 2 for response in refused)
    assert result["calls"] == 12
    assert watch.flight.statuses == {"ok": 8}
    assert watch.flight.prompt_tokens == result["prompt_tokens"]
    assert result["judgements"] == []


async def test_evaluate_stage_with_a_judge_judges_each_response_on_the_same_engine() -> None:
    stage = EvaluateStage(MODEL, PLACEMENT, Watching(), SPECS, "main", LlmJudge("scripted"))
    (result,) = (await stage(block([asked(q) for q in questions()], make_document().text))).to_pylist()
    assert {judgement["response_id"] for judgement in result["judgements"]} == {
        response["response_id"] for response in result["responses"]
    }
    assert {judgement["judge"] for judgement in result["judgements"]} == {"llm:scripted"}


async def test_evaluate_stage_with_joint_judges_judges_new_questions_as_well() -> None:
    stage = EvaluateStage(MODEL, PLACEMENT, Watching(), SPECS, "main", JOINT)
    (result,) = (await stage(block([asked(q) for q in questions()], make_document().text))).to_pylist()
    two_turns = {r["response_id"] for r in result["responses"] if len(r["turns"]) == 2}
    by_measure: dict[str, set[str]] = {}
    for judgement in result["judgements"]:
        by_measure.setdefault(judgement["measure"], set()).add(judgement["response_id"])
    assert len(two_turns) == 4
    assert len(by_measure["refusal"]) == 8
    assert all(by_measure[measure] == two_turns for measure in (*NEW_QUESTION_MEASURES, MINIMUM_SPAN))


async def test_evaluate_stage_gives_back_its_budget_also_when_it_is_small() -> None:
    stage = EvaluateStage(MODEL | {"kv_tokens": 100}, PLACEMENT, Watching(), SPECS, "main")
    results = await stage(block([asked(q) for q in questions()], make_document().text))
    assert len(results.to_pylist()[0]["responses"]) == 8
    assert stage.admission.capacity == 90
    assert stage.admission.in_use == 0


async def recorded() -> list[dict[str, Any]]:
    """Items for a judge: questions with their recorded responses."""
    stage = EvaluateStage(MODEL, PLACEMENT, Watching(), SPECS, "main")
    asked_for = questions()
    (result,) = (await stage(block([asked(q) for q in asked_for], make_document().text))).to_pylist()
    return [
        {
            **row_of(question),
            "asks": [],
            "responses": [
                json.dumps(response, default=str)
                for response in result["responses"]
                if response["question_id"] == question.question_id
            ],
        }
        for question in asked_for
    ]


async def test_rules_stage_judges_without_text_or_engine() -> None:
    (result,) = RulesStage(RulesJudge())(block(await recorded(), None)).to_pylist()
    by_measure = {(j["measure"], j["judge"]) for j in result["judgements"]}
    assert by_measure == {
        ("refusal", "rules"), ("refusal", "couldask"), ("answer_consistency", "rules"), ("response_class", "rules"),
    }  # fmt: skip
    assert len(result["judgements"]) == 8 * 3 + 4
    assert result["calls"] == 0


async def test_reformulation_stage_judges_new_questions_alone() -> None:
    items = await recorded()
    results = ReformulationStage(ReformulationJudge())(block(items, make_document().text))
    assert results.schema.equals(RESULTS)
    (result,) = results.to_pylist()
    two_turns = {r["response_id"] for item in items for r in map(json.loads, item["responses"]) if len(r["turns"]) == 2}
    assert len(two_turns) == 4, "the two unanswerable questions, by both methods"
    assert {judgement["response_id"] for judgement in result["judgements"]} == two_turns
    assert len(result["judgements"]) == 4 * len(GIVES)
    assert result["calls"] == 0


def test_reformulation_stage_judges_each_question_by_its_own_view() -> None:
    document = make_document("The bridge opened in 1902. The ferry sank in 1910.")
    asked_for = [
        make_question(document, number, answerable=False, question="When did the tower open?", redactions=redactions)
        for number, redactions in enumerate([(), (Span(0, 26),), ()])
    ]
    items = []
    for question in asked_for:
        row = row_of(make_response(question, refused=True, reformulation="When did the bridge open?"))
        items.append({**row_of(question), "asks": [], "responses": [json.dumps(row, default=str)]})
    (result,) = ReformulationStage(ReformulationJudge())(block(items, document.text)).to_pylist()
    verdicts = {
        judgement["question_id"]: judgement["verdict"]
        for judgement in result["judgements"]
        if (judgement["judge"], judgement["measure"]) == ("rules", "reformulation_answerable")
    }
    assert [verdicts[question.question_id] for question in asked_for] == ["answerable", "unanswerable", "answerable"]


async def test_judge_stage_judges_recorded_responses() -> None:
    watch = Watching()
    stage = JudgeStage(MODEL, PLACEMENT, watch, LlmJudge("scripted", context="document"))
    (result,) = (await stage(block(await recorded(), make_document().text))).to_pylist()
    assert len(result["judgements"]) == 8 * 2 + 4
    assert result["calls"] == 8
    assert watch.flight.statuses.total() == 20


async def test_judge_stage_asks_only_those_of_its_judges_that_owe_something(tmp_path: Path) -> None:
    items = await recorded()
    for item in items:
        rows = [json.loads(row) for row in item["responses"]]
        for row in rows:
            row[OWED] = SPANS.expected_judgement_ids(question_of(item), Response.from_row(row))
        item["responses"] = [json.dumps(row) for row in rows if row[OWED]]
    log = tmp_path / "calls"
    stage = JudgeStage(MODEL | {"call_log": str(log)}, PLACEMENT, Watching(), JOINT)
    (result,) = (await stage(block(items, make_document().text))).to_pylist()
    assert [judgement["measure"] for judgement in result["judgements"]] == [MINIMUM_SPAN] * 4
    assert [line.split("\t")[1] for line in log.read_text().splitlines()] == ["judge.minimum_span"] * 4


async def test_judge_stage_starts_with_a_response_that_brings_the_document_into_the_cache(tmp_path: Path) -> None:
    items = await recorded()
    for item in items:
        rows = [json.loads(row) for row in item["responses"]]
        new = "When did the bridge open?"
        item["responses"] = [json.dumps(row | {"reformulation": new if row["refused"] else None}) for row in rows]
    log = tmp_path / "calls"
    stage = JudgeStage(MODEL | {"call_log": str(log)}, PLACEMENT, Watching(), JOINT)
    (result,) = (await stage(block(items, make_document().text))).to_pylist()
    assert len(result["judgements"]) == 8 * 2 + 4 + 4 * (len(NEW_QUESTION_MEASURES) + 1)
    calls = [line.split("\t") for line in log.read_text().splitlines()]
    assert len(calls) == len({tuple(call) for call in calls}) == result["calls"]
    leading = calls[0][0]
    at = calls.index([leading, "judge.answerable"])
    assert {request for request, _ in calls[:at]} == {leading}, "the others wait until the document is in the cache"


class Left(BaseException):
    """Stands for the end of the process."""


@pytest.fixture
def leaves(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    codes: list[int] = []

    def leave(code: int) -> None:
        codes.append(code)
        raise Left

    monkeypatch.setattr(os, "_exit", leave)
    return codes


def mortal(tmp: str) -> dict[str, Any]:
    return MODEL | {"call_log": f"{tmp}/calls", "die_after": 3, "deaths": 100}


async def test_engine_stage_whose_engine_dies_ends_its_process(
    leaves: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    watch = Watching()
    stage = EvaluateStage(mortal(str(tmp_path_factory.mktemp("a"))), PLACEMENT, watch, SPECS, "main")
    with pytest.raises(Left):
        await stage(block([asked(q) for q in questions()], make_document().text))
    assert leaves == [engine_stage.EXIT_ENGINE_DEAD]
    assert watch.deaths == ["scripted death at call 3"]


async def test_engine_stage_that_died_too_often_raises_instead(
    leaves: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    watch = Watching(RunFailed("too often"))
    stage = EvaluateStage(mortal(str(tmp_path_factory.mktemp("b"))), PLACEMENT, watch, SPECS, "main")
    with pytest.raises(RunFailed, match="too often"):
        await stage(block([asked(q) for q in questions()], make_document().text))
    assert leaves == []


async def test_engine_stage_adopts_an_engine_and_its_budget() -> None:
    config = model_config(MODEL | {"kv_tokens": 1000})
    assert isinstance(config, ScriptedModel)
    stage = EvaluateStage(MODEL, PLACEMENT, Watching(), SPECS, "main")
    stage.adopt(ScriptedEngine(config))
    assert stage.admission.capacity == 900
