"""What `up` has started, in a file, so that `down` and `status` of another day know it."""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from infra.local.processes import Process
from udfs.errors import UserError

STATE: Final = "state.json"
ENVIRONMENT: Final = "env"
TOKEN: Final = "ray-token"


@dataclass
class State:
    """A cluster as it was started.

    Args:
        folder: where this file, the logs, the token and the S3 server's data lie.
        ray_folder: Ray's own temporary folder; its path must be short, since Ray puts sockets there.
        ports: by what listens there.
        processes: those that `up` started itself; their descendants follow from them.
        complete: whether `up` came to its end.
    """

    folder: Path
    ray_folder: str
    ports: dict[str, int]
    processes: list[Process] = field(default_factory=list)
    complete: bool = False

    @property
    def token_file(self) -> Path:
        return self.folder / TOKEN

    @property
    def environment_file(self) -> Path:
        return self.folder / ENVIRONMENT

    def alive(self) -> list[Process]:
        return [process for process in self.processes if process.is_alive()]

    def write(self) -> None:
        """Write the file, whole."""
        content = dataclasses.asdict(self) | {"folder": str(self.folder)}
        write_private(self.folder / STATE, json.dumps(content, indent=1))

    def forget(self) -> None:
        """Remove the files that stand for a running cluster; logs and data stay."""
        for name in (STATE, ENVIRONMENT, TOKEN):
            (self.folder / name).unlink(missing_ok=True)


def read_state(folder: Path) -> State | None:
    """What was started in `folder`; None where nothing was.

    Raises:
        UserError: the file cannot be understood.
    """
    file = folder / STATE
    if not file.exists():
        return None
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        processes = [Process(**process) for process in content.pop("processes")]
        return State(**content | {"folder": folder, "processes": processes})
    except (ValueError, TypeError, KeyError) as error:
        raise UserError(f"{file} is damaged ({error}); stop its processes by hand and remove it") from error


def write_private(file: Path, content: str) -> None:
    """Write a file that only its owner can read; it appears whole."""
    temporary = file.with_name(f"{file.name}.tmp")
    temporary.unlink(missing_ok=True)
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as stream:
        stream.write(content)
    temporary.replace(file)


def exports(environment: Mapping[str, str]) -> str:
    """Lines for a shell to source."""
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in environment.items())
