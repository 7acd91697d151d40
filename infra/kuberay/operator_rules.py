"""What KubeRay's operator (and Kueue's webhook) refuse, although the CRD takes it.

Written after KubeRay's own validation (main of August 2026) and Kueue's RayJob webhook; without these rules a manifest
is accepted by `kubectl apply` and then sits there with an event that nobody reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml
from packaging.version import InvalidVersion, Version

from infra.kuberay.findings import Finding, Place

MAX_CLUSTER_NAME = 53
MAX_JOB_NAME = 47
MAX_QUEUED_GROUPS = 17
DNS_LABEL = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
LABEL_KEY = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
RAY_RESOURCES = ("num-cpus", "num-gpus", "memory", "resources")
V2_SWITCH = "RAY_enable_autoscaler_v2"
QUEUE = "kueue.x-k8s.io/queue-name"
ELASTIC = "kueue.x-k8s.io/elastic-job"
DELETION_ORDER = ("DeleteWorkers", "DeleteCluster", "DeleteSelf")


def check_cluster(root: Place) -> Iterator[Finding]:
    """A RayCluster."""
    yield from _name(root, MAX_CLUSTER_NAME)
    yield from check_cluster_spec(root.at("spec"))
    yield from _queued(root, root.at("spec"))


def check_job(root: Place) -> Iterator[Finding]:
    """A RayJob, its deletion rules and its cluster."""
    spec, cluster = root.at("spec"), root.at("spec", "rayClusterSpec")
    yield from _name(root, MAX_JOB_NAME)
    yield from _job_bounds(spec)
    yield from _job_modes(spec)
    yield from _deletion(spec)
    if cluster.node is not None:
        if cluster.at("authOptions", "enableK8sTokenAuth").node:
            yield cluster.at("authOptions", "enableK8sTokenAuth").finding("RayJob does not support it", "mode: token")
        yield from check_cluster_spec(cluster)
    if root.at("metadata", "labels", QUEUE).node:
        if not spec.at("shutdownAfterJobFinishes").node:
            yield spec.at("shutdownAfterJobFinishes").finding("Kueue would never get the quota back", "true")
        if spec.at("clusterSelector").node and cluster.node is not None:
            yield spec.at("clusterSelector").finding("Kueue does not queue a job on a cluster that is there", "none")
    yield from _queued(root, cluster)


def check_cluster_spec(spec: Place) -> Iterator[Finding]:
    """The cluster of a RayCluster or a RayJob."""
    head = spec.at("headGroupSpec")
    if not head.at("template", "spec", "containers").node:
        yield head.at("template", "spec", "containers").finding("there is no container", "at least the Ray container")
    yield from _group(head)
    for group in spec.at("workerGroupSpecs").items():
        yield from _group(group)
        yield from _worker_group(spec, group)
    yield from _autoscaler(spec)
    yield from _auth(spec)
    yield from _network_policy(spec)
    environment = env_names(head.at("template", "spec", "containers", 0))
    if "RAY_REDIS_ADDRESS" in environment and spec.at("gcsFaultToleranceOptions").node is None:
        yield head.at("template", "spec", "containers", 0, "env").finding(
            "RAY_REDIS_ADDRESS without gcsFaultToleranceOptions", "spec.gcsFaultToleranceOptions.redisAddress"
        )


def env_names(container: Place) -> set[str]:
    """The names of a container's environment variables."""
    return {str(item.at("name").node) for item in container.at("env").items()}


def autoscales(spec: Place) -> bool:
    """Whether Ray's autoscaler adds and removes workers."""
    return bool(spec.at("enableInTreeAutoscaling").node)


def autoscaler_v2(spec: Place) -> bool:
    """Whether it is version 2."""
    return autoscales(spec) and spec.at("autoscalerOptions", "version").node == "v2"


def _name(root: Place, longest: int) -> Iterator[Finding]:
    at = root.at("metadata", "name")
    name = at.node
    if name is None and root.at("metadata", "generateName").node:
        return
    if not isinstance(name, str) or len(name) > longest or not DNS_LABEL.fullmatch(name):
        yield at.finding(
            f"{name!r} is no name for it", f"at most {longest} of a-z, 0-9 and '-', starting with a letter"
        )


def _group(group: Place) -> Iterator[Finding]:
    """What holds for head and workers alike."""
    params, resources = group.at("rayStartParams").node or {}, group.at("resources").node
    if resources and any(params.get(key) for key in RAY_RESOURCES):
        yield group.at("resources").finding("resources are given here and in rayStartParams", "one of the two")
    if "labels" in params:
        yield group.at("rayStartParams", "labels").finding("not supported", "the group's own field labels")
    for key, value in (group.at("labels").node or {}).items():
        if not LABEL_KEY.fullmatch(str(key)) or not LABEL_VALUE.fullmatch(str(value)):
            yield group.at("labels").finding(f"{key}={value} is no label", "Kubernetes' label syntax")


def _worker_group(spec: Place, group: Place) -> Iterator[Finding]:
    least, most = group.at("minReplicas").node, group.at("maxReplicas").node
    if not group.at("template", "spec", "containers").node:
        yield group.at("template", "spec", "containers").finding("there is no container", "at least the Ray container")
    for key in ("minReplicas", "maxReplicas"):
        value = group.at(key).node
        if (value is None and not autoscales(spec)) or (isinstance(value, int) and value < 0):
            yield group.at(key).finding(f"it is {value}", "0 or more; both are needed when nothing autoscales")
    if isinstance(least, int) and isinstance(most, int) and least > most:
        yield group.at("minReplicas").finding(f"{least} is more than maxReplicas {most}", f"0 to {most}")
    idle, priority = group.at("idleTimeoutSeconds"), group.at("priority")
    if idle.node is not None and (idle.node < 0 or not autoscaler_v2(spec)):
        yield idle.finding(f"{idle.node} with this autoscaler", "0 or more, and autoscalerOptions.version v2")
    if priority.node:
        if not autoscaler_v2(spec):
            yield priority.finding("only autoscaler v2 has priorities", "autoscalerOptions.version v2")
        yield from _least_ray(spec, priority, "2.56.0")
    if group.at("suspend").node and autoscales(spec):
        yield group.at("suspend").finding("a group cannot be suspended while Ray autoscales", "false")


def _autoscaler(spec: Place) -> Iterator[Finding]:
    options, head = spec.at("autoscalerOptions"), spec.at("headGroupSpec", "template", "spec")
    switch = next((e for e in head.at("containers", 0, "env").items() if e.at("name").node == V2_SWITCH), None)
    if switch is not None and (options.at("version").node or not autoscales(spec)):
        yield switch.finding(f"{V2_SWITCH} is set by hand", "autoscalerOptions.version with enableInTreeAutoscaling")
    if (options.at("idleTimeoutSeconds").node or 0) < 0:
        yield options.at("idleTimeoutSeconds").finding("it is negative", "0 or more")
    if "KUBERAY_GEN_AUTOSCALER_START_CMD" in env_names(options):
        yield options.at("env").finding("KUBERAY_GEN_AUTOSCALER_START_CMD is the operator's", "not to set it")
    if not autoscaler_v2(spec):
        return
    groups = [group.at("template", "spec") for group in spec.at("workerGroupSpecs").items()]
    for pod in [head, *groups]:
        if pod.at("restartPolicy").node not in (None, "", "Never"):
            yield pod.at("restartPolicy").finding(
                f"autoscaler v2 does not take {pod.at('restartPolicy').node}", "Never, or none"
            )


def _auth(spec: Place) -> Iterator[Finding]:
    auth = spec.at("authOptions")
    by_kubernetes = auth.at("enableK8sTokenAuth")
    if auth.at("mode").node == "token":
        yield from _least_ray(spec, auth.at("mode"), "2.52.0")
        if by_kubernetes.node:
            yield from _least_ray(spec, by_kubernetes, "2.55.0")
            if auth.at("secretName").node:
                yield auth.at("secretName").finding("Kubernetes' own tokens need no Secret", "one of the two")
    elif by_kubernetes.node:
        yield by_kubernetes.finding("it needs mode: token", "mode: token")


def _least_ray(spec: Place, asks: Place, least: str) -> Iterator[Finding]:
    """That `asks` needs a Ray at least this new."""
    at = spec.at("rayVersion")
    try:
        fits = Version(str(at.node)) >= Version(least)
    except InvalidVersion:
        fits = False
    if not fits:
        yield at.finding(f"{at.node!r} is too old or no version for {asks.path}", f"{least} or newer")


def _network_policy(spec: Place) -> Iterator[Finding]:
    policy = spec.at("networkPolicy")
    if policy.node is None:
        return
    mode = policy.at("mode").node or "DenyAll"
    unused = {"DenyAllIngress": "egressRules", "DenyAllEgress": "ingressRules"}.get(mode)
    names = {group.at("groupName").node for group in spec.at("workerGroupSpecs").items()}
    for rules in [policy.at("head"), policy.at("worker"), *policy.at("workerGroups").items()]:
        if unused and rules.at(unused).node:
            yield rules.at(unused).finding(f"mode {mode} does not restrict that side", "no such rules, or DenyAll")
    for rules in policy.at("workerGroups").items():
        if rules.at("groupName").node not in names:
            yield rules.at("groupName").finding("there is no such group", ", ".join(sorted(map(str, names))))


def _job_bounds(spec: Place) -> Iterator[Finding]:
    """Numbers of a RayJob."""
    for key, least in (("activeDeadlineSeconds", 1), ("preRunningDeadlineSeconds", 1), ("backoffLimit", 0)):
        value = spec.at(key).node
        if value is not None and value < least:
            yield spec.at(key).finding(f"it is {value}", f"{least} or more")
    seconds, ends = spec.at("ttlSecondsAfterFinished"), spec.at("shutdownAfterJobFinishes").node
    if (seconds.node or 0) < 0:
        yield seconds.finding(f"it is {seconds.node}", "0 or more")
    if (seconds.node or 0) > 0 and not ends:
        yield seconds.finding("a time to live without shutdownAfterJobFinishes", "shutdownAfterJobFinishes: true")
    if spec.at("suspend").node and not ends:
        yield spec.at("suspend").finding("suspended without shutdownAfterJobFinishes", "shutdownAfterJobFinishes: true")
    try:
        runtime = yaml.safe_load(spec.at("runtimeEnvYAML").node or "{}")
    except yaml.YAMLError:
        runtime = None
    if not isinstance(runtime, dict):
        yield spec.at("runtimeEnvYAML").finding("it is no YAML mapping", "a runtime environment as YAML")


def _job_modes(spec: Place) -> Iterator[Finding]:
    """What goes with which submission mode, and with a cluster that is there already."""
    mode, retries = spec.at("submissionMode").node or "K8sJobMode", spec.at("backoffLimit")
    modes = ("K8sJobMode", "HTTPMode", "SidecarMode", "InteractiveMode")
    if mode not in modes:
        yield spec.at("submissionMode").finding(f"{mode} is not known", ", ".join(modes))
    selector = spec.at("clusterSelector")
    if not selector.node and spec.at("rayClusterSpec").node is None:
        yield spec.at("rayClusterSpec").finding("neither a cluster nor a selector", "rayClusterSpec or clusterSelector")
    if selector.node:
        if not selector.at("ray.io/cluster").node:
            yield selector.finding("it names no cluster", "ray.io/cluster: NAME")
        if spec.at("suspend").node or mode == "SidecarMode":
            yield selector.finding("it goes neither with suspend nor with SidecarMode", "rayClusterSpec")
    if retries.node and (selector.node or mode == "InteractiveMode"):
        yield retries.finding("a retry makes a new cluster", "0 with clusterSelector or InteractiveMode")
    if mode == "SidecarMode":
        for key in ("submitterPodTemplate", "submitterConfig"):
            if spec.at(key).node is not None:
                yield spec.at(key).finding("there is no submitter's pod in SidecarMode", f"no {key}")
        policy = spec.at("rayClusterSpec", "headGroupSpec", "template", "spec", "restartPolicy")
        if policy.node not in (None, "", "Never"):
            yield policy.finding(f"SidecarMode does not take {policy.node}", "Never, or none")


def _deletion(spec: Place) -> Iterator[Finding]:
    """`deletionStrategy`: rules or the older onSuccess and onFailure, and neither with a plain shutdown."""
    strategy = spec.at("deletionStrategy")
    if strategy.node is None:
        return
    rules, legacy = strategy.at("deletionRules"), [strategy.at(key) for key in ("onSuccess", "onFailure")]
    if rules.node and spec.at("shutdownAfterJobFinishes").node:
        yield rules.finding("deletionRules and shutdownAfterJobFinishes exclude each other", "one of the two")
    if rules.node and any(policy.node for policy in legacy):
        yield strategy.finding("deletionRules and onSuccess or onFailure exclude each other", "deletionRules")
    if not rules.node and not all(policy.at("policy").node for policy in legacy):
        yield strategy.finding("it says too little", "deletionRules, or both onSuccess.policy and onFailure.policy")
    seconds: dict[tuple[str, str], int] = {}
    for rule in rules.items():
        condition, policy = rule.at("condition"), rule.at("policy")
        states = [condition.at(key).node for key in ("jobStatus", "jobDeploymentStatus") if condition.at(key).node]
        if len(states) != 1:
            yield condition.finding("it names none or two states", "either jobStatus or jobDeploymentStatus")
            continue
        if policy.node == "DeleteWorkers" and autoscales(spec.at("rayClusterSpec")):
            yield policy.finding("DeleteWorkers does not go with autoscaling", "DeleteCluster, DeleteSelf, DeleteNone")
        if (states[0], str(policy.node)) in seconds:
            yield policy.finding(f"a second rule for {states[0]}", "one rule a state and policy")
        seconds[states[0], str(policy.node)] = condition.at("ttlSeconds").node or 0
    for state in {state for state, _ in seconds}:
        order = [seconds[state, policy] for policy in DELETION_ORDER if (state, policy) in seconds]
        if order != sorted(order):
            yield rules.finding(f"after {state} the larger goes first", f"times that grow: {', '.join(DELETION_ORDER)}")


def _queued(root: Place, spec: Place) -> Iterator[Finding]:
    """What Kueue asks of a job in one of its queues."""
    if not root.at("metadata", "labels", QUEUE).node:
        return
    if autoscales(spec) and root.at("metadata", "annotations", ELASTIC).node != "true":
        yield root.at("metadata", "annotations", ELASTIC).finding(
            "a queued cluster that autoscales", f'{ELASTIC}: "true", or enableInTreeAutoscaling: false'
        )
    if len(spec.at("workerGroupSpecs").items()) > MAX_QUEUED_GROUPS:
        yield spec.at("workerGroupSpecs").finding("too many groups for Kueue", f"at most {MAX_QUEUED_GROUPS}")
