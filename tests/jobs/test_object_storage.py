"""The whole flow with every table, page and export on a real S3 server: killed in the middle, and telling no secret."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from jobs.cli import compose
from jobs.config import EvaluateConfig
from jobs.evaluate import evaluate
from jobs.export import ExportConfig, export
from jobs.ingest import IngestConfig, ingest
from jobs.report import ReportConfig, report
from jobs.review import ReviewConfig, sample
from jobs.stats import StatsConfig, load
from tests.jobs.conftest import local_ray
from tests.jobs.vectors_server import serving_vectors
from tests.object_storage import BUCKET, KEY, SECRET, RunningServer, point_at, running_server
from udfs.errors import UserError
from udfs.schema import TABLES
from udfs.tables.store import Store

QUESTIONS = 144
API_KEY = "sk-TeStApIkEyV4qXjQwIzNoP"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that this process, and every process of the Ray that it starts, is pointed at."""
    home = tmp_path_factory.mktemp("s3")
    with running_server(home / "server") as running, pytest.MonkeyPatch.context() as patch:
        point_at(patch, running.server.environment, home)
        patch.setenv("ASKABLE_TEST_API_KEY", API_KEY)
        yield running


@pytest.fixture(scope="module", autouse=True)
def ray_folder(server: RunningServer) -> Iterator[Path]:
    """One Ray for the module; its folder."""
    with local_ray() as folder:
        yield folder


def given(root: str, *overrides: str) -> EvaluateConfig:
    fixed = ["model=scripted", "datasets=[sample]", "storage=s3", f"storage.root={root}"]
    return compose("evaluate", EvaluateConfig, [*fixed, *overrides])


def ingested(root: str) -> Store:
    ingest(compose("ingest", IngestConfig, ["source=sample", "name=sample", "storage=s3", f"storage.root={root}"]))
    return Store(root)


def everything(server: RunningServer, prefix: str) -> dict[str, bytes]:
    """Every object under a prefix, read with another library."""
    client = server.client()
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=prefix)
    keys = [item["Key"] for page in pages for item in page.get("Contents", ())]
    return {key: client.get_object(Bucket=BUCKET, Key=key)["Body"].read() for key in keys}


def test_flow_on_s3_writes_all_of_it_there_and_no_secret(
    server: RunningServer, ray_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    root = f"s3://{BUCKET}/flow"
    store = ingested(root)
    with serving_vectors() as vectors:
        embedding = ["embedding=endpoint", f"embedding.base_url={vectors.base_url}", "embedding.model=letters"]
        evaluate(given(root, "methods=[zs,fs]", *embedding, "embedding.api_key_env=ASKABLE_TEST_API_KEY"))
    datasets = ["datasets=[sample]", "storage=s3", f"storage.root={root}"]
    print(report(compose("report", ReportConfig, ["storage=s3", f"storage.root={root}"])))
    assert load(store, compose("stats", StatsConfig, datasets).datasets)[1].height == QUESTIONS
    print(export(compose("export", ExportConfig, datasets)))
    print(sample(compose("review", ReviewConfig, ["action=sample", "n=8", *datasets])))

    responses = store.read("responses")
    assert responses.height == QUESTIONS * 2
    assert responses["status"].unique().to_list() == ["ok"]
    objects = everything(server, "flow/")
    for name in ("reports/main/index.html", "reports/main/responses.html", "exports/sample/README.md",
                 "exports/sample/export.json", "reviews/questions/sample.json"):  # fmt: skip
        assert objects[f"flow/{name}"], name
    assert list(tmp_path.iterdir()) == [], "something was written beside the storage root"

    rows = "".join(json.dumps(store.read(table).to_dicts(), default=str) for table in TABLES)
    assert "embedding:letters" in rows
    assert "ASKABLE_TEST_API_KEY" in rows, "the name of the variable is stored, its value is not"
    printed = "".join(capfd.readouterr())
    logs = b"".join(file.read_bytes() for file in (ray_folder / "logs").rglob("*") if file.is_file())
    log = server.server.log.read_bytes()
    for secret in (KEY, SECRET, API_KEY):
        assert secret not in rows
        assert secret not in printed
        assert [key for key, content in objects.items() if secret.encode() in content] == []
        assert secret.encode() not in logs
    assert SECRET.encode() not in log


def test_evaluate_on_a_server_killed_and_started_again_records_every_row_once(server: RunningServer) -> None:
    root = f"s3://{BUCKET}/killed"
    store = ingested(root)
    recorded: list[int] = []

    def kill_in_the_middle() -> None:
        watching, pause = Store(root), threading.Event()
        deadline = time.monotonic() + 120
        while len(watching.files("responses")) < 2 and time.monotonic() < deadline:
            pause.wait(0.1)
        recorded.append(watching.read("responses", ["response_id"]).height)
        server.kill()
        server.start()

    killer = threading.Thread(target=kill_in_the_middle)
    killer.start()
    slow = ["model.delay_s=0.2", "flush_seconds=0.2", "cluster.blocks_per_actor=1"]
    evaluate(given(root, "methods=[zs,fs]", *slow))
    killer.join()
    assert 0 < recorded[0] < QUESTIONS * 2, "the server was not killed in the middle"
    responses = store.read("responses")
    assert responses.height == responses["response_id"].n_unique() == QUESTIONS * 2
    assert responses["status"].unique().to_list() == ["ok"]
    raw = sum(pq.read_metadata(file.path, filesystem=store.filesystem).num_rows for file in store.files("responses"))
    assert raw == QUESTIONS * 2, "a row was written twice"
    assert store.read("runs")["status"].unique().to_list() == ["ok"]


def test_job_refuses_credentials_in_an_address_without_repeating_them() -> None:
    with pytest.raises(UserError, match="holds credentials") as caught:
        evaluate(given(f"s3://{KEY}:{SECRET}@{BUCKET}/x"))
    assert SECRET not in str(caught.value)
