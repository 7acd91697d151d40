"""A gate before every bundle: what it turns away is recorded as such or stays owed, and what it lets in is told of."""

from __future__ import annotations

from tests.factories import make_document
from tests.udfs.stages.test_stages import MODEL, PLACEMENT, SPECS, Watching, asked, block, questions, recorded
from udfs.judges.llm import LlmJudge
from udfs.stages.evaluate import EvaluateStage
from udfs.stages.gate import Cost
from udfs.stages.judge import JudgeStage

PRICED = MODEL | {"usd_per_million_prompt": 1.0, "usd_per_million_output": 4.0}


class Gate:
    """Open until it is told a reason; keeps what it is told."""

    def __init__(self, reason: str | None = None) -> None:
        self.reason = reason
        self.told: list[Cost] = []

    async def refuses(self, bundle_id: str) -> str | None:
        return self.reason

    async def done(self, bundle_id: str, spent: Cost) -> None:
        self.told.append(spent)


async def test_evaluate_stage_records_what_the_budget_stopped_and_asks_nothing() -> None:
    watch, gate = Watching(), Gate("budget.max_tokens=1 is spent")
    stage = EvaluateStage(MODEL | {"kv_tokens": 100_000}, PLACEMENT, watch, SPECS, "main", gate=gate)
    rows = [asked(question) for question in questions()]
    (result,) = (await stage(block(rows, make_document().text))).to_pylist()
    wanted = {ask["response_id"] for row in rows for ask in row["asks"]}
    assert {response["response_id"] for response in result["responses"]} == wanted
    assert {(r["status"], r["error"]) for r in result["responses"]} == {("budget_stopped", gate.reason)}
    assert (result["calls"], result["prompt_tokens"], result["engine"]) == (0, 0, None)
    assert watch.flight.statuses == {"budget_stopped": 8}
    assert gate.told == []
    assert stage.admission.in_use == 0


async def test_evaluate_stage_tells_the_gate_what_a_bundle_cost() -> None:
    gate = Gate()
    stage = EvaluateStage(PRICED, PLACEMENT, Watching(), SPECS, "main", gate=gate)
    (result,) = (await stage(block([asked(q) for q in questions()], make_document().text))).to_pylist()
    (cost,) = gate.told
    assert cost.tokens == result["prompt_tokens"] + result["output_tokens"]
    assert cost.usd == result["usd"] > 0
    assert abs(result["usd"] - (result["prompt_tokens"] + 4 * result["output_tokens"]) / 1e6) < 1e-12
    assert result["engine"]["requests"] == result["calls"] == 12
    assert result["engine"]["last_at"] >= result["engine"]["first_at"] >= result["engine"]["loaded_at"]


async def test_judge_stage_leaves_owed_what_the_budget_stopped() -> None:
    gate = Gate("enough")
    stage = JudgeStage(MODEL, PLACEMENT, Watching(), LlmJudge("scripted"), gate)
    (result,) = (await stage(block(await recorded(), make_document().text))).to_pylist()
    assert (result["judgements"], result["calls"]) == ([], 0)
    gate.reason = None
    (result,) = (await stage(block(await recorded(), make_document().text))).to_pylist()
    assert len(result["judgements"]) > 0
    assert gate.told[0].tokens > 0
