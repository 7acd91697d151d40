"""The folder of a classifier of (document, question): where it is, and what `jobs.train` wrote beside its weights."""

from __future__ import annotations

import json
import shutil
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import pyarrow as pa
from pyarrow import fs

from udfs.engines.classifier_config import ClassifierConfig
from udfs.engines.classifier_input import FORMS, InputForm
from udfs.engines.weights import cache_folder, folder_identity
from udfs.errors import UserError
from udfs.identity import content_hash

RECORD: Final = "answerability.json"
"""Beside the weights that `jobs.train` writes: how they read a document, and where they are from."""
HEAD: Final = "lexical_head.json"
"""Beside the weights, where word overlap answers along (`udfs.engines.lexical_head`)."""
ANSWERABLE: Final = "answerable"
"""The label of an answerable question in the `id2label` of models trained here."""


@dataclass(frozen=True, slots=True)
class Described:
    """A classifier's folder and how its input is made."""

    folder: Path
    form: InputForm
    window: int
    """Tokens of one input, special ones included."""
    stride: int
    label: int
    """Which of its two labels says answerable."""

    def revision(self) -> str:
        """What a name stands for that is given to these weights."""
        settings: list[object] = [self.form, self.window, self.stride, self.label]
        if (self.folder / HEAD).is_file():  # it changes what the same weights say
            settings.append(read_json(self.folder / HEAD))
        return content_hash("classifier", folder_identity(self.folder, "classifier.weights"), *settings)[:12]


def described(config: ClassifierConfig) -> Described:
    """Find the weights and read how they are to be asked; what `config` gives goes before what the folder says.

    Raises:
        UserError: no such folder, no classifier in it, or something about it that must be given.
    """
    folder = local_folder(config.weights)
    folder_identity(folder, "classifier.weights")
    declared = read_json(folder / "config.json")
    record = read_json(folder / RECORD) if (folder / RECORD).is_file() else {}
    form = config.input or record.get("input")
    if form not in FORMS:
        raise UserError(
            f"{folder} does not say how its input is made ({RECORD}): give classifier.input={'|'.join(FORMS)}"
        )
    positions = declared.get("max_position_embeddings")
    window = config.window or record.get("window") or positions
    if not isinstance(window, int):
        raise UserError(f"{folder} does not say how many tokens it takes: give classifier.window")
    if isinstance(positions, int) and window > positions:
        raise UserError(f"classifier.window={window} is more than the {positions} positions of {folder}")
    stride = config.stride if config.stride is not None else record.get("stride", window // 4)
    return Described(folder, cast("InputForm", form), window, int(stride), _label(config, declared, folder))


def _label(config: ClassifierConfig, declared: dict[str, Any], folder: Path) -> int:
    names = {int(number): str(name) for number, name in (declared.get("id2label") or {}).items()}
    if len(names or {0: "", 1: ""}) != 2:
        raise UserError(f"{folder} has {len(names)} labels; a classifier of answerability has two")
    if config.answerable_label is not None:
        return config.answerable_label
    found = [number for number, name in names.items() if name.casefold() == ANSWERABLE]
    if len(found) != 1:
        told = ", ".join(f"{number} {name}" for number, name in sorted(names.items())) or "none"
        raise UserError(
            f"{folder} does not say which label is answerable ({told}): give classifier.answerable_label=0|1"
        )
    return found[0]


def local_folder(weights: str) -> Path:
    """The folder itself; what lies on object storage is copied once into the cache (`ASKABLE_CACHE`).

    Raises:
        UserError: there is no such folder.
    """
    if "://" not in weights:
        return Path(weights).expanduser()
    try:
        storage, path = fs.FileSystem.from_uri(weights)
        files = [info for info in storage.get_file_info(fs.FileSelector(path, recursive=False)) if info.is_file]
    except (pa.ArrowInvalid, OSError) as error:
        raise UserError(f"classifier.weights={weights!r} cannot be read: {error}") from error
    stamp = content_hash(weights, sorted((info.base_name, info.size, str(info.mtime_ns)) for info in files))
    folder = cache_folder() / "classifiers" / stamp
    if folder.is_dir():
        return folder
    partial = folder.with_name(f"{stamp}.{uuid.uuid4().hex}.tmp")
    partial.mkdir(parents=True)
    try:
        for info in files:
            fs.copy_files(info.path, str(partial / info.base_name), storage, fs.LocalFileSystem())
        try:
            partial.rename(folder)
        except OSError:  # another actor was faster
            if not folder.is_dir():
                raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return folder


def read_json(file: Path) -> dict[str, Any]:
    """A JSON object.

    Raises:
        UserError: it is not there, or is something else.
    """
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{file} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UserError(f"{file} is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise UserError(f"{file} does not hold a JSON object")
    return content
