"""What is taken for what nobody knows: recorded rows of the same model first, else a default with a wide range."""

from __future__ import annotations

import dataclasses

import polars as pl
import pytest

from tests.factories import frame, make_document, make_judgement, make_question, make_response, make_run
from udfs.planning.assumptions import (
    FEW,
    OVERHEAD,
    REFUSED,
    Assumptions,
    cached_of,
    call_rows,
    overhead_of,
    refusal_rows,
    turn_rows,
)
from udfs.planning.ranges import DEFAULT, Assumed
from udfs.records import Response, Turn
from udfs.schema import Status

MODEL, REVISION = "m", "r1"


def recorded(number: int, method: str = "zs", tokens: int = 40, refused: bool = False, **given: object) -> Response:
    question = make_question(make_document(), question=f"Question {number}?")
    turn = Turn("answer", "x", 100, 60, tokens, "stop", 1.0)
    response = dataclasses.replace(
        make_response(question), response_id=f"{method}-{number}", model=MODEL, model_revision=REVISION, method=method,
        turns=(turn,), refused=refused, status=Status.OK,
    )  # fmt: skip
    return dataclasses.replace(response, **given)  # type: ignore[arg-type]


def assumptions(responses: list[Response], judgements: list[object] | None = None) -> Assumptions:
    answers = frame("responses", responses)
    questions = pl.DataFrame(
        [(response.question_id, False, "Who?") for response in responses],
        schema=["question_id", "answerable", "question"],
        orient="row",
    ).unique()
    turns = turn_rows(answers, MODEL, REVISION)
    return Assumptions(
        turns,
        refusal_rows(answers, questions, MODEL, REVISION, "rules"),
        call_rows(frame("judgements", judgements or []), f"llm:{MODEL}", 256),
        256,
        Assumed(OVERHEAD, DEFAULT),
        cached_of(turns),
    )


def test_assumptions_without_records_are_defaults_with_a_range_and_say_so() -> None:
    found = assumptions([recorded(0, model="another")])
    output = found.output("answer", "zs")
    assert output.source == DEFAULT
    assert output.value.low < output.value.mean < output.value.high == 256
    assert found.output("answer", "zs_cot").value.mean > output.value.mean
    assert found.refused("zs", True) == Assumed(REFUSED, DEFAULT)
    assert set(found.told) == {
        "tokens of a reply: answer, zs", "tokens of a reply: answer, zs_cot", "refused share: zs, answerable",
    }  # fmt: skip


def test_assumptions_take_a_methods_own_rows_and_else_those_of_all() -> None:
    rows = [recorded(n, "zs", 40, refused=n % 2 == 0) for n in range(FEW)]
    rows += [recorded(n, "fs", 80, refused=True) for n in range(FEW)]
    rows += [recorded(n, "fs_cot", 500) for n in range(FEW - 1)]
    found = assumptions(rows)
    assert found.output("answer", "zs").value.mean == 40
    assert found.output("answer", "fs").value.mean == 80
    few = found.output("answer", "fs_cot")
    assert few.value.mean == pytest.approx((FEW * 40 + FEW * 80 + (FEW - 1) * 500) / len(rows))
    assert few.source == f"recorded (n {len(rows)})"
    own, together = FEW / 2 / FEW, (FEW / 2 + FEW) / len(rows)
    assert own < found.refused("zs", False).value.mean < together, "few rows lean towards what all say"
    assert found.refused("fs", False).value.mean > 2 * found.refused("zs", False).value.mean - 0.5


def test_assumptions_of_another_revision_are_not_this_models() -> None:
    rows = [recorded(n, model_revision="r0") for n in range(FEW)]
    assert not assumptions(rows).output("answer", "zs").recorded


def test_assumptions_count_a_judges_second_tries() -> None:
    rows = [recorded(n) for n in range(FEW)]
    made = []
    for number, row in enumerate(rows):
        judgement = make_judgement(row, "refusal", "refused")
        tokens = 400 if number == 0 else 60  # more than one reply may have
        status = Status.PARSE_FAILURE if number == 1 else Status.OK
        made.append(dataclasses.replace(judgement, judge=f"llm:{MODEL}", output_tokens=tokens, status=status))
    found = assumptions(rows, list(made))
    assert found.retried("judge.response").value.mean == pytest.approx(2 / FEW)
    assert found.output("judge.response", "zs").value.mean == pytest.approx((200 + 30 + (FEW - 2) * 60) / FEW)


def test_assumptions_count_second_turns_that_gave_another_question() -> None:
    turns = (Turn("answer", "x", 9, 0, 9, "stop", 1.0), Turn("reformulate", "x", 9, 0, 9, "stop", 1.0))
    rows = [
        recorded(n, turns=turns, refused=True, reformulation=new)
        for n, new in enumerate(["Where?", "When?", None, "Who?"] * 3)
    ]
    assert assumptions(rows).renewed().value.mean == 0.5
    assert assumptions([recorded(n) for n in range(FEW)]).renewed().source == DEFAULT


def test_overhead_is_over_the_recorded_stages_whose_bound_is_known() -> None:
    runs = frame(
        "runs",
        [
            make_run(number=0, bound_block_tokens=100, bounded_computed_tokens=110),
            make_run(number=1, bound_block_tokens=300, bounded_computed_tokens=390),
            make_run(number=2, bound_block_tokens=None, bounded_computed_tokens=None),
            make_run(number=3, model="another", bound_block_tokens=100, bounded_computed_tokens=900),
        ],
    )
    found = overhead_of(runs, "m")
    assert dataclasses.astuple(found.value) == pytest.approx((1.1, 1.25, 1.3))
    assert overhead_of(runs, "none").source == DEFAULT
