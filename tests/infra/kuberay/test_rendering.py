from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from infra.kuberay.check import HERE
from infra.kuberay.findings import Manifest
from infra.kuberay.rendering import assemble, documents, render
from tests.infra.kuberay.bench import FEATURES, OVERLAYS, needs_kustomize, with_feature
from udfs.errors import UserError


def in_order(manifests: list[Manifest]) -> list[Manifest]:
    return sorted(manifests, key=lambda manifest: (manifest["kind"], manifest["metadata"]["name"]))


def folder_with(tmp_path: Path, kustomization: str) -> Path:
    """A kustomize folder over one RayCluster."""
    head = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [cluster.yaml]\n"
    (tmp_path / "kustomization.yaml").write_text(head + kustomization, encoding="utf-8")
    cluster = "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: one}\nspec: {groups: [{name: a}, {name: b}]}\n"
    (tmp_path / "cluster.yaml").write_text(cluster, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", ["base", *(f"overlays/{overlay}" for overlay in OVERLAYS)])
def test_assemble_every_folder_equals_kustomize(name: str) -> None:
    needs_kustomize()
    assert in_order(assemble(HERE / name)) == in_order(render(HERE / name))


@pytest.mark.parametrize("feature", FEATURES)
def test_assemble_overlay_with_feature_equals_kustomize(tmp_path: Path, feature: str) -> None:
    needs_kustomize()
    folder = with_feature(tmp_path, "eks", feature)
    assert in_order(assemble(folder)) == in_order(render(folder))


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_overlay_patches_every_target_is_there(overlay: str) -> None:
    """Kustomize says nothing of a patch that is for nobody."""
    folder = HERE / "overlays" / overlay
    (kustomization,) = documents((folder / "kustomization.yaml").read_text(encoding="utf-8"), overlay)
    made = assemble(folder)
    for patch in kustomization["patches"]:
        target = patch["target"]
        assert [
            manifest
            for manifest in made
            if manifest["kind"] == target["kind"]
            and re.fullmatch(target.get("name", ".*"), manifest["metadata"]["name"])
        ], target


@pytest.mark.parametrize(
    ("operation", "what"),
    [
        ("{op: replace, path: /spec/nothing, value: 1}", "replace /spec/nothing does not fit RayCluster"),
        ("{op: test, path: /spec/groups/1/name, value: a}", "it is 'b', not 'a'"),
        ("{op: add, path: /spec/groups/7, value: {}}", "there is no such place"),
        ("{op: move, path: /spec/groups, from: /spec}", "the operation 'move' is not known"),
    ],
)
def test_assemble_patch_that_does_not_fit_says_where(tmp_path: Path, operation: str, what: str) -> None:
    patches = yaml.safe_dump({"patches": [{"target": {"kind": "RayCluster"}, "patch": f"- {operation}"}]})
    with pytest.raises(UserError, match=re.escape(what)):
        assemble(folder_with(tmp_path, patches))


def test_assemble_what_it_does_not_know_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="namePrefix not known"):
        assemble(folder_with(tmp_path, "namePrefix: x-\n"))


def test_render_folder_that_kustomize_refuses_says_why(tmp_path: Path) -> None:
    needs_kustomize()
    with pytest.raises(UserError, match=r"missing\.yaml"):
        render(folder_with(tmp_path, "components: [missing.yaml]\n"))
