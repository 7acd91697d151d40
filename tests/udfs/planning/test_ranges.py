"""Shares that come true exactly, and figures with their ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.planning.ranges import Quota, Range, mean_of, share_of


@given(st.floats(0, 1), st.integers(1, 400))
def test_quota_draws_its_share_to_within_one(share: float, n: int) -> None:
    quota = Quota()
    drawn = [quota.draw("k", Range(0.0, share, 1.0)) for _ in range(n)]
    assert abs(sum(mean for _, mean, _ in drawn) - share * n) <= 1
    assert not any(low for low, _, _ in drawn)
    assert all(high for _, _, high in drawn)


def test_quota_of_each_kind_is_its_own() -> None:
    quota = Quota()
    half = Range.exactly(0.5)
    assert [quota.draw(key, half)[1] for key in "abab"] == [True, True, False, False]


def test_recorded_figures_lie_within_their_ends_and_say_how_many_they_are_of() -> None:
    mean, share = mean_of([10.0, 20.0, 30.0]), share_of(3, 10)
    assert mean.value.low < mean.value.mean == 20.0 < mean.value.high
    assert share.value.low < 0.3 < share.value.high
    assert share.value.mean == pytest.approx(0.3)
    assert (mean.source, share.source) == ("recorded (n 3)", "recorded (n 10)")
    assert mean_of([7.0]).value.known
