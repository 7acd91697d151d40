"""One file a job; run with `python -m jobs.NAME key=value …`."""

import os

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
