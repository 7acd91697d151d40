"""The local cluster, and jobs that are submitted to it: what its users type, with tables on its S3 server."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from infra.local.__main__ import main
from infra.local.cluster import BUCKET, Size, status, up
from infra.local.ray_cluster import Node
from infra.local.s3_server import S3Server
from infra.local.state import State
from tests.conftest import SMOLLM2, package_weights
from udfs.errors import UserError
from udfs.tables.store import Store

REPOSITORY = Path(__file__).resolve().parents[3]
RAY = Path(sys.executable).with_name("ray")
QUESTIONS = 144
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[State]:
    """A head and two workers with the S3 server."""
    folder = tmp_path_factory.mktemp("local") / "cluster"
    try:
        S3Server.prepare(folder / "s3", "", "").command()
    except UserError as error:
        pytest.skip(str(error))
    yield up(folder, Size(workers=2, node=Node(cpus=3)))
    main(["down", "--folder", str(folder), "--delete"])


@pytest.fixture(scope="module")
def shell(cluster: State) -> dict[str, str]:
    """The environment of somebody who has sourced the cluster's `env`."""
    script = f". {cluster.environment_file} && env -0"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    return dict(line.split("=", 1) for line in done.stdout.split("\0") if line)


@pytest.fixture
def storage(shell: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """This process finds the cluster's S3 server."""
    for name, value in shell.items():
        if name.startswith("AWS_"):
            monkeypatch.setenv(name, value)


def submit(shell: Mapping[str, str], *command: str) -> tuple[int, str]:
    """What `ray job submit --working-dir . -- python -m …` ends with and shows."""
    line = [str(RAY), "job", "submit", "--working-dir", ".", "--", "python", "-m", *command]
    done = subprocess.run(
        line, cwd=REPOSITORY, env=dict(shell), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return done.returncode, done.stdout


def test_cluster_keeps_strangers_out(cluster: State) -> None:
    for file in (cluster.token_file, cluster.environment_file):
        assert file.stat().st_mode & 0o777 == 0o600
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(f"http://127.0.0.1:{cluster.ports['dashboard']}/api/jobs/", timeout=30)


def test_cluster_that_is_up_is_not_started_again(cluster: State) -> None:
    assert status(cluster.folder)[0].startswith("the local cluster is up: 3 nodes")
    with pytest.raises(UserError, match=r"is up already.*python -m infra\.local down"):
        up(cluster.folder, Size())
    assert len(cluster.alive()) == 4


@pytest.mark.usefixtures("storage")
def test_submitted_jobs_run_on_the_nodes_and_leave_everything_on_s3(shell: Mapping[str, str]) -> None:
    root = f"storage.root=s3://{BUCKET}/scripted"
    code, said = submit(shell, "jobs.ingest", "source=sample", "name=sample", "storage=s3", root)
    assert code == 0, said
    scripted = ["model=scripted", "model.error_rate=0.05", "datasets=[sample]", "methods=[zs,fs]", "cluster.actors=2"]
    code, said = submit(shell, "jobs.evaluate", *scripted, "cluster=ray", "cluster.actor_gpus=0", "storage=s3", root)
    assert code == 0, said
    responses = Store(f"s3://{BUCKET}/scripted").read("responses")
    assert responses.height == QUESTIONS * 2
    failed = responses.filter(pl.col("status") != "ok").height
    assert failed > 0
    assert f"warning: {failed} of {QUESTIONS * 2} responses failed" in said
    secrets = [shell["AWS_SECRET_ACCESS_KEY"], Path(shell["RAY_AUTH_TOKEN_PATH"]).read_text(encoding="utf-8")]
    assert [secret for secret in secrets if secret in said] == []


def test_submitted_job_that_would_write_into_its_own_folder_fails_with_one_line(shell: Mapping[str, str]) -> None:
    code, said = submit(shell, "jobs.report", "storage.root=runs/x")
    assert code != 0
    lines = [line for line in said.splitlines() if line.startswith("error: ")]
    assert len(lines) == 2, "once as the job says it, once as Ray repeats a failed job's last words"
    assert re.match(r"error: storage\.root='runs/x' is relative.*would be lost.*s3://bucket/prefix", lines[0])


def metrics(root: str) -> pl.DataFrame:
    """The metrics of a run whose report was made, without what names it."""
    return Store(root).read("metrics").sort(pl.col(pl.String))


@pytest.mark.engine
@pytest.mark.usefixtures("storage")
def test_submitted_run_of_a_real_model_measures_what_one_process_measures(
    shell: Mapping[str, str], tmp_path: Path
) -> None:
    package_weights(SMOLLM2)
    # One request at a time in float32: in bfloat16 a token's likelihood depends on what else is in its batch.
    asked = ["model=smollm2-135m", "model.dtype=float32", "model.max_num_seqs=1", "model.sampling.max_tokens=24",
             "datasets=[sample]", "methods=[zs,fs]", "limit=4", "judge=rules"]  # fmt: skip
    here, there = f"storage.root={tmp_path}/root", f"storage.root=s3://{BUCKET}/real"
    for job, given in (("ingest", ["source=sample", "name=sample"]), ("evaluate", asked), ("report", [])):
        placed = ["cluster=ray", "cluster.actor_gpus=0", "cluster.actors=1"] if job == "evaluate" else []
        code, said = submit(shell, f"jobs.{job}", *given, *placed, "storage=s3", there)
        assert code == 0, said
        alone = [sys.executable, "-m", f"jobs.{job}", *given, here]
        subprocess.run(alone, cwd=REPOSITORY, env=os.environ | {"RAY_ADDRESS": ""}, check=True)
    single, submitted = metrics(str(tmp_path / "root")), metrics(f"s3://{BUCKET}/real")
    assert single.height > 0
    assert_frame_equal(submitted, single, check_exact=True)  # says where they differ


def test_down_after_a_node_was_killed_leaves_nothing(cluster: State) -> None:
    worker = next(process for process in cluster.processes if process.name == "worker 2")
    family = [member for process in cluster.processes for member in process.family()]
    os.kill(worker.pid, 9)
    while worker.is_alive():
        pass
    assert "broken (3 of 4 processes run)" in status(cluster.folder)[0]
    assert main(["down", "--folder", str(cluster.folder)]) == 0
    assert [member for member in family if member.is_alive()] == []
    assert not Path(cluster.ray_folder).exists()
    assert not cluster.token_file.exists()
    assert main(["status", "--folder", str(cluster.folder)]) == 1
