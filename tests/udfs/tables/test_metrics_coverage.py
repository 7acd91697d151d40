"""What is missing, what counts twice, what an average is over."""

from __future__ import annotations

from datetime import timedelta

import polars as pl
import pytest

from tests.factories import WHEN, frame, make_judgement
from tests.udfs.tables.metrics_bench import Bench, detection_bench, pick
from udfs.schema import Status
from udfs.tables.metrics import AVERAGE, EXPECTED
from udfs.tables.observations import latest_judgements


def test_detection_average_of_a_cell_that_lacks_a_dataset_is_null_beside_full_ones() -> None:
    bench = Bench()
    for dataset in "abc":
        for number in range(2):
            bench.ask(f"document {number}", False, dataset != "c", dataset=dataset, model="full")
            if dataset != "c":
                bench.ask(f"document {number}", False, True, dataset=dataset, model="part")
    found = bench.metrics(planned=bench.planned(("part", "c", 2)))
    full = pick(found, "detection.recall", dataset=AVERAGE, model="full")
    part = pick(found, "detection.recall", dataset=AVERAGE, model="part")
    assert full["value"] == pytest.approx(2 / 3)
    assert (part["value"], part["ci_low"], part["n"]) == (None, None, 4)
    assert part["coverage"] == pytest.approx(4 / 6)


def test_detection_average_is_over_the_datasets_of_its_layout_alone() -> None:
    bench = Bench()
    for dataset, layout in (("a", "document_first"), ("b", "document_first"), ("a", "paper")):
        for number in range(2):
            bench.ask(f"document {number}", False, True, dataset=dataset, layout=layout)
    found = bench.metrics().filter((pl.col("metric") == "detection.recall") & (pl.col("dataset") == AVERAGE))
    assert found["layout"].unique().to_list() == ["document_first"]
    assert found["value"].to_list() == [1.0]


def test_judgements_of_one_response_by_one_judge_count_once_the_newest() -> None:
    bench = Bench()
    for number in range(4):
        bench.ask(f"document {number}", True, False, "correct")
    old = [j for j in bench.judgements if j.measure == "answer_consistency"]
    for response in bench.responses[:3]:
        again = {"judgement_id": f"again {response.response_id}", "created_at": WHEN + timedelta(days=1)}
        bench.judgements.append(make_judgement(response, "answer_consistency", "incorrect", **again))
    unread = {"judgement_id": "unread", "created_at": WHEN + timedelta(days=2)}
    bench.judgements.append(make_judgement(bench.responses[0], "answer_consistency", None, **unread))
    accuracy = pick(bench.metrics(), "answer_consistency.accuracy")
    assert (accuracy["value"], accuracy["n"], accuracy["coverage"]) == (pytest.approx(1 / 3), 3, 0.75)
    assert pick(bench.metrics(), "answer_consistency.parse_failure_rate")["n"] == 4
    kept = set(latest_judgements(frame("judgements", bench.judgements))["judgement_id"])
    assert kept.isdisjoint({j.judgement_id for j in old[:3]})
    assert {"unread", old[3].judgement_id} <= kept


@pytest.mark.parametrize("status", [Status.OVER_LENGTH, Status.FILTERED])
def test_refusal_whose_second_turn_failed_counts_by_its_first(status: Status) -> None:
    bench = Bench()
    bench.ask("a", False, True)
    bench.ask("b", False, False)
    bench.ask("c", False, True, status=status)
    lost = bench.responses[-1]
    bench.judgements += [
        make_judgement(lost, "refusal", "refused"),
        make_judgement(lost, "answer_consistency", "correct"),
    ]
    found = bench.metrics()
    recall = pick(found, "detection.recall")
    assert (recall["value"], recall["n"], recall["coverage"]) == (pytest.approx(2 / 3), 3, 1.0)
    assert pick(found, "answer_consistency.accuracy")["n"] == 1
    rate = pick(found, "reformulation.rate")
    assert (rate["n"], rate["coverage"]) == (1, pytest.approx(2 / 3))


def test_coverage_is_over_the_responses_that_were_expected() -> None:
    bench = Bench()
    for number in range(6):
        bench.ask(f"document {number}", number % 2 == 0, False, "correct")
    bench.ask("document 0", True, None)
    found = bench.metrics(planned=bench.planned(("m", "bench", 14), ("m", "unborn", 3)))
    expected = pick(found, EXPECTED)
    assert (expected["value"], expected["n"], expected["coverage"]) == (14, 7, 0.5)
    assert pick(found, "detection.f1")["coverage"] == pytest.approx(6 / 14)
    # Rows that are not recorded are spread over the slices as the recorded ones are: 3 of 7, so 6 of 14.
    assert pick(found, "detection.recall")["coverage"] == pytest.approx(3 / 6)
    assert pick(found, "answer_consistency.accuracy", kind="unanswerable")["coverage"] == pytest.approx(3 / 6)
    unborn = pick(found, EXPECTED, dataset="unborn")
    assert (unborn["value"], unborn["n"], unborn["coverage"]) == (3, 0, 0.0)
    assert pick(found, "detection.f1", dataset=AVERAGE)["value"] is None


def test_expected_of_a_cell_that_no_start_planned_is_unknown() -> None:
    row = pick(detection_bench().metrics(), EXPECTED)
    assert (row["value"], row["n"], row["coverage"]) == (None, 11, 1.0)
