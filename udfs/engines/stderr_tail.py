"""What child processes say on stderr while they start, kept and passed on.

vLLM's engine process tells why it does not start on its stderr alone; the parent gets "see root cause above".
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

KEEP_LINES: Final = 400
NOISE: Final = (b"Triton is installed, but doesn't include CPU backend",)
"""Lines that say nothing to whoever runs a job on a CPU."""


@contextmanager
def watched_stderr() -> Iterator[deque[str]]:
    """Within the block, file descriptor 2 leads through a thread that keeps the last lines and passes them on.

    Processes started within keep writing through it as long as they live.
    """
    lines: deque[str] = deque(maxlen=KEEP_LINES)
    sys.stderr.flush()
    original = os.dup(2)
    reader, writer = os.pipe()
    os.dup2(writer, 2)
    os.close(writer)
    pump = threading.Thread(target=_pump, args=(reader, original, lines), name="stderr", daemon=True)
    pump.start()
    try:
        yield lines
    finally:
        sys.stderr.flush()
        os.dup2(original, 2)
        # Ends when no process holds the other end any more; a moment is enough to get what a dead one has said.
        pump.join(timeout=1.0)


def _pump(reader: int, target: int, lines: deque[str]) -> None:
    with open(reader, "rb", buffering=-1) as stream:
        for line in stream:
            if any(noise in line for noise in NOISE):
                continue
            lines.append(line.decode("utf-8", "replace").rstrip())
            os.write(target, line)
    os.close(target)


def root_cause(lines: deque[str]) -> str | None:
    """The first error that a traceback among `lines` ends in: `ValueError: …`."""
    for line in lines:
        text = line.split("] ", 1)[1] if line.startswith("(") and "] " in line else line
        head, colon, rest = text.partition(": ")
        if colon and rest and head.rsplit(".", 1)[-1].endswith(("Error", "Exception")) and " " not in head:
            return text
    return None
