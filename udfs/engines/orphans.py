"""No engine process without its owner: vLLM's processes end when the process that started them is killed.

vLLM starts its engine as a child that lives on, with all its memory, when its parent dies by SIGKILL (the kernel's
out-of-memory killer, a killed driver whose workers Ray takes down). A shell that waits at the other end of a pipe
notices and ends it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import subprocess
import threading
from typing import IO, Final

POLL_S: Final = 0.2
WATCH: Final = """
pids=
while read -r word; do
  if [ "$word" = done ]; then exit 0; fi
  pids="$pids $word"
done
[ -z "$pids" ] && exit 0
kill -TERM $pids 2>/dev/null
sleep 3
kill -KILL $pids 2>/dev/null
"""


class ChildWatch:
    """Ends the `multiprocessing` children that are started between its making and `started()`, if this process dies."""

    def __init__(self) -> None:
        # A session of its own: Ctrl-C is for the job, not for what cleans up after it.
        self._shell = subprocess.Popen(
            ["/bin/sh", "-c", WATCH],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
        )
        assert self._shell.stdin is not None
        self._pipe: IO[str] = self._shell.stdin
        self._before = {child.pid for child in multiprocessing.active_children()}
        self._told: set[int] = set()
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._tell, name="child-watch", daemon=True)
        self._thread.start()

    def started(self) -> None:
        """All children are there: tell of the last ones and look for no more."""
        self._started.set()
        self._thread.join()

    def close(self) -> None:
        """The children have ended in good order. Calling it twice is allowed."""
        self.started()
        with contextlib.suppress(BrokenPipeError, ValueError):
            self._pipe.write("done\n")
            self._pipe.close()
        self._shell.wait()

    def _tell(self) -> None:
        while True:
            last = self._started.wait(POLL_S)
            for child in multiprocessing.active_children():
                pid = child.pid
                if pid is not None and pid not in self._before and pid not in self._told:
                    self._told.add(pid)
                    self._pipe.write(f"{pid}\n")
                    self._pipe.flush()
            if last:
                return
