from __future__ import annotations

import pytest

from udfs.errors import warn


def test_warning_is_one_line_without_credentials(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "vErYsEcReTkEy")
    warn("s3://bucket refused vErYsEcReTkEy")
    assert capsys.readouterr().err == "warning: s3://bucket refused (hidden)\n"
