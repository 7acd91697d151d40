"""Manifests against schemas: the core kinds against Kubernetes' own, custom kinds against the CRDs that are given.

The API server drops unknown keys of custom resources without a word, and so would a misspelt field; here every object
schema is closed, unless it says that it keeps unknown keys. Pod templates inside custom resources are checked against
the core schema as well, which is stricter. CEL rules of CRDs (x-kubernetes-validations) are not evaluated.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from kubernetes_validate.utils import schema_contents

from infra.kuberay.findings import Finding, Manifest, Place, dotted, place
from infra.kuberay.rendering import LOADER
from udfs.errors import UserError

KUBERNETES = "1.34"
"""Core schemas of this version; newer ones only add fields."""
SUFFIXES = (".yaml", ".yml", ".yaml.gz", ".yml.gz")
OPEN = "x-kubernetes-preserve-unknown-fields"
CLUSTER_SPECS = {"RayCluster": ("spec",), "RayJob": ("spec", "rayClusterSpec")}
"""Where a kind's cluster spec lies, in which pod templates are."""
WORKLOADS = {"CronJob": ("spec", "jobTemplate", "spec", "template"), "Job": ("spec", "template")}
"""Where a core kind's pod template lies."""


def load_crds(folder: Path) -> dict[tuple[str, str], Draft202012Validator]:
    """A validator for every (apiVersion, kind) that the CRDs in `folder` define; unknown keys are errors.

    Raises:
        UserError: there is no CRD in it.
    """
    found: dict[tuple[str, str], Draft202012Validator] = {}
    for file in sorted(folder.iterdir()) if folder.is_dir() else []:
        if file.name.endswith(SUFFIXES):
            text = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
            for document in yaml.load_all(text, Loader=LOADER):
                if isinstance(document, dict) and document.get("kind") == "CustomResourceDefinition":
                    found |= _validators(document)
    if not found:
        raise UserError(f"{folder} holds no CustomResourceDefinition in a *.yaml or *.yaml.gz")
    return found


def _validators(definition: Manifest) -> dict[tuple[str, str], Draft202012Validator]:
    spec = definition["spec"]
    return {
        (f"{spec['group']}/{version['name']}", spec["names"]["kind"]): Draft202012Validator(
            closed(version["schema"]["openAPIV3Schema"])
        )
        for version in spec["versions"]
        if version.get("served")
    }


def closed(schema: Any) -> Any:
    """A structural schema as JSON schema that refuses keys which it does not name; `nullable` becomes a type."""
    if not isinstance(schema, dict):
        return schema
    result = dict(schema)
    if "properties" in schema:
        result["properties"] = {name: closed(value) for name, value in schema["properties"].items()}
    for key in ("items", "additionalProperties"):
        if key in schema:
            result[key] = closed(schema[key])
    if "properties" in schema and "additionalProperties" not in schema and not schema.get(OPEN):
        result["additionalProperties"] = False
    if schema.get("nullable") and isinstance(schema.get("type"), str):
        result["type"] = [schema["type"], "null"]
    return result


def check_schemas(where: str, manifest: Manifest, crds: Mapping[tuple[str, str], Any]) -> Iterator[Finding]:
    """What the schemas say against one manifest."""
    root = place(where, manifest)
    if is_core(manifest):
        yield from _core(root, manifest)
        return
    yield from _core(root, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": manifest.get("metadata")})
    if validator := crds.get((manifest["apiVersion"], manifest["kind"])):
        for error in sorted(validator.iter_errors(manifest), key=lambda error: list(map(str, error.absolute_path))):
            yield _finding(root, error, error.absolute_path)
    for template in pod_templates(root):
        wrapped = {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "x"}, "template": template.node}
        yield from _core(template, wrapped, skip=1)


def is_core(manifest: Manifest) -> bool:
    """Whether Kubernetes itself defines the kind."""
    group = str(manifest["apiVersion"]).rpartition("/")[0]
    return "." not in group or (group.endswith(".k8s.io") and not group.startswith("kueue."))


def pod_templates(root: Place) -> Iterator[Place]:
    """The pod templates of a manifest: head, workers and submitter of KubeRay's kinds, those of jobs."""
    kind = root.node.get("kind")
    if kind in WORKLOADS:
        yield root.at(*WORKLOADS[kind])
    elif kind in CLUSTER_SPECS:
        spec = root.at(*CLUSTER_SPECS[kind])
        groups = [spec.at("headGroupSpec"), *spec.at("workerGroupSpecs").items()]
        templates = [*(group.at("template") for group in groups), root.at("spec", "submitterPodTemplate")]
        yield from (template for template in templates if template.node is not None)


def _core(root: Place, manifest: Manifest, skip: int = 0) -> Iterator[Finding]:
    """What Kubernetes' own schema says against `manifest`; `skip` steps of its path are not the reader's."""
    validator = core_validator(manifest["apiVersion"], manifest["kind"])
    if validator is None:
        yield root.at("apiVersion").finding(
            f"Kubernetes {KUBERNETES} knows no {manifest['kind']} in {manifest['apiVersion']}", "a kind that it serves"
        )
        return
    for error in validator.iter_errors(manifest):
        yield _finding(root, error, list(error.absolute_path)[skip:])


@cache
def core_validator(api_version: str, kind: str) -> Draft202012Validator | None:
    """Kubernetes' own strict schema of a kind, or None where it knows no such kind. Kept: reading it takes a while."""
    group, _, version = api_version.rpartition("/")
    name = "-".join([kind.lower(), *([group.partition(".")[0]] if group else []), version])
    try:
        schema = _core_file(f"{name}.json")
    except FileNotFoundError:
        return None
    return Draft202012Validator({**schema, "$defs": _core_definitions()})


@cache
def _core_definitions() -> Any:
    return _core_file("_definitions.json")["$defs"]


def _core_file(name: str) -> Any:
    """A file of kubernetes-validate's schemas; what it refers to is sought in the same document."""
    content = schema_contents(f"kubernetes-json-schema/v{KUBERNETES}.0-local-strict/{name}", KUBERNETES)
    return json.loads(re.sub(r'"[^"]*_definitions\.json#', '"#', json.dumps(content)))


def _finding(root: Place, error: Any, path: Any) -> Finding:
    """A validator's error as a finding at its place."""
    below = dotted(path)
    joined = f"{root.path}.{below}" if root.path and below else root.path or below
    at = Place(root.where, root.subject, joined, error.instance)
    schema = error.schema if isinstance(error.schema, dict) else {}
    allowed = {
        "additionalProperties": lambda: f"one of {', '.join(sorted(schema.get('properties', {})))}",
        "enum": lambda: ", ".join(map(str, schema.get("enum", []))),
        "type": lambda: f"a value of type {schema.get('type')}",
        "required": lambda: f"all of {', '.join(schema.get('required', []))}",
    }.get(error.validator, lambda: f"{error.validator} {error.validator_value}")()
    return at.finding(_shortened(error.message, 200), _shortened(allowed, 300))


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}…"
