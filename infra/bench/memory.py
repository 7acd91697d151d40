"""How much memory `jobs.evaluate` takes: many long documents with the scripted engine, every process counted.

    python -m infra.bench.memory [--documents 2000] [--kilobytes 500]

Writes the documents, runs the job as its own process, and samples the proportional set size (shared pages are counted
once, spread over those who share them) of the driver and of all its processes together. Ends with one line of JSON;
the figures say nothing about a model.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

from udfs.identity import doc_id, question_id
from udfs.schema import length_bucket
from udfs.tables.store import Store

REPOSITORY = Path(__file__).resolve().parents[2]
FILE_DOCUMENTS = 200
SAMPLE_SECONDS = 0.5
CHARACTERS_PER_TOKEN = 4


def main() -> None:
    """Write the documents, run the job under watch, print what it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=2000)
    parser.add_argument("--kilobytes", type=int, default=500, help="size of one document")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="askable-memory-") as root:
        write_documents(Store(root), arguments.documents, arguments.kilobytes * 1000)
        figures = watched_run(root)
        rows = Store(root).read("responses", ["status"])
    figures |= {"documents": arguments.documents, "kilobytes": arguments.kilobytes, "responses": rows.height}
    print(json.dumps(figures, sort_keys=True))


def write_documents(store: Store, count: int, characters: int) -> None:
    """`count` documents of `characters` ASCII letters and spaces, one answerable question each."""
    draw = random.Random(0)
    words = ["".join(draw.choices("abcdefghijklmnop", k=draw.randint(2, 9))) for _ in range(5000)]
    for start in range(0, count, FILE_DOCUMENTS):
        texts = (
            " ".join(draw.choices(words, k=characters // 4))[:characters]
            for _ in range(min(FILE_DOCUMENTS, count - start))
        )
        documents = [document_row("long", text) for text in texts]
        store.write("documents", "long", documents)
        store.write("questions", "long", [question_row("long", document["doc_id"]) for document in documents])


def document_row(dataset: str, text: str) -> dict[str, Any]:
    """A row of `documents`; tokens are characters / 4."""
    tokens = len(text) // CHARACTERS_PER_TOKEN
    return {
        "doc_id": doc_id(text), "dataset": dataset, "split": "test", "language": "en", "domain": "none", "title": "",
        "source": "made", "license": "CC0-1.0", "text": text, "n_chars": len(text), "n_words": text.count(" ") + 1,
        "n_tokens": tokens, "tokenizer": "characters/4", "length_bucket": length_bucket(tokens),
    }  # fmt: skip


def question_row(dataset: str, document: str) -> dict[str, Any]:
    """A row of `questions` about the document of that id."""
    text = "Which word comes first?"
    return {
        "question_id": question_id(dataset, "", document, [], text), "doc_id": document, "dataset": dataset,
        "split": "test", "language": "en", "question": text, "answerable": True, "answers": ["a"], "evidence": [],
        "redactions": [], "kind": "answerable", "provenance": "{}",
    }  # fmt: skip


def watched_run(root: str) -> dict[str, Any]:
    """Run the job on `root`; its peaks in MB and its seconds.

    Raises:
        SystemExit: the job failed.
    """
    command = [sys.executable, "-m", "jobs.evaluate", "model=scripted", "datasets=[long]", "methods=[zs]"]
    started = time.monotonic()
    process = subprocess.Popen([*command, f"storage.root={root}"], cwd=REPOSITORY)
    driver, together = 0, 0
    while process.poll() is None:
        now = sizes(process.pid)
        driver, together = max(driver, now.get(process.pid, 0)), max(together, sum(now.values()))
        time.sleep(SAMPLE_SECONDS)
    if process.returncode:
        raise SystemExit(f"the job failed with {process.returncode}")
    return {
        "peak_driver_mb": round(driver / 1e6),
        "peak_all_processes_mb": round(together / 1e6),
        "seconds": round(time.monotonic() - started, 1),
    }


def sizes(pid: int) -> dict[int, int]:
    """Proportional set size in bytes of a process and its descendants; those that just ended are left out."""
    found: dict[int, int] = {}
    try:
        root = psutil.Process(pid)
        for process in [root, *root.children(recursive=True)]:
            try:
                found[process.pid] = process.memory_full_info().pss
            except psutil.NoSuchProcess:
                continue
    except psutil.NoSuchProcess:
        pass
    return found


if __name__ == "__main__":
    main()
