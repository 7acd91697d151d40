"""Hours and money shared out among cells."""

from __future__ import annotations

import dataclasses
from typing import Any

import polars as pl
import pytest

from tests.factories import frame, make_document, make_judgement, make_question, make_response, make_run
from udfs.records import Response, Turn
from udfs.tables.costs import OUTPUT_WEIGHT, cell_costs

DOCUMENT = make_document()


def response(number: int, method: str, prompt: int, cached: int, output: int = 0, model: str = "m") -> Response:
    question = make_question(DOCUMENT, question=f"Question {number}?")
    turn = Turn("answer", "x", prompt, cached, output, "stop", 1.0)
    return dataclasses.replace(
        make_response(question), response_id=f"{model}-{method}-{number}", model=model, method=method, turns=(turn,)
    )


def costs(responses: list[Response], runs: list[dict[str, Any]], judgements: list[Any] | None = None) -> pl.DataFrame:
    return cell_costs(frame("responses", responses), frame("judgements", judgements or []), frame("runs", runs))


def test_cells_share_the_document_that_one_of_them_computed() -> None:
    made = [response(1, "fs", 1000, 0), response(1, "zs", 1000, 1000)]
    found = costs(made, [make_run(gpu_hours=2.0, usd=6.0)])
    assert found["method"].to_list() == ["fs", "zs"]
    assert found["computed_tokens"].to_list() == [500.0, 500.0]
    assert found["usd"].to_list() == [3.0, 3.0]
    assert found["gpu_hours"].sum() == pytest.approx(2.0)


def test_cells_pay_for_their_own_output_and_longer_prompts() -> None:
    made = [response(1, "fs", 3000, 2000, 100), response(1, "zs", 1000, 1000, 300)]
    found = costs(made, [make_run(usd=1.0)])
    weights = [750 + OUTPUT_WEIGHT * 100, 250 + OUTPUT_WEIGHT * 300]
    assert found["usd"].to_list() == pytest.approx([weight / sum(weights) for weight in weights])
    assert found["output_tokens"].to_list() == [100, 300]


def test_models_pay_for_their_own_stages() -> None:
    made = [response(1, "zs", 1000, 0), response(1, "zs", 10, 0, model="dear")]
    found = costs(made, [make_run(usd=1.0), make_run(number=1, model="dear", usd=9.0)])
    assert dict(found.select("model", "usd").iter_rows()) == {"m": 1.0, "dear": 9.0}


def test_a_judge_on_a_stage_of_its_own_is_paid_by_the_cells_that_it_judged() -> None:
    made = [response(1, "fs", 1000, 0), response(1, "zs", 1000, 1000)]
    judged = [
        dataclasses.replace(make_judgement(made[1], "refusal", "refused"), judge="llm:j", prompt_tokens=100),
        make_judgement(made[0], "refusal", "refused"),  # by rule, for nothing
    ]
    judge = make_run(number=1, job="judge", model="llm:j", usd=5.0)
    found = costs(made, [make_run(usd=2.0), judge], judged)
    assert found["usd"].to_list() == pytest.approx([1.0, 6.0])


def test_cells_without_tokens_cost_nothing() -> None:
    stopped = dataclasses.replace(response(1, "zs", 0, 0), turns=())
    found = costs([stopped], [make_run(usd=0.0)])
    assert found.select("questions", "computed_tokens", "output_tokens", "usd").row(0) == (1, 0.0, 0, 0.0)
