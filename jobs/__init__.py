"""One file a job; run with `python -m jobs.NAME key=value …`."""

import os
import signal
import sys
import types

# What the libraries below look for when they are imported: no usage reports, no
# chatter on the terminal (Ray keeps its logs in its session folder), one tokenizer policy for every process.
for _name, _value in {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "TOKENIZERS_PARALLELISM": "true",
}.items():
    os.environ.setdefault(_name, _value)


def _leave_at_once(signum: int, frame: types.FrameType | None) -> None:
    os.write(2, b"interrupted before anything was started\n")
    os._exit(130)


# `python -m jobs.NAME` imports for seconds before `jobs.cli` listens: an interrupt in that time is one line as well.
# Only then: Python says "-m" while it looks for the module, and nobody who imports a job finds other signal handlers.
if sys.argv[:1] == ["-m"] and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    for _number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(_number, _leave_at_once)
