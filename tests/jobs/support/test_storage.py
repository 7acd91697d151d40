from __future__ import annotations

from pathlib import Path

import pytest

from jobs.config import StorageConfig
from jobs.report import ReportConfig
from jobs.support.storage import SUBMITTED_VARIABLE, Reached, refuse_temporary
from udfs.errors import UserError


@pytest.mark.parametrize("address", ["runs/x", "./x", "~/x"])
def test_submitted_job_may_not_write_into_its_own_folder(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SUBMITTED_VARIABLE, "{}")
    with pytest.raises(UserError, match=r"path=.*is relative.*would be lost.*path=s3://bucket/prefix"):
        refuse_temporary(address, "path")


@pytest.mark.parametrize("address", ["/shared/x", "s3://bucket/x", "file:///shared/x"])
def test_submitted_job_may_write_to_what_stays(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SUBMITTED_VARIABLE, "{}")
    refuse_temporary(address, "path")


def test_job_that_was_not_submitted_may_write_where_it_likes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SUBMITTED_VARIABLE, raising=False)
    refuse_temporary("runs/x", "path")


def test_storage_that_cannot_be_used_is_said_of_every_job_of_a_sweep(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(SUBMITTED_VARIABLE, "{}")
    given = {"run": None, "datasets": (), "models": (), "published": False, "resamples": 1000, "seed": 0}
    bad, good = (
        ReportConfig(StorageConfig(root), **given, viewer_responses=0, excerpt_chars=300)  # type: ignore[arg-type]
        for root in ("runs/x", str(tmp_path))
    )
    reached = Reached()
    for _ in range(2):
        with pytest.raises(UserError, match=r"storage\.root='runs/x' is relative"):
            reached.check(bad)
    reached.check(good)
    reached.check(object())
