"""Who may import whom. The rules keep the parts apart: what is pure stays pure, and placement stays in `jobs`.

Each rule is a function over one module's imports; the tests first hold the rules against made-up modules, then
against every file there is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
CHECKED = ("jobs", "udfs", "infra")
ENGINE_LIBRARIES = ("vllm", "openai", "transformers", "torch")
TRAINING_LIBRARIES = ("transformers", "torch")
SEE_ENGINES_BY_PROTOCOL = ("udfs.dialogues", "udfs.agents", "udfs.judges")
PURE = ("udfs.measures", "udfs.tables")
NOT_FOR_PURE = ("udfs.engines", "udfs.dialogues", "udfs.agents", "udfs.judges")
MAY_IMPORT_RAY = ("jobs", "udfs.bundles")


class Import(NamedTuple):
    """One name that a module imports, as far as the source says: `a.b` for `import a.b` and for `from a import b`."""

    line: int
    name: str


def within(name: str, *packages: str) -> bool:
    """Whether `name` is one of `packages` or lies in one."""
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def imports(source: str, module: str, is_package: bool = False) -> Iterator[Import]:
    """Every import in `source`, wherever it stands: at the top, in functions, for type checkers, by importlib."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (Import(node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = module.split(".") if is_package else module.split(".")[:-1]
                parents = parts[: len(parts) - (node.level - 1)]
                base = ".".join([*parents, *([base] if base else [])])
            yield from (Import(node.lineno, f"{base}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and node.args:
            called = ast.unparse(node.func)
            first = node.args[0]
            if (
                called in ("importlib.import_module", "import_module", "__import__")
                and isinstance(first, ast.Constant)
                and isinstance(first.value, str)
            ):
                yield Import(node.lineno, first.value)


def broken_rule(module: str, imported: str) -> str | None:
    """The rule that `module` breaks by importing `imported`, or None."""
    if within(module, "udfs"):
        if within(imported, "jobs", "tests", "infra"):
            return "udfs imports neither jobs nor tests nor infra"
        trains = within(module, "udfs.training") and within(imported, *TRAINING_LIBRARIES)
        if within(imported, *ENGINE_LIBRARIES) and not within(module, "udfs.engines") and not trains:
            return f"in udfs only engines imports {', '.join(ENGINE_LIBRARIES)}; training its {TRAINING_LIBRARIES}"
    if within(imported, "ray") and not within(module, *MAY_IMPORT_RAY):
        return f"only {' and '.join(MAY_IMPORT_RAY)} import ray"
    if (
        within(module, *SEE_ENGINES_BY_PROTOCOL)
        and within(imported, "udfs.engines")
        and not within(imported, "udfs.engines.base")
    ):
        return "dialogues, agents and judges know engines only by udfs.engines.base"
    if within(module, *PURE) and within(imported, *NOT_FOR_PURE):
        return "measures and tables import no engines, dialogues, agents or judges"
    return None


def violations(source: str, module: str, is_package: bool = False) -> list[str]:
    """One line for each import of `source` that breaks a rule."""
    return [
        f"{module}:{found.line}: imports {found.name}: {rule}"
        for found in imports(source, module, is_package)
        if (rule := broken_rule(module, found.name))
    ]


def modules() -> list[tuple[Path, str]]:
    """Every checked file and its module's name."""
    found = []
    for top in CHECKED:
        for file in sorted((ROOT / top).rglob("*.py")):
            parts = file.relative_to(ROOT).with_suffix("").parts
            found.append((file, ".".join(parts[:-1] if parts[-1] == "__init__" else parts)))
    return found


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("udfs.bundles", "import jobs.cli"),
        ("udfs.bundles", "from jobs import cli"),
        ("udfs.sources.text", "from tests.factories import a_document"),
        ("udfs.judges.llm", "import openai"),
        ("udfs.sources.tokens", "def count():\n    from transformers import AutoTokenizer"),
        ("udfs.dialogues.dialogue", "import importlib\nvllm = importlib.import_module('vllm')"),
        ("udfs.measures.answers", "import torch.nn as nn"),
        ("udfs.training.fitting", "import vllm"),
        ("udfs.stages.judge", "import ray"),
        ("udfs.engines.vllm_engine", "from ray.util import queue"),
        ("infra.bench.prefix_reuse", "import ray.data"),
        ("udfs.judges.llm", "from udfs.engines import scripted"),
        ("udfs.judges.llm", "from udfs.engines.scripted import ScriptedEngine"),
        ("udfs.dialogues.dialogue", "from udfs.engines import *"),
        ("udfs.dialogues.dialogue", "from ..engines.factory import create"),
        ("udfs.agents.writer", "import udfs.engines"),
        ("udfs.agents.writer", "import udfs.engines.baseline"),
        ("udfs.measures.answers", "from udfs.judges.base import Judge"),
        ("udfs.tables.metrics", "import udfs.engines.base"),
        ("udfs.tables.metrics", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from udfs import dialogues"),
    ],
)
def test_import_rules_broken_by_a_module_are_reported(module: str, source: str) -> None:
    assert len(violations(source, module)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("jobs.evaluate", "import ray, vllm, openai, udfs.engines.factory"),
        ("udfs.bundles", "import ray"),
        ("udfs.engines.vllm_engine", "import vllm, torch, transformers"),
        ("udfs.engines.openai_engine", "import openai"),
        ("udfs.training.fitting", "import torch, transformers"),
        ("udfs.judges.llm", "from udfs.engines.base import Engine\nfrom udfs.engines import base"),
        ("udfs.dialogues.dialogue", "import udfs.engines.base\nfrom . import view\nfrom ..records import Turn"),
        ("udfs.measures.answers", "import rapidfuzz\nfrom udfs.text import words"),
        ("udfs.sources.tokens", "import tokenizers"),
        ("udfs.stages.judge", "from udfs.engines.factory import create"),
    ],
)
def test_import_rules_kept_by_a_module_report_nothing(module: str, source: str) -> None:
    assert violations(source, module) == []


def test_imports_relative_within_a_package_are_resolved() -> None:
    assert [found.name for found in imports("from .engines import base", "udfs", is_package=True)] == [
        "udfs.engines.base"
    ]


def test_modules_cover_every_checked_folder() -> None:
    names = {name for _, name in modules()}
    assert {"jobs.evaluate", "udfs.schema", "udfs.engines", "udfs.engines.base", "infra"} <= names


@pytest.mark.parametrize(("file", "module"), modules(), ids=lambda value: value if isinstance(value, str) else "")
def test_import_rules_hold_for_every_module(file: Path, module: str) -> None:
    assert violations(file.read_text(encoding="utf-8"), module, file.name == "__init__.py") == []
