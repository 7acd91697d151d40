"""The report's parts about synthesised datasets and manual reviews, and what its head says of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl

from udfs.report import review_tables, run_tables, synthesis_plots, synthesis_tables
from udfs.report.explanations import STEPS_SAY, says
from udfs.report.grid import Grid, Section
from udfs.schema import Language
from udfs.tables import attrition
from udfs.tables.selection import Reviews, Synthesis
from udfs.tables.stats import distribution, split_counts

BY: Final = tuple(synthesis_tables.BY_NAMES)


def synthesis_sections(
    syntheses: Sequence[Synthesis], alone: bool, resamples: int = 1000, seed: int = 0
) -> list[Section]:
    """Two sections a dataset: how its candidates fell away, and what it holds.

    Args:
        alone: the report is of one synthesis, so its name need not stand in every title, nor its costs here.
    """
    sections = []
    for number, synthesis in enumerate(syntheses):
        end = f"-{number + 1}" if len(syntheses) > 1 else ""
        of = "" if alone else f": {synthesis.dataset}"
        sections.append(_attrition(synthesis, f"attrition{end}", of, resamples, seed, costs=not alone))
        sections.append(_dataset(synthesis, f"dataset{end}", of))
    return sections


def _attrition(synthesis: Synthesis, anchor: str, of: str, resamples: int, seed: int, costs: bool) -> Section:
    candidates = synthesis.candidates
    steps = attrition.attrition(candidates, attrition.STEPS, resamples, seed)
    whole = attrition.attrition(candidates, attrition.WHOLE, resamples, seed)
    by_stage = attrition.attrition(candidates, attrition.STAGES, resamples, seed, by_language=False)
    left, lost = synthesis_tables.remaining(steps), synthesis_tables.losses(steps, whole)
    grids = [
        left[0],
        lost[0],
        synthesis_tables.reasons(attrition.reasons(candidates), whole),
        synthesis_tables.stages(by_stage),
        *left[1:],
        *lost[1:],
    ]
    if costs and synthesis.facts.starts:
        grids.append(run_tables.costs(synthesis.facts, "What making the questions cost"))
    svg = synthesis_plots.funnel(steps)
    plots = (("Candidates left after each step", svg),) if svg else ()
    return Section(anchor, f"From candidates to questions{of}", (*says("attrition"), STEPS_SAY), tuple(grids), plots)


def _dataset(synthesis: Synthesis, anchor: str, of: str) -> Section:
    title = f"What the dataset holds{of}"
    documents, questions = synthesis.documents, synthesis.questions
    if not questions.height:
        return Section(anchor, title, ())
    spread = {by: distribution(documents, questions, by) for by in BY}
    grids = (
        synthesis_tables.splits(split_counts(documents, questions)),
        *(synthesis_tables.spread(frame, by) for by, frame in spread.items()),
    )
    svg = synthesis_plots.spreads(spread)
    plots = (("Questions by domain, kind, topic and length of their document", svg),) if svg else ()
    return Section(anchor, title, says("dataset"), grids, plots)


def review_section(reviews: Reviews) -> Section:
    """Quality and agreement by manual review; without grids where nothing was reviewed."""
    grids: list[Grid] = []
    if reviews.questions.height:
        grids += [review_tables.question_quality(reviews.questions), review_tables.agreement(reviews.questions)]
    if reviews.judgements.height:
        grids += [
            review_tables.verdict_quality(reviews.judgements, reviews.measures, measure)
            for measure in ("answer_consistency", "response_class")
        ]
        agreed = review_tables.agreement(reviews.judgements)
        grids.append(Grid("Agreement on verdicts", agreed.labels, agreed.columns, agreed.rows, note=agreed.note))
    return Section("review", "Manual review", says("review"), tuple(grid for grid in grids if grid.measured))


def summary(synthesis: Synthesis) -> tuple[tuple[str, str], ...]:
    """(name, value) facts for the head of a report of one synthesis."""
    candidates, questions = synthesis.candidates, synthesis.questions
    told = candidates.select("doc_id", "language").unique()
    spoken = [(language, told.filter(pl.col("language") == language).height) for language in Language]
    by_language = ", ".join(f"{language.value} {count:,}" for language, count in spoken if count)
    by_split = split_counts(synthesis.documents, questions).filter(pl.col("what") == "examples")
    parts = ", ".join(f"{row['split']} {row['total']:,}" for row in by_split.iter_rows(named=True) if row["total"])
    reuse = synthesis.facts.synthesis.computed_over_bound
    return (
        ("made by", ", ".join(synthesis.models)),
        ("documents", f"{told.height:,} ({by_language}) of {', '.join(sorted(set(candidates['source_dataset'])))}"),
        ("candidates", f"{candidates.height:,} proposed"),
        ("accepted", accepted(synthesis)),
        ("questions", f"{questions.height:,}{f' ({parts})' if parts else ''}"),
        *((("computed ÷ bound", f"{reuse:.3f}"),) if reuse is not None else ()),
    )


def accepted(synthesis: Synthesis) -> str:
    """`456 of 1,234 candidates (37.0 %)`."""
    every = synthesis.candidates.height
    return f"{synthesis.accepted:,} of {every:,} candidates ({100 * synthesis.accepted / every:.1f} %)"
