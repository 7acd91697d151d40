from __future__ import annotations

import functools
import gzip
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.udfs.sources.helpers import BRIDGE, take, write_jsonl
from udfs.errors import UserError
from udfs.sources.files import bare_suffix, resolve, split_of

ROWS = [{"context": BRIDGE, "question": f"When ({i})?", "answerable": i % 2} for i in range(4)]


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("data/test-00000-of-00001.parquet", "test"),
        ("banditqa_dev.jsonl.gz", "dev"),
        ("val.csv", "validation"),
        ("dev-v2.0.json", "dev"),
        ("latest.jsonl", None),
        ("train/part.jsonl", None),
        ("https://host/train.jsonl?token=test", "train"),
    ],
)
def test_split_of_reads_the_file_name(name: str, split: str | None) -> None:
    assert split_of(name) == split


def test_bare_suffix_sees_through_compression_and_query() -> None:
    assert bare_suffix("https://host/a.b.JSONL.gz?x=.csv") == ".jsonl"
    assert bare_suffix("folder.d/name") == ""


def test_resolve_folder_skips_hidden_and_unknown_files_and_sorts(tmp_path: Path) -> None:
    for name in ("b.csv", "a.jsonl.gz", ".hidden.csv", "notes.txt"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache" / "c.csv").write_bytes(b"")
    assert [Path(file).name for file in resolve(str(tmp_path), (".csv", ".jsonl"))] == ["a.jsonl.gz", "b.csv"]


@pytest.fixture
def web(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder, and the loopback address under which it is served."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(tmp_path)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield tmp_path, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_web_jsonl_gz_and_parquet_read_like_local_ones(web: tuple[Path, str]) -> None:
    folder, address = web
    write_jsonl(folder / "a.jsonl.gz", ROWS)
    pq.write_table(pa.Table.from_pylist(ROWS), folder / "a.parquet")
    local = [question.question_id for question in take("couldask", folder / "a.jsonl.gz").questions]
    assert len(local) == 4
    for name in ("a.jsonl.gz", "a.parquet"):
        assert [question.question_id for question in take("couldask", f"{address}/{name}").questions] == local


def test_web_address_that_is_not_there_is_a_user_error(web: tuple[Path, str]) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        take("couldask", f"{web[1]}/none.jsonl")


def test_damaged_gzip_keeps_the_rows_before_the_damage(tmp_path: Path) -> None:
    rows = [{"context": BRIDGE, "question": f"When ({i * 7919 % 1000})?", "answerable": 1} for i in range(5000)]
    path = write_jsonl(tmp_path / "a.jsonl.gz", rows)
    path.write_bytes(path.read_bytes()[:-4000])
    taken = take("couldask", path, keep_repeats=True)
    assert len(taken.questions) > 100
    assert taken.reasons() == [(len(taken.questions) + 1, "bad_file")]


def test_json_array_and_unknown_kind_are_told_how_to_mend(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[{}]", encoding="utf-8")
    with pytest.raises(UserError, match="one object a line"):
        take("couldask", tmp_path / "a.json")
    (tmp_path / "a.xlsx").write_bytes(gzip.compress(b""))
    with pytest.raises(UserError, match=r"\.jsonl"):
        take("couldask", tmp_path / "a.xlsx")


def test_file_that_is_no_parquet_is_one_reject(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 not really")
    assert take("couldask", tmp_path / "a.parquet").reasons() == [(1, "bad_file")]
