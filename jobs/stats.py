"""Print what ingested datasets are: CouldAsk's Table 2, FactGuard's Table 3, and breakdowns.

python -m jobs.stats 'datasets=[sample]' storage.root=runs/x

documents, questions ──▶ Polars ──▶ Markdown tables
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from jobs.cli import job
from jobs.config import StorageConfig
from udfs.errors import UserError
from udfs.tables.stats import (
    BREAKDOWNS,
    DOCUMENT_COLUMNS,
    QUESTION_COLUMNS,
    breakdown,
    couldask_table,
    factguard_table,
    markdown,
    with_question_tokens,
)
from udfs.tables.store import Store

NOTE = (
    "Lengths are mean ± sample standard deviation. Documents: over distinct documents, in words (white space; Han\n"
    "characters and words in Chinese) and in tokens of the tokenizer named. Questions: Penn-Treebank tokens (Han\n"
    "characters and words in Chinese)."
)


@dataclass(frozen=True)
class StatsConfig:
    """`jobs.stats`: which datasets; none named means all."""

    datasets: tuple[str, ...]
    storage: StorageConfig


def load(store: Store, datasets: tuple[str, ...]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Documents (no text) and questions with their lengths, of the datasets named or of all.

    Raises:
        UserError: a dataset is unknown, or nothing has been ingested.
    """
    store.require_datasets(list(datasets))
    names = list(dict.fromkeys(datasets)) or store.dataset_names()
    documents = pl.concat([store.read("documents", DOCUMENT_COLUMNS, part=name) for name in names])
    questions = pl.concat([store.read("questions", QUESTION_COLUMNS, part=name) for name in names])
    if documents.is_empty():
        raise UserError(f"the datasets {', '.join(names)} under {store.root} hold no documents; ingest them again")
    return documents, with_question_tokens(questions)


def report(documents: pl.DataFrame, questions: pl.DataFrame) -> str:
    """All tables as Markdown."""
    parts = [
        ("Overview (the form of CouldAsk, Table 2)", couldask_table(documents, questions)),
        ("Examples and articles (the form of FactGuard, Table 3)", factguard_table(documents, questions)),
        *((f"By {by.replace('_', ' ')}", breakdown(documents, questions, by)) for by in BREAKDOWNS),
    ]
    return "\n\n".join([*(f"## {title}\n\n{markdown(table)}" for title, table in parts if table.height), NOTE])


@job("stats", StatsConfig)
def main(config: StatsConfig) -> None:
    documents, questions = load(Store(config.storage.root), config.datasets)
    print(report(documents, questions))


if __name__ == "__main__":
    main()
