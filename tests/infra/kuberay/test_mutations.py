"""Each way to spoil a manifest makes the check fail, with a finding that names the place."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from tests.infra.kuberay.bench import OVERLAYS, REMOVED, findings_after, official_crds

HEAD = "spec/headGroupSpec"
CPU, SPOT, ON_DEMAND = (f"spec/workerGroupSpecs/{index}" for index in range(3))
HEAD_POD, SPOT_POD = f"{HEAD}/template/spec", f"{SPOT}/template/spec"
HEAD_RAY, SPOT_RAY = f"{HEAD_POD}/containers/0", f"{SPOT_POD}/containers/0"


class Spoilt(NamedTuple):
    """A manifest after some changes, and what has to be found.

    Args:
        changes: place → its new value. Steps of a place are separated by `/`, a slash in one is written `~1`.
        word: what the finding has to say.
        at: the place that it has to name; the first change's if None.
    """

    name: str
    changes: dict[str, Any]
    word: str
    at: str | None = None
    kind: str = "RayCluster"
    overlay: str = "gke"


def as_path(place: str) -> str:
    """A place as findings write it."""
    path = ""
    for step in place.split("/"):
        path += f"[{step}]" if step.isdigit() else f".{step}" if path else step
    return path.replace("~1", "/") or "(whole)"


def rule(policy: str, seconds: int = 0) -> dict[str, Any]:
    """A deletion rule for a failed job."""
    return {"policy": policy, "condition": {"jobStatus": "FAILED", "ttlSeconds": seconds}}


RULES_INSTEAD = dict.fromkeys(
    ("spec/suspend", "spec/shutdownAfterJobFinishes", "spec/ttlSecondsAfterFinished"), REMOVED
)

SCHEMA_MUTATIONS = [
    Spoilt("wrong field name", {"spec/ttlSecondsAfterFinish": 60}, "ttlSecondsAfterFinish", at="spec", kind="RayJob"),
    Spoilt("field of another place", {"spec/workerGroupSpec": []}, "workerGroupSpec", at="spec"),
    Spoilt("misspelt group field", {f"{SPOT}/prioritty": 1}, "prioritty", at=SPOT, overlay="eks"),
    Spoilt("seconds as text", {"spec/activeDeadlineSeconds": "1h"}, "1h", kind="RayJob"),
    Spoilt("unknown mode", {"spec/authOptions/mode": "oauth"}, "oauth"),
    Spoilt("no group name", {f"{CPU}/groupName": REMOVED}, "groupName", at=CPU, overlay="aks"),
    Spoilt("number as label", {f"{SPOT}/labels/x": 1}, "1"),
]
RULE_MUTATIONS = [
    Spoilt("wrong pod field", {f"{SPOT_POD}/tolerance": []}, "tolerance", at=SPOT_POD),
    Spoilt("wrong core field", {"spec/accessMode": "x"}, "accessMode", at="spec", kind="PersistentVolumeClaim"),
    Spoilt(
        "missing toleration of GPU",
        {f"{SPOT_POD}/tolerations/0": REMOVED},
        "nvidia.com/gpu",
        at=f"{SPOT_POD}/tolerations",
    ),
    Spoilt(
        "missing toleration of spot on GKE",
        {f"{SPOT_POD}/tolerations/1": REMOVED},
        "gke-spot",
        at=f"{SPOT_POD}/tolerations",
    ),
    Spoilt(
        "missing toleration of spot on AKS",
        {f"{SPOT_POD}/tolerations/1": REMOVED},
        "scalesetpriority",
        at=f"{SPOT_POD}/tolerations",
        overlay="aks",
    ),
    Spoilt(
        "missing toleration of a node pool",
        {f"{SPOT_POD}/tolerations/1": REMOVED},
        "askable/spot",
        at=f"{SPOT_POD}/tolerations",
        overlay="eks",
    ),
    Spoilt(
        "toleration of another value",
        {f"{SPOT_POD}/tolerations/1/value": "regular"},
        "scalesetpriority",
        at=f"{SPOT_POD}/tolerations",
        overlay="aks",
    ),
    Spoilt(
        "new taint of a node pool",
        {"spec/template/spec/taints": [{"key": "new", "effect": "NoSchedule"}], "metadata/name": "askable-gpu-spot"},
        "new",
        at=f"{SPOT_POD}/tolerations",
        kind="NodePool",
        overlay="eks",
    ),
    Spoilt("spot group on any node", {f"{SPOT_POD}/nodeSelector": REMOVED}, "spot", overlay="eks"),
    Spoilt("head on any node", {f"{HEAD_POD}/affinity": REMOVED}, "spot"),
    Spoilt("no market type", {f"{SPOT}/labels": REMOVED}, "None", at=f"{SPOT}/labels/ray.io~1market-type"),
    Spoilt(
        "no fallback",
        {f"{ON_DEMAND}/labels/ray.io~1market-type": "spot"},
        "no group on demand",
        at=f"{ON_DEMAND}/priority",
    ),
    Spoilt("fallback preferred", {f"{ON_DEMAND}/priority": 20}, "no group on demand", at=f"{SPOT}/priority"),
    Spoilt("fallback after an hour", {"spec/autoscalerOptions/env": []}, "3600"),
    Spoilt(
        "TTL without shutdown",
        {"spec/shutdownAfterJobFinishes": False},
        "shutdownAfterJobFinishes",
        at="spec/ttlSecondsAfterFinished",
        kind="RayJob",
    ),
    Spoilt(
        "suspend without shutdown",
        {"spec/shutdownAfterJobFinishes": REMOVED},
        "shutdownAfterJobFinishes",
        at="spec/suspend",
        kind="RayJob",
    ),
    Spoilt("no deadline", {"spec/activeDeadlineSeconds": REMOVED}, "not given", kind="RayJob"),
    Spoilt(
        "no deadline before running",
        {"spec/preRunningDeadlineSeconds": REMOVED},
        "not given",
        kind="RayJob",
        overlay="eks",
    ),
    Spoilt("no TTL", {"spec/ttlSecondsAfterFinished": REMOVED}, "not given", kind="RayJob"),
    Spoilt("a TTL of a day", {"spec/ttlSecondsAfterFinished": 86400}, "86400", kind="RayJob"),
    Spoilt("many retries", {"spec/backoffLimit": 6}, "new cluster", kind="RayJob"),
    Spoilt(
        "rules beside shutdown",
        {
            "spec/deletionStrategy": {
                "deletionRules": [{"policy": "DeleteCluster", "condition": {"jobStatus": "FAILED"}}]
            }
        },
        "exclude",
        at="spec/deletionStrategy/deletionRules",
        kind="RayJob",
    ),
    Spoilt(
        "retry on a cluster that is there",
        {"spec/clusterSelector": {"ray.io/cluster": "askable"}},
        "clusterSelector",
        at="spec/backoffLimit",
        kind="RayJob",
    ),
    Spoilt(
        "retry by hand",
        {"spec/submissionMode": "InteractiveMode"},
        "InteractiveMode",
        at="spec/backoffLimit",
        kind="RayJob",
    ),
    Spoilt(
        "sidecar with a submitter",
        {"spec/submissionMode": "SidecarMode"},
        "SidecarMode",
        at="spec/submitterPodTemplate",
        kind="RayJob",
    ),
    Spoilt("unknown submission mode", {"spec/submissionMode": "HttpMode"}, "HTTPMode", kind="RayJob"),
    Spoilt("no submitter under pod security", {"spec/submitterPodTemplate": REMOVED}, "pod security", kind="RayJob"),
    Spoilt("driver on a worker", {"spec/entrypointNumCpus": 1}, "driver", kind="RayJob"),
    Spoilt(
        "no cap on money",
        {"spec/entrypoint": "python -m jobs.evaluate model=scripted"},
        "budget.max_usd",
        kind="RayJob",
    ),
    Spoilt("name too long for a job", {"metadata/name": "a" * 48}, "47", kind="RayJob"),
    Spoilt("name in capitals", {"metadata/name": "Askable"}, "a-z"),
    Spoilt(
        "queued, autoscaling, not elastic",
        {"metadata/labels/kueue.x-k8s.io~1queue-name": "q"},
        "elastic-job",
        at="metadata/annotations/kueue.x-k8s.io~1elastic-job",
        kind="RayJob",
    ),
    Spoilt("two Ray versions: rayVersion", {"spec/rayVersion": "2.59.0"}, "2.60.0"),
    Spoilt(
        "two Ray versions: an image", {f"{SPOT_RAY}/image": "r/askable-gpu:0.1.0-ray2.59.0-vllm0.32.0"}, "ray2.60.0"
    ),
    Spoilt(
        "two vLLM versions: an image",
        {"spec/submitterPodTemplate/spec/containers/0/image": "askable-cpu:0.1.0-ray2.60.0-vllm0.31.0"},
        "vllm0.32.0",
        kind="RayJob",
    ),
    Spoilt("latest image", {f"{HEAD_RAY}/image": "askable-cpu:latest"}, "latest"),
    Spoilt("image without tag", {f"{HEAD_RAY}/image": "registry:5000/askable-cpu"}, "not pinned"),
    Spoilt("work on the head", {f"{HEAD}/rayStartParams": {}}, "head", at=f"{HEAD}/rayStartParams/num-cpus"),
    Spoilt("no token", {"spec/authOptions": REMOVED}, "token", at="spec/authOptions/mode"),
    Spoilt("head for everybody", {f"{HEAD}/serviceType": "LoadBalancer"}, "outside"),
    Spoilt("restart under autoscaler v2", {f"{SPOT_POD}/restartPolicy": "Always"}, "v2"),
    Spoilt("priority under autoscaler v1", {"spec/autoscalerOptions/version": "v1"}, "v2", at=f"{SPOT}/priority"),
    Spoilt("more at least than at most", {f"{SPOT}/minReplicas": 9}, "maxReplicas"),
    Spoilt("workers while nobody works", {f"{SPOT}/minReplicas": 1}, "cost"),
    Spoilt("resources twice", {f"{HEAD}/resources": {"CPU": "0"}}, "rayStartParams"),
    Spoilt("two groups of one name", {f"{ON_DEMAND}/groupName": "gpu-spot"}, "two groups"),
    Spoilt("drain as long as the grace", {f"{SPOT_POD}/terminationGracePeriodSeconds": 90}, "drains for 90"),
    Spoilt("Kubernetes' own grace", {f"{SPOT_POD}/terminationGracePeriodSeconds": REMOVED}, "drains for 90"),
    Spoilt("memory that is only promised", {f"{SPOT_RAY}/resources/requests/memory": "8Gi"}, "8Gi"),
    Spoilt(
        "no limits", {f"{HEAD_RAY}/resources/limits": REMOVED}, "not given", at=f"{HEAD_RAY}/resources/limits/memory"
    ),
    Spoilt("root", {f"{SPOT_POD}/securityContext/runAsNonRoot": False}, "root"),
    Spoilt(
        "privileges",
        {f"{SPOT_RAY}/securityContext": REMOVED},
        "rights",
        at=f"{SPOT_RAY}/securityContext/allowPrivilegeEscalation",
    ),
    Spoilt(
        "folder of the node",
        {f"{SPOT_POD}/volumes/-": {"name": "x", "hostPath": {"path": "/"}}},
        "node",
        at=f"{SPOT_POD}/volumes/1/hostPath",
    ),
    Spoilt(
        "keys in the manifest",
        {f"{SPOT_RAY}/env/-": {"name": "AWS_SECRET_ACCESS_KEY", "value": "x"}},
        "AWS_SECRET_ACCESS_KEY",
        at=f"{SPOT_RAY}/env/7/value",
        overlay="eks",
    ),
    Spoilt("account that is not there", {f"{SPOT_POD}/serviceAccountName": "somebody"}, "somebody"),
    Spoilt(
        "claim that is not there",
        {"metadata/name": "another"},
        "askable-model-cache",
        at=f"{HEAD_POD}/volumes/0/persistentVolumeClaim/claimName",
        kind="PersistentVolumeClaim",
    ),
    Spoilt(
        "open namespace",
        {"metadata/name": "askable-default-deny", "spec/podSelector": {"matchLabels": {"a": "b"}}},
        "reaches Ray",
        at="",
        kind="NetworkPolicy",
    ),
    Spoilt(
        "rule that deletes workers",
        {**RULES_INSTEAD, "spec/deletionStrategy": {"deletionRules": [rule("DeleteWorkers")]}},
        "autoscaling",
        at="spec/deletionStrategy/deletionRules/0/policy",
        kind="RayJob",
    ),
    Spoilt(
        "job deleted before its cluster",
        {
            **RULES_INSTEAD,
            "spec/deletionStrategy": {"deletionRules": [rule("DeleteCluster", 9), rule("DeleteSelf", 1)]},
        },
        "the larger goes first",
        at="spec/deletionStrategy/deletionRules",
        kind="RayJob",
    ),
    Spoilt(
        "two rules for one end",
        {**RULES_INSTEAD, "spec/deletionStrategy": {"deletionRules": [rule("DeleteSelf", 1), rule("DeleteSelf", 2)]}},
        "a second rule",
        at="spec/deletionStrategy/deletionRules/1/policy",
        kind="RayJob",
    ),
    Spoilt(
        "rule for no end",
        {**RULES_INSTEAD, "spec/deletionStrategy": {"deletionRules": [{"policy": "DeleteSelf", "condition": {}}]}},
        "jobStatus",
        at="spec/deletionStrategy/deletionRules/0/condition",
        kind="RayJob",
    ),
    Spoilt("strategy without rules", {"spec/deletionStrategy": {}}, "says too little", kind="RayJob"),
    Spoilt("negative deadline", {"spec/activeDeadlineSeconds": -1}, "1 or more", kind="RayJob"),
    Spoilt("environment that is no mapping", {"spec/runtimeEnvYAML": "- pip"}, "no YAML mapping", kind="RayJob"),
    Spoilt(
        "job's token by Kubernetes",
        {"spec/rayClusterSpec/authOptions/enableK8sTokenAuth": True},
        "RayJob does not support it",
        kind="RayJob",
    ),
    Spoilt("token before Ray knew it", {"spec/rayVersion": "2.50.0"}, "2.52.0"),
    Spoilt("cluster without a version", {"spec/rayVersion": REMOVED}, "no version"),
    Spoilt(
        "network rules of the open side",
        {"spec/networkPolicy": {"mode": "DenyAllIngress", "worker": {"egressRules": [{}]}}},
        "does not restrict that side",
        at="spec/networkPolicy/worker/egressRules",
    ),
    Spoilt(
        "network rules for no group",
        {"spec/networkPolicy": {"workerGroups": [{"groupName": "tpu"}]}},
        "cpu, gpu-on-demand, gpu-spot",
        at="spec/networkPolicy/workerGroups/0/groupName",
    ),
    Spoilt(
        "store of the head by environment",
        {f"{HEAD_RAY}/env/-": {"name": "RAY_REDIS_ADDRESS", "value": "redis:6379"}},
        "gcsFaultToleranceOptions",
        at=f"{HEAD_RAY}/env",
    ),
    Spoilt(
        "autoscaler by environment",
        {f"{HEAD_RAY}/env/0": {"name": "RAY_enable_autoscaler_v2", "value": "1"}},
        "autoscalerOptions.version",
    ),
    Spoilt("group that is asleep", {f"{SPOT}/suspend": True}, "while Ray autoscales"),
    Spoilt("label that is none", {f"{SPOT}/labels/a b": "x"}, "label syntax", at=f"{SPOT}/labels"),
    Spoilt("labels among parameters", {f"{SPOT}/rayStartParams/labels": "a=b"}, "own field labels"),
    Spoilt(
        "no autoscaler, no bounds",
        {"spec/enableInTreeAutoscaling": False, f"{CPU}/minReplicas": REMOVED},
        "both are needed",
        at=f"{CPU}/minReplicas",
    ),
    Spoilt(
        "idle workers that stay",
        {"spec/autoscalerOptions/idleTimeoutSeconds": REMOVED},
        "idle workers stay",
        at=f"{CPU}/idleTimeoutSeconds",
    ),
    Spoilt("token in the manifests", {"kind": "Secret"}, "made by hand", kind="PersistentVolumeClaim"),
]


def look(case: Spoilt, crds: dict[tuple[str, str], Any]) -> None:
    found = findings_after(case.overlay, case.kind, case.changes, crds)
    at = as_path(next(iter(case.changes)) if case.at is None else case.at)
    assert any(finding.path == at and case.word in str(finding) for finding in found), "\n".join(map(str, found))


@pytest.mark.parametrize("case", SCHEMA_MUTATIONS, ids=lambda case: case.name)
def test_check_manifest_that_the_crd_refuses_is_found(case: Spoilt) -> None:
    look(case, official_crds())


@pytest.mark.parametrize("case", RULE_MUTATIONS, ids=lambda case: case.name)
def test_check_manifest_that_breaks_a_rule_is_found(case: Spoilt) -> None:
    """Without CRDs, so that these hold on every machine."""
    look(case, {})


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_check_manifests_that_are_not_spoilt_have_no_findings(overlay: str) -> None:
    """What all of the above is compared with."""
    assert findings_after(overlay, "RayCluster", {}, {}) == []
    assert findings_after(overlay, "RayJob", {}, {}) == []
