from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from infra.kuberay.findings import Place
from infra.kuberay.versions import ROOT, Versions, check_image, check_pins, pinned

FILES = (
    "pyproject.toml",
    "infra/setup/constraints-cpu.txt",
    "infra/setup/constraints-gpu.txt",
    "infra/docker/cpu.Dockerfile",
    "infra/docker/gpu.Dockerfile",
)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The files that name versions, to be changed at will."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def test_check_pins_project_as_it_is_agrees() -> None:
    assert [str(finding) for finding in check_pins()] == []


def test_check_pins_of_a_copy_agree_before_anything_is_changed(copied: Path) -> None:
    assert [str(finding) for finding in check_pins(copied)] == []


@pytest.mark.parametrize(
    ("file", "name", "where"),
    [
        ("infra/setup/constraints-gpu.txt", "ray==", "infra/setup/constraints-gpu.txt: ray: version: it is 0.0.1"),
        ("infra/setup/constraints-gpu.txt", "\nvllm==", "infra/setup/constraints-gpu.txt: vllm: version: it is 0.0.1"),
        ("infra/docker/cpu.Dockerfile", "ARG RAY_VERSION=", "infra/docker/cpu.Dockerfile: ARG RAY_VERSION: value"),
        ("infra/docker/gpu.Dockerfile", "ARG VLLM_VERSION=", "infra/docker/gpu.Dockerfile: ARG VLLM_VERSION: value"),
        ("pyproject.toml", '\nversion = "', "infra/docker/cpu.Dockerfile: ARG PROJECT_VERSION: value: it is "),
    ],
)
def test_check_pins_one_version_that_differs_is_found(copied: Path, file: str, name: str, where: str) -> None:
    versions = pinned()
    old = {"ray": versions.ray, "vll": versions.vllm}.get(name.strip("\n").removeprefix("ARG ").lower()[:3])
    replace(copied / file, f"{name}{old or versions.project}", f"{name}0.0.1")
    assert any(str(finding).startswith(where) for finding in check_pins(copied))


def test_check_pins_outside_of_pyprojects_range_are_found(copied: Path) -> None:
    replace(copied / "pyproject.toml", "ray[data,default]==2.60.*", "ray[data,default]==2.61.*")
    assert any("pyproject.toml asks for ray==2.61.*" in str(finding) for finding in check_pins(copied))


@pytest.mark.parametrize(
    ("image", "fits"),
    [
        ("askable-cpu:1.0-ray2.60.0-vllm0.32.0", True),
        ("registry:5000/team/askable-gpu:1.0-ray2.60.0-vllm0.32.0", True),
        ("askable-gpu:1.0-ray2.59.0-vllm0.32.0", False),
        ("askable-gpu:1.0", False),
        ("python:3.11", True),
    ],
)
def test_check_image_tag_of_our_images_says_the_versions(image: str, fits: bool) -> None:
    found = list(check_image(Place("x", "Pod/x", "image", image), Versions("1.0", "2.60.0", "0.32.0")))
    assert (found == []) == fits
