"""What tests of object storage share: a real S3 server on the loopback interface, and the environment that names it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.client import Config

from infra.local.s3_server import REGION, S3Server
from udfs.errors import UserError

KEY, SECRET = "TESTKEYVAQXJQWIZNOP", "tEsTsEcReTkF0m6aH2yUvW9zB4xN"
"""Of the test server: long and odd enough that a search for them finds nothing else."""
BUCKET = "bench"


class RunningServer:
    """A server with one bucket that can be killed and started again, with the same ports and data."""

    def __init__(self, folder: Path) -> None:
        self.server = S3Server.prepare(folder, KEY, SECRET)
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = self.server.start()
        self.server.wait(self.process)

    def kill(self) -> None:
        """SIGKILL; nothing is flushed or said good-bye to."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(20)
            self.process = None

    def client(self) -> Any:
        """A client of another library than the one under test."""
        return boto3.client(
            "s3",
            endpoint_url=self.server.endpoint,
            aws_access_key_id=KEY,
            aws_secret_access_key=SECRET,
            region_name=REGION,
            config=Config(connect_timeout=2, read_timeout=20, retries={"total_max_attempts": 5}),
        )


@contextmanager
def running_server(folder: Path) -> Iterator[RunningServer]:
    """A started server with the bucket `BUCKET`; skips where none is installed."""
    running = RunningServer(folder)
    try:
        running.server.command()
    except UserError as error:
        pytest.skip(str(error))
    try:
        running.start()
        running.client().create_bucket(Bucket=BUCKET)
        yield running
    finally:
        running.kill()


def point_at(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], home: Path) -> None:
    """Let every S3 library of this process find `environment`, and no credentials of whoever runs the tests."""
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_S3", "ASKABLE_STORAGE_ATTEMPTS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(home / "no-credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(home / "no-config"))
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
