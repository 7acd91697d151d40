"""Figures that are not known yet: what is expected, and between what it lies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

SCENARIOS: Final = 3
"""Low, expected, high."""


@dataclass(frozen=True, slots=True)
class Range:
    """What is expected of a figure, and the least and the most that it may be."""

    low: float = 0.0
    mean: float = 0.0
    high: float = 0.0

    @classmethod
    def exactly(cls, value: float) -> Range:
        """A figure that is known."""
        return cls(value, value, value)

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.mean + other.mean, self.high + other.high)

    def times(self, factor: float) -> Range:
        """Each end times `factor`."""
        return Range(self.low * factor, self.mean * factor, self.high * factor)

    def by(self, other: Range) -> Range:
        """The product with another figure, least with least and most with most; both at least 0."""
        return Range(self.low * other.low, self.mean * other.mean, self.high * other.high)

    @property
    def known(self) -> bool:
        """Whether low and high agree."""
        return math.isclose(self.low, self.high, rel_tol=1e-9, abs_tol=1e-9)


@dataclass(frozen=True, slots=True)
class Assumed:
    """A figure that was put in for one that nobody knows yet, and where it comes from."""

    value: Range
    source: str
    """recorded (n 123) | default."""

    @property
    def recorded(self) -> bool:
        return self.source != DEFAULT


DEFAULT: Final = "default"
PRIOR_ROWS: Final = 10


def mean_of(values: list[float]) -> Assumed:
    """Recorded values' mean, with two standard errors to each side; at least one value."""
    n = len(values)
    mean = sum(values) / n
    spread = math.sqrt(sum((value - mean) ** 2 for value in values) / max(1, n - 1)) / math.sqrt(n)
    return Assumed(Range(max(0.0, mean - 2 * spread), mean, mean + 2 * spread), recorded(n))


def share_of(hits: int, n: int, prior: float | None = None) -> Assumed:
    """A recorded share with its Wilson interval (95 %); n at least 1.

    Args:
        prior: the share among all kinds together: a small sample leans towards it, as if `PRIOR_ROWS` more rows had it.
    """
    from statsmodels.stats.proportion import proportion_confint

    low, high = (float(end) for end in proportion_confint(hits, n, method="wilson"))
    mean = hits / n if prior is None else (hits + PRIOR_ROWS * prior) / (n + PRIOR_ROWS)
    return Assumed(Range(min(low, mean), mean, max(high, mean)), recorded(n))


def recorded(n: int) -> str:
    """The source of a figure that comes from `n` recorded rows."""
    return f"recorded (n {n:,})"


class Quota:
    """Draws that come true in exactly their share, evenly spread: every k-th, and no luck in it."""

    def __init__(self) -> None:
        self._due: dict[object, list[float]] = {}

    def draw(self, key: object, share: Range) -> tuple[bool, bool, bool]:
        """Whether it happens, in the low, the expected and the high scenario.

        Args:
            key: what shares of one kind are drawn under.
        """
        due = self._due.setdefault(key, [0.5] * SCENARIOS)
        drawn = []
        for number, part in enumerate((share.low, share.mean, share.high)):
            due[number] += part
            drawn.append(due[number] >= 1.0)
            due[number] -= float(drawn[-1])
        return drawn[0], drawn[1], drawn[2]
