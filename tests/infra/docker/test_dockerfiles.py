from __future__ import annotations

import re
from pathlib import Path

import pytest

from infra.kuberay.check import folders
from infra.kuberay.rendering import assemble, containers
from infra.kuberay.versions import ROOT, pinned

FOLDER = ROOT / "infra" / "docker"
ENGINES = ("cpu", "gpu")
PINNED_IMAGE = re.compile(r"python:\$\{PYTHON_VERSION\}-slim-bookworm")


def instructions(engine: str) -> list[tuple[str, str]]:
    """A Dockerfile's instructions with what follows them, continued lines joined, comments left out."""
    lines = (FOLDER / f"{engine}.Dockerfile").read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if line.strip() and not line.startswith("#"))
    joined = re.sub(r"\s*\\\n\s*", " ", text).splitlines()
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in joined)]


def of(engine: str, name: str) -> list[str]:
    return [rest for found, rest in instructions(engine) if found == name]


def arguments(engine: str) -> dict[str, str]:
    return dict(rest.split("=", 1) for rest in of(engine, "ARG"))


@pytest.mark.parametrize("engine", ENGINES)
def test_dockerfile_ends_as_a_user_by_number_who_is_not_root(engine: str) -> None:
    user, _, group = of(engine, "USER")[-1].partition(":")
    assert int(user) >= 1000
    assert int(group) >= 1000
    last = [name for name, _ in instructions(engine)]
    assert "USER" not in last[last.index("USER") + 1 :]
    assert f"useradd --uid {user} --gid {group}" in " ".join(of(engine, "RUN"))


@pytest.mark.parametrize("engine", ENGINES)
def test_dockerfile_user_is_the_one_that_the_manifests_run_as(engine: str) -> None:
    user = int(of(engine, "USER")[-1].partition(":")[0])
    ids = {
        manifest["spec"]["headGroupSpec"]["template"]["spec"]["securityContext"]["runAsUser"]
        for folder in folders()
        for manifest in assemble(folder)
        if manifest["kind"] == "RayCluster"
    }
    assert ids == {user}


@pytest.mark.parametrize("engine", ENGINES)
def test_dockerfile_every_stage_starts_from_a_pinned_image(engine: str) -> None:
    bases = [rest.split(" ")[0] for rest in of(engine, "FROM")]
    assert len(bases) == 2
    assert all(PINNED_IMAGE.fullmatch(base) for base in bases)
    assert re.fullmatch(r"3\.\d+\.\d+", arguments(engine)["PYTHON_VERSION"])


def test_dockerfiles_have_one_python() -> None:
    """Ray refuses a worker whose Python differs from the head's."""
    assert arguments("cpu")["PYTHON_VERSION"] == arguments("gpu")["PYTHON_VERSION"]


@pytest.mark.parametrize("engine", ENGINES)
def test_dockerfile_versions_are_those_that_are_pinned(engine: str) -> None:
    versions, given = pinned(), arguments(engine)
    assert (given["PROJECT_VERSION"], given["RAY_VERSION"], given["VLLM_VERSION"]) == (
        versions.project,
        versions.ray,
        versions.vllm,
    )
    assert "${PROJECT_VERSION}-ray${RAY_VERSION}-vllm${VLLM_VERSION}" in " ".join(of(engine, "LABEL"))


@pytest.mark.parametrize("engine", ENGINES)
def test_dockerfile_installs_what_setup_installs(engine: str) -> None:
    install = (ROOT / "infra" / "setup" / "install.sh").read_text(encoding="utf-8")
    (uv,) = re.findall(r"^uv_version=(\S+)$", install, re.MULTILINE)
    assert arguments(engine)["UV_VERSION"] == uv
    run = " ".join(of(engine, "RUN"))
    for file in (f"constraints-{engine}.txt", f"excludes-{engine}.txt"):
        assert f"infra/setup/{file}" in run
        assert (ROOT / "infra" / "setup" / file).is_file()
    assert f"--extra {engine}" in run
    assert "dev" not in re.findall(r"--extra (\w+)", run)


@pytest.mark.parametrize("engine", ENGINES)
def test_dockerfile_copies_only_what_is_there_and_not_ignored(engine: str) -> None:
    ignore = (FOLDER / f"{engine}.Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    assert "*" in ignore
    for rest in of(engine, "COPY"):
        if not rest.startswith("--from="):
            *sources, _ = rest.split(" ")
            for source in sources:
                assert (ROOT / source).exists(), source
                assert f"!{Path(source).parts[0]}" in ignore, source


def test_dockerfiles_build_every_image_of_the_manifests() -> None:
    named = {
        str(container["image"]).rpartition("/")[2].partition(":")[0]
        for folder in folders()
        for container in containers(assemble(folder))
    }
    assert named == {f"askable-{engine}" for engine in ENGINES}
