"""What a check found, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Manifest = dict[str, Any]


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, so that it can be mended without reading the check.

    Args:
        where: the file or the rendered folder.
        subject: kind/name.
        path: the place in the manifest, such as spec.workerGroupSpecs[1].priority.
        what: what is wrong there.
        allowed: what would be right.
    """

    where: str
    subject: str
    path: str
    what: str
    allowed: str

    def __str__(self) -> str:
        return f"{self.where}: {self.subject}: {self.path}: {self.what}; allowed: {self.allowed}"


@dataclass(frozen=True)
class Place:
    """A node of a manifest that remembers where it is, so that a rule can say what is wrong in one line."""

    where: str
    subject: str
    path: str
    node: Any

    def at(self, *steps: str | int) -> Place:
        """The place below, with None as its node where there is none."""
        node, path = self.node, self.path
        for step in steps:
            if isinstance(step, int):
                node = node[step] if isinstance(node, list) and step < len(node) else None
                path += f"[{step}]"
            else:
                node = node.get(step) if isinstance(node, dict) else None
                path = f"{path}.{step}" if path else step
        return Place(self.where, self.subject, path, node)

    def items(self) -> list[Place]:
        """The places of a list, or none where it is no list."""
        return [self.at(index) for index in range(len(self.node))] if isinstance(self.node, list) else []

    def finding(self, what: str, allowed: str) -> Finding:
        """That something is wrong here."""
        return Finding(self.where, self.subject, self.path or "(whole)", what, allowed)


def place(where: str, manifest: Manifest) -> Place:
    """The whole manifest as a place."""
    metadata = manifest.get("metadata") or {}
    name = metadata.get("name") or metadata.get("generateName", "?")
    return Place(where, f"{manifest.get('kind', '?')}/{name}", "", manifest)


def dotted(steps: Any) -> str:
    """A JSON path such as spec.workerGroupSpecs[1].template out of its steps."""
    path = ""
    for step in steps:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else str(step)
    return path
