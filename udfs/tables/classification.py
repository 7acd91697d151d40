"""How good a classifier of answerability is on documents that it was not trained on: rows of the models table. Pure.

Metrics, over the questions that it could be asked (coverage: what share that is):

- accuracy; majority, the accuracy of always giving the larger class of these very questions; gain, accuracy less
  majority; f1, of the unanswerable class as everywhere here; f1_macro, the mean of both classes'.
- auc: how often an answerable question has the higher probability of two, one of each class.
- brier: mean squared distance of the probability from 0 or 1. ece: expected calibration error over `BINS` equal bins of
  the probability of being answerable.
- confusion.<gold>.<said>: questions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from udfs.tables.intervals import Estimate, ratio_estimate, seed_of

ALL: Final = "all"
"""In place of a dataset: all of them together."""
BINS: Final = 10
THRESHOLD: Final = 0.5
"""A question of this probability or more is answerable."""
CLASSES: Final = {"answerable": True, "unanswerable": False}
COLUMNS: Final = ("dataset", "doc_id", "answerable", "probability")
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def scores(predictions: pl.DataFrame, resamples: int, seed: int) -> pl.DataFrame:
    """Every metric, of each dataset and, where there are several, of all together.

    Args:
        predictions: one row a question, columns `COLUMNS`; probability is null where it could not be asked.
        resamples, seed: of the documents, for the intervals.

    Returns:
        columns dataset, metric, value, n, documents, coverage, ci_low, ci_high.
    """
    names = sorted(set(predictions["dataset"]))
    groups = [(name, predictions.filter(pl.col("dataset") == name)) for name in names]
    if len(names) > 1:
        groups.append((ALL, predictions))
    rows = [row for name, group in groups for row in _rows(name, group, resamples, seed_of(seed, name))]
    return pl.DataFrame(rows, infer_schema_length=None)


def _rows(dataset: str, group: pl.DataFrame, resamples: int, seed: int) -> Iterator[dict[str, Any]]:
    asked = group.filter(pl.col("probability").is_not_null()).sort("doc_id", maintain_order=True)
    common = {
        "dataset": dataset,
        "n": asked.height,
        "documents": asked["doc_id"].n_unique(),
        "coverage": asked.height / group.height if group.height else 0.0,
    }
    for metric, found in _metrics(asked, resamples, seed):
        yield common | {"metric": metric, "value": found.value, "ci_low": found.low, "ci_high": found.high}


def _metrics(asked: pl.DataFrame, resamples: int, seed: int) -> Iterator[tuple[str, Estimate]]:
    gold = asked["answerable"].to_numpy().astype(bool)
    probability = asked["probability"].to_numpy().astype(np.float64)
    said = probability >= THRESHOLD
    documents = asked["doc_id"].rank("dense").to_numpy().astype(np.int64) - 1 if len(gold) else np.zeros(0, np.int64)

    def ratio(num: npt.ArrayLike, den: npt.ArrayLike | None = None, proportion: bool = True) -> Estimate:
        each = [np.asarray(one, np.float64) for one in (num, np.ones(len(gold)) if den is None else den)]
        sums = [np.bincount(documents, weights=one).astype(np.float64) for one in each]
        return ratio_estimate(sums[0], sums[1], resamples, seed, proportion)

    right = said == gold
    larger = bool(gold.mean() >= 0.5) if len(gold) else True
    yield "accuracy", ratio(right)
    yield "majority", Estimate(float((gold == larger).mean()) if len(gold) else None)
    yield "gain", ratio(right.astype(np.float64) - (gold == larger), proportion=False)
    hit = ~gold & ~said
    yield "f1", ratio(2.0 * hit, 2.0 * hit + (gold != said))
    yield "f1_macro", Estimate(macro_f1(gold, said))
    yield "auc", Estimate(auc(gold, probability))
    yield "brier", ratio((probability - gold) ** 2)
    yield "ece", Estimate(calibration_error(gold, probability))
    for gold_name, gold_value in CLASSES.items():
        for said_name, said_value in CLASSES.items():
            count = float(((gold == gold_value) & (said == said_value)).sum())
            yield f"confusion.{gold_name}.{said_name}", Estimate(count)


def macro_f1(gold: Flags, said: Flags) -> float | None:
    """The mean of both classes' F1; None where a class is neither there nor said."""
    both = []
    for value in CLASSES.values():
        hits, wrong = int(((gold == value) & (said == value)).sum()), int((gold != said).sum())
        if not 2 * hits + wrong or not ((gold == value) | (said == value)).any():
            return None
        both.append(2 * hits / (2 * hits + wrong))
    return float(np.mean(both))


def auc(gold: Flags, probability: Floats) -> float | None:
    """Area under the ROC curve, ties counted half; None unless both classes are there."""
    positives, negatives = int(gold.sum()), int((~gold).sum())
    if not positives or not negatives:
        return None
    _, inverse, counts = np.unique(probability, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return float((ranks[gold].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def calibration_error(gold: Flags, probability: Floats, bins: int = BINS) -> float | None:
    """Mean distance of the bins' mean probability from their share of answerable questions, weighted by questions.

    Bins are of equal width, [0, 1/bins), …, the last one closed; None without questions.
    """
    if not len(gold):
        return None
    places = np.minimum((probability * bins).astype(np.int64), bins - 1)
    far = np.abs(np.bincount(places, probability, bins) - np.bincount(places, gold.astype(np.float64), bins))
    return float(far.sum() / len(gold))


def accuracy_and_auc(predictions: pl.DataFrame, column: str) -> dict[str, float | None]:
    """Accuracy and AUC of the probabilities in `column`, over the questions that have one."""
    asked = predictions.filter(pl.col(column).is_not_null())
    gold, probability = asked["answerable"].to_numpy().astype(bool), asked[column].to_numpy().astype(np.float64)
    right = float(((probability >= THRESHOLD) == gold).mean()) if len(gold) else None
    return {"accuracy": right, "auc": auc(gold, probability)}


def reliability(predictions: pl.DataFrame, bins: int = BINS) -> pl.DataFrame:
    """What `calibration_error` is made of: columns bin (0-based), n, probability (mean), answerable (share)."""
    asked = predictions.filter(pl.col("probability").is_not_null())
    placed = asked.with_columns(bin=(pl.col("probability") * bins).cast(pl.Int64).clip(upper_bound=bins - 1))
    return (
        placed.group_by("bin")
        .agg(n=pl.len(), probability=pl.col("probability").mean(), answerable=pl.col("answerable").mean())
        .sort("bin")
    )
