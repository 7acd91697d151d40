from __future__ import annotations

from pathlib import Path

import pytest

from jobs.stats import load, report
from tests.factories import make_document, make_question
from udfs.errors import UserError
from udfs.records import row_of
from udfs.tables.store import Store


def fill(store: Store, dataset: str, n_questions: int) -> None:
    document = make_document(f"The bridge of {dataset} opened in 1902.", dataset=dataset)
    asked = [make_question(document, i, answerable=i % 2 == 0) for i in range(n_questions)]
    store.write("documents", dataset, [row_of(document)])
    if asked:
        store.write("questions", dataset, [row_of(question) for question in asked])


def test_stats_none_named_means_all(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    fill(store, "a", 4)
    fill(store, "b", 0)
    documents, questions = load(store, ())
    assert sorted(documents["dataset"]) == ["a", "b"]
    text = report(documents, questions)
    assert "| a | 1 | 4 | 50.00 |" in text
    assert "| b | 1 | 0 | – |" in text
    for title in ("By split", "By language", "By domain", "By length bucket", "By kind"):
        assert f"## {title}\n" in text


def test_stats_named_dataset_alone_is_reported(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    fill(store, "a", 2)
    fill(store, "b", 2)
    assert set(load(store, ("b", "b"))[1]["dataset"]) == {"b"}


def test_stats_row_written_twice_counts_once(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    fill(store, "a", 3)
    fill(store, "a", 3)
    documents, questions = load(store, ("a",))
    assert (documents.height, questions.height) == (1, 3)


def test_stats_unknown_or_no_dataset_is_a_user_error(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    with pytest.raises(UserError, match=r"jobs\.ingest"):
        load(store, ())
    fill(store, "a", 1)
    with pytest.raises(UserError, match="ingested: a"):
        load(store, ("z",))
