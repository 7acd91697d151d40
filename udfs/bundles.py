"""The bundle: one document and everything asked of it. The unit that moves through Ray.

The driver plans bundles over id and length columns alone; `AttachDocuments` (CPU tasks, a `map_batches` stage) reads
each bundle's text out of its Parquet row group just before an engine actor needs it. Three plans share their columns
and their packing: questions to answer or judge (`PLAN`), fragments to make questions from (`SYNTHESIS_PLAN`), and
questions to write and to check (`CURATION_PLAN`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, islice
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from udfs.errors import UserError
from udfs.identity import content_hash
from udfs.records import Question
from udfs.schema import QUESTIONS
from udfs.tables.store import Store

BLOCK_WEIGHT = 32
BLOCK_TOKENS = 32 * 1024
BLOCK_WEIGHT_WITHOUT_TEXT = 1024
"""A block is closed at either: small enough that a lost task costs little, large enough to fill an engine."""
BLOCKS_OF_A_TABLE = 1024

Item = dict[str, Any]
Weigh = Callable[[Item], int]
"""Engine programs that an item stands for."""

ITEM = pa.struct(
    [
        *(QUESTIONS.field(name) for name in QUESTIONS.names if name != "provenance"),
        pa.field("asks", pa.list_(pa.struct([pa.field("method", pa.string()), pa.field("response_id", pa.string())]))),
        pa.field("responses", pa.list_(pa.string())),  # for a judge: recorded responses as JSON rows
    ]
)
FRAGMENT_ITEM = pa.struct([pa.field("fragment_index", pa.int64(), False)])
SLOT_ITEM = pa.struct(
    [
        pa.field("number", pa.int64(), False),
        pa.field("question", pa.string()),  # null: to be written
        pa.field("samples", pa.list_(pa.int64()), False),  # answers of the checker that are owed
    ]
)

PLACE_FIELDS = (
    pa.field("bundle_id", pa.string(), False),
    pa.field("doc_id", pa.string(), False),
    pa.field("language", pa.string(), False),
    pa.field("n_tokens", pa.int64(), False),
    pa.field("file", pa.string(), False),  # where the document lies: path, row group, row in it
    pa.field("row_group", pa.int64(), False),
    pa.field("row", pa.int64(), False),
)
PLAN = pa.schema([*PLACE_FIELDS, pa.field("items", pa.list_(ITEM), False)])
SYNTHESIS_PLAN = pa.schema(
    [
        *PLACE_FIELDS,
        pa.field("dataset", pa.string(), False),  # where the document was ingested to
        pa.field("domain", pa.string(), False),
        pa.field("length_bucket", pa.string(), False),
        pa.field("items", pa.list_(FRAGMENT_ITEM), False),
    ]
)
CURATION_PLAN = pa.schema(
    [
        *PLACE_FIELDS,
        pa.field("dataset", pa.string(), False),
        pa.field("domain", pa.string(), False),
        pa.field("length_bucket", pa.string(), False),
        pa.field("items", pa.list_(SLOT_ITEM), False),
    ]
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a document's row lies, and what the plan must know of it."""

    doc_id: str
    language: str
    n_tokens: int
    file: str
    row_group: int
    row: int


def locate_documents(store: Store, datasets: Sequence[str]) -> dict[str, Place]:
    """Where each document of `datasets` lies, by doc_id. Reads no text."""
    places: dict[str, Place] = {}
    for dataset in datasets:
        for file in store.files("documents", dataset):
            with store.explained():
                parquet = pq.ParquetFile(file.path, filesystem=store.filesystem, pre_buffer=True)
                rows = parquet.read(columns=["doc_id", "language", "n_tokens"]).to_pylist()
            groups = [parquet.metadata.row_group(group).num_rows for group in range(parquet.num_row_groups)]
            positions = ((group, index) for group, size in enumerate(groups) for index in range(size))
            for row, (group, index) in zip(rows, positions, strict=True):
                place = Place(row["doc_id"], row["language"], row["n_tokens"], file.path, group, index)
                places.setdefault(row["doc_id"], place)
    return places


def longest_first(place: Place) -> tuple[int, str, int, int]:
    """Sort key: so that no actor ends with a 128K document while the others idle; documents of equal length stay in
    file order, so that neighbours are read from one row group."""
    return (-place.n_tokens, place.file, place.row_group, place.row)


def _place_columns(place: Place, item_keys: Sequence[Any]) -> dict[str, Any]:
    return {
        "bundle_id": content_hash("bundle", place.doc_id, item_keys),
        "doc_id": place.doc_id,
        "language": place.language,
        "n_tokens": place.n_tokens,
        "file": place.file,
        "row_group": place.row_group,
        "row": place.row,
    }


def bundle_row(place: Place, items: Sequence[Item]) -> dict[str, Any]:
    """One row of PLAN."""
    return {**_place_columns(place, [item["question_id"] for item in items]), "items": list(items)}


def fragment_row(place: Place, source: Mapping[str, Any], items: Sequence[Item]) -> dict[str, Any]:
    """One row of SYNTHESIS_PLAN; `source` gives dataset, domain and length_bucket of the document."""
    return {**_place_columns(place, [item["fragment_index"] for item in items]), **_about(source), "items": list(items)}


def _about(source: Mapping[str, Any]) -> dict[str, Any]:
    return {name: source[name] for name in ("dataset", "domain", "length_bucket")}


def weight(item: Item) -> int:
    """What a question stands for: its dialogues, or the responses to be judged."""
    return len(item.get("asks") or ()) + len(item.get("responses") or ())


def split_items(items: Sequence[Item], limit: int, weigh: Weigh = weight) -> Iterator[list[Item]]:
    """Items in runs of at most `limit` programs: a document with very many questions becomes a few bundles."""
    part: list[Item] = []
    size = 0
    for item in items:
        if part and size + weigh(item) > limit:
            yield part
            part, size = [], 0
        part.append(item)
        size += weigh(item)
    if part:
        yield part


def plan_blocks(
    places: Mapping[str, Place],
    items_by_document: Mapping[str, list[Item]],
    max_dialogues: int,
    reads_text: bool = True,
) -> list[pa.Table]:
    """The plan as blocks of bundles (schema PLAN), longest document first. A stage that reads no text gets larger
    blocks.

    Raises:
        UserError: a question's document is not in the documents table.
    """
    for document, items in items_by_document.items():
        if document not in places:
            raise UserError(
                f"question {items[0]['question_id']} of dataset {items[0]['dataset']!r} is about document {document}, "
                "which is not among the documents; ingest the dataset again"
            )
    rows = [
        bundle_row(places[doc], part)
        for doc in sorted(items_by_document, key=lambda doc: longest_first(places[doc]))
        for part in split_items(items_by_document[doc], max_dialogues)
    ]
    limits = (BLOCK_WEIGHT, BLOCK_TOKENS) if reads_text else (BLOCK_WEIGHT_WITHOUT_TEXT, None)
    return _blocks(_pack(rows, weight, *limits), PLAN)


def plan_fragments(
    places: Mapping[str, Place],
    documents: Sequence[Mapping[str, Any]],
    fragments: Mapping[str, Sequence[int]],
    kinds: int,
    max_candidates: int,
) -> list[pa.Table]:
    """The plan of a synthesis as blocks of bundles (schema SYNTHESIS_PLAN), in the order of `documents`.

    Args:
        documents: doc_id, dataset, domain and length_bucket of each.
        fragments: indices of the fragments that are owed, by doc_id.
        kinds: candidates of one fragment.
        max_candidates: candidates in one bundle.
    """

    def weigh(_: Item) -> int:
        return kinds

    rows = [
        fragment_row(places[document["doc_id"]], document, part)
        for document in documents
        for part in split_items(
            [{"fragment_index": index} for index in fragments[document["doc_id"]]], max_candidates, weigh
        )
    ]
    return _blocks(_pack(rows, weigh, BLOCK_WEIGHT, BLOCK_TOKENS), SYNTHESIS_PLAN)


def plan_slots(
    places: Mapping[str, Place], documents: Sequence[Mapping[str, Any]], slots: Mapping[str, Sequence[Item]]
) -> list[pa.Table]:
    """The plan of a curation as blocks of bundles, one bundle a document (schema CURATION_PLAN), in the order of
    `documents`.

    Args:
        documents: doc_id, dataset, domain and length_bucket of each.
        slots: questions (`SLOT_ITEM`) that are to be written, to be checked or only known, by doc_id.
    """

    def weigh(item: Item) -> int:
        return (item["question"] is None) + len(item["samples"])

    rows = []
    for document in documents:
        items = slots[document["doc_id"]]
        keys = [[item["number"], item["samples"]] for item in items]
        rows.append({**_place_columns(places[document["doc_id"]], keys), **_about(document), "items": list(items)})
    return _blocks(_pack(rows, weigh, BLOCK_WEIGHT, BLOCK_TOKENS), CURATION_PLAN)


def _pack(
    rows: Iterable[dict[str, Any]], weigh: Weigh, max_weight: int, max_tokens: int | None
) -> Iterator[list[dict[str, Any]]]:
    block: list[dict[str, Any]] = []
    total = tokens = 0
    for row in rows:
        size = sum(weigh(item) for item in row["items"])
        too_long = max_tokens is not None and tokens + row["n_tokens"] > max_tokens
        if block and (total + size > max_weight or too_long):
            yield block
            block, total, tokens = [], 0, 0
        block.append(row)
        total += size
        tokens += row["n_tokens"]
    if block:
        yield block


def _blocks(packed: Iterator[list[dict[str, Any]]], schema: pa.Schema) -> list[pa.Table]:
    """Tables of these rows, as slices of a few: one of its own takes 50 KB of objects, however little is in it."""
    blocks: list[pa.Table] = []
    while part := list(islice(packed, BLOCKS_OF_A_TABLE)):
        table = pa.Table.from_pylist(list(chain.from_iterable(part)), schema=schema)
        starts = accumulate((len(block) for block in part), initial=0)
        blocks += [table.slice(start, len(block)) for start, block in zip(starts, part, strict=False)]
    return blocks


class AttachDocuments:
    """`map_batches` stage: adds `text` (large_string), read from the row group that the plan names."""

    def __init__(self, root: str) -> None:
        self.store = Store(root)
        self._opened: tuple[str, pq.ParquetFile] | None = None  # neighbours lie in one file: its footer is read once

    def __call__(self, batch: pa.Table) -> pa.Table:
        texts: list[str] = []
        group_key: tuple[str, int] | None = None
        group: pa.Table | None = None
        for row in batch.select(["doc_id", "file", "row_group", "row"]).to_pylist():
            key = (row["file"], row["row_group"])
            if group is None or key != group_key:
                group, group_key = self._row_group(*key), key
            if group["doc_id"][row["row"]].as_py() != row["doc_id"]:
                raise ValueError(f"{row['file']} changed under the run: row {row['row']} is not {row['doc_id']}")
            texts.append(group["text"][row["row"]].as_py())
        return batch.append_column(pa.field("text", pa.large_string()), pa.array(texts, pa.large_string()))

    def _row_group(self, file: str, row_group: int) -> pa.Table:
        with self.store.explained():
            if self._opened is None or self._opened[0] != file:
                self._opened = (file, pq.ParquetFile(file, filesystem=self.store.filesystem, pre_buffer=True))
            return self._opened[1].read_row_group(row_group, columns=["doc_id", "text"])


def question_of(item: dict[str, Any]) -> Question:
    """The item's question as a record."""
    return Question.from_row(item)
