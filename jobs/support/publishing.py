"""The accepted candidates as a dataset: their questions, and the documents that these are about, split.

All accepted candidates of the settings are published, whichever start made them. Texts are copied row group by row
group: the driver never holds more than one file's worth.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import polars as pl
import pyarrow.parquet as pq

from jobs.support.made_with import JOB, MadeWith
from udfs.bundles import Place, locate_documents
from udfs.identity import content_hash
from udfs.records import Candidate, Document
from udfs.schema import CANDIDATES, DOCUMENTS, Fate
from udfs.sources.writer import DatasetWriter, read_marker, write_dataset
from udfs.synthesis.published import publishable, questions_of
from udfs.synthesis.splits import SplitDocument, assign_splits
from udfs.tables.store import Store

ABOUT_DOCUMENT = tuple(name for name in DOCUMENTS.names if name != "text")
OF_CANDIDATE = tuple(name for name in CANDIDATES.names if name != "opinions")


@dataclass(frozen=True)
class Published:
    """What the dataset holds now."""

    questions: int = 0
    documents_by_split: Counter[str] = field(default_factory=Counter)
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Accepted candidates that could not be published, by why."""
    written: bool = False
    """False: the same was there already, or there is nothing to publish."""


def publish(
    store: Store, name: str, made: MadeWith, ratios: Mapping[str, float], seed: int, redraw_splits: bool
) -> Published:
    """Write documents and questions of dataset `name` from its accepted candidates; again changes nothing.

    Args:
        made: whose candidates.
        ratios, seed: of the splits.
        redraw_splits: documents that are published already may change their split.
    """
    accepted = store.read("candidates", OF_CANDIDATE, part=name)
    accepted = accepted.filter((pl.col("spec") == made.spec) & (pl.col("fate") == Fate.ACCEPTED))
    documents = documents_of(store, accepted)
    chosen, left_out = publishable(accepted, documents["doc_id"].to_list())
    documents = documents.filter(pl.col("doc_id").is_in(chosen["doc_id"].to_list())).sort("doc_id")
    if chosen.is_empty():
        return Published(left_out=left_out)
    taken = {} if redraw_splits else dict(store.read("documents", ["doc_id", "split"], part=name).iter_rows())
    about = documents.select("doc_id", "language", "domain", "length_bucket")
    splits = assign_splits((SplitDocument(*row) for row in about.iter_rows()), ratios, seed, taken)
    content = content_hash("published", chosen["candidate_id"].to_list(), documents.to_dicts(), sorted(splits.items()))
    published = Published(chosen.height, Counter(splits.values()), left_out)
    if _is_there(store, name, content, chosen.height, documents.height):
        return published
    places = places_of(store, documents)

    def feed(writer: DatasetWriter) -> int:
        for document in copies(store, places, name, splits):
            writer.add(document)
        for question in questions_of(_candidates(chosen), name, splits):
            writer.add(question)
        return len(splits)

    facts = {"job": JOB, "spec": made.spec, "content": content, "settings": made.settings, "splits": dict(ratios)}
    write_dataset(store, name, True, facts, feed)
    return dataclasses.replace(published, written=True)


def documents_of(store: Store, accepted: pl.DataFrame) -> pl.DataFrame:
    """What the candidates' documents are in their source datasets, without texts; one that has two counts once."""
    frames = [
        store.read("documents", ABOUT_DOCUMENT, part=name) for name in sorted(accepted["source_dataset"].unique())
    ]
    empty = pl.DataFrame(pl.from_arrow(DOCUMENTS.empty_table())).select(ABOUT_DOCUMENT)
    sources = accepted.select("doc_id", dataset="source_dataset").unique()
    everything = pl.concat([empty, *frames])
    return everything.join(sources, on=["dataset", "doc_id"], how="semi").unique(
        "doc_id", keep="first", maintain_order=True
    )


def places_of(store: Store, documents: pl.DataFrame) -> list[Place]:
    """Where each of the documents lies in its own source dataset."""
    places: list[Place] = []
    for (dataset,), group in documents.group_by("dataset", maintain_order=True):
        located = locate_documents(store, [str(dataset)])
        places += [located[doc_id] for doc_id in group["doc_id"]]
    return places


def _is_there(store: Store, name: str, content: str, questions: int, documents: int) -> bool:
    """Whether the dataset is complete and holds this content."""
    marker = read_marker(store, name)
    return (
        marker is not None
        and marker["complete"]
        and marker.get("content") == content
        and store.read("questions", ["question_id"], part=name).height == questions
        and store.read("documents", ["doc_id"], part=name).height == documents
    )


def copies(store: Store, places: Sequence[Place], dataset: str, splits: Mapping[str, str]) -> Iterator[Document]:
    """The documents at `places` as documents of `dataset`, read one row group at a time."""
    ordered = sorted(places, key=lambda place: (place.file, place.row_group, place.row))
    for file, in_file in groupby(ordered, key=lambda place: place.file):
        with store.explained():
            parquet = pq.ParquetFile(file, filesystem=store.filesystem)
        for row_group, wanted in groupby(in_file, key=lambda place: place.row_group):
            with store.explained():
                table = parquet.read_row_group(row_group, columns=DOCUMENTS.names)
            for place in wanted:
                row: dict[str, Any] = table.slice(place.row, 1).to_pylist()[0]
                yield Document(**row | {"dataset": dataset, "split": splits[row["doc_id"]]})


def _candidates(chosen: pl.DataFrame) -> Iterator[Candidate]:
    for row in chosen.iter_rows(named=True):
        yield Candidate.from_row(row | {"opinions": "[]"})
