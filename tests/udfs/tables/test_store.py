"""Tables on disk: atomic, one row per key, the same one every time."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.factories import frame, make_run
from udfs.errors import UserError
from udfs.tables.store import DATASET_MARKER, Store


def response_row(response_id: str, status: str = "ok", answer: str = "a", run: str = "main") -> dict[str, Any]:
    return {
        "response_id": response_id, "run": run, "question_id": "q", "doc_id": "d", "dataset": "s", "model": "m",
        "model_revision": "r", "method": "zs", "layout": "document_first", "template": "t", "detector": "rules",
        "turns": [], "status": status, "created_at": datetime(2026, 1, 1, tzinfo=UTC), "answer": answer,
    }  # fmt: skip


def test_read_prefers_a_permanent_row_to_one_that_is_asked_again_wherever_it_lies(store: Store) -> None:
    for name, status in (("1", "provider_error"), ("2", "filtered"), ("3", "budget_stopped")):
        store.write("responses", "main", [response_row("a", status)], name=name)
    assert store.read("responses", ["status"])["status"].to_list() == ["filtered"]


def test_read_among_rows_of_one_rank_takes_the_newest_wherever_it_lies(store: Store) -> None:
    for name, day, status in (("1", 2, "over_length"), ("2", 9, "filtered"), ("3", 5, "over_length")):
        row = response_row("a", status, name) | {"created_at": datetime(2026, 1, day, tzinfo=UTC)}
        store.write("responses", "main", [row], name=name)
    assert store.read("responses", ["answer"])["answer"].to_list() == ["2"]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "root"))


def test_read_of_nothing_gives_an_empty_frame_with_the_columns(store: Store) -> None:
    frame = store.read("responses")
    assert frame.is_empty()
    assert "response_id" in frame.columns


def test_read_of_rows_written_twice_gives_one(store: Store) -> None:
    store.write("responses", "main", [response_row("a"), response_row("b")])
    store.write("responses", "main", [response_row("b"), response_row("c")])
    assert sorted(store.read("responses")["response_id"]) == ["a", "b", "c"]


def test_read_prefers_the_ok_row_wherever_it_lies(store: Store) -> None:
    store.write("responses", "main", [response_row("a", "provider_error", "")], name="1")
    store.write("responses", "main", [response_row("a", "ok", "good")], name="2")
    store.write("responses", "main", [response_row("a", "over_length", "")], name="3")
    assert store.read("responses", ["answer"])["answer"].to_list() == ["good"]


def test_read_among_equals_takes_the_same_row_every_time(store: Store) -> None:
    store.write("responses", "main", [response_row("a", answer="second")], name="2")
    store.write("responses", "main", [response_row("a", answer="first")], name="1")
    assert store.read("responses", ["answer"])["answer"].to_list() == ["first"]


def test_read_keeps_runs_apart(store: Store) -> None:
    store.write("responses", "main", [response_row("a")])
    store.write("responses", "again", [response_row("a", run="again")])
    assert store.read("responses").height == 2
    assert store.read("responses", part="again").height == 1
    assert store.parts("responses") == ["again", "main"]


def test_read_passes_over_a_half_written_file(store: Store) -> None:
    store.write("responses", "main", [response_row("a")])
    (Path(store.path("responses", "main")) / "_half.tmp").write_bytes(b"PAR1 and then the machine went")
    assert store.read("responses").height == 1


def test_write_a_null_in_a_required_column_raises(store: Store) -> None:
    with pytest.raises(ValueError, match=r"responses\.model must not be null"):
        store.write("responses", "main", [response_row("a") | {"model": None}])


def test_write_an_equal_name_replaces(store: Store) -> None:
    store.write("responses", "main", [response_row("a")], name="x")
    store.write("responses", "main", [response_row("b")], name="x")
    assert store.read("responses")["response_id"].to_list() == ["b"]


def test_require_datasets_unknown_names_those_that_are_there(store: Store) -> None:
    with pytest.raises(UserError, match="ingest a dataset first"):
        store.require_datasets(["x"])
    Path(store.path("documents", "sample")).mkdir(parents=True)
    with pytest.raises(UserError, match=r"unknown dataset 'x'.*ingested: sample"):
        store.require_datasets(["x"])


def test_store_with_an_unknown_scheme_says_so() -> None:
    with pytest.raises(UserError, match="ftps"):
        Store("ftps://host/x")


def test_require_datasets_refuses_one_that_was_not_written_to_its_end(store: Store) -> None:
    marker = ("documents", "x", DATASET_MARKER)
    for content in (b'{"complete": false}', b'{"compl'):
        store.write_bytes(content, *marker)
        with pytest.raises(UserError, match=r"'x'.*incomplete.*again"):
            store.require_datasets(["x"])
    store.write_bytes(b'{"complete": true}', *marker)
    store.require_datasets(["x"])


def test_write_that_fails_leaves_what_was_there_and_nothing_else(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.write("responses", "main", [response_row("a")], name="part")
    store.write_bytes(b"before", "responses", "main", "note.json")

    def no_space(_source: str, _target: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("udfs.tables.store.os.replace", no_space)
    with pytest.raises(OSError, match="No space"):
        store.write("responses", "main", [response_row("b")], name="part")
    with pytest.raises(OSError, match="No space"):
        store.write_bytes(b"after", "responses", "main", "note.json")
    folder = Path(store.path("responses", "main"))
    assert sorted(file.name for file in folder.iterdir()) == ["note.json", "part.parquet"]
    assert (folder / "note.json").read_bytes() == b"before"
    assert store.read("responses", ["response_id"])["response_id"].to_list() == ["a"]


def test_store_reads_rows_that_were_written_before_an_optional_column_was_there(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    store.write("runs", "main", frame("runs", [make_run(number=0)]).to_arrow())
    (file,) = store.files("runs")
    pq.write_table(pq.read_table(file.path).drop_columns(["engines", "busy_seconds"]), file.path)
    (row,) = store.read("runs").to_dicts()
    assert (row["engines"], row["busy_seconds"], row["prompt_tokens"]) == (None, None, 1000)
