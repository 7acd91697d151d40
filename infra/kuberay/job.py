"""A RayJob for one command, out of an overlay: a new name, your overrides, not suspended.

    python -m infra.kuberay.job OVERLAY NAME -- python -m jobs.evaluate model=qwen2.5-7b … | kubectl create -f -

OVERLAY is gke, eks or aks, or a kustomize folder of your own; NAME is the job's. Everything else (cluster, deadlines,
time to live, submitter) is what the overlay says. Writes YAML to standard output and touches no cluster.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import yaml

from infra.kuberay.findings import Manifest
from infra.kuberay.rendering import assemble, render, renderer
from udfs.errors import UserError

OVERLAYS = Path(__file__).resolve().parent / "overlays"


def job(folder: Path, name: str, command: Sequence[str]) -> Manifest:
    """The overlay's RayJob under a new name with another command, ready to start.

    Raises:
        UserError: the overlay has no RayJob, or more than one.
    """
    manifests = render(folder) if renderer() else assemble(folder)
    jobs = [manifest for manifest in manifests if manifest["kind"] == "RayJob"]
    if len(jobs) != 1:
        raise UserError(f"{folder} has {len(jobs)} RayJobs; one is needed as the pattern")
    (made,) = jobs
    made["metadata"]["name"] = name
    made["spec"]["entrypoint"] = shlex.join(command)
    if "kueue.x-k8s.io/queue-name" not in made["metadata"].get("labels", {}):
        made["spec"].pop("suspend", None)  # in a queue, Kueue lets it go
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the RayJob, return the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if "--" not in given or given.index("--") != 2 or len(given) < 4:
        print("usage: python -m infra.kuberay.job OVERLAY NAME -- COMMAND…", file=sys.stderr)
        return 2
    overlay, name, _, *command = given
    folder = Path(overlay) if Path(overlay).is_dir() else OVERLAYS / overlay
    if not folder.is_dir():
        known = ", ".join(sorted(path.name for path in OVERLAYS.iterdir()))
        print(f"error: there is no overlay {overlay!r}; known: {known}, or a folder of your own", file=sys.stderr)
        return 2
    try:
        print(yaml.safe_dump(job(folder, name, command), sort_keys=False), end="")
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
