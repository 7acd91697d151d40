"""Addresses, refused credentials, and a store on a real S3 server that fails in all the ways that servers fail."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyarrow import fs

from tests.faulty_proxy import Fault, FaultyProxy, faulty_proxy
from tests.object_storage import BUCKET, KEY, SECRET, RunningServer, point_at, running_server
from tests.udfs.tables.test_store import response_row
from udfs.errors import StorageError, UserError, without_secrets
from udfs.sources.files import opened
from udfs.tables.object_storage import ATTEMPTS_VARIABLE, check_reachable, explanation, open_address
from udfs.tables.store import Store


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("s3")) as running:
        yield running


@pytest.fixture
def environment(server: RunningServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """An environment that names the server."""
    point_at(monkeypatch, server.server.environment, tmp_path)
    return monkeypatch


@pytest.fixture
def proxy(server: RunningServer, environment: pytest.MonkeyPatch) -> Iterator[FaultyProxy]:
    """What the environment names in the server's place."""
    with faulty_proxy(server.server.ports["s3.port"]) as proxy:
        environment.setenv("AWS_ENDPOINT_URL", proxy.endpoint)
        yield proxy


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("ftp://bucket/x", "no known scheme.*s3://, gs://, abfs://"),
        ("s3://", "names no bucket"),
        ("s3:///x", "names no bucket"),
        (f"s3://{KEY}:{SECRET}@bucket/x", "holds credentials.*environment.*AWS_SECRET_ACCESS_KEY"),
        (f"s3://{KEY}@bucket/x", "holds credentials"),
        (f"gs://{KEY}:{SECRET}@bucket/x", "holds credentials"),
        (f"abfs://container:{SECRET}@account.dfs.core.windows.net/x", "holds credentials"),
        (f"ftp://{KEY}:{SECRET}@bucket/x", "no known scheme"),
        (f"s3://bucket/x?access_key={KEY}&secret_key={SECRET}", "options after '\\?'.*AWS_ENDPOINT_URL"),
        ("abfs://container/x", "AZURE_STORAGE_ACCOUNT"),
        ("abfs://container@elsewhere.example.com/x", "no storage account"),
        ("file://relative/x", "file:///folder"),
    ],
)
def test_open_address_that_is_wrong_says_what_is_allowed_and_tells_no_secret(
    address: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AZURE_STORAGE_ACCOUNT", raising=False)
    with pytest.raises(UserError, match=message) as caught:
        open_address(address, "storage.root")
    assert KEY not in str(caught.value)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "kind", "path"),
    [
        ("gs://bucket/a/b/", fs.GcsFileSystem, "bucket/a/b"),
        ("abfs://container@account.dfs.core.windows.net/a", fs.AzureFileSystem, "container/a"),
        ("abfss://container@account.blob.core.windows.net", fs.AzureFileSystem, "container"),
        ("abfs://container/a", fs.AzureFileSystem, "container/a"),
        ("file:///tmp/a/", fs.LocalFileSystem, "/tmp/a"),
    ],
)
def test_open_address_knows_the_other_stores(
    address: str, kind: type, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT", "account")
    filesystem, inner = open_address(address, "storage.root")
    assert isinstance(filesystem, kind)
    assert inner == path


def test_store_on_s3_gives_back_what_was_written_whole_or_not_at_all(
    server: RunningServer, environment: pytest.MonkeyPatch
) -> None:
    store = pickle.loads(pickle.dumps(Store(f"s3://{BUCKET}/whole/")))
    for name in ("3", "1", "2"):
        store.write("responses", "main", [response_row(name), response_row("same", answer=name)], name=name)
    server.client().put_object(Bucket=BUCKET, Key="whole/responses/main/4.parquet", Body=b"")
    frame = store.read("responses", ["response_id", "answer"])
    assert sorted(frame["response_id"]) == ["1", "2", "3", "same"]
    assert frame.filter(response_id="same")["answer"].to_list() == ["1"]
    assert store.parts("responses") == ["main"]
    assert store.read_bytes("reports", "main", "x.md") is None
    assert store.write_bytes(b"text", "reports", "main", "x.md") == f"s3://{BUCKET}/whole/reports/main/x.md"
    assert store.read_bytes("reports", "main", "x.md") == b"text"
    store.delete_folder("reports", "main")
    store.delete_folder("reports", "main")
    assert store.read_bytes("reports", "main", "x.md") is None


@pytest.mark.parametrize(
    ("changes", "bucket", "message"),
    [
        ({}, "absent", "there is no bucket 'absent' at http://127.0.0.1:"),
        ({"AWS_SECRET_ACCESS_KEY": "another-secret"}, BUCKET, "refuses the credentials.*SIGNATURE"),
        ({"AWS_ACCESS_KEY_ID": "another-key"}, BUCKET, "refuses the credentials.*ACCESS_KEY"),
        (
            {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""},
            BUCKET,
            "no credentials were found.*AWS_ACCESS_KEY_ID",
        ),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, BUCKET, "http://127.0.0.1:9 cannot be reached.*AWS_ENDPOINT_URL"),
        ({"AWS_ENDPOINT_URL": f"http://{KEY}:{SECRET}@127.0.0.1:9"}, BUCKET, "AWS_ENDPOINT_URL.*without credentials"),
        ({ATTEMPTS_VARIABLE: "0"}, BUCKET, "ASKABLE_STORAGE_ATTEMPTS='0'.*at least 1"),
    ],
)
def test_check_of_storage_that_cannot_be_used_says_why(
    environment: pytest.MonkeyPatch, changes: dict[str, str], bucket: str, message: str
) -> None:
    for name, value in {ATTEMPTS_VARIABLE: "1", **changes}.items():
        environment.setenv(name, value)
    with pytest.raises(UserError, match=message) as caught:
        check_reachable(f"s3://{bucket}/x", "storage.root")
    assert SECRET not in str(caught.value)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("fault", "times"),
    [("reset", (2, 1, 2, 1)), ("unavailable", (2, 1, 2, 1)), ("half", (2, 1, 2, 1)), ("slow", (1, 0, 1, 0))],
)
def test_store_on_a_server_that_fails_now_and_then_loses_nothing(
    proxy: FaultyProxy, fault: Fault, times: tuple[int, int, int, int]
) -> None:
    check_reachable(f"s3://{BUCKET}/{fault}", "storage.root")
    store = Store(f"s3://{BUCKET}/{fault}")
    rows = [response_row(str(number), answer="word " * 500 + str(number)) for number in range(200)]
    proxy.faults.extend([fault] * times[0])
    store.write("responses", "main", rows)
    proxy.faults.extend([fault] * times[1])
    assert len(store.files("responses")) == 1
    proxy.faults.extend([fault] * times[2])
    assert store.read("responses", ["response_id"]).height == 200
    store.write_bytes(b"line\n" * 100_000, "in", "lines.txt")
    proxy.faults.extend([fault] * times[3])
    with opened(store.address("in", "lines.txt")) as stream:
        assert sum(1 for _ in stream) == 100_000
    assert len(proxy.done) == sum(times)


def test_store_on_a_server_killed_and_started_again_waits_for_it(
    server: RunningServer, environment: pytest.MonkeyPatch
) -> None:
    store = Store(f"s3://{BUCKET}/restarted")
    store.write("responses", "main", [response_row("before")])
    server.kill()
    back = threading.Timer(1.0, server.start)
    back.start()
    try:
        store.write("responses", "main", [response_row("after")])
        assert sorted(store.read("responses")["response_id"]) == ["after", "before"]
    finally:
        back.join()


def test_store_on_a_server_that_is_gone_for_good_fails_with_one_clear_error(
    proxy: FaultyProxy, environment: pytest.MonkeyPatch
) -> None:
    environment.setenv(ATTEMPTS_VARIABLE, "2")
    store = Store(f"s3://{BUCKET}/gone")
    for faults, message in ((["reset"] * 9, "cannot be reached"), (["unavailable"] * 9, "goes on failing")):
        proxy.faults.clear()
        proxy.faults.extend(faults)  # type: ignore[arg-type]
        with pytest.raises(StorageError, match=f"^s3://{BUCKET}/gone: {proxy.endpoint} {message}") as caught:
            store.write("responses", "main", [response_row("a")])
        assert "\n" not in str(caught.value)
    proxy.faults.clear()
    assert store.files("responses") == []


def test_explanation_of_unknown_words_gives_them_without_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", SECRET)
    said = explanation("s3://bucket/x", f"AWS Error UNKNOWN:\n the header was {SECRET}")
    assert said == "s3://bucket/x: object storage failed: AWS Error UNKNOWN: the header was (hidden)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://user:word@host/x", "https://(hidden)@host/x"),
        ("https://host/x?a=1&X-Amz-Signature=abc&b=2", "https://host/x?a=1&X-Amz-Signature=(hidden)&b=2"),
        ("https://host/x?sig=abc", "https://host/x?sig=(hidden)"),
        ("http://127.0.0.1:8000/v1 and s3://bucket/key=1/x", "http://127.0.0.1:8000/v1 and s3://bucket/key=1/x"),
        ("abfs://container@account.dfs.core.windows.net/x", "abfs://container@account.dfs.core.windows.net/x"),
    ],
)
def test_without_secrets_hides_what_gives_access_and_nothing_else(text: str, expected: str) -> None:
    assert without_secrets(text) == expected
