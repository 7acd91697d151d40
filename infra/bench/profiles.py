"""What processes spend their time with: py-spy's samples, summed up by function."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final

RATE: Final = 50
"""Samples a second."""
TOP: Final = 12
PROJECT: Final = ("jobs/", "udfs/")


@dataclass(frozen=True)
class Profile:
    """Samples of one process, all its threads, while they were on a CPU or in native code that py-spy counts as such.

    Args:
        stacks: sampled stack, outermost frame first and `;` between, and how often it was seen.
        samples: that a thread busy all the time would have.
    """

    name: str
    stacks: Counter[str]
    samples: int

    def lines(self) -> list[str]:
        """The costliest functions, by themselves and with what they call, as shares of the time of one thread."""
        own: Counter[str] = Counter()
        within: Counter[str] = Counter()
        for stack, seen in self.stacks.items():
            frames = [_function(frame) for frame in stack.split(";")]
            own[frames[-1]] += seen
            within.update(dict.fromkeys(frames, seen))
        busy = sum(self.stacks.values()) / self.samples
        lines = [f"-- {self.name}: busy {busy:.0%} of one thread; functions by themselves:"]
        lines += [f"   {seen / self.samples:6.1%}  {name}" for name, seen in own.most_common(TOP)]
        ours = [(name, seen) for name, seen in within.most_common() if any(part in name for part in PROJECT)]
        lines.append(f"-- {self.name}: functions of this project, with what they call:")
        lines += [f"   {seen / self.samples:6.1%}  {name}" for name, seen in ours[:TOP]]
        return lines


def _function(frame: str) -> str:
    """`name (path:line)` as `name (path)`: a function, whatever its line."""
    head, _, line = frame.rpartition(":")
    return f"{head})" if line.rstrip(")").isdigit() else frame


def record(processes: dict[str, int], seconds: int, folder: Path) -> list[Profile]:
    """Sample all of `processes` (name → id) at once for `seconds`.

    Raises:
        SystemExit: py-spy is not there, or may not look into a process.
    """
    spy = Path(sys.executable).with_name("py-spy")
    started = {}
    for name, pid in processes.items():
        target = folder / f"{name}.raw"
        command = [str(spy), "record", "--pid", str(pid), "--duration", str(seconds), "--rate", str(RATE)]
        command += ["--format", "raw", "--nonblocking", "--output", str(target)]
        started[name] = (target, subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE))
    profiles = []
    for name, (target, process) in started.items():
        _, said = process.communicate()
        if process.returncode or not target.is_file():
            raise SystemExit(f"py-spy could not look into the {name}: {said.decode(errors='replace').strip()}")
        profiles.append(Profile(name, _read(target), seconds * RATE))
    return profiles


def _read(file: Path) -> Counter[str]:
    stacks: Counter[str] = Counter()
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        stack, _, seen = line.rpartition(" ")
        stacks[stack] += int(seen)
    return stacks
