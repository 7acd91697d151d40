"""Tokens as engine hours and money: how fast an engine is, how long it waits, what spot nodes cost on top."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from udfs.engines.config import ModelConfig, Throughput
from udfs.planning.assumptions import UTILISED
from udfs.planning.ranges import DEFAULT, Assumed, Range, mean_of
from udfs.tables.costs import OUTPUT_WEIGHT

SHAPE = ("tensor_parallel_size", "actor_gpus")
"""Keys of the cluster config that decide how fast one engine is."""


@dataclass(frozen=True)
class Speed:
    """How fast one engine is, and where that is known from.

    Args:
        start: seconds until an engine that starts has its weights.
        utilised: busy ÷ busy and idle time, the best first.
    """

    rates: Throughput | None
    source: str
    start: Assumed
    utilised: Assumed

    def busy_seconds(self, computed: Range, output: Range) -> Range | None:
        """Of all engines together; None where nobody knows how fast they are."""
        if self.rates is None:
            return None
        prompt = computed.times(1 / self.rates.prompt_tokens_per_second)
        return prompt + output.times(1 / self.rates.output_tokens_per_second)

    def held_seconds(self, busy: Range, engines: int) -> Range:
        """What is paid for: engines that start, work and wait."""
        share = self.utilised.value
        waited = Range(busy.low / share.low, busy.mean / share.mean, busy.high / share.high)
        return waited + self.start.value.times(engines)


def speed_of(config: ModelConfig, runs: pl.DataFrame, cluster: Mapping[str, Any], start_s: float) -> Speed:
    """By `model.throughput`, else by what recorded stages of the model on engines of the same shape took.

    Args:
        runs: rows of the runs table.
        cluster: the cluster config, as plain keys.
        start_s: `cluster.engine_start_s`, where no start is recorded.
    """
    known = _same_shape(runs.filter((pl.col("model") == config.name) & (pl.col("busy_seconds") > 0)), cluster)
    starts = [
        engine["loaded_at"] - engine["started_at"]
        for text in known["engines"].drop_nulls()
        for engine in json.loads(text)
    ]
    start = mean_of(starts) if starts else Assumed(Range.exactly(start_s), "cluster.engine_start_s")
    utilised = Assumed(UTILISED, DEFAULT)
    if not known.height:
        rates, source = config.throughput, "model.throughput"
        return Speed(rates, source if rates else "unknown", start, utilised)
    busy, idle = float(known["busy_seconds"].sum()), float(known["idle_seconds"].sum())
    share = busy / (busy + idle)
    measured = f"recorded ({known.height} stages)"
    utilised = Assumed(Range(1.0, share, min(share, UTILISED.high)), measured)
    if config.throughput is not None:
        return Speed(config.throughput, "model.throughput", start, utilised)
    computed = int(known["prompt_tokens"].sum()) - int(known["cached_tokens"].sum())
    rate = (computed + OUTPUT_WEIGHT * int(known["output_tokens"].sum())) / busy
    rates = Throughput(prompt_tokens_per_second=rate, output_tokens_per_second=rate / OUTPUT_WEIGHT)
    return Speed(rates, f"{measured}; an output token taken for {OUTPUT_WEIGHT:g} prompt tokens", start, utilised)


def _same_shape(runs: pl.DataFrame, cluster: Mapping[str, Any]) -> pl.DataFrame:
    def fits(text: str) -> bool:
        had = json.loads(text).get("cluster", {})
        return all(had.get(key) == cluster[key] for key in SHAPE)

    return runs.filter(pl.Series([fits(text) for text in runs["config"]], dtype=pl.Boolean))


@dataclass(frozen=True)
class Spot:
    """What is lost when nodes vanish.

    Args:
        preemptions: of one engine in an hour.
        lost_seconds: of engine time with each: a new engine's start, and half of the work that was in flight.
    """

    preemptions: float
    lost_seconds: float

    def held_hours(self, hours: Range) -> Range:
        """`hours` of engines, with what is lost on top."""
        return hours.times(1 + self.preemptions * self.lost_seconds / 3600)
