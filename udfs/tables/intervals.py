"""Ninety-five percent intervals of ratios, by a bootstrap over documents.

Questions of one document share its text, so documents are what is drawn anew, with all their questions. Every metric
is a ratio of sums over rows (F1 is 2·tp over 2·tp + fp + fn), so per-document sums are all that has to be resampled.
A document that adds nothing to the denominator is left out of the draw: it moves neither the ratio nor, to first
order, its variance, and no resample is then undefined.

`scipy.stats.bootstrap` gives the same intervals (a test compares them) but draws anew for every call. Here one matrix
of draws, how often each document came up, serves every metric over equally many documents of a dataset, and a
resample is a matrix product: 100,000 responses take seconds instead of minutes.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
from statsmodels.stats.proportion import proportion_confint

Floats = npt.NDArray[np.float64]
LEVEL: Final = 0.95
BATCH_CELLS: Final = 4_000_000
"""Drawn numbers held at once (32 MB an array), whatever the number of documents."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval; nulls where it is undefined. `draws`: the resampled values, shape (resamples,)."""

    value: float | None
    low: float | None = None
    high: float | None = None
    draws: Floats | None = None


def seed_of(seed: int, *names: str) -> int:
    """A seed of its own for each name, so that two datasets with equally many documents are drawn independently."""
    return zlib.crc32("\x1f".join([str(seed), *names]).encode())


@lru_cache(maxsize=4)
def _kept_draws(documents: int, resamples: int, seed: int) -> Floats:
    return _draws(documents, resamples, np.random.default_rng(seed))


def _draws(documents: int, resamples: int, rng: np.random.Generator) -> Floats:
    """How often each document comes up in each resample, shape (resamples, documents)."""
    drawn = rng.integers(0, documents, (resamples, documents))
    drawn += np.arange(resamples)[:, None] * documents
    counts = np.bincount(drawn.ravel(), minlength=resamples * documents)
    return counts.reshape(resamples, documents).astype(np.float64)


def _resampled_sums(sums: Floats, resamples: int, seed: int) -> Floats:
    """Sums over redrawn documents. `sums`: shape (documents, columns); result: (resamples, columns)."""
    documents = len(sums)
    if documents * resamples <= BATCH_CELLS:
        return _kept_draws(documents, resamples, seed) @ sums
    rng, step = np.random.default_rng(seed), max(1, BATCH_CELLS // documents)
    alike, counts = np.unique(sums, axis=0, return_counts=True)
    if len(alike) * resamples <= BATCH_CELLS:  # how often documents of equal sums come up is all that matters
        return rng.multinomial(documents, counts / documents, resamples) @ alike
    sizes = [min(step, resamples - start) for start in range(0, resamples, step)]
    return np.concatenate([_draws(documents, size, rng) @ sums for size in sizes])


def ratio_estimate(num: Floats, den: Floats, resamples: int, seed: int, proportion: bool = True) -> Estimate:
    """The ratio of sums with a percentile bootstrap interval over documents.

    Args:
        num, den: one sum a document, shape (documents,), den >= 0.
        resamples: how often the documents are drawn anew.
        seed: of the draw.
        proportion: the ratio lies in 0..1. Then an interval without width at 0 or 1 (as with 12 of 12 right) is
            replaced by Wilson's with each document as one draw, since it would claim certainty.

    Returns:
        no value where the denominator is zero; no interval where fewer than two documents carry it, or where every
        document has the same share strictly between 0 and 1 (or the same difference): documents then show no spread
        to draw from, and Wilson's would take each of them for all right or all wrong, which none is.
    """
    used = den > 0
    num, den = num[used], den[used]
    if not len(den):
        return Estimate(None)
    value = float(num.sum() / den.sum())
    if len(den) < 2:
        return Estimate(value)
    sums = _resampled_sums(np.column_stack([num, den]), resamples, seed)
    draws = sums[:, 0] / sums[:, 1]
    low, high = (float(q) for q in np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]))
    if high - low < 1e-12:
        if not proportion or 1e-12 < value < 1 - 1e-12:
            return Estimate(value, draws=draws)
        low, high = proportion_confint(round(value) * len(den), len(den), alpha=1 - LEVEL, method="wilson")
    return Estimate(value, min(float(low), value), max(float(high), value), draws)


def statistic_estimate(
    sums: Floats,
    statistic: Callable[[Floats], Floats],
    resamples: int,
    seed: int,
    least: float = 0.0,
    most: float = 1.0,
) -> Estimate:
    """A function of sums over documents that is no ratio, such as Fleiss' κ, with a percentile bootstrap interval.

    Args:
        sums: one row a document, shape (documents, columns).
        statistic: sums of shape (draws, columns) as values of shape (draws,), NaN where undefined.
        least, most: between which the statistic lies.

    Returns:
        no value where it is undefined; no interval from a single document, where the documents show no spread, or where
        more than a twentieth of the draws leave it undefined.
    """
    if not len(sums):
        return Estimate(None)
    value = float(statistic(sums.sum(axis=0, keepdims=True))[0])
    if np.isnan(value):
        return Estimate(None)
    if len(sums) < 2:
        return Estimate(value)
    draws = statistic(_resampled_sums(sums, resamples, seed))
    known = draws[~np.isnan(draws)]
    if len(known) < 0.95 * len(draws):
        return Estimate(value)
    low, high = (float(q) for q in np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]))
    if high - low < 1e-12:
        return Estimate(value)
    return Estimate(value, max(least, min(low, value)), min(most, max(high, value)), draws)


def mean_estimate(parts: Sequence[Estimate]) -> Estimate:
    """The unweighted mean of independent estimates (CouldAsk's average over datasets).

    Undefined as soon as one part is: a missing dataset is not a zero. The interval comes from the parts' draws.
    """
    values = [part.value for part in parts if part.value is not None]
    if not parts or len(values) < len(parts):
        return Estimate(None)
    value = float(np.mean(values))
    lows = [part.low for part in parts if part.low is not None]
    highs = [part.high for part in parts if part.high is not None]
    draws = [part.draws for part in parts if part.draws is not None]
    if len(lows) < len(parts) or len(draws) < len(parts):
        return Estimate(value)
    means = np.mean(np.stack(draws), axis=0)
    low, high = (float(q) for q in np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]))
    if high - low < 1e-12:
        low, high = float(np.mean(lows)), float(np.mean(highs))
    return Estimate(value, min(low, value), max(high, value), means)
