"""Whether the manifests are right: schemas, the operator's rules, and the rules of this project.

    python -m infra.kuberay.check --crds DIR [--ready] [--plain] [FOLDER…]

Checks `base` and every overlay (or the kustomize folders that are named), one line a finding, and ends with a count.
Exit code 0: nothing found; 1: something was; 2: the check could not be made.

DIR holds CRDs as YAML, gzipped or not; those of KubeRay lie in its release under helm-chart/kuberay-operator/crds.
Kinds whose CRD is not in DIR (Karpenter's and Kueue's, unless you add them) are checked for their metadata and by rules
alone, and named at the end. `--ready` also reports what still has to be filled in; `--plain` needs no kustomize.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from infra.kuberay import house_rules, operator_rules
from infra.kuberay.findings import Finding, Manifest, Place, place
from infra.kuberay.rendering import assemble, render
from infra.kuberay.schemas import check_schemas, is_core, load_crds, pod_templates
from infra.kuberay.versions import Versions, check_image, check_pins, check_ray, pinned
from udfs.errors import UserError

HERE = Path(__file__).resolve().parent
CRDS = "ASKABLE_CRDS"
PLACEHOLDER = re.compile(r"\b(PROJECT|REGION|BUCKET|ACCOUNT|CLUSTER|CONTAINER|CLIENT_ID|REGISTRY)\b")
Crds = Mapping[tuple[str, str], Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Check what was asked for, print what was found, return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, help="kustomize folders; base and all overlays if none")
    parser.add_argument("--crds", type=Path, default=os.environ.get(CRDS), help=f"folder with CRDs (or {CRDS})")
    parser.add_argument("--ready", action="store_true", help="placeholders that are left are findings too")
    parser.add_argument("--plain", action="store_true", help="put the manifests together without kustomize")
    options = parser.parse_args(arguments)
    try:
        crds = load_crds(Path(options.crds)) if options.crds else {}
        findings, unchecked = list(check_pins()), set[str]()
        for folder in options.folders or folders():
            manifests = (assemble if options.plain else render)(folder)
            findings += check_manifests(_shown(folder), manifests, crds, placed=folder.resolve() != HERE / "base")
            findings += check_placeholders(_shown(folder), manifests) if options.ready else []
            unchecked |= unknown_kinds(manifests, crds)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for finding in findings:
        print(finding)
    if unchecked:
        print(f"no CRD given for {', '.join(sorted(unchecked))}: metadata and rules were checked, fields were not")
    print(f"{len(findings)} findings" if findings else "no findings")
    return 1 if findings else 0


def folders() -> list[Path]:
    """`base` and every overlay."""
    return [HERE / "base", *sorted(file.parent for file in HERE.glob("overlays/*/kustomization.yaml"))]


def _shown(folder: Path) -> str:
    folder = folder.resolve()
    return str(folder.relative_to(HERE.parents[1])) if folder.is_relative_to(HERE.parents[1]) else str(folder)


def unknown_kinds(manifests: Sequence[Manifest], crds: Crds) -> set[str]:
    """Custom kinds that no given CRD defines, as apiVersion/kind."""
    return {
        f"{manifest['apiVersion']}/{manifest['kind']}"
        for manifest in manifests
        if not is_core(manifest) and (manifest["apiVersion"], manifest["kind"]) not in crds
    }


def check_manifests(
    where: str, manifests: list[Manifest], crds: Crds, placed: bool, versions: Versions | None = None
) -> list[Finding]:
    """Everything that is wrong with a set of manifests that is applied together.

    Args:
        where: what they were made of, for the findings.
        placed: they belong to a cloud, so that every pod has to say which nodes it is for.
    """
    versions = versions or pinned()
    findings: list[Finding] = []
    for manifest in manifests:
        broken = list(check_schemas(where, manifest, crds))
        findings += broken
        if any(_shapeless(finding) for finding in broken):
            continue  # the rules count on the shape that the schema describes
        findings += _rules(place(where, manifest), manifests, placed, versions)
    findings += house_rules.check_together(Place(where, "all manifests", "", {}), manifests)
    return findings


def _shapeless(finding: Finding) -> bool:
    return "is not of type" in finding.what


def _rules(root: Place, manifests: list[Manifest], placed: bool, versions: Versions) -> Iterator[Finding]:
    """The operator's rules and ours for one manifest."""
    kind = root.node["kind"]
    if kind == "RayCluster":
        yield from operator_rules.check_cluster(root)
        yield from _cluster_rules(root.at("spec"), manifests, placed, versions)
    elif kind == "RayJob":
        namespace = next((manifest for manifest in manifests if manifest["kind"] == "Namespace"), None)
        yield from operator_rules.check_job(root)
        yield from house_rules.check_job(root.at("spec"), namespace)
        if root.at("spec", "rayClusterSpec").node is not None:
            yield from _cluster_rules(root.at("spec", "rayClusterSpec"), manifests, placed, versions)
    for template in pod_templates(root):
        pod = template.at("spec")
        yield from house_rules.check_pod(pod, runs_ray="GroupSpec" in template.path)
        yield from house_rules.check_references(pod, manifests)
        for container in [*pod.at("initContainers").items(), *pod.at("containers").items()]:
            yield from check_image(container.at("image"), versions)


def _cluster_rules(spec: Place, manifests: list[Manifest], placed: bool, versions: Versions) -> Iterator[Finding]:
    yield from house_rules.check_cluster_spec(spec)
    yield from check_ray(spec, versions)
    if placed:
        yield from house_rules.check_placement(
            spec, [manifest for manifest in manifests if manifest["kind"] == "NodePool"]
        )


def check_placeholders(where: str, manifests: list[Manifest]) -> list[Finding]:
    """Words in capitals that whoever deploys has to replace."""
    return [
        at.finding(f"{', '.join(sorted(set(words)))} is still to be filled in: {at.node}", "your own")
        for manifest in manifests
        for at in _texts(place(where, manifest))
        if (words := PLACEHOLDER.findall(at.node))
    ]


def _texts(at: Place) -> Iterator[Place]:
    if isinstance(at.node, str):
        yield at
    elif isinstance(at.node, dict):
        for key in at.node:
            yield from _texts(at.at(key))
    else:
        for item in at.items():
            yield from _texts(item)


if __name__ == "__main__":
    sys.exit(main())
