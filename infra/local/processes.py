"""Processes that one command starts and another stops: known by their id and their start time (Linux, /proc).

An id alone is not enough: it may belong to another program by now.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

STOP_SECONDS: Final = 5.0
_PROC: Final = Path("/proc")


@dataclass(frozen=True)
class Process:
    """A process that was started here.

    Args:
        name: what it is, for people.
        pid, ticks: its id, and when it started, in clock ticks since the machine did.
    """

    name: str
    pid: int
    ticks: int

    def is_alive(self) -> bool:
        return _ticks(self.pid) == self.ticks

    def family(self) -> list[Process]:
        """It and all its descendants that are alive."""
        return [self, *_descendants(self)] if self.is_alive() else []


def started(name: str, process: subprocess.Popen[bytes]) -> Process:
    """A process that has just been started and not been waited for."""
    ticks = _ticks(process.pid)
    return Process(name, process.pid, -1 if ticks is None else ticks)


def start(name: str, command: Sequence[str], environment: Mapping[str, str], log: Path, folder: Path) -> Process:
    """Start a command that outlives this process, in a session of its own; its output goes to `log`."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment, cwd=folder,
            start_new_session=True,
        )  # fmt: skip
    return started(name, process)


def stop(processes: Iterable[Process], seconds: float = STOP_SECONDS) -> None:
    """Ask each process to end, and kill what is left of it and its descendants after `seconds`. Nothing else is
    touched."""
    processes = list(processes)
    family = {member.pid: member for process in processes for member in process.family()}
    for process in processes:
        _signal(process, signal.SIGTERM)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and any(process.is_alive() for process in processes):
        for process in processes:  # what was started meanwhile
            family |= {member.pid: member for member in process.family()}
        time.sleep(0.1)
    for member in family.values():
        _signal(member, signal.SIGKILL)
    deadline = time.monotonic() + seconds
    while any(member.is_alive() for member in family.values()) and time.monotonic() < deadline:
        time.sleep(0.05)


def _signal(process: Process, number: signal.Signals) -> None:
    if process.is_alive():
        with contextlib.suppress(ProcessLookupError):  # it ended this moment
            os.kill(process.pid, number)


def _ticks(pid: int) -> int | None:
    """When the process started; None where it is gone, or ended and only not yet noticed by its parent."""
    fields = _stat(pid)
    return None if fields is None or fields[0] in ("Z", "X") else int(fields[19])


def _stat(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat from the third on (state, parent, …)."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    return text.rpartition(")")[2].split()


def _descendants(process: Process) -> list[Process]:
    children: dict[int, list[Process]] = {}
    for folder in _PROC.iterdir():
        if folder.name.isdigit() and (fields := _stat(int(folder.name))) and fields[0] not in ("Z", "X"):
            children.setdefault(int(fields[1]), []).append(Process(process.name, int(folder.name), int(fields[19])))
    found: list[Process] = []
    waiting = [process.pid]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            found.append(child)
            waiting.append(child.pid)
    return found
