"""A run's plan for people, as tables on a terminal or in a pipe, and for programs, as JSON."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.table import Table

from jobs.config import ClusterConfig
from jobs.support.planning import RunPlan, StagePlan
from udfs.engines.config import EndpointModel
from udfs.planning.bundles import Usage
from udfs.planning.ranges import Range

NUMBERS = ("dialogues", "second turns", "prompt tokens", "computed", "output tokens")


def show(plan: RunPlan, cluster: ClusterConfig, console: Console) -> None:
    """Print the plan."""
    console.print(
        f"{plan.documents:,} documents with something owed; responses: {plan.expected:,} expected, "
        f"{plan.recorded:,} recorded, {plan.expected - plan.recorded:,} to ask"
    )
    for stage in plan.stages:
        if stage.bundles:
            console.print(_cells(stage, cluster))
            console.print(_about(stage), soft_wrap=True)
    console.print(_totals(plan, cluster))
    console.print(_assumed(plan))
    for note in plan.notes:
        console.print(f"note: {note}", soft_wrap=True)


def _cells(stage: StagePlan, cluster: ClusterConfig) -> Table:
    table = Table(title=f"{stage.label} · {stage.target.name}", title_justify="left")
    for name in ("method", "dataset"):
        table.add_column(name)
    for name in (*NUMBERS, "GPU hours", "USD"):
        table.add_column(name, justify="right")
    for (method, dataset), usage in sorted(stage.cells.items()):
        table.add_row(method, dataset, *_numbers(usage), *_money(stage, usage, cluster))
    table.add_section()
    table.add_row("all", "", *_numbers(stage.usage), *_money(stage, stage.usage, cluster))
    return table


def _numbers(usage: Usage) -> list[str]:
    told = f"{usage.dialogues:,.0f}"
    if usage.over_length:
        told += f" ({usage.over_length:,.0f} over length)"
    return [told, *(f"{one.mean:,.0f}" for one in (usage.second_turns, usage.prompt, usage.computed, usage.output))]


def _money(stage: StagePlan, usage: Usage, cluster: ClusterConfig) -> list[str]:
    """GPU hours and USD of a cell: its share of the engines' time, and what an endpoint charges for it."""
    hours = stage.engine_hours
    if hours is None:
        return ["?" if stage.gpus else "–", "?" if stage.gpus and cluster.gpu_price else f"{usage.usd.mean:,.4f}"]
    gpu_hours = hours.mean * stage.gpus * (1.0 if usage is stage.usage else stage.share(usage))
    return [f"{gpu_hours:,.3f}", f"{usage.usd.mean + gpu_hours * cluster.gpu_price:,.4f}"]


def _about(stage: StagePlan) -> str:
    parts = [f"counted by {stage.target.counted_by}"]
    if stage.counted < stage.bundles:
        parts.append(f"{stage.counted:,} of {stage.bundles:,} bundles were tokenised (plan.documents)")
    if stage.bound.mean:
        parts.append(f"least prompt tokens to compute {stage.bound.mean:,.0f}")
    elif not stage.target.caches:
        parts.append("computed: all but what the endpoint is known to have cached")
    hours = stage.engine_hours
    if hours is None and not isinstance(stage.model, EndpointModel):
        parts.append("speed unknown: give model.throughput, or plan.calibrate=true")
    elif hours is not None:
        wall = hours.times(1 / stage.engines)
        parts.append(f"speed: {stage.speed.source}; about {_time(wall.mean)} on {stage.engines} engines")
    if stage.prices is not None:
        parts.append(f"prices: {stage.prices.source}")
    return "  " + "; ".join(parts)


def _time(hours: float) -> str:
    return f"{hours:,.1f} h" if hours >= 1 else f"{hours * 60:,.1f} min"


def _totals(plan: RunPlan, cluster: ClusterConfig) -> Table:
    table = Table(title="what is still to be spent", title_justify="left")
    table.add_column("")
    for name in ("least", "expected", "most"):
        table.add_column(name, justify="right")
    for name, figure, form in total_rows(plan, cluster):
        table.add_row(
            name, *(("?",) * 3 if figure is None else (form.format(end) for end in dataclasses.astuple(figure)))
        )
    table.add_section()
    before = plan.before
    told = f"{before.tokens:,} tokens, {before.gpu_hours:,.3f} GPU hours, {before.usd:,.4f} USD"
    table.add_row("spent by earlier starts", "", told, "")
    return table


def total_rows(plan: RunPlan, cluster: ClusterConfig) -> Iterator[tuple[str, Range | None, str]]:
    """Name, figure and format of every total."""
    for name in ("prompt", "computed", "output"):
        total = Range()
        for stage in plan.stages:
            total += getattr(stage.usage, name)
        yield f"{name} tokens", total, "{:,.0f}"
    yield "tokens for budget.max_tokens (computed + output)", plan.tokens, "{:,.0f}"
    rate, spot = cluster.preemptions_per_engine_hour, cluster.spot_usd_per_gpu_hour
    yield "GPU hours, on demand", plan.gpu_hours, "{:,.3f}"
    yield f"GPU hours, spot ({rate:g} preemptions an engine hour)", plan.spot_gpu_hours(rate), "{:,.3f}"
    yield f"USD, on demand ({cluster.usd_per_gpu_hour:g} a GPU hour)", plan.usd(cluster.usd_per_gpu_hour), "{:,.4f}"
    if spot is not None:
        yield f"USD, spot ({spot:g} a GPU hour)", plan.usd(spot, rate), "{:,.4f}"
    yield "of these USD, endpoints", plan.endpoint_usd, "{:,.4f}"


def _assumed(plan: RunPlan) -> Table:
    table = Table(title="what nobody knows before", title_justify="left")
    table.add_column("")
    for name in ("least", "taken", "most"):
        table.add_column(name, justify="right")
    table.add_column("from")
    for what, found in sorted(plan.assumed.items()):
        value = found.value
        table.add_row(what, f"{value.low:,.3g}", f"{value.mean:,.3g}", f"{value.high:,.3g}", found.source)
    return table


def as_json(plan: RunPlan, cluster: ClusterConfig) -> str:
    """The plan for programs: totals, stages with their cells, what was assumed."""
    totals = {
        name: None if figure is None else dataclasses.asdict(figure) for name, figure, _ in total_rows(plan, cluster)
    }
    assumed = {what: {**dataclasses.asdict(one.value), "source": one.source} for what, one in plan.assumed.items()}
    whole = {
        "documents": plan.documents,
        "expected_responses": plan.expected,
        "recorded_responses": plan.recorded,
        "spent_before": dataclasses.asdict(plan.before),
        "totals": totals,
        "stages": [_stage_json(stage, cluster) for stage in plan.stages],
        "assumed": assumed,
        "notes": plan.notes,
    }
    return json.dumps(whole, ensure_ascii=False, indent=2)


def _stage_json(stage: StagePlan, cluster: ClusterConfig) -> dict[str, Any]:
    hours = stage.engine_hours
    return {
        "stage": stage.label,
        "model": stage.target.name,
        "counted_by": stage.target.counted_by,
        "bundles": stage.bundles,
        "bundles_counted": stage.counted,
        "bound_tokens": dataclasses.asdict(stage.bound),
        **dataclasses.asdict(stage.usage),
        "engine_hours": None if hours is None else dataclasses.asdict(hours),
        "speed": stage.speed.source,
        "prices": None if stage.prices is None else stage.prices.source,
        "cells": [
            {
                "method": method,
                "dataset": dataset,
                **dataclasses.asdict(usage),
                "gpu_hours": None if hours is None else hours.mean * stage.gpus * stage.share(usage),
            }
            for (method, dataset), usage in sorted(stage.cells.items())
        ],
    }
