"""Kustomize folders as lists of manifests: by the real kustomize where there is one, and by hand for the part we use.

`render` asks kubectl or kustomize. `assemble` needs neither: it knows resources, components, images, patches (JSON
patches, removals, and merges into KubeRay's kinds) and replacements of whole nodes, and refuses everything else. Where
both can be had, a test holds them equal.
"""

from __future__ import annotations

import copy
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from udfs.errors import UserError

Manifest = dict[str, Any]
KNOWN_KEYS = {"apiVersion", "kind", "resources", "components", "images", "patches", "replacements"}
RENDER_SECONDS = 60
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The safe loader in C, where PyYAML has it: ten times as fast."""
FILE = "kustomization.yaml"


def renderer() -> list[str] | None:
    """The command that renders a folder given as its last argument, or None where no kustomize is installed."""
    if kubectl := shutil.which("kubectl"):
        return [kubectl, "kustomize"]
    if kustomize := shutil.which("kustomize"):
        return [kustomize, "build"]
    return None


def render(folder: Path) -> list[Manifest]:
    """What kustomize makes of `folder`.

    Raises:
        UserError: there is no kustomize, or it refuses the folder.
    """
    command = renderer()
    if command is None:
        raise UserError("neither kubectl nor kustomize is on the PATH; install one, or check with --plain")
    done = subprocess.run([*command, str(folder)], capture_output=True, text=True, check=False, timeout=RENDER_SECONDS)
    if done.returncode:
        raise UserError(f"{' '.join(command)} {folder} failed: {' '.join(done.stderr.split())}")
    return documents(done.stdout, str(folder))


def documents(text: str, where: str) -> list[Manifest]:
    """The manifests in YAML `text`; empty documents are left out.

    Raises:
        UserError: it is no YAML, or a document is no mapping with apiVersion and kind.
    """
    try:
        found = [document for document in yaml.load_all(text, Loader=LOADER) if document is not None]
    except yaml.YAMLError as error:
        raise UserError(f"{where} is no YAML: {' '.join(str(error).split())}") from error
    for document in found:
        if not isinstance(document, dict) or not {"apiVersion", "kind"} <= document.keys():
            raise UserError(f"{where}: a document is no manifest with apiVersion and kind")
    return [json.loads(json.dumps(document)) for document in found]  # so that YAML's aliases share nothing any more


def assemble(folder: Path) -> list[Manifest]:
    """What kustomize would make of `folder`, for the part of kustomize that this project uses; order aside.

    Raises:
        UserError: the folder uses more than that, or a patch does not fit.
    """
    return _apply(folder, [])


def _apply(folder: Path, found: list[Manifest]) -> list[Manifest]:
    """`found` and the resources of one kustomization, after its components, patches, images and replacements."""
    file = folder / FILE
    (kustomization,) = documents(file.read_text(encoding="utf-8"), str(file))
    if unknown := kustomization.keys() - KNOWN_KEYS:
        raise UserError(
            f"{file}: {', '.join(sorted(unknown))} not known without kustomize; known: {sorted(KNOWN_KEYS)}"
        )
    for name in kustomization.get("resources", []):
        path = (folder / name).resolve()
        found += assemble(path) if path.is_dir() else documents(path.read_text(encoding="utf-8"), str(path))
    for name in kustomization.get("components", []):
        found = _apply((folder / name).resolve(), found)
    for patch in kustomization.get("patches", []):
        _patch(folder, patch, found)
    for image in kustomization.get("images", []):
        _rename_images(found, image)
    for replacement in kustomization.get("replacements", []):
        _replace(file, replacement, found)
    return found


def _patch(folder: Path, patch: Manifest, found: list[Manifest]) -> None:
    """Apply one entry of `patches` to every manifest that it is about."""
    text = patch["patch"] if "patch" in patch else (folder / patch["path"]).read_text(encoding="utf-8")
    where = str(folder / patch.get("path", FILE))
    content = yaml.load(text, Loader=LOADER)
    operations = isinstance(content, list)
    target = patch.get("target") or {"kind": content["kind"], "name": content["metadata"]["name"]}
    chosen = [manifest for manifest in found if _matches(manifest, target)]
    if not chosen and "target" not in patch:  # as kustomize has it: a target may select nothing
        raise UserError(f"{where}: a patch is for {target}, and there is no such manifest")
    for manifest in chosen:
        if operations:
            for operation in content:
                _operate(manifest, copy.deepcopy(operation), where)
        elif content.get("$patch") == "delete":
            found.remove(manifest)
        elif manifest["apiVersion"].startswith("ray.io/"):
            _merge(manifest, copy.deepcopy(content))
        else:
            raise UserError(f"{where}: a merge into {manifest['kind']} needs kustomize; write a JSON patch instead")


def _matches(manifest: Manifest, target: Manifest) -> bool:
    """Whether `target` (kind, name, version) selects `manifest`; a name or kind is a whole regular expression."""
    group, _, version = manifest["apiVersion"].rpartition("/")
    own = {"kind": manifest["kind"], "name": manifest["metadata"]["name"], "version": version, "group": group}
    return all(re.fullmatch(str(wanted), own[key]) for key, wanted in target.items())


def _operate(manifest: Manifest, operation: Manifest, where: str) -> None:
    """One operation of a JSON patch (RFC 6902): add, replace, remove or test."""
    steps = [step.replace("~1", "/").replace("~0", "~") for step in operation["path"].split("/")[1:]]
    kind, wrong = operation["op"], f"{where}: {operation['op']} {operation['path']} does not fit {manifest['kind']}"
    node: Any = manifest
    try:
        for step in steps[:-1]:
            node = node[int(step)] if isinstance(node, list) else node[step]
        last: Any = steps[-1]
        if isinstance(node, list):
            last = len(node) if last == "-" else int(last)
        if kind == "add":
            _add(node, last, operation["value"])
        elif kind == "replace":
            _ = node[last]
            node[last] = operation["value"]
        elif kind == "remove":
            del node[last]
        elif kind == "test":
            if node[last] != operation["value"]:
                raise UserError(f"{wrong}: it is {node[last]!r}, not {operation['value']!r}")
        else:
            raise UserError(f"{where}: the operation {kind!r} is not known; allowed: add, replace, remove, test")
    except (KeyError, IndexError, ValueError, TypeError) as error:
        raise UserError(f"{wrong}: there is no such place") from error


def _add(node: Any, last: Any, value: Any) -> None:
    if isinstance(node, list):
        if last > len(node):
            raise IndexError(last)
        node.insert(last, value)
    else:
        node[last] = value


def _merge(into: Manifest, what: Manifest) -> None:
    """Merge mappings; lists and scalars are replaced, null removes. That is what kustomize does for unknown kinds."""
    for key, value in what.items():
        if value is None:
            into.pop(key, None)
        elif isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = value


def containers(node: Any) -> Iterator[Manifest]:
    """Every container and init container at any depth of a manifest."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("containers", "initContainers") and isinstance(value, list):
                yield from (item for item in value if isinstance(item, dict))
            yield from containers(value)
    elif isinstance(node, list):
        for value in node:
            yield from containers(value)


def _rename_images(found: list[Manifest], image: Manifest) -> None:
    for container in containers(found):
        name, separator, tag = str(container.get("image", "")).partition(":")
        if name == image["name"]:
            container["image"] = f"{image.get('newName', name)}{separator}{image.get('newTag', tag)}"


def _replace(file: Path, replacement: Manifest, found: list[Manifest]) -> None:
    """Copy one node of one manifest to a place in others."""
    source = dict(replacement["source"])
    path = source.pop("fieldPath").split(".")
    chosen = [manifest for manifest in found if _matches(manifest, source)]
    if len(chosen) != 1:
        raise UserError(f"{file}: a replacement's source {source} fits {len(chosen)} manifests; it has to be one")
    value: Any = chosen[0]
    for step in path:
        value = value[step]
    for target in replacement["targets"]:
        for manifest in found:
            if _matches(manifest, target["select"]):
                for field in target["fieldPaths"]:
                    *parents, last = field.split(".")
                    node = manifest
                    for step in parents:
                        node = node[step]
                    node[last] = copy.deepcopy(value)
