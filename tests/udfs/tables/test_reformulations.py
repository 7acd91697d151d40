from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.factories import frame, make_document, make_judgement, make_question, make_response
from tests.udfs.tables.metrics_bench import pick
from udfs.measures.success import succeeded
from udfs.schema import Status
from udfs.tables.metrics import AVERAGE, metrics
from udfs.tables.observations import response_rows
from udfs.tables.reformulations import (
    ERROR_CATEGORIES,
    STRATEGIES,
    is_averaged,
    relevance_sources,
    successes,
)

EXACT, SOFT, ANSWERABLE = "entity_overlap", "entity_overlap_soft", "reformulation_answerable"


class Bench:
    """Collects responses to unanswerable questions; each `ask` is one, with the scores of its new question."""

    def __init__(self) -> None:
        self.documents: list[Any] = []
        self.questions: list[Any] = []
        self.responses: list[Any] = []
        self.judgements: list[Any] = []

    def ask(
        self, detected: bool | None = True, dataset: str = "bench", document: int | None = None, **given: Any
    ) -> Any:
        number = len(self.questions)
        made = make_document(f"document {number if document is None else document}", dataset)
        self.documents.append(made)
        question = make_question(
            made,
            number,
            given.pop("answerable", False),
            **({"language": given.pop("language")} if "language" in given else {}),
        )
        self.questions.append(question)
        response = make_response(question, **({"refused": detected} | given))
        self.responses.append(response)
        return response

    def judge(
        self, response: Any, answerable: bool | None, overlap: float | None, judge: str = "rules", measure: str = SOFT
    ) -> None:
        """A verdict on answerability (None: unreadable) and an overlap (None: undefined)."""
        verdict = None if answerable is None else ("answerable" if answerable else "unanswerable")
        undefined = "undefined" if overlap is None else None
        self.judgements += [
            make_judgement(
                response, ANSWERABLE, verdict, judge=judge, score=None if answerable is None else float(answerable)
            ),
            make_judgement(response, measure, undefined, judge=judge, score=overlap, status=Status.OK),
        ]

    def mark(self, response: Any, measure: str, verdict: str | None = None, **given: Any) -> None:
        self.judgements.append(make_judgement(response, measure, verdict, **({"status": Status.OK} | given)))

    def metrics(self, **given: Any) -> pl.DataFrame:
        rows = response_rows(
            frame("responses", self.responses),
            frame("questions", self.questions),
            frame("documents", self.documents).unique(subset=["dataset", "doc_id"]),
        )
        return metrics(rows, frame("judgements", self.judgements), "main", **{"resamples": 200, **given})


def told(found: pl.DataFrame, metric: str, **where: str) -> Any:
    """(value, n, coverage) of one row."""
    row = pick(found, metric, **({"judge": "rules"} | where))
    return row["value"], row["n"], row["coverage"]


def six_questions() -> Bench:
    """Successes at 1.0 and at 0.5, one answerable but unlike, one alike but unanswerable, two undetected."""
    bench = Bench()
    for answerable, overlap in ((True, 1.0), (True, 0.5), (True, 0.25), (False, 1.0)):
        bench.judge(bench.ask(), answerable, overlap)
    bench.ask(detected=False)
    bench.ask(detected=False)
    bench.ask(detected=True, answerable=True)  # a false refusal: no business of these metrics
    return bench


def test_success_is_over_all_unanswerable_questions_and_over_the_detected_ones() -> None:
    found = six_questions().metrics()
    assert told(found, "reformulation.success") == (pytest.approx(2 / 6), 6, 1)
    assert told(found, "reformulation.success_strict") == (pytest.approx(1 / 6), 6, 1)
    assert told(found, "reformulation.success.detected") == (pytest.approx(2 / 4), 4, 1)
    assert told(found, "reformulation.success_strict.detected") == (pytest.approx(1 / 4), 4, 1)
    assert told(found, "reformulation.answerable") == (pytest.approx(3 / 6), 6, 1)
    assert told(found, "reformulation.entity_overlap_soft.detected") == (pytest.approx(2.75 / 4), 4, 1)
    row = pick(found, "reformulation.success", judge="rules")
    assert row["ci_low"] < row["value"] < row["ci_high"]


def test_undefined_overlap_takes_the_question_out_of_success_and_of_what_is_expected() -> None:
    bench = six_questions()
    bench.judge(bench.ask(), True, None)
    found = bench.metrics()
    assert told(found, "reformulation.success") == (pytest.approx(2 / 6), 6, 1)
    assert told(found, "reformulation.success.detected") == (pytest.approx(2 / 4), 4, 1)
    assert told(found, "reformulation.entity_overlap_soft") == (pytest.approx(2.75 / 6), 6, 1)
    assert told(found, "reformulation.answerable") == (pytest.approx(4 / 7), 7, 1)


def test_judgements_that_are_missing_or_unreadable_lower_coverage_and_not_the_value() -> None:
    bench = six_questions()
    bench.ask()  # turn 2 was asked and never judged
    bench.judge(bench.ask(), None, 1.0)  # a verdict that could not be read
    bench.ask(detected=None, status=Status.OVER_LENGTH, turns=())
    found = bench.metrics()
    assert told(found, "reformulation.success") == (pytest.approx(2 / 6), 6, pytest.approx(6 / 9))
    assert told(found, "reformulation.success.detected") == (pytest.approx(2 / 4), 4, pytest.approx(4 / 6))
    assert told(found, "reformulation.entity_overlap_soft.detected") == (
        pytest.approx(3.75 / 5),
        5,
        pytest.approx(5 / 6),
    )
    assert told(found, "reformulation_answerable.parse_failure_rate")[:2] == (pytest.approx(1 / 5), 5)


def test_edit_distance_counts_undetected_questions_as_zero_and_may_exceed_one() -> None:
    bench = Bench()
    for distance in (2.0, 7.0):
        bench.mark(bench.ask(), "edit_distance", score=distance, judge="couldask")
    bench.ask(detected=False)
    found = bench.metrics()
    assert told(found, "reformulation.edit_distance", judge="couldask")[:2] == (pytest.approx(3.0), 3)
    assert told(found, "reformulation.edit_distance.detected", judge="couldask")[:2] == (pytest.approx(4.5), 2)


def test_entity_overlap_above_one_everywhere_is_kept() -> None:
    bench = Bench()
    for _ in range(3):
        bench.mark(bench.ask(), EXACT, score=1.5, judge="couldask")
    row = pick(bench.metrics(), "reformulation.entity_overlap", judge="couldask")
    assert (row["value"], row["ci_low"]) == (1.5, None)


def test_errors_are_shares_of_the_failed_and_strategies_of_the_successful() -> None:
    bench = Bench()
    for error, how in (
        ("same_or_rephrased", "none"),
        ("same_or_rephrased", "none"),
        ("undecided", "none"),
        ("none", "specify"),
    ):
        response = bench.ask()
        bench.mark(response, "error_category", error)
        bench.mark(response, "strategy", how)
    bench.ask(detected=False)
    bench.ask()  # asked and not judged: missing from the shares, and told by coverage
    found = bench.metrics()
    shares = {name: told(found, f"reformulation.error.{name}") for name in ERROR_CATEGORIES}
    assert shares["same_or_rephrased"] == (pytest.approx(2 / 3), 3, pytest.approx(4 / 5))
    assert shares["undecided"][0] == pytest.approx(1 / 3)
    assert sum(value or 0 for value, _, _ in shares.values()) == pytest.approx(1)
    assert [told(found, f"reformulation.strategy.{name}")[0] for name in STRATEGIES] == [0, 0, 0, 1, 0]
    assert told(found, "reformulation.strategy.specify")[1:] == (1, pytest.approx(4 / 5))


def test_average_is_the_unweighted_mean_over_datasets() -> None:
    bench = Bench()
    for number in range(6):
        bench.judge(bench.ask(dataset="large"), number < 3, 1.0)
    for _ in range(2):
        bench.judge(bench.ask(dataset="small"), True, 1.0)
    found = bench.metrics()
    assert told(found, "reformulation.success", dataset=AVERAGE) == (pytest.approx(0.75), 8, 1)
    assert told(found, "reformulation.success.detected", dataset=AVERAGE)[0] == pytest.approx(0.75)
    assert is_averaged("reformulation.cosine.detected")
    assert not is_averaged("reformulation.error.copied")


def test_average_over_detected_ones_is_null_where_a_dataset_has_none() -> None:
    bench = Bench()
    for _ in range(2):
        bench.judge(bench.ask(dataset="a"), True, 1.0)
        bench.ask(detected=False, dataset="b")
    found = bench.metrics()
    assert told(found, "reformulation.success", dataset=AVERAGE)[0] == pytest.approx(0.5)
    assert told(found, "reformulation.success.detected", dataset=AVERAGE)[0] is None


def test_model_that_detects_nothing_has_zeros_by_every_judge() -> None:
    bench = six_questions()
    for _ in range(3):
        bench.ask(detected=False, model="blind")
    found = bench.metrics()
    assert told(found, "reformulation.success", model="blind") == (0.0, 3, 1)
    assert not found.filter(
        (pl.col("model") == "blind") & (pl.col("metric") == "reformulation.success.detected")
    ).height


def test_run_judged_before_these_measures_has_none_of_these_metrics() -> None:
    bench = Bench()
    bench.mark(bench.ask(), "refusal", "refused")
    names = set(bench.metrics()["metric"])
    assert {name for name in names if name.startswith("reformulation")} == {
        "reformulation.rate",
        "reformulation.rate_couldask",
    }


def test_judges_of_any_name_have_rows_and_a_classifier_goes_by_the_rules_overlap() -> None:
    bench = Bench()
    for number in range(4):
        response = bench.ask()
        bench.judge(response, True, 0.5)
        bench.judge(response, True, 0.25 * number, judge="llm:j", measure=EXACT)
        bench.mark(response, ANSWERABLE, "answerable" if number else "unanswerable", judge="classifier:c", score=0.3)
        bench.mark(response, "cosine", score=0.8, judge="minilm")
    found = bench.metrics()
    assert told(found, "reformulation.success", judge="llm:j")[0] == pytest.approx(2 / 4)
    assert told(found, "reformulation.success_strict", judge="llm:j")[0] == pytest.approx(1 / 4)
    assert told(found, "reformulation.success", judge="classifier:c")[0] == pytest.approx(3 / 4)
    assert told(found, "reformulation.success_strict", judge="classifier:c")[0] == 0
    assert told(found, "reformulation.answerable", judge="classifier:c")[0] == pytest.approx(3 / 4)
    assert told(found, "reformulation.cosine", judge="minilm")[0] == pytest.approx(0.8)


def test_relevance_is_soft_for_rules_and_exact_for_others() -> None:
    bench = Bench()
    response = bench.ask()
    for judge in ("rules", "couldask"):
        bench.judge(response, True, 1.0, judge=judge, measure=EXACT)
    bench.mark(response, SOFT, score=0.0, judge="rules")
    bench.mark(response, ANSWERABLE, "answerable", judge="classifier:c")
    judgements = frame("judgements", bench.judgements)
    assert relevance_sources(judgements) == {
        "rules": ("rules", SOFT),
        "couldask": ("couldask", EXACT),
        "classifier:c": ("rules", SOFT),
    }
    assert relevance_sources(judgements.filter(pl.col("judge") == "classifier:c")) == {}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.none() | st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0, 1.5])), min_size=1))
def test_successes_agree_with_the_measure_of_one_response(cases: list[tuple[bool, float | None]]) -> None:
    bench = Bench()
    for answerable, overlap in cases:
        bench.judge(bench.ask(), answerable, overlap)
    wanted = {
        response.response_id: (succeeded(*case, at_least=True), succeeded(*case, at_least=False))
        for response, case in zip(bench.responses, cases, strict=True)
    }
    rows = successes(frame("judgements", bench.judgements)).iter_rows(named=True)
    assert {row["response_id"]: (row["success"], row["success_strict"]) for row in rows} == wanted


def test_metrics_do_not_depend_on_the_order_of_rows() -> None:
    bench = six_questions()
    first = bench.metrics()
    bench.responses.reverse()
    bench.judgements.reverse()
    keys = [name for name in first.columns if name not in ("value", "ci_low", "ci_high")]
    assert bench.metrics().sort(keys).equals(first.sort(keys))


def test_languages_have_rows_of_their_own() -> None:
    bench = Bench()
    for language, answerable in (("en", True), ("en", False), ("zh", True)):
        bench.judge(bench.ask(language=language), answerable, 1.0)
    found = bench.metrics()
    assert told(found, "reformulation.success", language="en")[:2] == (pytest.approx(1 / 2), 2)
    assert told(found, "reformulation.success", language="zh")[:2] == (1.0, 1)


def test_answerability_is_broken_down_by_the_span_that_the_judge_or_else_another_found() -> None:
    bench = Bench()
    for span, answerable in (("q_span", True), ("q_span", False), ("short_span", True), (None, True), ("q_span", None)):
        response = bench.ask()
        for judge in ("rules", "llm:j"):
            bench.judge(response, answerable, 1.0, judge)
        status = {} if span else {"status": Status.PARSE_FAILURE}
        bench.mark(response, "minimum_span", span, judge="llm:j", rationale="words", **status)
    bench.ask(detected=False)
    found = bench.metrics()
    for judge in ("rules", "llm:j"):
        told_by = {
            name: told(found, f"reformulation.answerable.{name}", judge=judge) for name in ("q_span", "short_span")
        }
        assert told_by["q_span"] == (0.5, 2, pytest.approx(2 / 3))  # one verdict of three cannot be read
        assert told_by["short_span"] == (1.0, 1, 1.0)
    assert told(found, "reformulation.span.q_span", judge="llm:j") == (0.75, 4, 0.8)  # of five detected, one unread
    assert told(found, "minimum_span.parse_failure_rate", judge="llm:j")[0] == 0.2


def test_run_without_minimum_spans_has_no_metric_of_them() -> None:
    bench = Bench()
    bench.judge(bench.ask(), True, 1.0)
    assert not [name for name in bench.metrics()["metric"] if "span" in name]
