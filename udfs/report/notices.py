"""The lines that head a report: what a reader must know before believing a number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from udfs.review.curated import Curation
from udfs.schema import PERMANENT, Fate, Status
from udfs.tables.facts import RunFacts, Unfinished
from udfs.tables.metrics import EXPECTED
from udfs.tables.selection import Synthesis

SCRIPTED: Final = "scripted"
SCRIPTED_WARNING: Final = "scripted engine: not a measurement of a model"
CELLS_NAMED: Final = 3
"""Incomplete cells that are named in one line; the table of statuses has all."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How much lies behind the report."""

    responses: int
    questions: int
    documents: int
    superseded: int = 0  # older responses to the same question in the same cell, left out
    superseded_judgements: int = 0  # older judgements of the same response by the same judge, left out


def is_scripted(model: str) -> bool:
    """Whether a model's name stands for the scripted engine."""
    return model == SCRIPTED or model.startswith((f"{SCRIPTED}-", f"{SCRIPTED}:", f"{SCRIPTED}/"))


def notices(metrics: pl.DataFrame, facts: RunFacts, counts: Counts) -> tuple[str, ...]:
    """The lines, gravest first: scripted engines, what is missing, starts that did not end, what was left out."""
    return (
        *_scripted(sorted(set(metrics["model"]))),
        *_missing(metrics.filter(pl.col("metric") == EXPECTED)),
        *_to_ask_again(metrics),
        *(_not_ended(stage) for stage in facts.unfinished),
        *_superseded(counts),
    )


def synthesis_notices(synthesis: Synthesis, alone: bool) -> tuple[str, ...]:
    """The lines about one synthesised dataset, gravest first.

    Args:
        alone: the report is of this dataset only, so its name goes without saying.
    """
    of = "" if alone else f" of dataset {synthesis.dataset}"
    scripted = [f"{SCRIPTED_WARNING}{'' if alone else f' (the questions{of})'}"]
    return (
        *(scripted if any(is_scripted(model) for model in synthesis.models) else ()),
        *_candidates_to_ask_again(synthesis, of),
        *(_not_ended(stage) for stage in synthesis.facts.unfinished),
        *_not_handed_over(synthesis, of),
        *_other_specs(synthesis, of),
    )


def curation_notices(curation: Curation) -> tuple[str, ...]:
    """The lines about one curated dataset: whose questions are scripted."""
    by = " ".join(curation.about.get(name, "").split(" ")[0] for name in ("generator", "checker")).split()
    scripted = any(is_scripted(model) for model in by)
    return (f"{SCRIPTED_WARNING} (the questions of dataset {curation.dataset})",) if scripted else ()


def _candidates_to_ask_again(synthesis: Synthesis, of: str) -> Iterator[str]:
    rows = synthesis.candidates.filter(pl.col("fate") == Fate.PROVIDER_ERROR).height
    if rows:
        yield (
            f"recorded as {Fate.PROVIDER_ERROR.value}: {rows:,} candidates{of}; they are undecided, and the same "
            "command started again proposes them again"
        )


def _not_handed_over(synthesis: Synthesis, of: str) -> Iterator[str]:
    if synthesis.questions.height != synthesis.accepted:
        yield (
            f"{synthesis.accepted:,} candidates{of} are accepted, and the questions table holds "
            f"{synthesis.questions.height:,} questions of it: a start has not come to its end, or documents or "
            "twins of candidates are gone; the same command started again says which"
        )


def _other_specs(synthesis: Synthesis, of: str) -> Iterator[str]:
    if synthesis.left_out:
        told = [f"{spec[:12]} ({rows:,})" for spec, rows in list(synthesis.left_out.items())[:CELLS_NAMED]]
        more = ", …" if len(synthesis.left_out) > CELLS_NAMED else ""
        (spec,) = set(synthesis.candidates["spec"])
        yield (
            f"{sum(synthesis.left_out.values()):,} candidates{of} that were made in another way are left out "
            f"({', '.join(told)}{more}): model, prompts or settings changed; shown is the newest way, {spec[:12]}"
        )


def _scripted(models: Sequence[str]) -> Iterator[str]:
    scripted = [name for name in models if is_scripted(name)]
    if scripted:
        yield SCRIPTED_WARNING + ("" if len(scripted) == len(models) else f" (rows of {', '.join(scripted)})")


def _missing(cells: pl.DataFrame) -> Iterator[str]:
    known = cells.filter(pl.col("value").is_not_null())
    expected, recorded = int(known["value"].sum()), int(known["n"].sum())
    if recorded < expected:
        part = known.filter(pl.col("n") < pl.col("value")).sort("coverage", "model", "method", "layout", "dataset")
        told = [
            f"{row['model']} · {row['method']} on {row['dataset']} {row['n']:,} of {row['value']:,.0f}"
            for row in part.head(CELLS_NAMED).iter_rows(named=True)
        ]
        more = f"; {part.height - CELLS_NAMED:,} more under statuses" if part.height > CELLS_NAMED else ""
        yield (
            f"incomplete: {expected - recorded:,} of {expected:,} expected responses are not recorded "
            f"({'; '.join(told)}{more}); numbers are over those that are, and coverage counts the others"
        )
    unknown = cells.filter(pl.col("value").is_null())
    if unknown.height:
        yield (
            f"how many responses were expected is not stored for {', '.join(sorted(set(unknown['model'])))}: "
            "coverage is there over recorded responses alone"
        )


def _to_ask_again(metrics: pl.DataFrame) -> Iterator[str]:
    again = [str(status) for status in Status if status not in PERMANENT]
    shares = metrics.filter(pl.col("metric").is_in([f"status.{name}" for name in again]))
    rows = round(float((shares["value"] * shares["n"]).sum()))
    if rows:
        yield (
            f"recorded as {' or '.join(again)}: {rows:,} responses; they count against coverage, and the same command "
            "started again asks for them"
        )


def _not_ended(stage: Unfinished) -> str:
    names = {"evaluate": "model", "synthesize": "synthesis by"}
    who = f"{names.get(stage.job, 'judge')} {stage.model}"
    how = {"running": "has not ended: it still runs or was killed", "stopped": "was stopped"}.get(
        stage.status, f"ended as {stage.status}"
    )
    error = f": {stage.error}" if stage.error else ""
    return f"the newest start of {who} ({stage.started_at:%Y-%m-%d %H:%M} UTC) {how}{error}"


def _superseded(counts: Counts) -> Iterator[str]:
    if counts.superseded:
        yield (
            f"{counts.superseded:,} older responses to the same questions in the same cells are left out: prompts, "
            "weights or settings changed under this run's name"
        )
    if counts.superseded_judgements:
        yield (
            f"{counts.superseded_judgements:,} older judgements of the same responses by the same judges are left "
            "out: a judge's prompt, context, sampling or rules changed under this run's name"
        )
