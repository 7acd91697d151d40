from __future__ import annotations

import polars as pl
import pytest
from scipy.stats import binomtest

from tests.factories import frame, make_document, make_judgement, make_question, make_response
from udfs.schema import Status
from udfs.tables.comparisons import SCHEMA, comparisons
from udfs.tables.expected import PLANNED
from udfs.tables.observations import response_rows


def compare(
    plan: list[tuple[str, str]], models: tuple[str, str] = ("m", "m"), planned: pl.DataFrame | None = None
) -> pl.DataFrame:
    """`plan`: for each question, verdict under zs and under fs; "lost" for a response that was not ok."""
    documents = [make_document(f"document {i}") for i in range(4)]
    questions, responses, judgements = [], [], []
    for number, verdicts in enumerate(plan):
        question = make_question(documents[number % 4], number)
        questions.append(question)
        for model, method, verdict in zip(models, ("zs", "fs"), verdicts, strict=True):
            method = method if models[0] == models[1] else "zs"
            status = Status.PROVIDER_ERROR if verdict == "lost" else Status.OK
            response = make_response(question, model, method, status=status)
            responses.append(response)
            if verdict != "lost":
                judgements.append(make_judgement(response, "answer_consistency", verdict))
    rows = response_rows(frame("responses", responses), frame("questions", questions), frame("documents", documents))
    return comparisons(rows, frame("judgements", judgements), resamples=200, planned=planned)


RIGHT, WRONG = "correct", "incorrect"


def test_methods_hand_counted_pairs_give_the_exact_binomial_p() -> None:
    found = compare([(RIGHT, WRONG)] * 2 + [(WRONG, RIGHT)] * 9 + [(RIGHT, RIGHT)] * 5 + [("lost", RIGHT)] * 3)
    assert found.columns == list(SCHEMA)
    row = found.row(0, named=True)
    assert (row["a"], row["b"], row["model"], row["method"]) == ("fs", "zs", "m", "")
    assert (row["pairs"], row["only_a"], row["only_b"]) == (16, 9, 2)
    assert row["difference"] == pytest.approx(7 / 16)
    assert row["p_value"] == pytest.approx(binomtest(2, 11).pvalue)
    assert row["ci_low"] <= row["difference"] <= row["ci_high"]
    assert (row["accuracy_a"], row["accuracy_b"]) == (pytest.approx(14 / 16), pytest.approx(7 / 16))
    assert row["a_low"] <= row["accuracy_a"] <= row["a_high"]
    assert row["b_low"] <= row["accuracy_b"] <= row["b_high"]
    assert row["coverage"] == pytest.approx(16 / 19)


def test_coverage_is_over_the_questions_that_the_larger_side_was_to_answer() -> None:
    cells = [("m", "zs", "document_first", "bench", 40), ("m", "fs", "document_first", "bench", 8)]
    planned = pl.DataFrame(cells, schema=PLANNED, orient="row")
    assert compare([(RIGHT, WRONG)] * 8, planned=planned)["coverage"].to_list() == [8 / 40]


def test_methods_many_discordant_pairs_use_the_corrected_chi_square() -> None:
    row = compare([(RIGHT, WRONG)] * 10 + [(WRONG, RIGHT)] * 20).row(0, named=True)
    assert row["p_value"] == pytest.approx(0.1003, abs=1e-3)  # chi2 = (|10 - 20| - 1)^2 / 30 = 2.7


def test_models_are_compared_under_one_method() -> None:
    row = compare([(RIGHT, WRONG)] * 6, models=("small", "large")).row(0, named=True)
    assert (row["compared"], row["a"], row["b"], row["method"]) == ("model", "large", "small", "zs")
    assert row["difference"] == -1.0


def test_methods_without_a_common_question_are_left_out() -> None:
    assert compare([("lost", RIGHT), (RIGHT, "lost")]).height == 0


def test_methods_that_never_differ_have_p_one() -> None:
    row = compare([(RIGHT, RIGHT)] * 4).row(0, named=True)
    assert (row["p_value"], row["difference"], row["ci_low"]) == (1.0, 0.0, None)
