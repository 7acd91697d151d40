"""Tokens as engine hours: whose figures count, and what spot nodes lose."""

from __future__ import annotations

import json

import pytest

from tests.factories import frame, make_run
from udfs.engines.config import ScriptedModel, Throughput
from udfs.planning.hours import Spot, speed_of
from udfs.planning.ranges import Range

CLUSTER = {"tensor_parallel_size": 1, "actor_gpus": 0.0}
CONFIG = json.dumps({"cluster": CLUSTER})
ENGINES = json.dumps([{"started_at": 10.0, "loaded_at": 22.0}, {"started_at": 10.0, "loaded_at": 20.0}])
MEASURED = make_run(
    model="scripted", config=CONFIG, prompt_tokens=3000, cached_tokens=1000, output_tokens=100, busy_seconds=50.0,
    idle_seconds=50.0, engines=ENGINES,
)  # fmt: skip


def test_speed_is_measured_by_recorded_stages_of_engines_of_the_same_shape() -> None:
    other = make_run(number=1, model="scripted", config='{"cluster": {"tensor_parallel_size": 4}}', busy_seconds=1.0)
    speed = speed_of(ScriptedModel(), frame("runs", [MEASURED, other]), CLUSTER, 99.0)
    busy = speed.busy_seconds(Range.exactly(2000), Range.exactly(100))
    assert busy is not None
    assert busy.mean == pytest.approx(50.0), "the same tokens take the same time"
    assert speed.start.value.mean == pytest.approx(11.0)
    assert speed.held_seconds(busy, 2).mean == pytest.approx(100.0 + 22.0)
    assert "recorded (1 stages)" in speed.source


def test_speed_in_the_models_config_stands_before_what_is_recorded() -> None:
    rates = Throughput(prompt_tokens_per_second=100.0, output_tokens_per_second=10.0)
    speed = speed_of(ScriptedModel(throughput=rates), frame("runs", [MEASURED]), CLUSTER, 99.0)
    assert speed.busy_seconds(Range.exactly(1000), Range.exactly(50)) == Range.exactly(15.0)
    assert speed.source == "model.throughput"


def test_speed_that_nobody_knows_gives_no_hours() -> None:
    speed = speed_of(ScriptedModel(), frame("runs", []), CLUSTER, 99.0)
    assert speed.busy_seconds(Range.exactly(1000), Range()) is None
    assert (speed.source, speed.start.value.mean) == ("unknown", 99.0)


def test_spot_adds_what_each_preemption_loses() -> None:
    assert Spot(preemptions=0.1, lost_seconds=360.0).held_hours(Range.exactly(10.0)).mean == pytest.approx(10.1)
    assert Spot(preemptions=0.0, lost_seconds=360.0).held_hours(Range.exactly(10.0)).mean == 10.0
