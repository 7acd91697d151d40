"""Plans: places, blocks, texts attached."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from udfs.bundles import (
    PLAN,
    SYNTHESIS_PLAN,
    AttachDocuments,
    locate_documents,
    plan_blocks,
    plan_fragments,
    question_of,
    split_items,
)
from udfs.errors import UserError
from udfs.identity import doc_id
from udfs.records import Span
from udfs.tables.store import Store


def document_row(text: str, n_tokens: int, dataset: str = "d") -> dict[str, Any]:
    return {
        "doc_id": doc_id(text), "dataset": dataset, "split": "test", "language": "en", "domain": "law", "title": "",
        "source": "", "license": "", "text": text, "n_chars": len(text), "n_words": 1, "n_tokens": n_tokens,
        "tokenizer": "none", "length_bucket": "0-16K",
    }  # fmt: skip


def item(document: str, name: str, dialogues: int = 1) -> dict[str, Any]:
    return {
        "question_id": name, "doc_id": document, "dataset": "d", "split": "test", "language": "en", "question": "?",
        "answerable": True, "answers": ["a"], "evidence": [{"start": 0, "end": 1}], "redactions": [],
        "kind": "answerable",
        "asks": [{"method": f"m{i}", "response_id": f"{name}-{i}"} for i in range(dialogues)], "responses": [],
    }  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path))


def test_locate_documents_over_files_and_row_groups_finds_each_row(store: Store) -> None:
    texts = [f"{i} " * 300_000 for i in range(5)]  # each larger than half a row group
    store.write("documents", "d", [document_row(text, 10) for text in texts[:3]])
    store.write("documents", "d", [document_row(text, 10) for text in texts[3:]])
    places = locate_documents(store, ["d"])
    assert set(places) == {doc_id(text) for text in texts}
    assert len({(place.file, place.row_group) for place in places.values()}) > 2


def test_attach_documents_gives_each_bundle_its_own_text(store: Store) -> None:
    texts = [f"text {i} " * 50_000 for i in range(6)]
    store.write("documents", "d", [document_row(text, 10 + i) for i, text in enumerate(texts)])
    items = {doc_id(text): [item(doc_id(text), f"q{i}")] for i, text in enumerate(texts)}
    attach = AttachDocuments(store.root)
    for block in plan_blocks(locate_documents(store, ["d"]), items, max_dialogues=10):
        attached = attach(block)
        for row in attached.select(["doc_id", "text"]).to_pylist():
            assert doc_id(row["text"]) == row["doc_id"]


def test_attach_documents_after_the_file_changed_raises(store: Store) -> None:
    text = "one"
    store.write("documents", "d", [document_row(text, 1)], name="part")
    blocks = plan_blocks(locate_documents(store, ["d"]), {doc_id(text): [item(doc_id(text), "q")]}, 10)
    store.write("documents", "d", [document_row("another", 1)], name="part")
    with pytest.raises(ValueError, match="changed under the run"):
        AttachDocuments(store.root)(blocks[0])


def test_plan_blocks_puts_the_longest_document_first(store: Store) -> None:
    sizes = {"short": 10, "long": 50_000, "middle": 900}
    store.write("documents", "d", [document_row(text, n) for text, n in sizes.items()])
    items = {doc_id(text): [item(doc_id(text), text)] for text in sizes}
    rows = [row for block in plan_blocks(locate_documents(store, ["d"]), items, 10) for row in block.to_pylist()]
    assert [row["n_tokens"] for row in rows] == [50_000, 900, 10]


def test_plan_blocks_schema_and_every_dialogue_once(store: Store) -> None:
    store.write("documents", "d", [document_row(f"t{i}", 100) for i in range(40)])
    items = {doc_id(f"t{i}"): [item(doc_id(f"t{i}"), f"q{i}-{j}", 4) for j in range(7)] for i in range(40)}
    blocks = plan_blocks(locate_documents(store, ["d"]), items, max_dialogues=10)
    assert all(block.schema.equals(PLAN) for block in blocks)
    asks = [a["response_id"] for b in blocks for row in b.to_pylist() for it in row["items"] for a in it["asks"]]
    assert len(asks) == len(set(asks)) == 40 * 7 * 4
    assert max(sum(len(it["asks"]) for it in row["items"]) for b in blocks for row in b.to_pylist()) <= 10


def test_split_items_one_question_over_the_limit_stays_whole() -> None:
    parts = list(split_items([item("d", "a", 8), item("d", "b", 1), item("d", "c", 1)], limit=4))
    assert [[i["question_id"] for i in part] for part in parts] == [["a"], ["b", "c"]]


def test_question_of_an_item_read_back_from_arrow_equals_what_was_put_in() -> None:
    table = pa.Table.from_pylist(
        [{"bundle_id": "b", "doc_id": "d", "language": "en", "n_tokens": 1, "file": "f", "row_group": 0, "row": 0,
          "items": [item("d", "q")]}],
        schema=PLAN,
    )  # fmt: skip
    question = question_of(table.to_pylist()[0]["items"][0])
    assert question.evidence == (Span(0, 1),)
    assert question.answers == ("a",)
    assert question.twin_id is None


def test_plan_blocks_of_a_question_without_its_document_says_which(store: Store) -> None:
    store.write("documents", "d", [document_row("here", 1)])
    with pytest.raises(UserError, match=r"question q .*not among the documents"):
        plan_blocks(locate_documents(store, ["d"]), {"gone": [item("gone", "q")]}, 10)


def test_plan_blocks_without_text_are_few(store: Store) -> None:
    store.write("documents", "d", [document_row(f"t{i}", 100_000) for i in range(40)])
    items = {doc_id(f"t{i}"): [item(doc_id(f"t{i}"), f"q{i}")] for i in range(40)}
    places = locate_documents(store, ["d"])
    assert len(plan_blocks(places, items, 10)) == 40
    assert len(plan_blocks(places, items, 10, reads_text=False)) == 1


def synthesis_plan(store: Store, texts: list[str], fragments: int, kinds: int, max_candidates: int) -> list[pa.Table]:
    store.write("documents", "d", [document_row(text, 100) for text in texts])
    documents = [{"doc_id": doc_id(text), "dataset": "d", "domain": "law", "length_bucket": "0-16K"} for text in texts]
    owed = {doc_id(text): range(fragments) for text in texts}
    return plan_fragments(locate_documents(store, ["d"]), documents, owed, kinds, max_candidates)


def test_plan_fragments_schema_order_and_every_fragment_once(store: Store) -> None:
    texts = [f"t{i}" for i in range(20)]
    blocks = synthesis_plan(store, texts, fragments=3, kinds=5, max_candidates=256)
    assert all(block.schema.equals(SYNTHESIS_PLAN) for block in blocks)
    rows = [row for block in blocks for row in block.to_pylist()]
    assert [row["doc_id"] for row in rows] == [doc_id(text) for text in texts], "the order that was given"
    assert all([item["fragment_index"] for item in row["items"]] == [0, 1, 2] for row in rows)
    assert [block.num_rows for block in blocks] == [2] * 10, "a fragment weighs as much as it has kinds"


def test_plan_fragments_splits_a_document_with_many(store: Store) -> None:
    blocks = synthesis_plan(store, ["t"], fragments=7, kinds=5, max_candidates=15)
    rows = [row for block in blocks for row in block.to_pylist()]
    assert [[item["fragment_index"] for item in row["items"]] for row in rows] == [[0, 1, 2], [3, 4, 5], [6]]
    assert len({row["bundle_id"] for row in rows}) == 3


def test_attach_documents_to_a_synthesis_plan_gives_the_texts(store: Store) -> None:
    texts = ["one", "two", "three"]
    (block,) = synthesis_plan(store, texts, fragments=1, kinds=2, max_candidates=10)
    assert AttachDocuments(store.root)(block)["text"].to_pylist() == texts
