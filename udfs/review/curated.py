"""What a curation left in its review's folder, for reports: the fate of every question, and people's labels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from udfs.errors import UserError
from udfs.review.collecting import Sample
from udfs.review.curation import TARGET
from udfs.review.folder import ReviewFolder
from udfs.tables.store import Store

SAMPLE_FILE, QUESTIONS_FILE = "sample.json", "questions.jsonl"


@dataclass(frozen=True, slots=True)
class Curation:
    """One curated dataset.

    Args:
        rows: of `udfs.tables.curation.fates`, one a question that was written.
        annotations: its rows of the annotations table; none where nothing was collected yet.
        about: by whom the questions were written and checked, in words, by name; empty where no sheet was made.
    """

    dataset: str
    rows: tuple[dict[str, Any], ...]
    annotations: pl.DataFrame
    about: dict[str, str]


def curations_of(store: Store, datasets: Sequence[str]) -> list[Curation]:
    """The curations that made one of `datasets`, or wrote their questions about documents of one.

    Raises:
        UserError: what a curation wrote is damaged.
    """
    found = []
    for name in store.parts("proposals"):
        folder = ReviewFolder(store, name)
        if folder.read(QUESTIONS_FILE) is None:
            continue  # its questions are still being checked
        rows = tuple(read_questions(folder))
        if not {name, *(row["source_dataset"] for row in rows)}.isdisjoint(datasets):
            found.append(_curation(store, folder, name, rows))
    return found


def _curation(store: Store, folder: ReviewFolder, name: str, rows: tuple[dict[str, Any], ...]) -> Curation:
    said = store.read("annotations", part=name).filter(pl.col("target") == TARGET)
    sample = folder.read(SAMPLE_FILE)
    about = {} if sample is None else Sample.from_json(sample, folder.address(SAMPLE_FILE)).about
    return Curation(name, rows, said, about)


def read_questions(folder: ReviewFolder) -> list[dict[str, Any]]:
    """What became of every question of a curation, as it was written when its sheets were made.

    Raises:
        UserError: it is not there, or damaged.
    """
    text = folder.read(QUESTIONS_FILE)
    if text is None:
        raise UserError(f"nothing was curated under {folder.address('')}: run jobs.curate there first, or give name=")
    try:
        return [json.loads(line) for line in text.splitlines()]
    except ValueError as error:
        where = folder.address(QUESTIONS_FILE)
        raise UserError(f"{where} is damaged ({error}); start the jobs.curate command again") from error
