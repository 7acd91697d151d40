"""Where a trained model lies: `models/<name>/` under the storage root, on disk or object storage.

Its record is written last, so a folder with a record is a finished model. Checkpoints lie beside it until then.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from pyarrow import fs

from udfs.tables.store import Store

TABLE: Final = "models"
CHECKPOINTS: Final = "_checkpoints"
WHOLE: Final = "_whole.json"
"""Written last into a checkpoint: whose it is."""


class ModelFolder:
    """The files of one trained model.

    Args:
        record: the name of its record's file.
    """

    def __init__(self, store: Store, name: str, record: str) -> None:
        self.store, self.name = store, name
        self._record = record

    @property
    def address(self) -> str:
        return self.store.address(TABLE, self.name)

    def record(self) -> dict[str, Any] | None:
        """What was written of the finished model; None where it is not finished."""
        found = self._read(self.store.path(TABLE, self.name, self._record))
        return found if isinstance(found, dict) else None

    def read(self, name: str) -> Any:
        """A JSON file of the model; None where it is not there."""
        return self._read(self.store.path(TABLE, self.name, name))

    def write_record(self, record: dict[str, Any]) -> None:
        """Mark the model as finished, and drop its checkpoints."""
        content = json.dumps(record, ensure_ascii=False, indent=2) + "\n"
        self.store.write_bytes(content.encode("utf-8"), TABLE, self.name, self._record)
        self._drop(CHECKPOINTS)

    def empty(self) -> None:
        """Take away what an earlier model of this name left."""
        self._drop()

    def put(self, folder: Path) -> None:
        """Copy the files of a saved model."""
        self._copy(folder, self.store.path(TABLE, self.name))

    def put_checkpoint(self, folder: Path, spec: str) -> None:
        """Keep a checkpoint, and no older one."""
        older = [number for number, _ in self._checkpoints()]
        self._copy(folder, self.store.path(TABLE, self.name, CHECKPOINTS, folder.name))
        whole = json.dumps({"spec": spec}).encode("utf-8")
        self.store.write_bytes(whole, TABLE, self.name, CHECKPOINTS, folder.name, WHOLE)
        for number in older:
            if f"checkpoint-{number}" != folder.name:
                self._drop(CHECKPOINTS, f"checkpoint-{number}")

    def take_checkpoint(self, spec: str, into: Path) -> Path | None:
        """Copy the newest whole checkpoint of `spec` into a folder; None where there is none."""
        for number, path in sorted(self._checkpoints(), reverse=True):
            said = self._read(f"{path}/{WHOLE}")
            if isinstance(said, dict) and said.get("spec") == spec:
                target = into / f"checkpoint-{number}"
                target.mkdir(parents=True, exist_ok=True)
                fs.copy_files(path, str(target), self.store.filesystem, fs.LocalFileSystem())
                return target
        return None

    def _checkpoints(self) -> list[tuple[int, str]]:
        selector = fs.FileSelector(self.store.path(TABLE, self.name, CHECKPOINTS), allow_not_found=True)
        infos = self.store.filesystem.get_file_info(selector)
        named = [(info.base_name.removeprefix("checkpoint-"), info.path) for info in infos if not info.is_file]
        return [(int(number), path) for number, path in named if number.isdigit()]

    def _copy(self, folder: Path, target: str) -> None:
        self.store.filesystem.create_dir(target, recursive=True)
        fs.copy_files(str(folder), target, fs.LocalFileSystem(), self.store.filesystem)

    def _drop(self, *parts: str) -> None:
        path = self.store.path(TABLE, self.name, *parts)
        if self.store.filesystem.get_file_info(path).type == fs.FileType.Directory:
            self.store.filesystem.delete_dir(path)

    def _read(self, path: str) -> Any:
        if self.store.filesystem.get_file_info(path).type != fs.FileType.File:
            return None
        with self.store.filesystem.open_input_stream(path) as stream:
            try:
                return json.loads(stream.read())
            except ValueError:
                return None
