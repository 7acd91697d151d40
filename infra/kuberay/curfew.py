"""Suspend a RayCluster that nobody uses: run by the CronJob of `features/curfew`, inside the Kubernetes cluster.

    python -m infra.kuberay.curfew CLUSTER

"Nobody uses it" means that it has no worker: with `minReplicas: 0` the autoscaler has taken all of them away. Needs
nothing but Python, so that it runs in any image.
"""

from __future__ import annotations

import json
import ssl
import sys
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
KEEP = "askable/keep"
TIMEOUT_SECONDS = 30


@dataclass(frozen=True)
class Api:
    """Kubernetes' API for one namespace.

    Args:
        address: such as https://kubernetes.default.svc.
        certificate: the file of the authority to trust; None for plain HTTP.
    """

    address: str
    namespace: str
    token: str
    certificate: Path | None

    @classmethod
    def of_the_pod(cls) -> Api:
        """The API as the pod's own service account."""
        return cls(
            "https://kubernetes.default.svc",
            (ACCOUNT / "namespace").read_text(encoding="utf-8").strip(),
            (ACCOUNT / "token").read_text(encoding="utf-8").strip(),
            ACCOUNT / "ca.crt",
        )

    def call(self, path: str, patch: dict[str, Any] | None = None) -> Any:
        """GET `path`, or PATCH it with a merge.

        Raises:
            OSError: the API did not answer, or refused.
        """
        request = urllib.request.Request(
            f"{self.address}{path}",
            method="GET" if patch is None else "PATCH",
            data=None if patch is None else json.dumps(patch).encode(),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/merge-patch+json"},
        )
        trust = ssl.create_default_context(cafile=str(self.certificate)) if self.certificate else None
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS, context=trust) as answer:
            return json.load(answer)


def suspend_if_idle(api: Api, cluster: str) -> str:
    """Suspend the cluster unless it has workers, is to be kept, or is suspended; returns what was done."""
    path = f"/apis/ray.io/v1/namespaces/{api.namespace}/rayclusters/{cluster}"
    found = api.call(path)
    if (found["metadata"].get("labels") or {}).get(KEEP) == "true":
        return f"{cluster} is kept: it carries the label {KEEP}=true"
    if found["spec"].get("suspend"):
        return f"{cluster} is suspended already"
    selector = f"ray.io/cluster%3D{cluster}%2Cray.io/node-type%3Dworker"
    workers = api.call(f"/api/v1/namespaces/{api.namespace}/pods?labelSelector={selector}")["items"]
    if workers:
        return f"{cluster} is in use: {len(workers)} workers"
    api.call(path, {"spec": {"suspend": True}})
    return f"{cluster} was idle and is suspended now"


def main() -> None:
    """Look at the cluster that is named on the command line."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m infra.kuberay.curfew CLUSTER")
    print(suspend_if_idle(Api.of_the_pod(), sys.argv[1]))


if __name__ == "__main__":
    main()
