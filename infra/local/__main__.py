"""python -m infra.local up | down | status

`up` starts a Ray cluster of several nodes on this machine, with token authentication, and an S3 server with a bucket.
`source runs/local/env` points this shell at both. `down` stops what `up` started, and nothing else.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from infra.local.cluster import BUCKET, DOWN, FOLDER, Size, down, status, up
from infra.local.ray_cluster import Node
from infra.local.state import State
from udfs.errors import UserError

SUBMIT = "ray job submit --working-dir . --"


def main(arguments: list[str]) -> int:
    """The exit code: 0 done, 1 down (`status`), 2 something the user can mend."""
    given = _parser().parse_args(arguments)
    folder = given.folder.resolve()
    try:
        if given.command == "up":
            print(_is_up(up(folder, Size(given.workers, Node(given.cpus, given.object_store_mb), given.s3))))
        elif given.command == "down":
            state = down(folder, given.delete)
            kept = "" if given.delete or state is None else f"; data and logs stay in {folder} (--delete)"
            print("nothing of it ran" if state is None else f"stopped {len(state.processes)} processes{kept}")
        else:
            lines = status(folder)
            print("\n".join(lines))
            return 0 if " is up" in lines[0] else 1
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _is_up(state: State) -> str:
    workers = sum(process.name.startswith("worker") for process in state.processes)
    s3 = f", an S3 server with the bucket s3://{BUCKET}" if "s3" in state.ports else ""
    return "\n".join(
        [
            f"up: a head without CPUs, {workers} workers{s3}; dashboard http://127.0.0.1:{state.ports['dashboard']}",
            f"this shell: source {state.environment_file}",
            f"then:       {SUBMIT} python -m jobs.ingest source=sample name=sample storage.root=s3://{BUCKET}/first",
            f"stop it:    {DOWN}",
        ]
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m infra.local", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, about in (("up", "start it"), ("down", "stop what up started"), ("status", "what runs")):
        command = commands.add_parser(name, help=about, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
        command.add_argument("--folder", type=Path, default=FOLDER, help="its state, logs, token and S3 data")
        if name == "up":
            command.add_argument("--workers", type=int, default=Size.workers, help="worker nodes")
            command.add_argument("--cpus", type=int, default=Node.cpus, help="logical CPUs of each worker")
            command.add_argument("--object-store-mb", type=int, default=Node.object_store_mb, help="of each node")
            command.add_argument("--no-s3", dest="s3", action="store_false", help="no S3 server")
        if name == "down":
            command.add_argument("--delete", action="store_true", help="remove data and logs, too")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
