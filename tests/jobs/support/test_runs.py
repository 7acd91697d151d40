"""A start leaves word of itself in the runs table while it works, and sees who else does."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from jobs.support import runs
from jobs.support.runs import RunLedger, code_hash, code_version
from jobs.support.sink import Totals
from tests.factories import frame, make_run
from udfs.tables.store import Store


@dataclass(frozen=True)
class Config:
    n: int = 1


def ledger(root: Path, start: str = "mine", expected: int = 10) -> RunLedger:
    return RunLedger(
        Store(str(root)), start, "evaluate", "main", "m", Config(), "responses", expected, 0, None, gpus=2, gpu_price=3
    )


def another_start(root: Path, seconds_ago: float, **given: Any) -> None:
    """A start of an hour ago that last wrote `seconds_ago`."""
    started = datetime.now(UTC) - timedelta(hours=1)
    row = make_run(started_at=started, seconds=3600 - seconds_ago, **{"status": "running", "start_id": "other"} | given)
    Store(str(root)).write("runs", "main", frame("runs", [row]).to_arrow())


def test_ledger_writes_without_results_what_is_spent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "CHECKPOINT_SECONDS", 0.05)
    asked = threading.Event()

    def totals() -> Totals:
        asked.set()
        return Totals(prompt_tokens=7)

    started = ledger(tmp_path)
    with started.beating(totals):
        assert asked.wait(30)
    row = Store(str(tmp_path)).read("runs").row(0, named=True)
    assert row["status"] == "running"
    assert row["prompt_tokens"] == 7
    assert row["gpu_hours"] == pytest.approx(row["seconds"] / 3600 * 2)
    assert row["gpu_hours"] > 0
    started.close("ok", Totals(prompt_tokens=8))
    assert Store(str(tmp_path)).read("runs")["status"].to_list() == ["ok"]


def test_ledger_tells_of_another_start_that_is_at_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    another_start(tmp_path, seconds_ago=20)
    ledger(tmp_path, expected=0)
    assert not capsys.readouterr().err, "nothing is asked, so nothing is paid twice"
    ledger(tmp_path)
    said = capsys.readouterr().err
    assert said.startswith("warning: another start of evaluate m in run 'main', of 20")
    assert "wrote 20 s ago that it is at work" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    "other",
    [
        {"seconds_ago": 200},
        {"seconds_ago": 5, "status": "ok"},
        {"seconds_ago": 5, "model": "n"},
        {"seconds_ago": 5, "job": "judge"},
        {"seconds_ago": 5, "start_id": "mine"},
    ],
)
def test_ledger_tells_of_no_start_that_ended_or_does_something_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], other: dict[str, Any]
) -> None:
    another_start(tmp_path, **other)
    ledger(tmp_path)
    assert not capsys.readouterr().err


def test_code_is_told_by_the_commit_and_by_its_content_where_that_differs(tmp_path: Path) -> None:
    folder = tmp_path / "code"
    (folder / "jobs" / "__pycache__").mkdir(parents=True)
    file = folder / "jobs" / "a.py"
    file.write_text("one")
    first = code_hash(folder)
    (folder / "jobs" / "__pycache__" / "a.pyc").write_text("compiled")
    (folder / "README.md").write_text("said")
    assert code_hash(folder) == first, "what does not run does not count"
    file.write_text("two")
    assert code_hash(folder) != first
    file.write_text("one")
    assert code_hash(folder) == first
    assert re.fullmatch(r"[0-9a-f]{40}(\+changes\.[0-9a-f]{12})?|code\.[0-9a-f]{12}", code_version())


def test_code_outside_a_checkout_is_told_by_its_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "jobs" / "support" / "runs.py"
    file.parent.mkdir(parents=True)
    file.write_text("")
    monkeypatch.setattr(runs, "__file__", str(file))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert code_version.__wrapped__() == f"code.{code_hash(tmp_path)}"
