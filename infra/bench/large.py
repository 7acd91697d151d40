"""Where the time of a large run goes: many long documents on S3 through `jobs.evaluate` with the scripted engine.

    python -m infra.bench.large [--documents 500] [--kilobytes 500] [--folder DIR]

Starts an S3 server and a Ray node on this machine, writes generated documents to the server, runs the job as its own
process, and prints: the driver's peak memory, what Ray spilled to disk, documents and bytes a second, and what the
driver, a reader of documents and the engine actor spend their time with (py-spy, once the run is under way). The last
line is JSON. The figures say nothing about a model.

Documents are put into the tables as `jobs.ingest` writes them, without its tokenizer: their tokens are characters / 4.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import psutil
from pyarrow import fs

from infra.bench.memory import document_row, question_row, sizes
from infra.bench.profiles import Profile, record
from infra.local.ports import free_ports
from infra.local.s3_server import S3Server
from udfs.tables.store import Store

REPOSITORY: Final = Path(__file__).resolve().parents[2]
BUCKET: Final = "bench"
FILE_DOCUMENTS: Final = 200
PARAGRAPH_CHARACTERS: Final = 1000
SAMPLE_SECONDS: Final = 0.5
PROFILE_AFTER_SECONDS: Final = 15
LOGICAL_CPUS: Final = 4


def main() -> None:
    """Write the documents, run the job under watch, print where its time went."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=500)
    parser.add_argument("--kilobytes", type=int, default=500, help="size of one document")
    parser.add_argument("--object-store-mb", type=int, default=512)
    parser.add_argument("--actors", type=int, default=1, help="engine actors")
    parser.add_argument("--attach-tasks", type=int, default=1, help="readers of documents")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds that a call of the scripted engine takes")
    parser.add_argument("--profile-seconds", type=int, default=20, help="0: no profile")
    parser.add_argument("--folder", type=Path, default=None, help="for all data; removed afterwards")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="askable-large-", dir=arguments.folder) as folder:
        figures = bench(Path(folder), arguments)
    print(json.dumps(figures, sort_keys=True))


def bench(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Everything in `folder`; the figures."""
    with s3_server(folder / "s3") as root:
        started = time.monotonic()
        characters = arguments.kilobytes * 1000
        write_documents(Store(root), arguments.documents, characters)
        figures: dict[str, Any] = {
            "documents": arguments.documents,
            "kilobytes": arguments.kilobytes,
            "written_seconds": round(time.monotonic() - started, 1),
            "written_gb": round(sum(file.size for file in Store(root).files("documents")) / 1e9, 3),
        }
        print(f"written: {figures}", flush=True)
        with ray_node(arguments.object_store_mb) as address:
            figures |= watched_run(root, address, arguments, folder)
            figures |= spilled(address)
        figures["responses"] = Store(root).read("responses", ["status"]).height
    seconds = figures["seconds"]
    figures["documents_per_second"] = round(arguments.documents / seconds, 2)
    figures["megabytes_per_second"] = round(arguments.documents * characters / seconds / 1e6, 1)
    return figures


@contextmanager
def s3_server(folder: Path) -> Iterator[str]:
    """A storage root on an S3 server of its own, which this process and those that it starts find by environment."""
    folder.mkdir()
    server = S3Server.prepare(folder, "bench", secrets.token_hex(16))
    process = server.start()
    try:
        server.wait(process)
        os.environ.update(server.environment)
        endpoint = server.endpoint.removeprefix("http://")
        made = fs.S3FileSystem(endpoint_override=endpoint, scheme="http", allow_bucket_creation=True)
        made.create_dir(BUCKET)
        yield f"s3://{BUCKET}/root"
    finally:
        process.kill()
        process.wait()


@contextmanager
def ray_node(object_store_mb: int) -> Iterator[str]:
    """The address of a Ray node of its own."""
    folder = tempfile.mkdtemp(prefix="askable-ray-", dir="/tmp")  # sockets need short paths
    port = free_ports(1)[0]
    address = f"127.0.0.1:{port}"
    os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32))
    command = [str(Path(sys.executable).with_name("ray")), "start", "--head", "--block", "--disable-usage-stats"]
    command += [f"--port={port}", "--node-ip-address=127.0.0.1", f"--temp-dir={folder}", "--include-dashboard=false"]
    command += [f"--num-cpus={LOGICAL_CPUS}", f"--object-store-memory={object_store_mb * 2**20}"]
    log = Path(folder) / "start.log"
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        while "Ray runtime started" not in log.read_text(errors="replace"):
            if process.poll() is not None:
                raise SystemExit(f"Ray did not start: {log.read_text(errors='replace')[-1000:]}")
            time.sleep(SAMPLE_SECONDS)
        yield address
    finally:
        for child in psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []:
            child.kill()
        process.kill()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def write_documents(store: Store, count: int, characters: int) -> None:
    """`count` documents of about `characters` ASCII letters, one answerable question each.

    Words have the frequencies of a language (Zipf), so that zstd makes of the text about what it makes of prose.
    """
    draw = random.Random(0)
    words = ["".join(draw.choices("etaoinshrdlucmfw", k=draw.randint(2, 9))) for _ in range(20_000)]
    frequencies = [1 / (rank + 3) for rank in range(len(words))]
    text = " ".join(draw.choices(words, weights=frequencies, k=1_000_000))
    starts = len(text) - PARAGRAPH_CHARACTERS
    for first in range(0, count, FILE_DOCUMENTS):
        documents = []
        for _ in range(min(FILE_DOCUMENTS, count - first)):
            places = (draw.randrange(starts) for _ in range(max(1, characters // PARAGRAPH_CHARACTERS)))
            paragraphs = [text[place : place + PARAGRAPH_CHARACTERS - 1] for place in places]
            documents.append(document_row("large", "\n".join(paragraphs)))
        store.write("documents", "large", documents)
        store.write("questions", "large", [question_row("large", row["doc_id"]) for row in documents])


def watched_run(root: str, address: str, arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Run the job on `root`; the driver's peaks, the seconds, and the profiles on standard output.

    Raises:
        SystemExit: the job failed.
    """
    command = [
        sys.executable, "-m", "jobs.evaluate", "model=scripted", "datasets=[large]", "methods=[zs]",
        f"storage.root={root}", f"cluster.address='{address}'", f"cluster.actors={arguments.actors}",
        f"cluster.attach_tasks={arguments.attach_tasks}", f"model.delay_s={arguments.delay}",
    ]  # fmt: skip
    started = time.monotonic()
    process = subprocess.Popen(command, cwd=REPOSITORY)
    resident = proportional = 0
    profiles: list[Profile] = []
    first_work: float | None = None
    while process.poll() is None:
        proportional = max(proportional, sizes(process.pid).get(process.pid, 0))
        resident = max(resident, _resident(process.pid))
        workers = _workers(address)
        if first_work is None and "engine" in workers:
            first_work = time.monotonic()
        due = first_work is not None and time.monotonic() - first_work > PROFILE_AFTER_SECONDS
        if due and arguments.profile_seconds and not profiles:
            profiles = record({"driver": process.pid, **workers}, arguments.profile_seconds, folder)
        time.sleep(SAMPLE_SECONDS)
    if process.returncode:
        raise SystemExit(f"the job failed with {process.returncode}")
    for profile in profiles:
        print("\n".join(profile.lines()), flush=True)
    return {
        "driver_peak_rss_mb": round(resident / 1e6),
        "driver_peak_pss_mb": round(proportional / 1e6),
        "seconds": round(time.monotonic() - started, 1),
    }


def _resident(pid: int) -> int:
    try:
        return psutil.Process(pid).memory_info().rss
    except psutil.NoSuchProcess:
        return 0


def _workers(address: str) -> dict[str, int]:
    """A reader's and an engine actor's process, where they run."""
    found: dict[str, int] = {}
    for process in psutil.process_iter(["cmdline"]):
        title = " ".join(process.info["cmdline"] or ())
        if title.startswith("ray::MapWorker("):
            kind = "reader" if "(Reader)" in title else "engine" if "EvaluateStage" in title else None
            if kind and _is_of(process, address):
                found[kind] = process.pid
    return found


def _is_of(process: psutil.Process, address: str) -> bool:
    try:
        port = address.rpartition(":")[2]  # Ray may name the host otherwise
        return any(argument.endswith(f":{port}") for argument in process.parents()[0].cmdline())
    except (psutil.Error, IndexError):
        return False


def spilled(address: str) -> dict[str, Any]:
    """What Ray has written to disk because its object store was full, and the store's highest use, as Ray tells."""
    command = [str(Path(sys.executable).with_name("ray")), "memory", "--stats-only", f"--address={address}"]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"Spilled (\d+) MiB, (\d+) objects", told.stdout)
    if told.returncode:
        return {"spilled": f"unknown: {told.stderr.strip().splitlines()[-1:]}"}
    return {"spilled_mb": int(found[1]) if found else 0, "spilled_objects": int(found[2]) if found else 0}


if __name__ == "__main__":
    main()
