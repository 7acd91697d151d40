"""jobs.report: responses, judgements → metrics → Markdown in the terminal, a page of numbers, a page of responses.

`python -m jobs.report storage.root=R [run=NAME] ['datasets=[…]'] ['models=[…]']`
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import UTC, datetime

import polars as pl
from rich.console import Console
from rich.markdown import Markdown

from jobs.cli import job
from jobs.config import StorageConfig, require
from udfs.report.files import ReportFolder, write_viewer
from udfs.report.markdown import to_markdown
from udfs.report.notices import Counts
from udfs.report.page import metrics_page
from udfs.report.sections import build_report
from udfs.tables.comparisons import comparisons
from udfs.tables.expected import planned_cells
from udfs.tables.facts import run_facts
from udfs.tables.metrics import metrics
from udfs.tables.observations import DOCUMENT_COLUMNS, latest, latest_judgements, response_rows
from udfs.tables.selection import chosen, which_run
from udfs.tables.store import Store


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
    """Make the report of one run; give it as Markdown. Writes the metrics table and `reports/<run>/`.

    Args:
        compact: leave intervals out of wide tables of what is given back (never of what is written).
    """
    store = Store(config.storage.root)
    run = which_run(store, config.run)
    every = chosen(store.read("responses", part=run), config.datasets, config.models)
    responses = latest(every)
    judged = store.read("judgements", part=run).join(responses.select("response_id"), on="response_id", how="semi")
    judgements = latest_judgements(judged)
    questions = store.read("questions").join(responses.select("question_id").unique(), on="question_id", how="semi")
    rows = response_rows(responses, questions, store.read("documents", DOCUMENT_COLUMNS))

    runs = store.read("runs").filter(pl.col("run") == run)
    planned = planned_cells(runs, config.datasets, config.models)
    measured = metrics(rows, judgements, run, config.resamples, config.seed, planned)
    compared = comparisons(rows, judgements, config.resamples, config.seed, planned)
    facts = run_facts(runs, config.models)
    counts = Counts(
        rows.height,
        rows["question_id"].n_unique(),
        rows["doc_id"].n_unique(),
        every.height - responses.height,
        judged.height - judgements.height,
    )
    made = build_report(run, measured, compared, facts, counts, datetime.now(UTC))

    store.write("metrics", run, measured.to_arrow(), name="metrics")
    folder = ReportFolder(store, run)
    pages = [("tables as Markdown", folder.address("report.md")), ("page", folder.address("index.html"))]
    viewer = None
    if config.viewer_responses:
        most, around = config.viewer_responses, config.excerpt_chars
        viewer = write_viewer(folder, made, responses, rows, judgements, questions, measured, most, around)
        pages.append(("page of responses", folder.address(viewer)))
    folder.write("report.md", to_markdown(made))
    folder.write("index.html", metrics_page(made, viewer))
    folder.write("comparisons.csv", compared.write_csv())
    return to_markdown(made, tuple(pages), published=config.published, compact=compact)


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
