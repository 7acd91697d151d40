"""What a synthesised dataset was made with: recorded beside its candidates before anything is asked.

One name stands for one way of making. The record says which, and what to tell whoever comes with another.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Any

from jobs.support.runs import without_secrets
from udfs.agents.spec import SynthesisSpec
from udfs.errors import UserError
from udfs.sources.writer import read_marker
from udfs.tables.store import Store

RECORD = "_made_with.json"
JOB = "synthesize"
KEYS = {"model": "model", "revision": "the model's revision", "prompts": "prompt files",
        "sampling": "model.sampling", "web": "web"}  # fmt: skip
MAX_SHOWN = 80


@dataclass(frozen=True)
class MadeWith:
    """A way of making: its hash, and its settings in the open (without secrets)."""

    spec: str
    settings: dict[str, Any]


def made_with(spec_hash: str, spec: SynthesisSpec, model: str, revision: str, prompts: dict[str, str]) -> MadeWith:
    """The record of `spec` and whom it asks."""
    plain = without_secrets(dataclasses.asdict(spec))
    settings = {"model": model, "revision": revision, "prompts": prompts, **plain}
    return MadeWith(spec_hash, json.loads(json.dumps(settings)))  # tuples as lists, as they will be read


def check_name(store: Store, name: str, now: MadeWith, overwrite: bool) -> None:
    """Whether `name` may stand for `now`.

    Raises:
        UserError: it is an ingested dataset, or was made with other settings and `overwrite` is false.
    """
    marker = read_marker(store, name)
    unmarked = (
        marker is None and store.files("documents", name) and store.read_bytes("candidates", name, RECORD) is None
    )
    if unmarked or (marker is not None and marker.get("job") != JOB):
        raise UserError(f"dataset {name!r} under {store.root} was ingested, not synthesised: give another name=")
    if overwrite:
        return
    before = _read(store, name)
    if before is not None and before.spec != now.spec:
        raise UserError(
            f"dataset {name!r} was made with other settings ({_difference(before.settings, now.settings)}): "
            "give another name=, or overwrite=true to replace it"
        )
    if before is None:
        specs = set(store.read("candidates", ["spec"], part=name)["spec"])
        if specs and now.spec not in specs:
            raise UserError(
                f"dataset {name!r} has candidates that were made with other settings (which ones is not recorded): "
                "give another name=, or overwrite=true to replace it"
            )


def write_record(store: Store, name: str, now: MadeWith) -> None:
    """From here on `name` stands for `now`."""
    content = json.dumps(dataclasses.asdict(now), ensure_ascii=False, indent=1).encode("utf-8")
    if store.read_bytes("candidates", name, RECORD) == content:
        return
    store.write_bytes(content, "candidates", name, RECORD)


def _read(store: Store, name: str) -> MadeWith | None:
    content = store.read_bytes("candidates", name, RECORD)
    if content is None:
        return None
    try:
        return MadeWith(**json.loads(content))
    except (ValueError, TypeError):
        where = store.address("candidates", name, RECORD)
        raise UserError(f"{where} is damaged; remove it, or give overwrite=true") from None


def _difference(before: dict[str, Any], now: dict[str, Any]) -> str:
    """The keys that differ, with their values where these are short."""
    parts = []
    for key in dict.fromkeys([*before, *now]):
        if before.get(key) != now.get(key):
            label = KEYS.get(key, f"synthesis.{key}")
            values = f" was {json.dumps(before.get(key))}, is {json.dumps(now.get(key))}"
            parts.append(label + (values if len(values) <= MAX_SHOWN else " differs"))
    return "; ".join(parts) or "the program itself, which has changed since"
