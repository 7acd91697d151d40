from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from infra.kuberay.check import HERE, check_manifests, folders, main, unknown_kinds
from infra.kuberay.rendering import assemble
from infra.kuberay.versions import ROOT
from tests.infra.kuberay.bench import FEATURES, OVERLAYS, official_crds, with_feature


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: folder.name)
def test_check_manifests_of_every_folder_fit_schemas_and_rules(folder: Path) -> None:
    found = check_manifests(folder.name, assemble(folder), official_crds(), placed=folder.name != "base")
    assert [str(finding) for finding in found] == []


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_check_overlay_without_crds_holds_the_rules_all_the_same(overlay: str) -> None:
    """Where KubeRay's CRDs are absent, core schemas, pod templates and rules are still checked."""
    found = check_manifests(overlay, assemble(HERE / "overlays" / overlay), {}, placed=True)
    assert [str(finding) for finding in found] == []


@pytest.mark.parametrize("feature", FEATURES)
def test_check_overlay_with_feature_fits_schemas_and_rules(tmp_path: Path, feature: str) -> None:
    made = assemble(with_feature(tmp_path, "eks", feature))
    found = check_manifests(feature, made, official_crds(), placed=True)
    assert [str(finding) for finding in found] == []


def test_check_kinds_without_a_crd_are_named() -> None:
    assert unknown_kinds(assemble(HERE / "overlays" / "eks"), official_crds()) == {
        "karpenter.k8s.aws/v1/EC2NodeClass",
        "karpenter.sh/v1/NodePool",
    }


def test_main_project_as_it_is_ends_with_zero(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--plain"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "no findings"


def test_main_spoilt_overlay_prints_a_line_a_finding_and_ends_with_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(HERE, tmp_path / "kuberay", ignore=shutil.ignore_patterns("__pycache__"))
    file = tmp_path / "kuberay" / "base" / "rayjob.yaml"
    text = file.read_text(encoding="utf-8").replace("shutdownAfterJobFinishes: true", "shutdownAfterJobFinishes: false")
    file.write_text(text, encoding="utf-8")
    assert main(["--plain", str(tmp_path / "kuberay" / "overlays" / "gke")]) == 1
    *lines, last = capsys.readouterr().out.splitlines()
    assert any(
        "RayJob/askable-evaluate: spec.ttlSecondsAfterFinished: a time to live without" in line for line in lines
    )
    assert last.endswith(" findings")


def test_main_folder_without_crds_ends_with_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--crds", str(tmp_path), "--plain"]) == 2
    assert "holds no CustomResourceDefinition" in capsys.readouterr().err


def test_main_ready_names_what_is_still_to_be_filled_in(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--ready", "--plain", str(HERE / "overlays" / "aks")]) == 1
    out = capsys.readouterr().out
    assert "ServiceAccount/askable-head: metadata.annotations.azure.workload.identity/client-id: CLIENT_ID" in out
    assert "ACCOUNT, CONTAINER is still to be filled in" in out


def test_features_every_one_is_in_the_readme() -> None:
    readme = (HERE / "README.md").read_text(encoding="utf-8")
    assert [feature for feature in FEATURES if f"`{feature}`" not in readme] == []


def test_readme_commands_name_files_and_modules_that_exist() -> None:
    readme = (HERE / "README.md").read_text(encoding="utf-8")
    named = {word.strip("`,.;:") for word in readme.split() if word.strip("`,.;:").startswith("infra/")}
    assert named
    assert [name for name in sorted(named) if "$" not in name and not (ROOT / name).exists()] == []
