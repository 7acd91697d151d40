"""The report put together: what each part shows, said so that a newcomer can read it, with its tables and plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import polars as pl

from udfs.report import plots, tables
from udfs.report.explanations import says
from udfs.report.grid import FEW, Cell, Grid, Report, Row, Section, percent
from udfs.schema import Status
from udfs.tables.facts import RunFacts
from udfs.tables.metrics import ALL

SCRIPTED: Final = "scripted"
SCRIPTED_WARNING: Final = "scripted engine: not a measurement of a model"


@dataclass(frozen=True, slots=True)
class Counts:
    """How much lies behind the report."""

    responses: int
    questions: int
    documents: int
    superseded: int = 0  # older responses to the same question in the same cell, left out


def is_scripted(model: str) -> bool:
    """Whether a model's name stands for the scripted engine."""
    return model == SCRIPTED or model.startswith((f"{SCRIPTED}-", f"{SCRIPTED}:", f"{SCRIPTED}/"))


def build_report(
    run: str,
    metrics: pl.DataFrame,
    compared: pl.DataFrame,
    facts: RunFacts,
    counts: Counts,
    now: datetime,
) -> Report:
    """The report of one run.

    Args:
        metrics: rows of the metrics table of this run.
        compared: `udfs.tables.comparisons.comparisons`.
        facts: totals of the run's starts.
        counts: what lies behind it.
        now: when it is made.
    """
    found = tables.Lookup(metrics)
    models = sorted(set(metrics["model"]))
    sections = [
        _detection(found),
        _consistency(found),
        _length(found),
        _classes(found),
        _reformulation(found),
        _differences(found, compared),
        _statuses(found),
        _facts(facts),
    ]
    return Report(
        run=run,
        title="Questions that the document cannot answer",
        made_at=now.strftime("%Y-%m-%d %H:%M UTC"),
        summary=_summary(run, metrics, facts, counts),
        warnings=_warnings(models, facts, counts),
        sections=tuple(section for section in sections if section.grids or section.plots),
    )


def _summary(run: str, metrics: pl.DataFrame, facts: RunFacts, counts: Counts) -> tuple[tuple[str, str], ...]:
    def names(column: str) -> str:
        values = [value for value in metrics[column].unique() if value not in (ALL, "average")]
        return ", ".join(sorted(values, key=tables.method_rank if column == "method" else str))

    reuse = facts.computed_over_bound
    return (
        ("run", run),
        ("models", names("model")),
        ("methods", names("method")),
        ("layout", names("layout")),
        ("datasets", names("dataset")),
        ("responses", f"{counts.responses:,} to {counts.questions:,} questions of {counts.documents:,} documents"),
        *((("computed ÷ bound", f"{reuse:.3f}"),) if reuse is not None else ()),
    )


def _warnings(models: Sequence[str], facts: RunFacts, counts: Counts) -> tuple[str, ...]:
    found = []
    scripted = [name for name in models if is_scripted(name)]
    if scripted:
        others = "" if len(scripted) == len(models) else f" (rows of {', '.join(scripted)})"
        found.append(SCRIPTED_WARNING + others)
    if counts.superseded:
        found.append(
            f"{counts.superseded:,} older responses to the same questions in the same cells are left out: prompts, "
            "weights or settings changed under this run's name"
        )
    found += [f"a start of this run ended with: {error}" for error in facts.errors]
    return tuple(found)


def _some(*grids: Grid) -> tuple[Grid, ...]:
    return tuple(grid for grid in grids if grid.measured)


def _plot(caption: str, svg: str | None) -> tuple[tuple[str, str], ...]:
    return ((caption, svg),) if svg else ()


def _detection(found: tables.Lookup) -> Section:
    judge = tables.main_judge(found.metrics, "detection.f1")
    measured = _some(tables.detection_f1(found), tables.detection_parts(found))
    return Section(
        "detection",
        "Detecting unanswerable questions",
        says("detection"),
        (*measured, tables.published_detection()) if measured else (),
        _plot(f"F1 by prompt method, judge {judge}; bars are 95 % intervals", plots.f1_by_method(found.metrics, judge)),
    )


def _consistency(found: tables.Lookup) -> Section:
    return Section(
        "consistency",
        "Answering consistently with the gold",
        says("consistency"),
        _some(tables.consistency_by_language(found), tables.consistency_by_misleading_kind(found)),
    )


def _length(found: tables.Lookup) -> Section:
    judge = tables.main_judge(found.metrics, tables.ACCURACY)
    return Section(
        "length",
        "Accuracy by document length",
        says("length"),
        _some(tables.consistency_by_length(found)),
        _plot(
            f"Accuracy by document length, judge {judge}; bars are 95 % intervals",
            plots.accuracy_by_length(found.metrics, judge),
        ),
    )


def _classes(found: tables.Lookup) -> Section:
    return Section(
        "classes",
        "How unanswerable questions were met",
        says("classes"),
        _some(tables.response_classes(found)),
    )


def _reformulation(found: tables.Lookup) -> Section:
    return Section(
        "reformulation",
        "Offering another question",
        says("reformulation"),
        _some(tables.dialogue(found)),
    )


def _differences(found: tables.Lookup, compared: pl.DataFrame) -> Section:
    measures = (("answer_consistency", tables.ACCURACY), ("refusal", "detection.f1"))
    judges = [(measure, tables.main_judge(found.metrics, metric)) for measure, metric in measures]
    grids = _some(*(tables.differences(compared, measure, judge) for measure, judge in judges))
    return Section("differences", "Which differences hold", says("differences"), grids)


def _statuses(found: tables.Lookup) -> Section:
    return Section(
        "statuses",
        "What became of the responses",
        says("statuses"),
        _some(tables.statuses(found, [status.value for status in Status])),
    )


def _facts(facts: RunFacts) -> Section:
    if not facts.starts:
        return Section("facts", "Run facts", ())
    reuse = "–" if facts.computed_over_bound is None else f"{facts.computed_over_bound:.3f}"
    cost = f"{facts.usd:,.2f} USD" if facts.usd else "none recorded"
    lines = [
        ("starts", f"{facts.starts}"),
        ("seconds", f"{facts.seconds:,.1f}"),
        ("prompt tokens", f"{facts.prompt_tokens:,}"),
        ("of these from cache", f"{facts.cached_tokens:,} ({percent(facts.cached_share)})"),
        ("output tokens", f"{facts.output_tokens:,}"),
        ("bound (distinct prefix tokens)", "–" if facts.bound_tokens is None else f"{facts.bound_tokens:,}"),
        ("computed ÷ bound", reuse),
        ("GPU hours", f"{facts.gpu_hours:,.3f}"),
        ("cost", cost),
        ("code", ", ".join(commit[:12] for commit in facts.git_commits) or "no git commit recorded"),
        ("config", ", ".join(digest[:12] for digest in facts.config_hashes)),
        ("versions", ", ".join(f"{name} {version}" for name, version in sorted(facts.versions.items()))),
    ]
    rows = tuple(Row((name,), (Cell(value, unit="text"),)) for name, value in lines)
    return Section(
        "facts",
        "Run facts",
        says("facts"),
        (Grid("Totals over the starts of this run", ("fact",), (("", "value"),), rows),),
    )


LEGEND: Final = (
    "Each number is a percentage with its 95 % interval (documents drawn anew; no interval from a single document), "
    f"n rows, and coverage where rows are missing. Numbers from fewer than {FEW} rows are marked with °. "
    "Published rows are the papers' own, on other data and with other prompts: a reference, not a target."
)
