"""What a synthesis owes: expected candidate ids minus recorded ones, over id columns before any text is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any

import polars as pl

from udfs.bundles import Place, longest_first
from udfs.errors import UserError
from udfs.identity import candidate_id
from udfs.schema import PERMANENT
from udfs.tables.store import Store

DOCUMENT_COLUMNS = ("doc_id", "dataset", "split", "language", "domain", "length_bucket", "n_tokens")


@dataclass(frozen=True)
class OwedFragments:
    """Fragments to make candidates of, by document, and how many candidates were expected and recorded before."""

    documents: tuple[dict[str, Any], ...]
    """Rows (`DOCUMENT_COLUMNS`) of the documents in scope, owed or not."""
    fragments: Mapping[str, tuple[int, ...]]
    """Owed fragment indices by doc_id; a fragment is owed as a whole."""
    kinds: int
    expected: int
    recorded: int


def select_documents(
    store: Store, datasets: Sequence[str], split: str | None, language: str | None, limit: int | None
) -> pl.DataFrame:
    """The documents in scope (`DOCUMENT_COLUMNS`), each text once, in an order that no file layout changes.

    `limit` keeps the first documents of each dataset in the order of their ids (which are hashes: an arbitrary but
    fixed sample). A text in two datasets counts for the first.

    Raises:
        UserError: an unknown dataset, or one of which no document is left.
    """
    store.require_datasets(datasets)
    frames = []
    for dataset in dict.fromkeys(datasets):
        frame = store.read("documents", DOCUMENT_COLUMNS, part=dataset)
        for column, wanted in (("split", split), ("language", language)):
            if wanted is None:
                continue
            there = frame[column].unique().sort().to_list()
            frame = frame.filter(pl.col(column) == wanted)
            if frame.is_empty():
                raise UserError(
                    f"dataset {dataset!r} has no document of {column} {wanted!r}; it has {', '.join(there)}"
                )
        frame = frame.sort("doc_id")
        frames.append(frame.head(limit) if limit else frame)
    documents = pl.concat(frames).unique("doc_id", keep="first", maintain_order=True)
    if documents.is_empty():
        raise UserError(f"the datasets {', '.join(datasets)} hold no documents")
    return documents


def owed_fragments(
    store: Store, documents: pl.DataFrame, name: str, spec: str, kinds: Sequence[str], alpha: int
) -> OwedFragments:
    """Fragments 0 … alpha − 1 of each document of which a candidate has no permanent row yet."""
    expected = pl.DataFrame(
        [
            (doc_id, index, candidate_id(name, spec, doc_id, index, kind))
            for doc_id in documents["doc_id"]
            for index in range(alpha)
            for kind in kinds
        ],
        schema={"doc_id": pl.String, "fragment_index": pl.Int64, "candidate_id": pl.String},
        orient="row",
    )
    recorded = store.read("candidates", ["candidate_id", "status"], part=name)
    recorded = recorded.filter(pl.col("status").is_in([str(status) for status in PERMANENT]))
    missing = expected.join(recorded, on="candidate_id", how="anti", maintain_order="left")
    by_document = missing.group_by("doc_id", maintain_order=True).agg(
        pl.col("fragment_index").unique(maintain_order=True)
    )
    return OwedFragments(
        documents=tuple(documents.to_dicts()),
        fragments={doc_id: tuple(indices) for doc_id, indices in by_document.iter_rows()},
        kinds=len(kinds),
        expected=expected.height,
        recorded=expected.height - missing.height,
    )


def in_order(
    documents: Sequence[dict[str, Any]], places: Mapping[str, Place], interleave: bool
) -> list[dict[str, Any]]:
    """Longest first; `interleave`: language × length buckets in turn, so that all targets come nearer together."""
    longest = sorted(documents, key=lambda document: longest_first(places[document["doc_id"]]))
    if not interleave:
        return longest
    strata: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for document in longest:
        strata.setdefault((document["language"], document["length_bucket"]), []).append(document)
    turns = chain.from_iterable(zip_longest(*strata.values()))
    return [document for document in turns if document is not None]
