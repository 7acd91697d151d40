"""The parts of `jobs.curate` that people do: sheets of what confused the checker, their files, the labelled dataset."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import polars as pl

from jobs.support.curation_config import CurateConfig
from jobs.support.publishing import copies, documents_of, places_of
from udfs.errors import UserError
from udfs.identity import question_id
from udfs.records import Question
from udfs.review.collecting import Sample, annotation_rows, check_annotators, check_saved, drawn_items, read_saved
from udfs.review.curated import QUESTIONS_FILE, SAMPLE_FILE
from udfs.review.curation import GUIDE, TARGET, curation_items, labels, view_of
from udfs.review.folder import ReviewFolder
from udfs.review.sampling import Stratum, shuffled
from udfs.review.sheet import Item, Sheet, render, sample_hash
from udfs.schema import Kind, ProposalFate
from udfs.sources.files import read_text
from udfs.sources.writer import DatasetWriter, write_dataset
from udfs.tables.store import Store
from udfs.tables.texts import texts

FUNNEL_FILE, REPORT_FILE = "funnel.json", "report.md"
SPLIT = "test"
"""Of every document: what is curated is there to evaluate on, as CouldAsk's subsets are."""
Row = dict[str, Any]


def refuse_other_sheets(folder: ReviewFolder, found: str | None) -> None:
    """Raise `UserError` where sheets of another sample than `found` (None: of one that is not known yet) are out."""
    text = folder.read(SAMPLE_FILE)
    if text is not None and Sample.from_json(text, folder.address(SAMPLE_FILE)).sample != found:
        raise UserError(
            f"the sheets in {folder.address('')} are of other questions, and may be with annotators: give another "
            "name=, or remove that folder to have them made anew"
        )


def hand_out(store: Store, config: CurateConfig, rows: Sequence[Row], about: dict[str, str]) -> list[str]:
    """Write one sheet an annotator for the questions that await annotation; give their addresses (none: no question).

    Raises:
        UserError: sheets of other questions are there already, or a document is gone.
    """
    folder = ReviewFolder(store, config.name)
    items = list(_items(store, config, [row for row in rows if row["fate"] == ProposalFate.AWAITING_ANNOTATION]))
    found = sample_hash(config.name, items)
    refuse_other_sheets(folder, found)
    folder.write(QUESTIONS_FILE, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    if not items:
        return []
    by_id = {item.id: item for item in items}
    strata = _strata(items)
    sample = Sample(config.name, found, TARGET, None, about, strata, drawn_items(sorted(items, key=lambda i: i.id)))
    folder.write(SAMPLE_FILE, sample.to_json())
    written = []
    for number in range(1, config.annotators + 1):
        order = shuffled(by_id, config.seed, "sheet", number)
        sheet = Sheet(config.name, found, number, GUIDE, tuple(by_id[name] for name in order))
        written.append(folder.write(f"sheet-{number}.html", render(sheet)))
    return written


def _items(store: Store, config: CurateConfig, rows: Sequence[Row]) -> Iterator[Item]:
    by_document: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        by_document.setdefault(row["source_dataset"], {}).setdefault(row["doc_id"], []).append(row)
    for dataset, wanted in by_document.items():
        for text in texts(store, dataset, wanted):
            yield from curation_items(wanted.pop(text.doc_id), text, config.whole_chars, config.context_chars)
        if wanted:
            raise UserError(f"document {next(iter(wanted))} of dataset {dataset} is gone; ingest that dataset again")


def _strata(items: Sequence[Item]) -> tuple[Stratum, ...]:
    names = sorted({(item.group, item.language) for item in items})
    counts = {name: sum((item.group, item.language) == name for item in items) for name in names}
    return tuple(Stratum(name, count, count) for name, count in counts.items())


def read_sample(folder: ReviewFolder) -> Sample:
    """What was handed out.

    Raises:
        UserError: nothing was, or the file is damaged.
    """
    text = folder.read(SAMPLE_FILE)
    if text is None:
        raise UserError(f"{folder.address('')} holds no sheets: no question awaited annotation")
    return Sample.from_json(text, folder.address(SAMPLE_FILE))


def take_annotations(store: Store, config: CurateConfig, sample: Sample) -> pl.DataFrame:
    """The annotators' files as rows of the annotations table, checked and written.

    Raises:
        UserError: a file is missing, damaged, incomplete or of another sample.
    """
    saved = {file: read_saved(_read(file), file) for file in config.files}
    for file, one in saved.items():
        check_saved(one, sample, file, config.partial)
    check_annotators(saved)
    rows = annotation_rows(list(saved.values()), sample, datetime.now(UTC))
    if not rows:
        raise UserError(f"none of the files answers an item of {config.name!r}")
    store.write("annotations", config.name, rows, name="annotations")
    return store.read("annotations", part=config.name)


def _read(file: str) -> str:
    try:
        return read_text(file)
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file} is not a file that a review sheet saved: {error}") from error


def publish(
    store: Store, config: CurateConfig, rows: Mapping[str, Row], annotations: pl.DataFrame, about: Mapping[str, str]
) -> bool:
    """The labelled questions and their documents as dataset `name`; False where the same was there already.

    Args:
        rows: what became of each question, by proposal_id.
        about: by whom the questions were written and checked, in words.

    Raises:
        UserError: the name has other content and `overwrite` is false, or a document is gone.
    """
    decided, votes = labels(annotations, config.label)
    kept = [rows[name] for name in sorted(decided)]
    if not kept:
        return False
    asked = pl.DataFrame(
        [(row["doc_id"], row["source_dataset"]) for row in kept], ["doc_id", "source_dataset"], orient="row"
    )
    documents = documents_of(store, asked)
    lengths = dict(documents.select("doc_id", "n_chars").iter_rows())
    if gone := set(asked["doc_id"]) - lengths.keys():
        raise UserError(f"document {min(gone)} is not in its dataset any more; ingest that again")

    def feed(writer: DatasetWriter) -> int:
        for document in copies(store, places_of(store, documents), config.name, dict.fromkeys(lengths, SPLIT)):
            writer.add(document)
        for row in kept:
            writer.add(_question(config.name, row, decided[row["proposal_id"]], votes, lengths[row["doc_id"]]))
        return len(lengths)

    facts = {
        "job": "curate",
        "label": config.label,
        "annotators": sorted(set(annotations["annotator"])),
        "about": dict(about),
    }
    return write_dataset(store, config.name, config.overwrite, facts, feed)


def _question(dataset: str, row: Row, answerable: bool, votes: Mapping[str, Sequence[int]], length: int) -> Question:
    name, redactions = row["proposal_id"], view_of(row["excerpt"], length)
    provenance = {
        "proposal_id": name, "source_dataset": row["source_dataset"],
        "checker": {"answered": row["answered"], "refused": row["refused"]},
        "votes": dict(zip(("answerable", "unanswerable"), votes[name], strict=True)),
    }  # fmt: skip
    return Question(
        question_id=question_id(
            dataset, name, row["doc_id"], [(cut.start, cut.end) for cut in redactions], row["question"]
        ),
        doc_id=row["doc_id"],
        dataset=dataset,
        split=SPLIT,
        language=row["language"],
        question=row["question"],
        answerable=answerable,
        answers=(),  # as in CouldAsk: what is labelled is whether there is one
        evidence=(),
        redactions=redactions,
        kind=Kind.ANSWERABLE if answerable else Kind.UNANSWERABLE,
        provenance=json.dumps(provenance, ensure_ascii=False, sort_keys=True),
    )
