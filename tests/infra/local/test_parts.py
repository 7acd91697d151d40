"""The parts of the local cluster that need no Ray: processes, state, what a submitted job takes along."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from ray._private.runtime_env.packaging import create_package

from infra.local.__main__ import main
from infra.local.cluster import Size, status, up
from infra.local.processes import Process, start, started, stop
from infra.local.state import STATE, State, exports, read_state
from udfs.errors import UserError

REPOSITORY = Path(__file__).resolve().parents[3]
MAX_PACKAGE_BYTES = 5 * 2**20
CHILD = "import time; time.sleep(600)"
PARENT = (
    f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', '{CHILD}']); print('ready', flush=True); {CHILD}"
)


def test_stop_ends_a_process_and_what_it_started() -> None:
    process = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    parent = started("parent", process)
    family = parent.family()
    assert len(family) == 2
    stop([parent])
    assert [member for member in family if member.is_alive()] == []


def test_stop_leaves_another_process_with_the_same_id_alone() -> None:
    process = subprocess.Popen([sys.executable, "-c", CHILD])
    try:
        now = started("bystander", process)
        stop([Process("one that ended long ago", now.pid, now.ticks - 1)])
        assert now.is_alive()
    finally:
        process.kill()
        process.wait()


def test_start_gives_a_process_that_writes_to_its_log(tmp_path: Path) -> None:
    process = start("echo", ["echo", "said"], os.environ, tmp_path / "log", tmp_path)
    deadline = time.monotonic() + 30
    while process.is_alive():
        assert time.monotonic() < deadline
    assert (tmp_path / "log").read_text() == "said\n"


def test_state_comes_back_as_it_was_written_and_is_its_owners_alone(tmp_path: Path) -> None:
    state = State(tmp_path, "/tmp/x", {"gcs": 1}, [Process("head", 2, 3)], complete=True)
    state.write()
    assert read_state(tmp_path) == state
    assert (tmp_path / STATE).stat().st_mode & 0o777 == 0o600
    state.forget()
    assert read_state(tmp_path) is None


def test_state_that_is_damaged_is_a_user_error(tmp_path: Path) -> None:
    (tmp_path / STATE).write_text("{", encoding="utf-8")
    with pytest.raises(UserError, match=r"state\.json is damaged"):
        read_state(tmp_path)


def test_up_over_the_rest_of_a_cluster_says_what_still_runs(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", CHILD])
    try:
        head = started("head", process)
        State(tmp_path, str(tmp_path / "ray"), {}, [head, Process("worker 1", head.pid, head.ticks - 1)], True).write()
        with pytest.raises(UserError, match=r"of its 2 processes head still run; python -m infra\.local down"):
            up(tmp_path, Size())
        assert "broken (1 of 2 processes run)" in status(tmp_path)[0]
        assert main(["down", "--folder", str(tmp_path)]) == 0
        assert process.wait(10) == -signal.SIGTERM
        assert status(tmp_path) == ["the local cluster is down"]
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("option", ["--workers=0", "--cpus=0", "--object-store-mb=10"])
def test_up_of_an_impossible_size_says_what_is_allowed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    assert main(["up", "--folder", str(tmp_path), option]) == 2
    assert f"error: {option} is not allowed: at least" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_down_of_nothing_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["down", "--folder", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "nothing of it ran\n"
    assert main(["status", "--folder", str(tmp_path)]) == 1


def test_exports_survive_a_shell() -> None:
    value = "a b'c$d"
    shell = f'{exports({"ASKABLE_X": value})}printf %s "$ASKABLE_X"'
    assert subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=True).stdout == value


def test_working_dir_holds_what_a_job_needs_and_stays_small(tmp_path: Path) -> None:
    package = tmp_path / "package.zip"
    create_package(str(REPOSITORY), package, include_gitignore=True)
    with zipfile.ZipFile(package) as zipped:
        names = {entry.partition("/")[0] for entry in zipped.namelist()}
        needed = {"jobs", "udfs", "conf", "infra", "pyproject.toml"}
        assert needed <= names
        assert not names & {"tests", ".git", ".venv", "runs", "README.md"}
    assert package.stat().st_size < MAX_PACKAGE_BYTES
