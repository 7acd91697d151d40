"""Reading from and writing to a real S3 server on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.object_storage import RunningServer, point_at, running_server
from tests.udfs.sources.helpers import BRIDGE, take, write_jsonl
from udfs.errors import UserError
from udfs.sources.files import resolve
from udfs.sources.writer import DatasetWriter, write_dataset
from udfs.tables.store import Store

ROWS = [{"context": BRIDGE, "question": f"When ({i})?", "answerable": i % 2} for i in range(4)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("s3")) as running:
        yield running


@pytest.fixture
def bucket(server: RunningServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """A client for the server, with the environment that points every library at it."""
    point_at(monkeypatch, server.server.environment, tmp_path)
    return server.client()


def test_s3_files_folders_and_globs_read_like_local_ones(bucket: Any, tmp_path: Path) -> None:
    local = write_jsonl(tmp_path / "a.jsonl.gz", ROWS)
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "b.parquet")
    bucket.upload_file(str(local), "bench", "in/deep/a.jsonl.gz")
    bucket.upload_file(str(tmp_path / "b.parquet"), "bench", "in/b.parquet")
    expected = [question.question_id for question in take("couldask", local).questions]
    for address in ("s3://bench/in/deep/a.jsonl.gz", "s3://bench/in/b.parquet", "s3://bench/in/*.parquet"):
        assert [question.question_id for question in take("couldask", address).questions] == expected
    assert resolve("s3://bench/in", (".parquet", ".jsonl")) == [
        "s3://bench/in/b.parquet",
        "s3://bench/in/deep/a.jsonl.gz",
    ]


def test_s3_text_that_is_not_there_is_a_user_error(bucket: Any) -> None:
    assert bucket is not None
    with pytest.raises(UserError, match="s3://bench/none"):
        take("text", "s3://bench/none")


def test_s3_dataset_is_written_replaced_and_recognised(bucket: Any, tmp_path: Path) -> None:
    assert bucket is not None
    store = Store("s3://bench/store")
    taken = take("couldask", write_jsonl(tmp_path / "a.jsonl", ROWS))

    def put(n_questions: int, overwrite: bool) -> bool:
        def feed(writer: DatasetWriter) -> int:
            for document in taken.documents:
                writer.add(document)
            for question in taken.questions[:n_questions]:
                writer.add(question)
            return len(taken.documents)

        return write_dataset(store, "bench", overwrite, {}, feed)

    assert put(4, overwrite=False)
    assert not put(4, overwrite=False)
    with pytest.raises(UserError, match="overwrite=true"):
        put(3, overwrite=False)
    assert put(3, overwrite=True)
    assert store.read("questions", ["question_id"]).height == 3
    assert store.dataset_names() == ["bench"]
