"""Tables about the run: its dialogues, what became of its responses, which differences hold, what it cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import polars as pl

from udfs.report.grid import Cell, Grid, Row, percent
from udfs.report.lookup import Lookup, viewer_link
from udfs.tables.facts import RunFacts, StageFacts
from udfs.tables.metrics import EXPECTED, MEASURES

MEASURE_NAMES: Final = dict(zip(MEASURES, ("detection", "answer consistency", "response class"), strict=True))


def dialogue(found: Lookup) -> Grid:
    """How often a refusal came with a new question, and how many turns a dialogue took."""
    rows = []
    for row in found.rows("turns.mean"):
        turns = found.cell(row, "turns.mean")
        cells = (
            found.cell(row, "reformulation.rate"),
            found.cell(row, "reformulation.rate_couldask"),
            Cell(turns.value, turns.low, turns.high, turns.n, turns.coverage, "number"),
        )
        rows.append(Row(found.labels(row), cells, link=viewer_link(row, said="refused")))
    columns = (("", "new question after a refusal"), ("", "by CouldAsk's cut"), ("", "turns"))
    labels = tuple("detector" if name == "judge" else name for name in found.label_names())
    return Grid("Reformulation", labels, columns, tuple(rows)).trimmed()


def statuses(found: Lookup, names: Sequence[str]) -> Grid:
    """What became of the responses that were expected: recorded ones by status, and those not recorded."""
    rows = []
    for row in found.rows(EXPECTED):
        planned = found.cell(row, EXPECTED)
        recorded = planned.n or 0
        missing = None if planned.value is None else float(planned.value) - recorded
        shares = [found.cell(row, metric) for metric in (*(f"status.{name}" for name in names), "turns.cut_rate")]
        counts = [planned.value, missing, recorded, *(round(float(share.value or 0) * recorded) for share in shares)]
        cells = tuple(Cell(count, unit="integer") for count in counts)
        rows.append(Row(found.labels(row)[:-1], cells, link=viewer_link(row) if recorded else ""))
    columns = ("expected", "not recorded", "recorded", *names, "cut at max_tokens")
    return Grid("Statuses", found.label_names()[:-1], tuple(("", name) for name in columns), tuple(rows))


def differences(compared: pl.DataFrame, measure: str, judge: str) -> Grid:
    """Paired differences with McNemar's test, by one judge's verdicts of one measure."""
    told = compared.filter((pl.col("measure") == measure) & (pl.col("judge") == judge))
    labels = ("dataset", "within", *(("layout",) if compared["layout"].n_unique() > 1 else ()), "a", "b")
    rows = []
    for row in told.sort("dataset", "compared", "model", "method", "a", "b").iter_rows(named=True):
        named: dict[str, Any] = row | {"within": row["model"] or row["method"]}
        basis: dict[str, Any] = {"n": row["pairs"], "coverage": row["coverage"]}
        cells = (
            Cell(row["difference"], row["ci_low"], row["ci_high"], unit="points", **basis),
            Cell(row["accuracy_a"], row["a_low"], row["a_high"], **basis),
            Cell(row["accuracy_b"], row["b_low"], row["b_high"], **basis),
            Cell(row["only_a"], unit="integer"),
            Cell(row["only_b"], unit="integer"),
            Cell(row["p_value"], unit="p"),
            Cell(row["p_holm"], unit="p"),
        )
        rows.append(Row(tuple(str(named[name]) for name in labels), cells))
    columns = ("a − b, points", "a, %", "b, %", "only a right", "only b right", "p (McNemar)", "p (Holm)")
    title = f"Accuracy of {MEASURE_NAMES[measure]}, judge {judge}: paired differences"
    return Grid(title, labels, tuple(("", name) for name in columns), tuple(rows))


def costs(facts: RunFacts, title: str = "Totals over the starts of this run") -> Grid:
    """Tokens, seconds and money of the run's starts; judges that ran on stages of their own, and synthesis, apart."""
    parts = (("asking", facts.dialogues), ("judging apart", facts.judging), ("making questions", facts.synthesis))
    stages = [(name, stage) for name, stage in parts if stage.seconds] or list(parts[:1])

    def line(name: str, values: Sequence[str]) -> Row:
        return Row((name,), tuple(Cell(value, unit="text") for value in values))

    told = [_told(stage) for _, stage in stages]
    rows = tuple(line(name, [values[name] for values in told]) for name in told[0])
    return Grid(title, ("fact",), tuple(("", name) for name, _ in stages), rows)


def _told(stage: StageFacts) -> dict[str, str]:
    reuse = stage.computed_over_bound
    return {
        "seconds": f"{stage.seconds:,.1f}",
        "prompt tokens": f"{stage.prompt_tokens:,}",
        "of these from cache": f"{stage.cached_tokens:,} ({percent(stage.cached_share)})",
        "output tokens": f"{stage.output_tokens:,}",
        "bound (distinct prefix tokens)": "–" if stage.bound_tokens is None else f"{stage.bound_tokens:,}",
        "computed ÷ bound": "–" if reuse is None else f"{reuse:.3f}",
        "GPU hours": f"{stage.gpu_hours:,.3f}",
        "cost": f"{stage.usd:,.2f} USD" if stage.usd else "none recorded",
        "engines busy, seconds": seconds(stage.busy_seconds),
        "engines idle, seconds": seconds(stage.idle_seconds),
        "tail, seconds": seconds(stage.tail_seconds),
    }


def seconds(value: float | None) -> str:
    """Seconds as words, "–" where nobody told."""
    return "–" if value is None else f"{value:,.1f}"


def engines(facts: RunFacts) -> Grid:
    """What each engine did: loaded, busy, idle, and without work while others went on."""
    rows = [
        Row(
            (f"{one.started_at:%Y-%m-%d %H:%M:%S}", one.stage, str(number)),
            (
                Cell(seconds(one.loading), unit="text"),
                Cell(seconds(one.busy), unit="text"),
                Cell(seconds(one.idle), unit="text"),
                Cell(percent(one.busy / (one.busy + one.idle)) if one.busy + one.idle else "–", unit="text"),
                Cell(seconds(one.waited), unit="text"),
                Cell(one.requests, unit="integer"),
            ),
        )
        for number, one in enumerate(facts.engines, 1)
    ]
    columns = ("loading, s", "busy, s", "idle, s", "busy, %", "without work at the end, s", "requests")
    title = "Engines: seconds with at least one request in flight, and without"
    return Grid(title, ("stage began (UTC)", "model", "engine"), tuple(("", name) for name in columns), tuple(rows))


def cell_costs(costs: pl.DataFrame) -> Grid:
    """Tokens, hours and money of each cell, and by 1,000 questions (`udfs.tables.costs`)."""
    paid = float(costs["usd"].sum()) > 0
    layouts = ("layout",) if costs["layout"].n_unique() > 1 else ()
    labels = ("dataset", "model", "method", *layouts)
    rows = []
    for row in costs.sort("dataset", "model", "method", "layout").iter_rows(named=True):
        thousands = max(row["questions"], 1) / 1000
        figures = [
            f"{row['questions']:,}",
            f"{row['computed_tokens'] or 0:,.0f}",
            f"{row['output_tokens'] or 0:,}",
            f"{row['gpu_hours'] or 0:,.3f}",
            f"{(row['gpu_hours'] or 0) / thousands:,.3f}",
        ]
        money = [f"{row['usd'] or 0:,.2f}", f"{(row['usd'] or 0) / thousands:,.2f}"] if paid else ["–", "–"]
        cells = tuple(Cell(text, unit="text") for text in (*figures, *money))
        rows.append(Row(tuple(str(row[name]) for name in labels), cells))
    columns = (
        "questions", "computed tokens", "output tokens", "GPU hours", "GPU hours per 1,000 questions", "USD",
        "USD per 1,000 questions",
    )  # fmt: skip
    return Grid("What each cell cost", labels, tuple(("", name) for name in columns), tuple(rows))


def _short(version: str) -> str:
    """A commit by its first digits; that there were changes stays."""
    commit, *changes = version.split("+")
    return "+".join([commit if commit.startswith("code.") else commit[:12], *changes])


def origins(facts: RunFacts) -> Grid:
    """What made the numbers: starts, code, config, versions."""
    without = f" (stages without an end, whose totals are missing: {facts.without_end})" if facts.without_end else ""
    lines = [
        ("starts", f"{facts.starts}{without}"),
        ("errors of starts", "; ".join(facts.errors) or "none"),
        ("code", ", ".join(map(_short, facts.git_commits)) or "not recorded"),
        ("config", ", ".join(digest[:12] for digest in facts.config_hashes)),
        ("versions", ", ".join(f"{name} {version}" for name, version in sorted(facts.versions.items()))),
    ]
    rows = tuple(Row((name,), (Cell(value, unit="text"),)) for name, value in lines)
    return Grid("What ran", ("fact",), (("", "value"),), rows)
