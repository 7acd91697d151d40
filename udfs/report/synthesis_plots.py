"""Plots about synthesis as inline SVG: how candidates fall away from step to step, and how the questions spread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import altair as alt
import polars as pl

from udfs.report.explanations import STEP_NAMES
from udfs.report.plots import PALETTE, as_svg, legend
from udfs.report.synthesis_tables import BY_NAMES, LANGUAGE_NAMES, kinds_in, languages_in
from udfs.report.tables import KIND_NAMES
from udfs.schema import Kind, Step
from udfs.tables.metrics import ALL

ROW_HEIGHT: Final = 22
LETTER: Final = 8
"""Pixels that a letter of a label may take."""
KIND_COLOURS: Final = dict(zip([kind.value for kind in Kind], PALETTE, strict=False))


def funnel(steps: pl.DataFrame) -> str | None:
    """Candidates left after each step, stacked by kind, a panel a language; None where there are none.

    Args:
        steps: `attrition.attrition` by step.
    """
    kinds = kinds_in(steps)
    if not kinds:
        return None
    spoken = [name for name in languages_in(steps) if name != ALL]
    lines = ["proposed", *(STEP_NAMES[step] for step in Step)]
    lines[-1] = "accepted"
    names = [KIND_NAMES[kind] for kind in kinds]
    colours = alt.Scale(domain=names, range=[KIND_COLOURS[kind] for kind in kinds])
    colour = alt.Color("kind:N", scale=colours, legend=legend(names), sort=names)
    charts = []
    for language in spoken:
        data = _left(steps.filter(pl.col("language") == language), kinds)
        ys = alt.Y("step:N", sort=lines, title=None, axis=_names_axis(max(map(len, lines))))
        xs = alt.X("left:Q", title="candidates left", axis=alt.Axis(tickCount=5, format=",d", tickMinStep=1))
        bars = alt.Chart(data).mark_bar(height={"band": 0.72}).encode(y=ys, x=xs, color=colour, order="place:Q")
        sums = data.group_by("step", maintain_order=True).agg(pl.col("left").sum())
        total = alt.Chart(sums).mark_text(align="left", dx=5, fontSize=12, color="currentColor")
        labels = total.encode(y=ys, x=alt.X("left:Q"), text=alt.Text("left:Q", format=",d"))
        charts.append(
            alt.layer(bars, labels).properties(
                width=360 if len(spoken) > 1 else 560, height=ROW_HEIGHT * len(lines), title=LANGUAGE_NAMES[language]
            )
        )
    return as_svg(alt.concat(*charts, columns=2, spacing=40))


def _names_axis(widest: int) -> alt.Axis:
    """An axis of names of at most `widest` letters, with room for them in whatever font the page finds."""
    return alt.Axis(labelLimit=240, ticks=False, domain=False, minExtent=min(240, LETTER * widest))


def _left(steps: pl.DataFrame, kinds: list[str]) -> pl.DataFrame:
    """Columns step, kind, place, left: proposed and what is left after each step."""
    rows: list[dict[str, Any]] = []
    for place, kind in enumerate(kinds):
        parts = steps.filter(pl.col("kind") == kind).to_dicts()
        named = {"kind": KIND_NAMES[kind], "place": place}
        if parts:
            rows.append(named | {"step": "proposed", "left": parts[0]["reached"]})
        for part in parts:
            step = Step(part["stage"])
            name = "accepted" if step is Step.CONSOLE else STEP_NAMES[step]
            rows.append(named | {"step": name, "left": part["remaining"]})
    return pl.DataFrame(rows)


def spreads(distributions: Mapping[str, pl.DataFrame]) -> str | None:
    """Shares of questions by domain, kind, topic and length, a panel each, one colour a language; None without any.

    Args:
        distributions: `stats.distribution` by each column.
    """
    told = {by: frame for by, frame in distributions.items() if frame.height}
    if not told:
        return None
    shown = {by: [_shown(by, value) for value in frame["value"]] for by, frame in told.items()}
    widest = max(len(value) for values in shown.values() for value in values)
    charts = []
    for by, frame in told.items():
        spoken = [name for name in languages_in(frame) if name != ALL]
        names = [LANGUAGE_NAMES[name] for name in spoken]
        order = list(dict.fromkeys(shown[by]))
        data = frame.with_columns(pl.Series("value", shown[by]), language=pl.col("language").replace(LANGUAGE_NAMES))
        data = data.filter(pl.col("language").is_in(names)).select("value", "language", share=100 * pl.col("share"))
        ys = alt.Y("value:N", sort=order, title=None, axis=_names_axis(widest))
        xs = alt.X("share:Q", title="share, %", axis=alt.Axis(tickCount=5))
        colours = alt.Scale(domain=names, range=list(PALETTE[: len(names)]))
        bars = alt.Chart(data).mark_bar(height={"band": 0.8})
        charts.append(
            bars.encode(
                y=ys,
                yOffset=alt.YOffset("language:N", sort=names),
                x=xs,
                color=alt.Color("language:N", scale=colours, legend=legend(names)),
            ).properties(
                width=300, height=max(44, ROW_HEIGHT * len(order) * (1 if len(names) < 2 else 1.3)), title=BY_NAMES[by]
            )
        )
    return as_svg(alt.concat(*charts, columns=2, spacing=40))


def _shown(by: str, value: str) -> str:
    return KIND_NAMES.get(value, value) if by == "kind" else value
