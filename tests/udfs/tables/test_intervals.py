from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap

from udfs.tables.intervals import Estimate, Floats, mean_estimate, ratio_estimate, seed_of

COUNTS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=40)


@settings(max_examples=60, deadline=None)
@given(COUNTS, st.integers(0, 2**32 - 1))
def test_ratio_any_documents_interval_contains_the_value(counts: list[tuple[int, int]], seed: int) -> None:
    den = np.array([max(pair) for pair in counts], dtype=np.float64)
    num = np.array([min(pair) for pair in counts], dtype=np.float64)
    estimate = ratio_estimate(num, den, 100, seed)
    if not den.sum():
        assert estimate == Estimate(None)
        return
    assert estimate.value == pytest.approx(num.sum() / den.sum())
    shares = set((num[den > 0] / den[den > 0]).tolist())
    if (den > 0).sum() < 2 or (len(shares) == 1 and 0 < num.sum() < den.sum()):
        assert estimate.low is None
    else:
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.value is not None
        assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
        assert estimate.high > estimate.low


def test_ratio_resamples_documents_and_not_questions() -> None:
    """Ten documents whose ten questions are all right or all wrong: as uncertain as ten draws, not as a hundred."""
    num = np.array([10.0, 0.0] * 5)
    den = np.full(10, 10.0)
    estimate = ratio_estimate(num, den, 4000, 0)
    assert estimate.low is not None
    assert estimate.high is not None
    assert estimate.low == pytest.approx(0.2, abs=0.1)
    assert estimate.high == pytest.approx(0.8, abs=0.1)


def test_ratio_all_right_gives_wilson_over_documents_and_not_certainty() -> None:
    estimate = ratio_estimate(np.full(12, 3.0), np.full(12, 3.0), 200, 0)
    assert estimate.value == 1.0
    assert estimate.low == pytest.approx(0.7575, abs=1e-3)
    assert estimate.high == 1.0


def test_ratio_same_partial_share_in_every_document_has_no_interval() -> None:
    estimate = ratio_estimate(np.full(20, 4.0), np.full(20, 9.0), 200, 0)
    assert estimate.value == pytest.approx(4 / 9)
    assert (estimate.low, estimate.high) == (None, None)


def test_ratio_all_wrong_gives_wilson_over_documents() -> None:
    estimate = ratio_estimate(np.zeros(12), np.full(12, 3.0), 200, 0)
    assert (estimate.value, estimate.low) == (0.0, 0.0)
    assert estimate.high == pytest.approx(1 - 0.7575, abs=1e-3)


def test_ratio_documents_outside_the_denominator_change_nothing() -> None:
    num, den = np.array([1.0, 2.0, 0.0]), np.array([2.0, 2.0, 1.0])
    padded = ratio_estimate(np.append(num, [0.0, 0.0]), np.append(den, [0.0, 0.0]), 300, 5)
    plain = ratio_estimate(num, den, 300, 5)
    assert (padded.value, padded.low, padded.high) == (plain.value, plain.low, plain.high)


def test_ratio_difference_without_variation_has_no_interval() -> None:
    assert ratio_estimate(np.zeros(5), np.ones(5), 100, 0, proportion=False).low is None


def test_mean_with_an_undefined_part_is_undefined() -> None:
    part = ratio_estimate(np.array([1.0, 0.0]), np.array([1.0, 1.0]), 100, 0)
    assert mean_estimate([part, Estimate(None)]).value is None


def test_mean_of_independent_parts_is_narrower_than_each() -> None:
    rng = np.random.default_rng(3)
    parts = [
        ratio_estimate(rng.integers(0, 2, 40).astype(float), np.ones(40), 1000, seed_of(0, name)) for name in "abcd"
    ]
    mean = mean_estimate(parts)
    assert mean.low is not None
    assert mean.high is not None
    widths = [(part.high or 0) - (part.low or 0) for part in parts]
    assert mean.high - mean.low < 0.7 * min(widths)


def test_hundred_thousand_documents_stay_within_memory_and_time() -> None:
    den = np.ones(100_000)
    num = (np.arange(100_000) % 3 == 0).astype(float)
    estimate = ratio_estimate(num, den, 200, 0)
    assert estimate.low is not None
    assert 0.32 < estimate.low < 1 / 3


def test_ratio_interval_agrees_with_the_one_scipy_draws() -> None:
    rng = np.random.default_rng(11)
    den = rng.integers(1, 9, 80).astype(float)
    num = rng.binomial(den.astype(int), 0.7).astype(float)

    def ratio(num: Floats, den: Floats, axis: int) -> Floats:
        return np.asarray(num.sum(axis=axis) / den.sum(axis=axis))

    theirs = bootstrap((num, den), ratio, paired=True, method="percentile", n_resamples=8000, rng=1).confidence_interval
    ours = ratio_estimate(num, den, 8000, 1)
    assert ours.low == pytest.approx(theirs.low, abs=0.006)
    assert ours.high == pytest.approx(theirs.high, abs=0.006)
