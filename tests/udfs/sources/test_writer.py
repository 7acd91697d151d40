from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import polars as pl
import pytest

from tests.factories import make_document, make_question
from udfs.errors import UserError
from udfs.records import Document, Question, Reject
from udfs.sources.writer import DatasetWriter, read_marker, write_dataset
from udfs.tables.store import Store

DOCUMENTS = [make_document(f"Document {i}. " + "word " * 40 * i) for i in range(1, 6)]
QUESTIONS = [make_question(document) for document in DOCUMENTS]


def put(
    store: Store, records: Iterable[Document | Question | Reject], overwrite: bool = False, fail: bool = False
) -> bool:
    def feed(writer: DatasetWriter) -> int:
        for record in records:
            writer.add(record)
        if fail:
            raise UserError("a row was rejected")
        return sum(isinstance(record, Document) for record in records)

    return write_dataset(store, "bench", overwrite, {}, feed)


def paths(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def test_writer_sorts_documents_longest_first_and_bounds_files(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    writer = DatasetWriter(store, "bench", dry=False, file_text_bytes=1200)
    for document in DOCUMENTS:
        writer.add(document)
    writer.finish()
    files = [pl.read_parquet(file.path) for file in store.files("documents", "bench")]
    assert len(files) == 4
    for frame in files:
        assert frame["n_tokens"].to_list() == sorted(frame["n_tokens"], reverse=True)
        assert frame.height == 1 or frame["text"].str.len_bytes().sum() <= 1200
    assert store.read("documents", ["doc_id"]).height == 5


def test_writing_the_same_again_changes_no_file(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    assert put(store, [*DOCUMENTS, *QUESTIONS])
    before = {path: (tmp_path / path).stat().st_mtime_ns for path in paths(tmp_path)}
    assert not put(store, [*DOCUMENTS, *QUESTIONS])
    assert {path: (tmp_path / path).stat().st_mtime_ns for path in paths(tmp_path)} == before


def test_other_content_needs_overwrite_and_then_replaces_all(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    put(store, [*DOCUMENTS, *QUESTIONS])
    before = paths(tmp_path)
    with pytest.raises(UserError, match="overwrite=true"):
        put(store, [DOCUMENTS[0], QUESTIONS[0]])
    assert paths(tmp_path) == before
    assert put(store, [DOCUMENTS[0], QUESTIONS[0]], overwrite=True)
    assert store.read("documents", ["doc_id"]).height == 1
    assert store.read("questions", ["question_id"]).height == 1
    assert not paths(tmp_path) & {path for path in before if path.endswith(".parquet")}


@pytest.mark.parametrize("existing", [False, True])
def test_failure_on_the_way_leaves_what_was_there(tmp_path: Path, existing: bool) -> None:
    store = Store(str(tmp_path))
    if existing:
        put(store, [DOCUMENTS[0], QUESTIONS[0]])
    before = paths(tmp_path)
    with pytest.raises(UserError, match="rejected"):
        put(store, DOCUMENTS, overwrite=True, fail=True)
    assert paths(tmp_path) == before
    assert store.dataset_names() == (["bench"] if existing else [])


def test_ingest_that_was_killed_is_completed_without_overwrite(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    put(store, [DOCUMENTS[0], QUESTIONS[0]])
    marker = tmp_path / "documents" / "bench" / "_dataset.json"
    marker.write_text('{"complete": false}', encoding="utf-8")
    assert put(store, [*DOCUMENTS, *QUESTIONS])
    assert store.read("documents", ["doc_id"]).height == 5
    found = read_marker(store, "bench")
    assert found is not None
    assert found["complete"] is True


def test_files_that_no_ingest_wrote_are_not_replaced_unasked(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    store.write(
        "documents",
        "bench",
        [{**dict.fromkeys(DOCUMENTS[0].__slots__, ""), "text": "x", "n_chars": 1, "n_words": 1, "n_tokens": 1}],
        "other",
    )
    with pytest.raises(UserError, match="overwrite=true"):
        put(store, DOCUMENTS)
    assert put(store, DOCUMENTS, overwrite=True)
    assert store.read("documents", ["doc_id"]).height == 5


def test_nothing_taken_leaves_no_dataset_and_overwrites_none(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    reject = Reject("bench", "f", 1, "", "no_question", "no question")
    assert put(store, [reject])
    assert store.dataset_names() == []
    assert store.read("rejects", ["reason"])["reason"].to_list() == ["no_question"]
    put(store, DOCUMENTS)
    with pytest.raises(UserError, match="left as it was"):
        put(store, [reject], overwrite=True)
    assert store.read("documents", ["doc_id"]).height == 5
