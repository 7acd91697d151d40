from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

PARENT = """
    import multiprocessing, sys, time
    from udfs.engines.orphans import ChildWatch

    if __name__ == "__main__":
        watch = ChildWatch()
        child = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(600,))
        child.start()
        if sys.argv[1] == "started":
            watch.started()
        else:
            time.sleep(1)
        print(child.pid, flush=True)
        if sys.argv[1] == "closed":
            watch.close()
            watch.close()
            child.kill()
            child.join()
            print("end", flush=True)
        else:
            time.sleep(600)
"""
PATIENCE_S = 30


def parent(tmp_path: Path, state: str) -> subprocess.Popen[str]:
    script = tmp_path / "parent.py"
    script.write_text(textwrap.dedent(PARENT), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    return subprocess.Popen([sys.executable, str(script), state], stdout=subprocess.PIPE, text=True, env=environment)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes through /proc")
@pytest.mark.parametrize("state", ["starting", "started"])
def test_watch_killed_parent_takes_its_child_along(tmp_path: Path, state: str) -> None:
    process = parent(tmp_path, state)
    assert process.stdout is not None
    child = int(process.stdout.readline())
    assert is_running(child)
    process.send_signal(signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + PATIENCE_S
    while is_running(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_running(child)


def test_close_twice_lets_the_shell_end(tmp_path: Path) -> None:
    process = parent(tmp_path, "closed")
    out, _ = process.communicate(timeout=PATIENCE_S)
    assert out.splitlines()[-1] == "end"
    assert process.returncode == 0
