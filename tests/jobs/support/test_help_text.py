"""`--help`: every key with its comment, every group with what it offers."""

from __future__ import annotations

import subprocess
import sys

import pytest
import yaml

from jobs.support.command_line import CONF
from jobs.support.help_text import help_text

JOBS = sorted(path.stem for path in CONF.glob("*.yaml"))


@pytest.mark.parametrize("name", JOBS)
def test_help_of_every_job_lists_its_keys_and_its_groups_options(name: str) -> None:
    config = yaml.safe_load((CONF / f"{name}.yaml").read_text(encoding="utf-8"))
    lines = help_text(name, "What it does.", CONF).splitlines()
    assert lines[0] == "What it does."
    for key in config.keys() - {"defaults", "hydra"}:
        assert any(line.startswith(f"  {key}:") for line in lines), key
    assert not any(line.lstrip().startswith(("hydra:", "defaults:", "- _self_")) for line in lines)
    groups = [entry for entry in config["defaults"] if isinstance(entry, dict)]
    for group in (name for entry in groups for name in entry if not name.startswith("override ")):
        options = {path.stem for path in (CONF / group).glob("*.yaml")}
        start = next(i for i, line in enumerate(lines) if line.startswith(f"  {group} "))
        assert options <= set(" ".join(lines[start:]).replace(",", " ").split())
    assert any(line.startswith(f"  python -m jobs.{name}") for line in lines), "an example"


def test_help_of_a_command_needs_no_key_and_exits_0() -> None:
    command = [sys.executable, "-m", "jobs.stats", "--help"]
    done = subprocess.run(command, cwd=CONF.parent, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "CouldAsk's Table 2" in done.stdout
