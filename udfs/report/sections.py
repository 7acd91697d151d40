"""The report put together: what each part shows, said so that a newcomer can read it, with its tables and plots."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import polars as pl

from udfs.report import (
    curation_tables,
    plots,
    reformulation_sections,
    run_tables,
    synthesis_sections,
    tables,
    training_sections,
    validation_tables,
)
from udfs.report.explanations import says
from udfs.report.grid import FEW, Grid, Report, Section
from udfs.report.lookup import ACCURACY, Lookup, main_judge, method_rank
from udfs.report.notices import Counts, curation_notices, notices, synthesis_notices
from udfs.review.curated import Curation
from udfs.schema import Status
from udfs.tables.facts import RunFacts
from udfs.tables.metrics import ALL
from udfs.tables.selection import Reviews, Synthesis
from udfs.tables.validation import Validation


def build_report(
    run: str,
    metrics: pl.DataFrame,
    compared: pl.DataFrame,
    facts: RunFacts,
    counts: Counts,
    now: datetime,
    syntheses: Sequence[Synthesis] = (),
    reviews: Reviews | None = None,
    resamples: int = 1000,
    seed: int = 0,
    models: pl.DataFrame | None = None,
    examples: pl.DataFrame | None = None,
    curations: Sequence[Curation] = (),
    validation: Validation | None = None,
) -> Report:
    """The report of one run of `jobs.evaluate`.

    Args:
        metrics: rows of the metrics table of this run.
        compared: `udfs.tables.comparisons.comparisons`.
        facts: totals of the run's starts.
        counts: what lies behind it.
        now: when it is made.
        syntheses: how those of its datasets that were synthesised came to be.
        reviews: what people said of its questions and judgements.
        resamples, seed: of the documents, for the intervals of attrition.
        models: rows of the models table, of the classifiers that judged.
        examples: `udfs.tables.span_examples.span_examples`.
        curations: how those of its datasets that were curated came to be.
        validation: how far the measures agree with people.
    """
    found = Lookup(metrics)
    sections = [
        _detection(found),
        _consistency(found),
        _length(found),
        _classes(found),
        _reformulation(found),
        *reformulation_sections.reformulation_sections(found, examples),
        *([validation_tables.validation_section(validation)] if validation else []),
        *([training_sections.training_section(models)] if models is not None else []),
        _differences(found, compared),
        _statuses(found),
        _facts(facts),
        *synthesis_sections.synthesis_sections(syntheses, False, resamples, seed),
        *curation_tables.curation_sections(curations, False, resamples, seed),
        *([synthesis_sections.review_section(reviews)] if reviews else []),
    ]
    made = [(f"made: {one.dataset}", synthesis_sections.accepted(one)) for one in syntheses]
    return Report(
        run=run,
        title="Questions that the document cannot answer",
        made_at=now.strftime("%Y-%m-%d %H:%M UTC"),
        summary=(*_summary(run, metrics, facts, counts), *made),
        warnings=_warnings(notices(metrics, facts, counts), syntheses, curations),
        sections=_filled(sections),
        legend=LEGEND,
    )


def build_synthesis_report(
    synthesis: Synthesis, reviews: Reviews, now: datetime, resamples: int = 1000, seed: int = 0
) -> Report:
    """The report of a run of `jobs.synthesize`, which has no responses; arguments as of `build_report`."""
    return Report(
        run=synthesis.dataset,
        title="Questions made from documents",
        made_at=now.strftime("%Y-%m-%d %H:%M UTC"),
        summary=(("run", synthesis.dataset), *synthesis_sections.summary(synthesis)),
        warnings=synthesis_notices(synthesis, alone=True),
        sections=_filled(
            [
                *synthesis_sections.synthesis_sections([synthesis], True, resamples, seed),
                synthesis_sections.review_section(reviews),
                _facts(synthesis.facts),
            ]
        ),
        legend=SYNTHESIS_LEGEND,
    )


def build_curation_report(curation: Curation, now: datetime, resamples: int = 1000, seed: int = 0) -> Report:
    """The report of a run of `jobs.curate`, which has no responses; arguments as of `build_report`."""
    return Report(
        run=curation.dataset,
        title="Questions that confuse a model",
        made_at=now.strftime("%Y-%m-%d %H:%M UTC"),
        summary=(("run", curation.dataset), *curation_tables.summary(curation)),
        warnings=curation_notices(curation),
        sections=_filled(curation_tables.curation_sections([curation], True, resamples, seed)),
        legend=CURATION_LEGEND,
    )


def _warnings(told: Sequence[str], syntheses: Sequence[Synthesis], curations: Sequence[Curation]) -> tuple[str, ...]:
    """What is to be known of the run, then of how its datasets came to be."""
    made = [line for one in syntheses for line in synthesis_notices(one, alone=False)]
    return (*told, *made, *(line for one in curations for line in curation_notices(one)))


def _filled(sections: Sequence[Section]) -> tuple[Section, ...]:
    return tuple(section for section in sections if section.grids or section.plots)


def _summary(run: str, metrics: pl.DataFrame, facts: RunFacts, counts: Counts) -> tuple[tuple[str, str], ...]:
    def names(column: str) -> str:
        values = [value for value in metrics[column].unique() if value not in (ALL, "average")]
        return ", ".join(sorted(values, key=method_rank if column == "method" else str))

    reuse = facts.dialogues.computed_over_bound
    return (
        ("run", run),
        ("models", names("model")),
        ("methods", names("method")),
        ("layout", names("layout")),
        ("datasets", names("dataset")),
        ("responses", f"{counts.responses:,} to {counts.questions:,} questions of {counts.documents:,} documents"),
        *((("computed ÷ bound", f"{reuse:.3f}"),) if reuse is not None else ()),
    )


def _some(*grids: Grid) -> tuple[Grid, ...]:
    return tuple(grid for grid in grids if grid.measured)


def _plot(caption: str, svg: str | None) -> tuple[tuple[str, str], ...]:
    return ((caption, svg),) if svg else ()


def _detection(found: Lookup) -> Section:
    judge = main_judge(found.metrics, "detection.f1")
    measured = _some(tables.detection_f1(found), tables.detection_parts(found))
    return Section(
        "detection",
        "Detecting unanswerable questions",
        says("detection"),
        (*measured, tables.published_detection()) if measured else (),
        _plot(f"F1 by prompt method, judge {judge}; bars are 95 % intervals", plots.f1_by_method(found.metrics, judge)),
    )


def _consistency(found: Lookup) -> Section:
    return Section(
        "consistency",
        "Answering consistently with the gold",
        says("consistency"),
        _some(tables.consistency_by_language(found), tables.consistency_by_misleading_kind(found)),
    )


def _length(found: Lookup) -> Section:
    judge = main_judge(found.metrics, ACCURACY)
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


def _classes(found: Lookup) -> Section:
    return Section(
        "classes",
        "How unanswerable questions were met",
        says("classes"),
        _some(tables.response_classes(found)),
    )


def _reformulation(found: Lookup) -> Section:
    return Section(
        "reformulation",
        "Offering another question",
        says("reformulation"),
        _some(run_tables.dialogue(found)),
    )


def _differences(found: Lookup, compared: pl.DataFrame) -> Section:
    measures = (("answer_consistency", ACCURACY), ("refusal", "detection.f1"))
    judges = [(measure, main_judge(found.metrics, metric)) for measure, metric in measures]
    grids = _some(*(run_tables.differences(compared, measure, judge) for measure, judge in judges))
    return Section("differences", "Which differences hold", says("differences"), grids)


def _statuses(found: Lookup) -> Section:
    return Section(
        "statuses",
        "What became of the responses",
        says("statuses"),
        _some(run_tables.statuses(found, [status.value for status in Status])),
    )


def _facts(facts: RunFacts) -> Section:
    if not facts.starts:
        return Section("facts", "Run facts", ())
    cells = (run_tables.cell_costs(facts.costs),) if facts.costs is not None and facts.costs.height else ()
    engines = (run_tables.engines(facts),) if facts.engines else ()
    grids = (run_tables.costs(facts), *cells, *engines, run_tables.origins(facts))
    return Section("facts", "Run facts", says("facts"), grids)


LEGEND: Final = (
    "Each number is a percentage with its 95 % interval (documents drawn anew; none from a single document, or where "
    "every document has the same share, between nothing and all), n rows, and coverage (cov) where rows are missing. "
    "Coverage is over what was to be recorded; in a table split by language, kind or length, and for recall and false "
    "refusals, rows that are not recorded are taken to be spread as the recorded ones are. "
    f"Numbers from fewer than {FEW} rows are marked with °. "
    "Published rows are the papers' own, on other data and with other prompts: a reference, not a target."
)

SYNTHESIS_LEGEND: Final = (
    "Each share is a percentage over n, those lost and accepted with a 95 % interval (documents drawn anew; none from "
    "a single document, or where every document has the same share, between nothing and all). "
    f"Numbers from fewer than {FEW} are marked with °. "
    "Published rows are the papers' own, on other data and with other prompts: a reference, not a target."
)

CURATION_LEGEND: Final = (
    "Shares are percentages over n with a 95 % interval (documents drawn anew; none from a single document). "
    f"Numbers from fewer than {FEW} are marked with °. "
    "Published rows are the paper's own, on other documents: a reference, not a target."
)
