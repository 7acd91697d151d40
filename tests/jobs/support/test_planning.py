"""How bundles that were not counted are taken to be like their neighbours."""

from __future__ import annotations

import pytest

from jobs.support.planning import nearest, sample, scaled
from udfs.planning.bundles import BundlePlan, Usage
from udfs.planning.ranges import Range


def test_sample_is_spread_over_the_lengths_and_whole_where_it_can_be() -> None:
    assert sample(5, 5) == [0, 1, 2, 3, 4]
    assert sample(100, 4) == [12, 37, 62, 87]
    assert sample(0, 4) == []


def test_nearest_is_of_the_same_dataset_where_one_was_counted() -> None:
    datasets = ["a", "b", "a", "b", "a", "c"]
    assert list(nearest([0, 1, 4], datasets)) == [0, 1, 0, 1, 4, 4]


def test_scaled_bundle_reads_its_own_document_once_and_asks_its_own_questions() -> None:
    usage = Usage(dialogues=4, prompt=Range.exactly(4400), output=Range.exactly(80), computed=Range.exactly(1400))
    plan = BundlePlan(usage, Range.exactly(1400), Range.exactly(1400), {("zs", "d"): usage})
    like, more, longer = (4, 1000, "d"), (8, 1000, "d"), (4, 2000, "d")
    same = scaled(plan, like, like)
    assert (same.usage.prompt, same.usage.computed) == (usage.prompt, usage.computed)
    doubled = scaled(plan, like, more)
    assert doubled.usage.dialogues == 8
    assert doubled.usage.output.mean == 160
    assert doubled.usage.computed.mean == pytest.approx(1000 + 2 * 400), "the document once, each question once"
    assert scaled(plan, like, longer).usage.computed.mean == pytest.approx(2000 + 400)
    assert doubled.cells[("zs", "d")].dialogues == 8
