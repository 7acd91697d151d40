"""The bundle: one document and everything asked of it. The unit that moves through Ray.

The driver plans bundles over id and length columns alone; `AttachDocuments` (CPU tasks, a `map_batches` stage) reads
each bundle's text out of its Parquet row group just before an engine actor needs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from udfs.errors import UserError
from udfs.identity import content_hash
from udfs.records import Question
from udfs.schema import QUESTIONS
from udfs.tables.store import Store

BLOCK_DIALOGUES = 32
BLOCK_TOKENS = 32 * 1024
BLOCK_DIALOGUES_WITHOUT_TEXT = 1024
"""A block is closed at either: small enough that a lost task costs little, large enough to fill an engine."""

ITEM = pa.struct(
    [
        *(QUESTIONS.field(name) for name in QUESTIONS.names if name != "provenance"),
        pa.field("asks", pa.list_(pa.struct([pa.field("method", pa.string()), pa.field("response_id", pa.string())]))),
        pa.field("responses", pa.list_(pa.string())),  # for a judge: recorded responses as JSON rows
    ]
)

PLAN = pa.schema(
    [
        pa.field("bundle_id", pa.string(), False),
        pa.field("doc_id", pa.string(), False),
        pa.field("language", pa.string(), False),
        pa.field("n_tokens", pa.int64(), False),
        pa.field("file", pa.string(), False),  # where the document lies: path, row group, row in it
        pa.field("row_group", pa.int64(), False),
        pa.field("row", pa.int64(), False),
        pa.field("items", pa.list_(ITEM), False),
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
            parquet = pq.ParquetFile(file.path, filesystem=store.filesystem)
            rows = parquet.read(columns=["doc_id", "language", "n_tokens"]).to_pylist()
            groups = [parquet.metadata.row_group(group).num_rows for group in range(parquet.num_row_groups)]
            positions = ((group, index) for group, size in enumerate(groups) for index in range(size))
            for row, (group, index) in zip(rows, positions, strict=True):
                place = Place(row["doc_id"], row["language"], row["n_tokens"], file.path, group, index)
                places.setdefault(row["doc_id"], place)
    return places


def bundle_row(place: Place, items: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One row of the plan."""
    return {
        "bundle_id": content_hash("bundle", place.doc_id, [item["question_id"] for item in items]),
        "doc_id": place.doc_id,
        "language": place.language,
        "n_tokens": place.n_tokens,
        "file": place.file,
        "row_group": place.row_group,
        "row": place.row,
        "items": list(items),
    }


def weight(item: dict[str, Any]) -> int:
    """Engine programs that an item stands for: its dialogues, or the responses to be judged."""
    return len(item.get("asks") or ()) + len(item.get("responses") or ())


def split_items(items: Sequence[dict[str, Any]], limit: int) -> Iterator[list[dict[str, Any]]]:
    """Items in runs of at most `limit` dialogues: a document with very many questions becomes a few bundles."""
    part: list[dict[str, Any]] = []
    size = 0
    for item in items:
        if part and size + weight(item) > limit:
            yield part
            part, size = [], 0
        part.append(item)
        size += weight(item)
    if part:
        yield part


def plan_blocks(
    places: dict[str, Place],
    items_by_document: dict[str, list[dict[str, Any]]],
    max_dialogues: int,
    reads_text: bool = True,
) -> list[pa.Table]:
    """The plan as blocks of bundles (schema PLAN), longest document first.

    Longest first, so that no actor ends with a 128K document while the others idle; documents of equal length stay in
    file order, so that neighbours are read from one row group. A stage that reads no text gets larger blocks.

    Raises:
        UserError: a question's document is not in the documents table.
    """
    for document, items in items_by_document.items():
        if document not in places:
            raise UserError(
                f"question {items[0]['question_id']} of dataset {items[0]['dataset']!r} is about document {document}, "
                "which is not among the documents; ingest the dataset again"
            )
    documents = sorted(
        items_by_document,
        key=lambda doc: (-places[doc].n_tokens, places[doc].file, places[doc].row_group, places[doc].row),
    )
    rows = [
        bundle_row(places[doc], part)
        for doc in documents
        for part in split_items(items_by_document[doc], max_dialogues)
    ]
    limits = (BLOCK_DIALOGUES, BLOCK_TOKENS) if reads_text else (BLOCK_DIALOGUES_WITHOUT_TEXT, None)
    return [pa.Table.from_pylist(block, schema=PLAN) for block in _pack(rows, *limits)]


def _pack(rows: Iterable[dict[str, Any]], max_dialogues: int, max_tokens: int | None) -> Iterator[list[dict[str, Any]]]:
    block: list[dict[str, Any]] = []
    dialogues = tokens = 0
    for row in rows:
        size = sum(weight(item) for item in row["items"])
        too_long = max_tokens is not None and tokens + row["n_tokens"] > max_tokens
        if block and (dialogues + size > max_dialogues or too_long):
            yield block
            block, dialogues, tokens = [], 0, 0
        block.append(row)
        dialogues += size
        tokens += row["n_tokens"]
    if block:
        yield block


class AttachDocuments:
    """`map_batches` stage: adds `text` (large_string), read from the row group that the plan names."""

    def __init__(self, root: str) -> None:
        self.filesystem = Store(root).filesystem

    def __call__(self, batch: pa.Table) -> pa.Table:
        texts: list[str] = []
        group_key: tuple[str, int] | None = None
        group: pa.Table | None = None
        for row in batch.select(["doc_id", "file", "row_group", "row"]).to_pylist():
            key = (row["file"], row["row_group"])
            if group is None or key != group_key:
                parquet = pq.ParquetFile(row["file"], filesystem=self.filesystem)
                group, group_key = parquet.read_row_group(row["row_group"], columns=["doc_id", "text"]), key
            if group["doc_id"][row["row"]].as_py() != row["doc_id"]:
                raise ValueError(f"{row['file']} changed under the run: row {row['row']} is not {row['doc_id']}")
            texts.append(group["text"][row["row"]].as_py())
        return batch.append_column(pa.field("text", pa.large_string()), pa.array(texts, pa.large_string()))


def question_of(item: dict[str, Any]) -> Question:
    """The item's question as a record."""
    return Question.from_row(item)
