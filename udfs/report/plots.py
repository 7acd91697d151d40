"""Plots as inline SVG. Text and lines take the page's own colour (currentColor), so they read in light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import altair as alt
import polars as pl
import vl_convert

from udfs.report.lookup import METHOD_ORDER, method_rank
from udfs.schema import LENGTH_BUCKETS
from udfs.tables.metrics import ALL, AVERAGE

PALETTE: Final = ("#4c8dd6", "#e08a3c", "#3fa37a", "#c45c7c", "#8d74c9", "#b59b2e", "#5aa9b8", "#9a7760")
JOINT: Final = " · "
DODGE: Final = 0.16
"""Horizontal distance, in categories, between the marks of neighbouring series, so that intervals do not overlap."""


def f1_by_method(metrics: pl.DataFrame, judge: str) -> str | None:
    """Detection F1 by method, a panel a dataset, one colour a model; None where there is nothing to draw."""
    rows = metrics.filter(
        (pl.col("metric") == "detection.f1")
        & (pl.col("judge") == judge)
        & (pl.col("language") == ALL)
        & pl.col("value").is_not_null()
    )
    if not rows.height:
        return None
    found = set(rows["method"])
    methods = [name for name in METHOD_ORDER if name in found] + sorted(found - set(METHOD_ORDER))
    return _dots(_named(rows, "model"), "method", methods, "F1, %", join=False)


def accuracy_by_length(metrics: pl.DataFrame, judge: str) -> str | None:
    """Answer consistency by length bucket, None where there is one bucket only.

    One model: a panel a dataset, one colour a method. Several: a panel a dataset and method, one colour a model.
    """
    rows = metrics.filter(
        (pl.col("metric") == "answer_consistency.accuracy")
        & (pl.col("judge") == judge)
        & (pl.col("language") == ALL)
        & (pl.col("kind") == ALL)
        & (pl.col("length_bucket") != ALL)
        & pl.col("value").is_not_null()
    )
    found = set(rows["length_bucket"])
    if len(found) < 2:
        return None
    buckets = [name for name in LENGTH_BUCKETS if name in found]
    if rows["model"].n_unique() > 1:
        rows = _named(rows.with_columns(panel=pl.concat_str("dataset", "method", separator=JOINT)), "model")
    else:
        rows = _named(rows, "method")
    return _dots(rows, "length_bucket", buckets, "accuracy, %", join=True)


def _named(rows: pl.DataFrame, by: str) -> pl.DataFrame:
    parts = [by, *(["layout"] if rows["layout"].n_unique() > 1 else [])]
    panel = pl.col("panel") if "panel" in rows.columns else pl.col("dataset")
    return rows.with_columns(series=pl.concat_str(parts, separator=JOINT), panel=panel)


def _dots(rows: pl.DataFrame, x: str, order: Sequence[str], title: str, join: bool) -> str:
    names = sorted(rows["series"].unique())
    place = {name: (i - (len(names) - 1) / 2) * min(DODGE, 0.7 / len(names)) for i, name in enumerate(names)}
    data = rows.select(
        "series",
        "panel",
        x=pl.col(x).replace_strict(list(order), list(range(len(order))), return_dtype=pl.Float64)
        + pl.col("series").replace_strict(list(place), list(place.values()), return_dtype=pl.Float64),
        value=100 * pl.col("value"),
        low=100 * pl.col("ci_low"),
        high=100 * pl.col("ci_high"),
    )
    panels = sorted(set(data["panel"]), key=_panel_place)
    labels = " : ".join(f"datum.value == {i} ? {_quoted(name)}" for i, name in enumerate(order)) + " : ''"
    axis = alt.Axis(values=list(range(len(order))), labelExpr=labels, title=None, grid=False, labelAngle=0)
    xs = alt.X("x:Q", axis=axis, scale=alt.Scale(domain=[-0.5, len(order) - 0.5], nice=False))
    colours = alt.Scale(domain=names, range=[PALETTE[i % len(PALETTE)] for i in range(len(names))])
    colour = alt.Color("series:N", scale=colours, legend=legend(names))
    ys = alt.Y("value:Q", scale=alt.Scale(domain=[0, 100]), title=title, axis=alt.Axis(tickCount=5))
    base = alt.Chart().encode(x=xs, color=colour)
    layers = [
        base.mark_rule(strokeWidth=2, opacity=0.55).encode(y=alt.Y("low:Q", title=title), y2="high:Q"),
        base.mark_point(filled=True, size=70, opacity=1).encode(y=ys),
    ]
    if join:
        layers.insert(0, base.mark_line(strokeWidth=1.5, opacity=0.6).encode(y=ys))
    width = max(150, 62 * len(order))
    charts = [
        alt.layer(*layers, data=data.filter(pl.col("panel") == name)).properties(width=width, height=210, title=name)
        for name in panels
    ]
    return as_svg(alt.concat(*charts, columns=max(1, 960 // (width + 60))))


def _panel_place(panel: str) -> tuple[bool, str, str]:
    dataset, _, method = panel.partition(JOINT)
    return dataset == AVERAGE, dataset, method_rank(method)


def _quoted(name: str) -> str:
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"


def legend(names: Sequence[str]) -> alt.Legend | None:
    """A legend below the plot; None where one name says nothing."""
    if len(names) < 2:
        return None
    return alt.Legend(
        title=None, orient="bottom", columns=min(len(names), 3), labelLimit=280, columnPadding=22, symbolOpacity=1
    )


def as_svg(chart: Any) -> str:
    """The chart in the report's style."""
    ink, faint = "currentColor", 0.18
    styled = (
        chart.configure(background="transparent", font="system-ui, sans-serif", padding=4)
        .configure_axis(
            labelColor=ink,
            titleColor=ink,
            gridColor=ink,
            gridOpacity=faint,
            domainColor=ink,
            domainOpacity=0.4,
            tickColor=ink,
            tickOpacity=0.4,
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
            titleAnchor="middle",
        )
        .configure_title(color=ink, fontSize=13, anchor="start", fontWeight="bold")
        .configure_legend(labelColor=ink, titleColor=ink, labelFontSize=12)
        .configure_view(stroke=None)
    )
    return str(vl_convert.vegalite_to_svg(styled.to_dict()))
