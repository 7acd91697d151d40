"""jobs.report: what was recorded → numbers → Markdown in the terminal, a page of numbers, a page of responses.

`python -m jobs.report storage.root=R [run=NAME] ['datasets=[…]'] ['models=[…]']`

    a run of jobs.evaluate:    responses, judgements ─▶ metrics, comparisons ─▶ report, page of responses
    one of jobs.synthesize:    candidates, questions ─▶ attrition, statistics ─▶ report
    one of jobs.curate:        what became of each question, annotations ─▶ funnel, labels, agreement ─▶ report
    both, where a run's dataset was synthesised; annotations ─▶ quality and agreement of manual reviews
"""

from __future__ import annotations

import dataclasses
import sys
from dataclasses import dataclass
from datetime import UTC, datetime

import polars as pl
from rich.console import Console
from rich.markdown import Markdown

from jobs.cli import job
from jobs.config import StorageConfig, require
from udfs.errors import UserError
from udfs.report.files import ReportFolder, write_viewer
from udfs.report.grid import Report
from udfs.report.markdown import to_markdown
from udfs.report.notices import Counts
from udfs.report.page import metrics_page
from udfs.report.sections import build_curation_report, build_report, build_synthesis_report
from udfs.review.curated import curations_of
from udfs.review.entities import tags_of
from udfs.tables.comparisons import comparisons
from udfs.tables.costs import cell_costs
from udfs.tables.expected import planned_cells
from udfs.tables.facts import run_facts
from udfs.tables.metrics import metrics
from udfs.tables.observations import DOCUMENT_COLUMNS, latest, latest_judgements, response_rows
from udfs.tables.selection import chosen, classifiers_of, reviews_of, synthesis_of, which_run
from udfs.tables.span_examples import span_examples
from udfs.tables.store import Store
from udfs.tables.validation import validation_of


@dataclass(frozen=True)
class ReportConfig:
    """`jobs.report`: which run, which part of it, how much of it is shown."""

    storage: StorageConfig
    run: str | None
    datasets: tuple[str, ...]
    models: tuple[str, ...]
    published: bool
    resamples: int
    seed: int
    viewer_responses: int
    excerpt_chars: int

    def __post_init__(self) -> None:
        require(self.resamples >= 1000, "resamples", self.resamples, "at least 1000")
        require(self.viewer_responses >= 0, "viewer_responses", self.viewer_responses, "at least 0")
        require(50 <= self.excerpt_chars <= 5000, "excerpt_chars", self.excerpt_chars, "50 to 5000")


def report(config: ReportConfig, compact: bool = False) -> str:
    """Make the report of one run; give it as Markdown. Writes `reports/<run>/`, and the metrics of an evaluation.

    Args:
        compact: leave intervals out of wide tables of what is given back (never of what is written).

    Raises:
        UserError: there is nothing to report, or not what was asked for.
    """
    store = Store(config.storage.root)
    run = which_run(store, config.run)
    folder = ReportFolder(store, run)
    viewer = None
    if run in store.parts("responses"):
        made, viewer = _evaluation(config, store, run, folder)
    elif run in store.parts("candidates"):
        made = _synthesis(config, store, run)
    else:
        made = _curation(config, store, run)

    pages = [("tables as Markdown", folder.address("report.md")), ("page", folder.address("index.html"))]
    if viewer:
        pages.append(("page of responses", folder.address(viewer)))
    folder.write("report.md", to_markdown(made))
    folder.write("index.html", metrics_page(made, viewer))
    return to_markdown(made, tuple(pages), published=config.published, compact=compact)


def _synthesis(config: ReportConfig, store: Store, run: str) -> Report:
    """The report of a run that made a dataset and asked nothing."""
    synthesis = synthesis_of(store, run, config.datasets, config.models)
    if synthesis is None:
        raise UserError(f"the candidates of {run} under {store.root} are empty: start jobs.synthesize again")
    reviews = reviews_of(store, [synthesis.dataset])
    return build_synthesis_report(synthesis, reviews, datetime.now(UTC), config.resamples, config.seed)


def _curation(config: ReportConfig, store: Store, run: str) -> Report:
    """The report of a run that wrote questions for people to label."""
    found = {one.dataset: one for one in curations_of(store, [run])}
    if run not in found:
        raise UserError(f"the questions of {run} under {store.root} are still being checked: start jobs.curate again")
    return build_curation_report(found[run], datetime.now(UTC), config.resamples, config.seed)


def _evaluation(config: ReportConfig, store: Store, run: str, folder: ReportFolder) -> tuple[Report, str | None]:
    """The report of a run that asked questions, and its page of responses; writes metrics and comparisons."""
    every = chosen(store.read("responses", part=run), config.datasets, config.models)
    responses = latest(every)
    paid = store.read("judgements", part=run)
    judged = paid.join(responses.select("response_id"), on="response_id", how="semi")
    judgements = latest_judgements(judged)
    questions = store.read("questions").join(responses.select("question_id").unique(), on="question_id", how="semi")
    rows = response_rows(responses, questions, store.read("documents", DOCUMENT_COLUMNS))

    runs = store.read("runs").filter((pl.col("run") == run) & (pl.col("job") != "synthesize"))
    planned = planned_cells(runs, config.datasets, config.models)
    measured = metrics(rows, judgements, run, config.resamples, config.seed, planned)
    compared = comparisons(rows, judgements, config.resamples, config.seed, planned)
    facts = dataclasses.replace(run_facts(runs, config.models), costs=cell_costs(every, paid, runs))
    counts = Counts(
        rows.height,
        rows["question_id"].n_unique(),
        rows["doc_id"].n_unique(),
        every.height - responses.height,
        judged.height - judgements.height,
    )
    datasets = sorted({*rows["dataset"], *(() if config.datasets else (run,))})  # a dataset may have the run's name
    syntheses = [found for name in datasets if (found := synthesis_of(store, name))]
    reviews = reviews_of(store, datasets, judgements)
    made = build_report(
        run,
        measured,
        compared,
        facts,
        counts,
        datetime.now(UTC),
        syntheses,
        reviews,
        config.resamples,
        config.seed,
        classifiers_of(store, judgements),
        span_examples(rows, questions, judgements),
        curations_of(store, datasets),
        validation_of(store, run, datasets, lambda asked: tags_of(store, asked), config.resamples, config.seed),
    )

    store.write("metrics", run, measured.to_arrow(), name="metrics")
    folder.write("comparisons.csv", compared.write_csv())
    if not config.viewer_responses:
        return made, None
    most, around = config.viewer_responses, config.excerpt_chars
    return made, write_viewer(folder, made, responses, rows, judgements, questions, measured, most, around)


@job("report", ReportConfig)
def main(config: ReportConfig) -> None:
    """Print the report: laid out on a terminal, plain Markdown into a pipe."""
    terminal = sys.stdout.isatty()
    text = report(config, compact=terminal)
    if terminal:
        Console().print(Markdown(text))
    else:
        print(text)


if __name__ == "__main__":
    main()
