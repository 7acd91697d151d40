"""jobs.curate: questions that confuse a model, and what people say of them: CouldAsk's own subsets, of any documents.

`python -m jobs.curate model=M checker=C 'datasets=[news]' name=curated storage.root=R`
    documents ─▶ bundles: the generator writes questions, the checker answers each several times
        ─▶ proposals, checks ─▶ what at least one answer calls unanswerable ─▶ one HTML sheet an annotator
`python -m jobs.curate collect a.json b.json c.json name=curated storage.root=R`
    annotators' files ─▶ annotations ─▶ labels, agreement ─▶ documents and questions of the dataset `name`
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import polars as pl
from rich.console import Console
from rich.markdown import Markdown

from jobs.cli import job, rewriting
from jobs.review import with_action
from jobs.support.curation import Curation, prepare
from jobs.support.curation_config import CurateConfig
from jobs.support.fragments import select_documents
from jobs.support.labelling import (
    FUNNEL_FILE,
    REPORT_FILE,
    Row,
    hand_out,
    publish,
    read_sample,
    refuse_other_sheets,
    take_annotations,
)
from jobs.support.runtime import Cluster
from jobs.support.sink import Totals
from udfs.review.curated import read_questions
from udfs.review.curation import RULES, agreement_table, disputed, funnel_table, labels
from udfs.review.folder import ReviewFolder
from udfs.tables.curation import LABELLED, OWED, UNANSWERABLE, funnel
from udfs.tables.store import Store


def generate(config: CurateConfig) -> str:
    """Check everything that can be checked, ask what is owed, hand out what is left; what was done as Markdown."""
    run = prepare(config)
    folder = ReviewFolder(run.store, config.name)
    documents = select_documents(run.store, config.datasets, config.split, config.language, config.limit)
    if run.check(documents):
        refuse_other_sheets(folder, None)
    with Cluster(config.cluster, run.store.root) as cluster:
        asked = run.ask(documents, cluster)
    rows: list[Row] = run.fates(documents).to_dicts()
    counts = funnel(rows)
    folder.write(FUNNEL_FILE, json.dumps(counts, ensure_ascii=False, indent=1) + "\n")
    lines = [f"# Curation {config.name}", "", *funnel_table(counts), "", *_ended(rows), *_tokens(asked)]
    return "\n".join([*lines, *_next(run, rows)]) + "\n"


def _next(run: Curation, rows: Sequence[Row]) -> Iterator[str]:
    """The sheets, once nothing is owed that could add a question to them."""
    config, store, curating = run.config, run.store, run.curating
    owed = sum(row["fate"] in OWED for row in rows)
    if owed:
        yield f"- warning: {owed:,} questions failed at the provider; the same command started again asks for them"
        yield "- the sheets are made when no question is owed any more"
        return
    about = {
        "curated": ", ".join(config.datasets),
        "generator": f"{curating.model} ({curating.revision})",
        "checker": f"{curating.checker} ({curating.checker_revision}), {config.samples} samples",
    }
    sheets = hand_out(store, config, rows, about)
    if not sheets:
        yield "- no question confused the checker: there is nothing to annotate"
        return
    yield from (f"- sheet {number}: {address}" for number, address in enumerate(sheets, 1))
    yield from (
        "",
        "Send one sheet to each annotator; it opens in a browser and saves the file to send back. Then:",
        "",
    )
    yield f"    python -m jobs.curate collect FILES name={config.name} storage.root={config.storage.root}"


def _ended(rows: Sequence[Row]) -> Iterator[str]:
    counts = Counter(str(row["fate"]) for row in rows).most_common()
    yield "- fates: " + ", ".join(f"{count:,} {fate}" for fate, count in counts)


def _tokens(asked: Sequence[tuple[str, Totals]]) -> Iterator[str]:
    for name, totals in asked:
        if totals.prompt_tokens:
            bound = totals.computed_over_bound
            yield (
                f"- {name}: prompt tokens {totals.prompt_tokens:,}, computed {totals.computed_tokens:,} "
                f"({totals.cached_tokens / totals.prompt_tokens:.0%} from cache), output {totals.output_tokens:,}"
                + ("" if bound is None else f"; computed ÷ bound {bound:.3f}")
            )


def collect(config: CurateConfig) -> str:
    """Check the annotators' files, label the questions, publish the dataset; the report as Markdown (`report.md`)."""
    store = Store(config.storage.root)
    folder = ReviewFolder(store, config.name)
    rows = {row["proposal_id"]: row for row in read_questions(folder)}
    sample = read_sample(folder)
    annotations = take_annotations(store, config, sample)
    decided, votes = labels(annotations, config.label)
    counts = funnel(list(rows.values()), votes, decided)
    lines = [
        f"# Curation {config.name}", "", f"Labels: {config.label} of {config.annotators} annotators.", "",
        *funnel_table(counts), "", *_by_rule(list(rows.values()), annotations), "",
        "## Agreement", "", *agreement_table(annotations), "", "## Labelled differently", "",
        *(list(disputed(rows, votes)) or ["None."]),
    ]  # fmt: skip
    written = publish(store, config, rows, annotations, sample.about)
    folder.write(FUNNEL_FILE, json.dumps(counts, ensure_ascii=False, indent=1) + "\n")
    report = "\n".join(lines) + "\n"
    folder.write(REPORT_FILE, report)
    return report + "\n" + "\n".join(_published(config, counts["all"], written)) + "\n"


def _by_rule(rows: Sequence[Row], annotations: pl.DataFrame) -> Iterator[str]:
    for rule in RULES:
        decided, votes = labels(annotations, rule)
        counts = funnel(rows, votes, decided)["all"]
        yield f"- {rule}: {counts[LABELLED]:,} labelled, {counts[UNANSWERABLE]:,} of them unanswerable"


def _published(config: CurateConfig, counts: Mapping[str, int], written: bool) -> Iterator[str]:
    if not counts[LABELLED]:
        yield "no question has a label, so nothing was published"
        return
    how = "published" if written else "published before, unchanged"
    yield f"{how}: dataset {config.name!r}, {counts[LABELLED]:,} questions"
    yield f"evaluate: python -m jobs.evaluate model=… 'datasets=[{config.name}]' storage.root={config.storage.root}"


@job("curate", CurateConfig)
def main(config: CurateConfig) -> None:
    """Print what was done: laid out on a terminal, plain Markdown into a pipe."""
    text = generate(config) if config.action == "generate" else collect(config)
    if sys.stdout.isatty():
        Console().print(Markdown(text))
    else:
        print(text)


def arguments_of(given: Sequence[str]) -> list[str]:
    """The command line as Hydra takes it: a bare first word as `action=…`, the bare words after `collect` as files."""
    first = given[0] if given else ""
    if first == "collect":
        return with_action(given)
    return ["action=generate", *given[1:]] if first == "generate" else list(given)


command = rewriting(main, arguments_of)  # python -m jobs.curate [generate|collect] [files] key=value …

if __name__ == "__main__":
    command()
