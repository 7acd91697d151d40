"""Fit the head that joins a trained encoder with the words (`udfs.engines.lexical_head`).

The weights of the words are fitted on the questions that the encoder learns from; how the two are weighed, on documents
that neither has seen (stacking, Wolpert 1992), where the encoder's confidence is what it will be later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from udfs.engines.lexical_head import LexicalHead, log_odds, pair_features
from udfs.measures.lexical_match import FEATURES
from udfs.training.examples import Example
from udfs.training.splits import place

CALIBRATION_SHARE: Final = 0.12
"""Of the documents that may be learnt from, what the encoder does not learn from."""
LEAST_QUESTIONS: Final = 100
"""To weigh encoder and words with, of both classes together."""
INVERSE_PENALTY: Final = 0.3
"""Of the squared weights of the standardised features (scikit-learn's C)."""


@dataclass(frozen=True)
class Stacking:
    """What the head is fitted with.

    Args:
        weights, bias: of the words alone, on the features as they are.
        calibration: what encoder and words are weighed on.
    """

    weights: tuple[float, ...]
    bias: float
    calibration: tuple[Example, ...]


def part(examples: Sequence[Example], seed: int) -> tuple[list[Example], list[Example]]:
    """What the encoder learns from, and what it is weighed on; a document is in one of the two."""
    learnt: list[Example] = []
    kept: list[Example] = []
    for example in examples:
        back = place("calibration part", seed, example.doc_id) < CALIBRATION_SHARE
        (kept if back else learnt).append(example)
    return learnt, kept


def enough(examples: Sequence[Example]) -> bool:
    """Whether a head can be fitted to these."""
    return len(examples) >= LEAST_QUESTIONS and len({example.answerable for example in examples}) == 2


def fit_words(learnt: Sequence[Example], calibration: Sequence[Example]) -> Stacking:
    """A logistic regression over the words of `learnt`."""
    from sklearn.linear_model import LogisticRegression

    ordered = sorted(learnt, key=lambda example: example.doc_id)  # a document is indexed once
    features = np.array([pair_features(example.text, example.question) for example in ordered])
    labels = np.array([example.answerable for example in ordered])
    mean, scale = features.mean(0), features.std(0)
    scale[scale == 0] = 1.0
    fitted = LogisticRegression(C=INVERSE_PENALTY, max_iter=1000).fit((features - mean) / scale, labels)
    weights = fitted.coef_[0] / scale
    return Stacking(tuple(weights.tolist()), float(fitted.intercept_[0] - weights @ mean), tuple(calibration))


def fit_head(stacking: Stacking, encoder: Sequence[float | None]) -> LexicalHead:
    """Weigh the encoder's log odds and those of the words.

    Args:
        encoder: its probability of each of `stacking.calibration`; None where it could not be asked, which
            counts as even odds.
    """
    from sklearn.linear_model import LogisticRegression

    words = [
        stacking.bias + float(np.dot(stacking.weights, pair_features(e.text, e.question))) for e in stacking.calibration
    ]
    columns = np.column_stack([[0.0 if p is None else log_odds(p) for p in encoder], words])
    fitted = LogisticRegression(C=1.0).fit(columns, [e.answerable for e in stacking.calibration])
    of_encoder, of_words = (float(weight) for weight in fitted.coef_[0])
    weights = {name: of_words * weight for name, weight in zip(FEATURES, stacking.weights, strict=True)}
    return LexicalHead(float(fitted.intercept_[0]) + of_words * stacking.bias, of_encoder, weights)
