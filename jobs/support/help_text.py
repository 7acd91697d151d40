"""What `python -m jobs.NAME --help` prints: what the job does, its keys with their comments, what a group offers."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import yaml

WIDTH = 110
FLAGS = """
  -m                    a sweep: every combination of comma-separated values, one job after another, for example
                        -m {example}
  --cfg job             show the composed configuration and run nothing
  --config-dir FOLDER   look for configurations there first, then in conf/
  --config-name NAME    another primary configuration than {config_name}
  --hydra-help          the flags of Hydra, which reads the command line
""".strip("\n")


def help_text(config_name: str, about: str, conf: Path) -> str:
    """The help of a job.

    Args:
        config_name: of its primary config, `conf/<config_name>.yaml`.
        about: the module's docstring.
        conf: the folder `conf`.
    """
    head = (conf / f"{config_name}.yaml").read_text(encoding="utf-8").splitlines()
    usage = [line.removeprefix("#").strip() for line in head if re.match(r"#\s*python -m ", line)]
    parts = [about.strip(), "For example:\n" + textwrap.indent("\n".join(usage), "  ")]
    groups: dict[str, str | None] = {}
    for name in _with_bases(config_name, conf):
        lines = (conf / f"{name}.yaml").read_text(encoding="utf-8").splitlines()
        groups |= _groups(_defaults(lines))
        parts.append(
            f"Keys, given as key=value, with their defaults (conf/{name}.yaml; ???: has to be given):\n"
            + textwrap.indent(_keys(lines), "  ")
        )
    if groups:
        said = "Groups, given as group=name; every key of one as group.key=value (conf/<group>/<name>.yaml lists them):"
        parts.append("\n".join([said, *(_options(group, default, conf) for group, default in groups.items())]))
    example = "model=qwen2.5-7b,llama-3.1-8b" if "model" in groups else "storage.root=runs/x,runs/y"
    parts.append("Flags:\n" + FLAGS.format(example=example, config_name=config_name))
    return "\n\n".join(parts)


def _defaults(lines: list[str]) -> list[str | dict[str, str | None]]:
    found = yaml.safe_load("\n".join(lines)).get("defaults", [])
    assert isinstance(found, list)
    return found


def _with_bases(config_name: str, conf: Path) -> Iterator[str]:
    """A primary config and those that it is built on, such as jobs.plan's on jobs.evaluate's."""
    yield config_name
    for entry in _defaults((conf / f"{config_name}.yaml").read_text(encoding="utf-8").splitlines()):
        if isinstance(entry, str) and entry != "_self_":
            yield from _with_bases(entry, conf)


def _groups(defaults: list[str | dict[str, str | None]]) -> dict[str, str | None]:
    """The groups that a primary config takes, with the default of each."""
    return {
        group: default
        for entry in defaults
        if isinstance(entry, dict)
        for group, default in entry.items()
        if not group.startswith("override ")
    }


def _options(group: str, default: str | None, conf: Path) -> str:
    names = ", ".join(sorted(path.stem for path in (conf / group).glob("*.yaml")))
    text = f"{names} (default: {default or 'none'})"
    return textwrap.fill(
        text, WIDTH, initial_indent=f"  {group:<12}", subsequent_indent=" " * 14, break_on_hyphens=False
    )


def _keys(lines: list[str]) -> str:
    """The config file without its head and without what only Hydra reads."""
    return "\n".join(_blocks(lines)).strip("\n")


def _blocks(lines: list[str]) -> Iterator[str]:
    skipping = True  # the comment at the head, which the usage is taken from
    for line in lines:
        if line and not line[0].isspace():
            is_head = skipping and line.startswith("#")
            skipping = is_head or line.split(":")[0] in ("defaults", "hydra")
        elif not line.strip():
            skipping = False
        if not skipping:
            yield line
