"""Metrics of a classifier, against numbers worked by hand and against scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import brier_score_loss, f1_score, roc_auc_score

from udfs.tables.classification import ALL, auc, calibration_error, macro_f1, reliability, scores


def predictions(rows: Sequence[tuple[str, str, bool, float | None]]) -> pl.DataFrame:
    schema = {"dataset": pl.String, "doc_id": pl.String, "answerable": pl.Boolean, "probability": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def value(found: pl.DataFrame, metric: str, dataset: str = "a") -> float | None:
    row = found.row(by_predicate=(pl.col("metric") == metric) & (pl.col("dataset") == dataset), named=True)
    return None if row["value"] is None else float(row["value"])


HAND = [
    ("a", "d1", True, 0.9),  # right
    ("a", "d1", True, 0.55),  # right
    ("a", "d2", True, 0.3),  # wrong
    ("a", "d2", False, 0.1),  # right
    ("a", "d3", False, 0.6),  # wrong
]


def test_scores_worked_by_hand() -> None:
    found = scores(predictions(HAND), 1000, 0)
    expected = {
        "accuracy": 3 / 5,
        "majority": 3 / 5,
        "gain": 0.0,
        "f1": 2 * 1 / (2 * 1 + 2),  # one unanswerable found, one missed, one answerable taken for it
        "f1_macro": (2 * 2 / (2 * 2 + 2) + 0.5) / 2,
        "auc": 4 / 6,
        "brier": (0.01 + 0.2025 + 0.49 + 0.01 + 0.36) / 5,
        # bins .9: |.9-1|, .5: |.55-1|, .3: |.3-1|, .1: |.1-0|, .6: |.6-0|, each with one of five
        "ece": (0.1 + 0.45 + 0.7 + 0.1 + 0.6) / 5,
        "confusion.answerable.answerable": 2,
        "confusion.answerable.unanswerable": 1,
        "confusion.unanswerable.answerable": 1,
        "confusion.unanswerable.unanswerable": 1,
    }
    for metric, wanted in expected.items():
        assert value(found, metric) == pytest.approx(wanted), metric
    assert set(found["n"]) == {5}
    assert set(found["documents"]) == {3}


def test_scores_agree_with_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    gold = rng.random(400) < 0.4
    probability = np.clip(np.where(gold, 0.6, 0.4) + rng.normal(0, 0.25, 400), 0, 1).round(2)  # with ties
    rows = [("a", f"d{i % 50}", bool(g), float(p)) for i, (g, p) in enumerate(zip(gold, probability, strict=True))]
    found = scores(predictions(rows), 1000, 0)
    said = probability >= 0.5
    assert value(found, "auc") == pytest.approx(roc_auc_score(gold, probability))
    assert value(found, "brier") == pytest.approx(brier_score_loss(gold, probability))
    assert value(found, "f1") == pytest.approx(f1_score(~gold, ~said))
    assert value(found, "f1_macro") == pytest.approx(f1_score(gold, said, average="macro"))
    accuracy = found.row(by_predicate=pl.col("metric") == "accuracy", named=True)
    assert accuracy["ci_low"] < accuracy["value"] < accuracy["ci_high"]


def test_calibration_error_of_several_in_one_bin_is_of_their_means() -> None:
    gold, probability = np.array([True, False, False, True]), np.array([0.72, 0.74, 0.76, 1.0])
    # bin 7: three of mean .74, a third answerable; bin 9: one of 1.0, answerable
    assert calibration_error(gold, probability) == pytest.approx(3 / 4 * (0.74 - 1 / 3))
    assert calibration_error(gold[:0], probability[:0]) is None


def test_scores_of_one_class_have_no_auc_and_no_macro_f1_of_an_absent_class() -> None:
    gold, probability = np.array([True, True]), np.array([0.9, 0.8])
    assert auc(gold, probability) is None
    assert macro_f1(gold, probability >= 0.5) is None


def test_scores_leave_out_what_could_not_be_asked_and_say_so() -> None:
    found = scores(predictions([*HAND, ("a", "d4", True, None), ("b", "d1", True, 0.7)]), 1000, 0)
    row = found.row(by_predicate=(pl.col("metric") == "accuracy") & (pl.col("dataset") == "a"), named=True)
    assert (row["n"], row["coverage"]) == (5, pytest.approx(5 / 6))
    assert value(found, "accuracy", ALL) == pytest.approx(4 / 6)
    assert set(found["dataset"]) == {"a", "b", ALL}


def test_reliability_counts_every_question_once() -> None:
    found = reliability(predictions([*HAND, ("a", "d4", True, 1.0), ("a", "d4", True, None)]))
    assert found["bin"].to_list() == [1, 3, 5, 6, 9]
    assert found["n"].sum() == 6
