from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.factories import frame, make_document, make_question, make_response, make_turn
from tests.udfs.tables.metrics_bench import Bench, detection_bench, pick
from udfs.errors import UserError
from udfs.schema import METRICS, Kind, Status
from udfs.tables.metrics import AVERAGE, RESPONSE_CLASSES, metrics
from udfs.tables.observations import latest, response_rows


def test_detection_hand_counted_rows_give_the_known_values() -> None:
    found = detection_bench().metrics()
    assert found.columns == METRICS.names
    f1 = pick(found, "detection.f1")
    assert f1["value"] == pytest.approx(2 * 3 / (2 * 3 + 2 + 1))
    assert f1["n"] == 10
    assert f1["coverage"] == pytest.approx(10 / 11)
    precision = pick(found, "detection.precision")
    assert (precision["value"], precision["n"]) == (pytest.approx(3 / 5), 5)
    recall = pick(found, "detection.recall")
    assert (recall["value"], recall["n"]) == (pytest.approx(3 / 4), 4)
    assert recall["coverage"] == pytest.approx(4 / 5)
    false_refusal = pick(found, "detection.false_refusal_rate")
    assert (false_refusal["value"], false_refusal["n"]) == (pytest.approx(2 / 6), 6)
    assert false_refusal["coverage"] == 1
    assert pick(found, "detection.accuracy")["value"] == pytest.approx(7 / 10)


def test_detection_nothing_refused_has_no_precision_and_zero_f1() -> None:
    bench = Bench()
    for number in range(4):
        bench.ask(f"document {number}", number % 2 == 0, False)
    found = bench.metrics()
    assert pick(found, "detection.precision")["value"] is None
    assert pick(found, "detection.f1")["value"] == 0.0


def test_detection_average_is_the_unweighted_mean_over_datasets() -> None:
    bench = Bench()
    for number in range(10):
        bench.ask(f"document {number}", False, number < 5, dataset="large")
    for number in range(2):
        bench.ask(f"document {number}", False, True, dataset="small")
    found = bench.metrics()
    recall = pick(found, "detection.recall", dataset=AVERAGE)
    assert recall["value"] == pytest.approx((0.5 + 1.0) / 2)
    assert recall["n"] == 12
    assert recall["ci_low"] < recall["value"] < recall["ci_high"]


def test_detection_average_with_an_undefined_dataset_is_undefined() -> None:
    bench = Bench()
    for number in range(4):
        bench.ask(f"document {number}", False, True, dataset="a")
        bench.ask(f"document {number}", True, False, dataset="b")
    assert pick(bench.metrics(), "detection.recall", dataset=AVERAGE)["value"] is None


def test_verdict_that_could_not_be_parsed_counts_against_coverage_and_is_not_wrong() -> None:
    bench = Bench()
    for number in range(4):
        bench.ask(f"document {number}", False, True if number else None)
    found = bench.metrics()
    recall = pick(found, "detection.recall")
    assert (recall["value"], recall["n"], recall["coverage"]) == (1.0, 3, 0.75)
    failures = pick(found, "refusal.parse_failure_rate")
    assert (failures["value"], failures["n"]) == (0.25, 4)


def test_single_document_gives_a_value_without_interval() -> None:
    bench = Bench()
    for number in range(8):
        bench.ask("the only document", number % 2 == 0, number % 3 == 0)
    row = pick(bench.metrics(), "detection.accuracy")
    assert row["value"] is not None
    assert (row["ci_low"], row["ci_high"]) == (None, None)


def test_answer_consistency_slices_by_language_kind_and_length() -> None:
    bench = Bench()
    plan = [
        ("en", Kind.ANSWERABLE, "0-16K", "correct"),
        ("en", Kind.ANSWERABLE, "16-32K", "incorrect"),
        ("en", Kind.LACK_OF_EVIDENCE, "0-16K", "correct"),
        ("en", Kind.ENTITY_SUBSTITUTION, "0-16K", "correct"),
        ("en", Kind.IMPOSSIBLE_CONDITION, "0-16K", "incorrect"),
        ("zh", Kind.FALSE_ASSUMPTION, "16-32K", "incorrect"),
    ]
    for number, (language, kind, bucket, verdict) in enumerate(plan):
        answerable = kind is Kind.ANSWERABLE
        bench.ask(
            f"document {number}",
            answerable,
            False,
            verdict,
            bucket=bucket,
            question={"language": language, "kind": kind},
        )
    found = bench.metrics()
    name = "answer_consistency.accuracy"
    assert pick(found, name)["value"] == pytest.approx(0.5)
    assert pick(found, name, language="en", kind="misleading")["value"] == pytest.approx(0.5)
    assert pick(found, name, language="en", kind=Kind.ENTITY_SUBSTITUTION)["value"] == 1.0
    assert pick(found, name, kind="misleading")["value"] == pytest.approx(1 / 3)
    assert pick(found, name, length_bucket="16-32K", kind="answerable")["value"] == 0.0
    assert pick(found, name, length_bucket="0-16K", kind="misleading")["n"] == 2
    assert pick(found, name, language="zh")["n"] == 1


def test_reformulation_rate_is_over_refusals_only() -> None:
    bench = Bench()
    bench.ask("a", False, True)
    bench.ask("b", False, True, reformulation=None)
    bench.ask("c", False, False)
    found = bench.metrics()
    rate = pick(found, "reformulation.rate")
    assert (rate["value"], rate["n"], rate["judge"]) == (0.5, 2, "rules")
    assert pick(found, "turns.mean")["value"] == pytest.approx(5 / 3)


def test_status_shares_count_every_response() -> None:
    found = detection_bench().metrics()
    assert pick(found, "status.over_length")["value"] == pytest.approx(1 / 11)
    assert pick(found, "status.ok")["n"] == 11


def test_model_without_any_judgement_shows_with_coverage_zero() -> None:
    bench = detection_bench()
    bench.ask("document 9", False, False, status=Status.PROVIDER_ERROR, model="broken")
    row = pick(bench.metrics(), "detection.f1", model="broken")
    assert (row["value"], row["n"], row["coverage"]) == (None, 0, 0.0)


def test_metrics_do_not_depend_on_the_order_of_rows() -> None:
    bench = detection_bench()
    first = bench.metrics().sort("metric", "dataset", "language")
    bench.responses.reverse()
    bench.judgements.reverse()
    bench.questions.reverse()
    assert bench.metrics().sort("metric", "dataset", "language").equals(first)


def test_metrics_without_responses_is_an_empty_table_of_the_schema() -> None:
    found = metrics(
        response_rows(frame("responses", []), frame("questions", []), frame("documents", [])),
        frame("judgements", []),
        "main",
    )
    assert found.columns == METRICS.names
    assert not found.height


def test_response_to_an_unknown_question_raises_user_error() -> None:
    bench = detection_bench()
    bench.questions.pop()
    with pytest.raises(UserError, match="ingest"):
        bench.rows()


def test_latest_keeps_the_ok_response_of_a_question_asked_twice() -> None:
    question = make_question(make_document())
    ok = make_response(question, response_id="old")
    failed = make_response(question, response_id="new", status=Status.PROVIDER_ERROR)
    assert latest(frame("responses", [failed, ok]))["response_id"].to_list() == ["old"]


def test_cut_rate_counts_responses_with_any_turn_that_ended_at_the_token_limit() -> None:
    bench = Bench()
    cut, whole = make_turn(finish_reason="length"), make_turn()
    for number, turns in enumerate([(cut,), (whole, cut), (cut, cut), (whole, whole), (whole,)]):
        bench.ask(f"document {number}", False, False, turns=turns)
    bench.ask("document 5", False, False, status=Status.OVER_LENGTH, turns=())
    rate = pick(bench.metrics(), "turns.cut_rate")
    assert (rate["value"], rate["n"], rate["judge"]) == (0.5, 6, "all")


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(RESPONSE_CLASSES), st.integers(0, 5)), min_size=1, max_size=30))
def test_response_class_shares_sum_to_one_and_lie_in_their_intervals(plan: list[tuple[str, int]]) -> None:
    bench = Bench()
    for verdict, document in plan:
        bench.ask(f"document {document}", False, verdict != "incorrect", response_class=verdict)
    found = bench.metrics(resamples=100)
    rows = [pick(found, f"response_class.{name}") for name in RESPONSE_CLASSES]
    assert sum(row["value"] for row in rows) == pytest.approx(1.0)
    for row in rows:
        assert row["n"] == len(plan)
        if row["ci_low"] is not None:
            assert 0 <= row["ci_low"] <= row["value"] <= row["ci_high"] <= 1
