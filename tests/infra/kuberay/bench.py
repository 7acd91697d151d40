"""What the tests of the manifests share: the manifests, CRDs where there are any, and a way to spoil a manifest."""

from __future__ import annotations

import copy
import os
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from infra.kuberay.check import HERE, check_manifests
from infra.kuberay.findings import Finding, Manifest
from infra.kuberay.rendering import assemble, renderer
from infra.kuberay.schemas import load_crds

OVERLAYS = sorted(path.name for path in (HERE / "overlays").iterdir())
FEATURES = sorted(path.name for path in (HERE / "features").iterdir())
REMOVED = object()
"""A value that means: take the key away."""
COMPONENTS = "# components:\n#   - ../../features/kueue\n"
KARPENTER = ("  - karpenter.yaml\n", "  - target: {kind: RayCluster, name: askable}\n    path: nodes.yaml\n")


@cache
def official_crds() -> dict[tuple[str, str], Any]:
    """KubeRay's CRDs, which are no part of the project; skips the test where the folder is absent."""
    default = Path(__file__).resolve().parents[3] / ".." / "shared" / "crds"
    folder = Path(os.environ.get("ASKABLE_CRDS", default))
    if not folder.is_dir():
        pytest.skip(f"KubeRay's CRDs are absent: {folder} (set ASKABLE_CRDS to a folder that holds them)")
    return load_crds(folder)


def needs_kustomize() -> None:
    """Skip the test where nothing renders a kustomize folder."""
    if renderer() is None:
        pytest.skip("neither kubectl nor kustomize is on the PATH")


@cache
def _manifests(overlay: str) -> list[Manifest]:
    return assemble(HERE / "overlays" / overlay)


def manifests_of(overlay: str) -> list[Manifest]:
    """An overlay's manifests, to be changed at will."""
    return copy.deepcopy(_manifests(overlay))


def with_feature(tmp_path: Path, overlay: str, feature: str) -> Path:
    """A copy of the folder whose overlay takes in a feature, as its comment says."""
    copied = tmp_path / "kuberay"
    shutil.copytree(HERE, copied, ignore=shutil.ignore_patterns("__pycache__"))
    folder = copied / "overlays" / overlay
    file = folder / "kustomization.yaml"
    text = file.read_text(encoding="utf-8")
    assert COMPONENTS in text
    text = text.replace(COMPONENTS, f"components:\n  - ../../features/{feature}\n")
    for line in KARPENTER if feature == "managed-node-groups" else ():
        text = text.replace(line, "")
    file.write_text(text, encoding="utf-8")
    return folder


def put(manifest: Manifest, path: str, value: Any) -> None:
    """Set, append (`-`) or take away what lies at `path`: steps separated by `/`, a slash in one written `~1`."""
    *parents, last = [step.replace("~1", "/") for step in path.split("/")]
    node: Any = manifest
    for step in parents:
        node = node[int(step)] if isinstance(node, list) else node.setdefault(step, {})
    if isinstance(node, list) and last == "-":
        node.append(value)
    elif value is REMOVED:
        del node[int(last) if isinstance(node, list) else last]
    else:
        node[int(last) if isinstance(node, list) else last] = value


def findings_after(overlay: str, kind: str, changes: dict[str, Any], crds: dict[tuple[str, str], Any]) -> list[Finding]:
    """What the check finds in an overlay after one manifest of `kind` was changed; the other Ray kind is left out."""
    manifests = manifests_of(overlay)
    others = {"RayCluster": "RayJob", "RayJob": "RayCluster"}
    manifests = [manifest for manifest in manifests if manifest["kind"] != others.get(kind)]
    named = changes.get("metadata/name")
    same = [manifest for manifest in manifests if manifest["kind"] == kind]
    chosen = next((manifest for manifest in same if manifest["metadata"]["name"] == named), same[0])
    for path, value in changes.items():
        put(chosen, path, value)
    return check_manifests(overlay, manifests, crds, placed=True)
