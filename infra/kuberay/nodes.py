"""What the clouds' spot and GPU nodes are called, and which pods may go there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from infra.kuberay.findings import Manifest, Place


class Taint(NamedTuple):
    """What keeps pods off a node unless they tolerate it."""

    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}"


class SpotNodes(NamedTuple):
    """How spot nodes are known: a label of the cloud, and the taints that come with it."""

    cloud: str
    label: str
    value: str
    taints: tuple[Taint, ...]


GKE_SPOT, AKS_SPOT = "cloud.google.com/gke-spot", "kubernetes.azure.com/scalesetpriority"
CAPACITY, NODE_POOL = "karpenter.sh/capacity-type", "karpenter.sh/nodepool"
SPOT = (
    SpotNodes("GKE", GKE_SPOT, "true", (Taint(GKE_SPOT, "true", "NoSchedule"),)),
    SpotNodes("AKS", AKS_SPOT, "spot", (Taint(AKS_SPOT, "spot", "NoSchedule"),)),
    SpotNodes("Karpenter", CAPACITY, "spot", ()),  # its taints are those of the NodePools beside the cluster
    SpotNodes("EKS node groups", "eks.amazonaws.com/capacityType", "SPOT", ()),
)
GPU = "nvidia.com/gpu"
GPU_TAINT = Taint(GPU, "present", "NoSchedule")


def spot_nodes(pod: Place) -> SpotNodes | None:
    """The spot nodes that a pod's nodeSelector asks for, if any."""
    selector = pod.at("nodeSelector").node or {}
    return next((nodes for nodes in SPOT if selector.get(nodes.label) == nodes.value), None)


def node_taints(pod: Place, pools: list[Manifest]) -> Iterator[Taint]:
    """The taints of the nodes that a pod is meant for."""
    selector = pod.at("nodeSelector").node or {}
    if nodes := spot_nodes(pod):
        yield from nodes.taints
    if wants_gpu(pod):
        yield GPU_TAINT
    for pool in pools:
        if pool["metadata"]["name"] == selector.get(NODE_POOL):
            for taint in pool["spec"]["template"]["spec"].get("taints", []):
                yield Taint(taint["key"], taint.get("value", ""), taint["effect"])


def wants_gpu(pod: Place) -> bool:
    """Whether the pod's first container, Ray's, has GPUs."""
    return bool(pod.at("containers", 0, "resources", "limits", GPU).node)


def tolerates(pod: Place, taint: Taint) -> bool:
    """Whether one of the pod's tolerations lets it onto a node with this taint, as Kubernetes decides it."""
    for toleration in pod.at("tolerations").items():
        key, effect = toleration.at("key").node, toleration.at("effect").node
        if key not in (None, "", taint.key) or effect not in (None, "", taint.effect):
            continue
        if toleration.at("operator").node == "Exists":
            return True
        if key and (toleration.at("value").node or "") == taint.value:
            return True
    return False


def avoids_spot(pod: Place) -> bool:
    """Whether a pod says that it wants no spot node, by a selector or by required affinity."""
    if (pod.at("nodeSelector").node or {}).get(CAPACITY) == "on-demand":
        return True
    if (pod.at("nodeSelector").node or {}).get("eks.amazonaws.com/capacityType") == "ON_DEMAND":
        return True
    required = pod.at("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    spot = {(nodes.label, nodes.value) for nodes in SPOT}
    terms = required.at("nodeSelectorTerms").items()
    return bool(terms) and all(
        any(
            expression.at("operator").node == "NotIn"
            and any((expression.at("key").node, value) in spot for value in expression.at("values").node or [])
            for expression in term.at("matchExpressions").items()
        )
        for term in terms
    )
