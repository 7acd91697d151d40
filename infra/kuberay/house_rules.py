"""What this project asks of its own manifests, beyond what Kubernetes and KubeRay refuse: money, spot nodes, safety."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from infra.kuberay.findings import Finding, Manifest, Place
from infra.kuberay.nodes import GPU, avoids_spot, node_taints, spot_nodes, tolerates, wants_gpu
from infra.kuberay.operator_rules import autoscaler_v2, autoscales

RAY_DRAIN_SECONDS = 30.0
"""How long Ray drains a node on SIGTERM unless told otherwise (ray 2.60)."""
DRAIN = "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S"
DRAIN_MARGIN = 15.0
"""Seconds that are left for Ray to go after the drain."""
FALLBACK = "RAY_AUTOSCALER_RECONCILE_ALLOCATE_STATUS_TIMEOUT_S"
RAY_FALLBACK_SECONDS = 3600.0
"""How long Ray waits for a pod to become a node before it tries another group, unless told otherwise (ray 2.60)."""
MAX_FALLBACK_SECONDS = 1800
MAX_TTL_SECONDS = 3600
MAX_DEADLINE_SECONDS = 86400
MAX_RETRIES = 2
CAPPED_JOBS = ("jobs.evaluate", "jobs.synthesize")
MARKET = "ray.io/market-type"
RESTRICTED = "pod-security.kubernetes.io/enforce"
SECRET_WORDS = ("SECRET_ACCESS_KEY", "ACCESS_KEY_ID", "ACCOUNT_KEY", "SAS_TOKEN", "PASSWORD", "API_KEY")


def check_pod(pod: Place, runs_ray: bool) -> Iterator[Finding]:
    """Security and resources of one pod template's spec; what runs Ray has to drain as well."""
    security = pod.at("securityContext")
    if security.at("runAsNonRoot").node is not True or security.at("runAsUser").node == 0:
        yield security.at("runAsNonRoot").finding("the pod may run as root", "true, with a runAsUser other than 0")
    if security.at("seccompProfile", "type").node != "RuntimeDefault":
        yield security.at("seccompProfile", "type").finding("system calls are not filtered", "RuntimeDefault")
    for key in ("hostNetwork", "hostPID", "hostIPC"):
        if pod.at(key).node:
            yield pod.at(key).finding("the pod shares the node's", "false")
    for volume in pod.at("volumes").items():
        if volume.at("hostPath").node is not None:
            yield volume.at("hostPath").finding("a folder of the node", "a claim, or an emptyDir")
    for container in pod.at("containers").items():
        yield from _container(container)
    if runs_ray:
        yield from _drain(pod)


def _container(container: Place) -> Iterator[Finding]:
    security = container.at("securityContext")
    if security.at("allowPrivilegeEscalation").node is not False:
        yield security.at("allowPrivilegeEscalation").finding("a process may gain rights", "false")
    if security.at("privileged").node:
        yield security.at("privileged").finding("the container is privileged", "false")
    if "ALL" not in (security.at("capabilities", "drop").node or []):
        yield security.at("capabilities", "drop").finding("capabilities are kept", "[ALL]")
    requests, limits = container.at("resources", "requests"), container.at("resources", "limits")
    for resource in ("cpu", "memory"):
        for side in (requests, limits):
            if side.at(resource).node is None:
                yield side.at(resource).finding("not given", f"how much {resource}; requests equal limits")
    for resource in ("memory", GPU):
        if requests.at(resource).node != limits.at(resource).node:
            yield requests.at(resource).finding(
                f"requests {requests.at(resource).node}, limits {limits.at(resource).node}", "the same in both"
            )
    for variable in container.at("env").items():
        name = str(variable.at("name").node)
        if variable.at("value").node and any(word in name.upper() for word in SECRET_WORDS):
            yield variable.at("value").finding(f"{name} in the manifest", "the service account's identity, or a Secret")
    yield from _image(container.at("image"))


def _image(image: Place) -> Iterator[Finding]:
    _, _, tag = str(image.node or "").rpartition(":")
    if not image.node or "/" in tag or tag in ("", "latest", str(image.node)):
        yield image.finding(f"{image.node!r} is not pinned", "an image with a version as its tag")


def _drain(pod: Place) -> Iterator[Finding]:
    """Ray's drain has to end before Kubernetes kills."""
    grace, container = pod.at("terminationGracePeriodSeconds"), pod.at("containers", 0)
    variable = next((item for item in container.at("env").items() if item.at("name").node == DRAIN), None)
    try:
        seconds = RAY_DRAIN_SECONDS if variable is None else float(str(variable.at("value").node))
    except ValueError:
        yield container.at("env").finding(f"{DRAIN} is no number", "seconds")
        return
    if (grace.node or 30) < seconds + DRAIN_MARGIN:
        yield grace.finding(
            f"{grace.node} seconds, and Ray drains for {seconds:g}",
            f"at least {seconds + DRAIN_MARGIN:g}, or a shorter {DRAIN}",
        )


def check_cluster_spec(spec: Place) -> Iterator[Finding]:
    """A cluster's shape: nothing on the head, a token, workers that leave, one place to run for spot groups."""
    head, groups = spec.at("headGroupSpec"), spec.at("workerGroupSpecs").items()
    cpus = head.at("rayStartParams", "num-cpus")
    if cpus.node != "0":
        yield cpus.finding(f"work may land on the head ({cpus.node!r})", '"0"')
    if spec.at("authOptions", "mode").node != "token":
        yield spec.at("authOptions", "mode").finding("anybody who reaches the head may run code", "token")
    if head.at("enableIngress").node or head.at("serviceType").node not in (None, "", "ClusterIP"):
        yield head.at("serviceType").finding("the head is reached from outside", "ClusterIP, and no ingress")
    names = [group.at("groupName").node for group in groups]
    for group in groups:
        if names.count(group.at("groupName").node) > 1:
            yield group.at("groupName").finding("two groups have this name", "a name of its own")
    if autoscales(spec):
        yield from _autoscaling(spec, groups)


def _autoscaling(spec: Place, groups: list[Place]) -> Iterator[Finding]:
    options = spec.at("autoscalerOptions")
    if not autoscaler_v2(spec):
        yield options.at("version").finding(f"it is {options.at('version').node}", "v2: priorities, idle time a group")
    if options.at("securityContext", "allowPrivilegeEscalation").node is not False:
        yield options.at("securityContext").finding("the pod security would refuse it", "as that of the Ray container")
    for group in groups:
        least = group.at("minReplicas")
        if least.node:
            yield least.finding(f"{least.node} workers cost while nobody works", "0")
        if not (group.at("idleTimeoutSeconds").node or options.at("idleTimeoutSeconds").node):
            yield group.at("idleTimeoutSeconds").finding("idle workers stay", "seconds, here or in autoscalerOptions")
    yield from _fallback(options, groups)


def _fallback(options: Place, groups: list[Place]) -> Iterator[Finding]:
    """A spot group needs a group on demand that can take the same work, and has to give way to it in time."""
    for group in groups:
        if group.at("labels", MARKET).node != "spot":
            continue
        others = [
            other
            for other in groups
            if other.at("labels", MARKET).node == "on-demand"
            and _gpus(other) >= _gpus(group)
            and (other.at("priority").node or 0) < (group.at("priority").node or 0)
        ]
        if not others:
            yield group.at("priority").finding(
                "no group on demand takes over when there is no spot capacity",
                "a higher priority than that of an on-demand group with as many GPUs",
            )
            continue
        variable = next((item for item in options.at("env").items() if item.at("name").node == FALLBACK), None)
        seconds = float(variable.at("value").node) if variable else RAY_FALLBACK_SECONDS
        if seconds > MAX_FALLBACK_SECONDS:
            yield options.at("env").finding(
                f"a run waits {seconds:g} seconds for spot before it goes on demand",
                f"{FALLBACK} up to {MAX_FALLBACK_SECONDS}",
            )


def _gpus(group: Place) -> int:
    return int(group.at("template", "spec", "containers", 0, "resources", "limits", GPU).node or 0)


def check_placement(spec: Place, pools: list[Manifest]) -> Iterator[Finding]:
    """In an overlay: every group is where its market type says, and tolerates what it meets there."""
    for group in [spec.at("headGroupSpec"), *spec.at("workerGroupSpecs").items()]:
        pod, market = group.at("template", "spec"), group.at("labels", MARKET)
        if market.node not in ("spot", "on-demand"):
            yield market.finding(f"it is {market.node!r}", "spot or on-demand")
        if market.node == "spot" and spot_nodes(pod) is None:
            yield pod.at("nodeSelector").finding(
                "a spot group that asks for no spot node", "the cloud's label for them"
            )
        if market.node == "on-demand" and not avoids_spot(pod):
            yield pod.at("affinity").finding("it may land on a spot node", "affinity or a selector that keeps it away")
        for taint in node_taints(pod, pools):
            if not tolerates(pod, taint):
                yield pod.at("tolerations").finding(
                    f"the taint {taint} is not tolerated", f"a toleration of {taint.key}"
                )
        if group.path.endswith("headGroupSpec") and (market.node == "spot" or wants_gpu(pod)):
            yield market.finding("the head is lost with its node, or holds a GPU idle", "on demand, without GPU")


def check_job(spec: Place, namespace: Manifest | None) -> Iterator[Finding]:
    """A RayJob ends: it has deadlines, its cluster goes, and retries are few."""
    if not spec.at("shutdownAfterJobFinishes").node and not spec.at("deletionStrategy").node:
        yield spec.at("shutdownAfterJobFinishes").finding("the cluster stays when the job is done", "true")
    bounds = {
        "activeDeadlineSeconds": MAX_DEADLINE_SECONDS,
        "preRunningDeadlineSeconds": MAX_DEADLINE_SECONDS,
        "ttlSecondsAfterFinished": MAX_TTL_SECONDS,
    }
    for key, most in bounds.items():
        at = spec.at(key)
        if at.node is None and not (key.startswith("ttl") and spec.at("deletionStrategy").node):
            yield at.finding("not given", f"1 to {most} seconds")
        elif at.node is not None and at.node > most:
            yield at.finding(f"{at.node} seconds", f"1 to {most}")
    if (spec.at("backoffLimit").node or 0) > MAX_RETRIES:
        yield spec.at("backoffLimit").finding("each retry is a new cluster", f"0 to {MAX_RETRIES}")
    entrypoint = spec.at("entrypoint")
    if any(job in str(entrypoint.node) for job in CAPPED_JOBS) and "budget.max_" not in str(entrypoint.node):
        yield entrypoint.finding("nothing caps what the run costs", "budget.max_usd=… among its overrides")
    for key in ("entrypointNumCpus", "entrypointNumGpus"):
        if spec.at(key).node:
            yield spec.at(key).finding("the driver would leave the head for a node that may vanish", "none")
    labels: dict[str, Any] = ((namespace or {}).get("metadata") or {}).get("labels") or {}
    submits = (spec.at("submissionMode").node or "K8sJobMode") == "K8sJobMode"
    if submits and labels.get(RESTRICTED) == "restricted" and spec.at("submitterPodTemplate").node is None:
        yield spec.at("submitterPodTemplate").finding(
            "the namespace's pod security refuses the operator's default submitter", "a template without root"
        )


def check_together(where: Place, manifests: list[Manifest]) -> Iterator[Finding]:
    """What only the whole set can show: names that are used and not there, a namespace that is open."""
    names = {(manifest["kind"], manifest["metadata"].get("name")) for manifest in manifests}
    if ("Namespace", "askable") in names and not any(_denies_all(manifest) for manifest in manifests):
        yield where.finding(
            "every pod of the Kubernetes cluster reaches Ray", "a NetworkPolicy that denies ingress to all"
        )
    for manifest in manifests:
        if manifest["kind"] == "Secret":
            yield where.at("kind").finding(
                f"Secret/{manifest['metadata'].get('name')} in the manifests",
                "a Secret made by hand, as the README says",
            )


def _denies_all(manifest: Manifest) -> bool:
    spec = manifest.get("spec") or {}
    return (
        manifest["kind"] == "NetworkPolicy"
        and spec.get("podSelector") == {}
        and "Ingress" in spec.get("policyTypes", [])
        and not spec.get("ingress")
    )


def check_references(pod: Place, manifests: list[Manifest]) -> Iterator[Finding]:
    """A pod's service account and claims are among the manifests."""
    names = {(manifest["kind"], manifest["metadata"].get("name")) for manifest in manifests}
    account = pod.at("serviceAccountName")
    if account.node and ("ServiceAccount", account.node) not in names:
        yield account.finding(f"there is no ServiceAccount {account.node}", "one of the manifests'")
    volumes = {volume.at("name").node for volume in pod.at("volumes").items()}
    for volume in pod.at("volumes").items():
        claim = volume.at("persistentVolumeClaim", "claimName")
        if claim.node and ("PersistentVolumeClaim", claim.node) not in names:
            yield claim.finding(f"there is no claim {claim.node}", "one of the manifests'")
    for container in pod.at("containers").items():
        for mount in container.at("volumeMounts").items():
            if mount.at("name").node not in volumes:
                yield mount.at("name").finding(f"there is no volume {mount.at('name').node}", "one of the pod's")
