"""The least value that a JSON schema admits: what the scripted engine says where it knows no better."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SCALARS: dict[str, Any] = {"integer": 0, "number": 0.0, "boolean": False, "null": None}
MAX_DEPTH = 32


def instance(schema: Mapping[str, Any], root: Mapping[str, Any] | None = None, depth: int = 0) -> Any:
    """A small value that `schema` admits: first enum value, required and optional properties, shortest arrays.

    It knows const, enum, default, anyOf, oneOf, allOf, local $ref, type, bounds and lengths, not `pattern` or `format`.

    Raises:
        ValueError: the schema refers to itself without an end, or uses a $ref that is not local.
    """
    root = schema if root is None else root
    if depth > MAX_DEPTH:
        raise ValueError("the JSON schema refers to itself without an end")
    if "$ref" in schema:
        return instance(_resolve(schema["$ref"], root), root, depth + 1)
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    if schema.get("enum"):
        return schema["enum"][0]
    for key in ("anyOf", "oneOf"):
        if schema.get(key):
            return instance(schema[key][0], root, depth + 1)
    if schema.get("allOf"):
        merged: dict[str, Any] = {key: value for key, value in schema.items() if key != "allOf"}
        for part in schema["allOf"]:
            merged.update(_resolve(part["$ref"], root) if "$ref" in part else part)
        return instance(merged, root, depth + 1)
    return _typed(schema, root, depth)


def _typed(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Any:
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: instance(part, root, depth + 1) for name, part in properties.items()}
    if kind == "array":
        return [instance(schema.get("items", {}), root, depth + 1) for _ in range(schema.get("minItems", 0))]
    if kind in ("integer", "number"):
        return _bounded(kind, schema)
    return "x" * max(1, schema.get("minLength", 1)) if kind == "string" else _SCALARS[kind]


def _bounded(kind: str, schema: Mapping[str, Any]) -> Any:
    value = _SCALARS[kind]
    if "minimum" in schema:
        value = max(value, schema["minimum"])
    if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
        value = schema["exclusiveMinimum"] + 1
    return min(value, schema["maximum"]) if "maximum" in schema else value


def _resolve(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    if not reference.startswith("#/"):
        raise ValueError(f"the JSON schema refers to {reference!r}; only local references are known")
    found: Any = root
    for part in reference[2:].split("/"):
        found = found[part.replace("~1", "/").replace("~0", "~")]
    result: Mapping[str, Any] = found
    return result
