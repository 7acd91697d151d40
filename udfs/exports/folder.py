"""The folder that an export goes to: whose it is, and files that are whole or not there.

`export.json` says that a folder is an export and which files belong to it. It is written first (not complete) and again
at the end, before the card. A folder without it is somebody's, and is left alone unless the user says otherwise.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import IO, Any, Final

from pyarrow import fs

from udfs.errors import UserError
from udfs.exports.schemas import SCHEMAS
from udfs.schema import TABLES
from udfs.tables.object_storage import check_reachable, explained, open_address
from udfs.tables.store import Store

MANIFEST: Final = "export.json"
CARD: Final = "README.md"
MADE_BY: Final = "askable jobs.export"


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """One file of an export. `rows` is None where a file has no rows."""

    name: str
    rows: int | None
    bytes: int


class ExportFolder:
    """A folder on disk or object storage that holds one export.

    Args:
        address: a folder, or an address that pyarrow's filesystems know.
        overwrite: write into it though it holds files of somebody else (files of other names stay).

    Raises:
        UserError: the address cannot be opened, is a file, or holds files and is no export.
    """

    def __init__(self, address: str, overwrite: bool) -> None:
        self.address = address
        self.local = "://" not in address
        if self.local:
            self.filesystem, self._base = fs.LocalFileSystem(), os.path.abspath(address)
        else:
            self.filesystem, self._base = open_address(address, "path")
            check_reachable(address, "path")
        if self._type(self._base) == fs.FileType.File:
            raise UserError(f"path={address!r} is a file; give a folder or an address such as s3://bucket/x")
        self._owned = self._read_manifest()
        if self._owned is None and not overwrite and self._holds_something():
            raise UserError(
                f"{address} is not empty and was not made by jobs.export; give another path=, or overwrite=true to "
                "write into it"
            )

    def require_outside_tables(self, store: Store) -> None:
        """Raise `UserError` where the export would lie among the tables: its files would be read as rows of them."""
        if not self.filesystem.equals(store.filesystem):
            return
        root = store.path()
        among = any(self._base == taken or self._base.startswith(f"{taken}/") for taken in map(store.path, TABLES))
        if self._base == root or among:
            raise UserError(
                f"path={self.address!r} lies where the tables are; give another folder, such as "
                f"{store.address('exports', 'mine')}"
            )

    @property
    def name(self) -> str:
        """The folder's own name."""
        return PurePosixPath(self._base).name

    def path(self, name: str) -> str:
        """A file's path as `filesystem` takes it."""
        return f"{self._base.rstrip('/')}/{name}"

    def shown(self) -> str:
        """The address as others find it: absolute on disk."""
        return self._base if self.local else self.address.rstrip("/")

    def begin(self, planned: Sequence[str]) -> None:
        """Claim the folder for files of these names; from now on, and until the card is back, it is no whole export."""
        self._delete(CARD)
        before = self._owned or ()
        for name in before:
            self._delete(_temporary(name))
        self._write_manifest({"complete": False, "files": [{"name": name} for name in sorted({*before, *planned})]})

    def finish(self, written: Sequence[WrittenFile], facts: Mapping[str, Any], card: str) -> WrittenFile:
        """Remove files of an earlier export that this one does not have, then write the manifest and the card."""
        for name in {*(self._owned or ())} - {file.name for file in written}:
            self._delete(name)
        self._write_manifest({"complete": True, **facts, "files": [asdict(file) for file in written]})
        self._write(CARD, card)
        return WrittenFile(CARD, None, len(card.encode("utf-8")))

    @contextlib.contextmanager
    def output(self, name: str) -> Iterator[IO[bytes]]:
        """A new file to write to. It appears under its name when the block ends well, and not at all otherwise."""
        target = self.path(name)
        renames = isinstance(self.filesystem, fs.LocalFileSystem)  # a put to object storage is atomic already
        where = self.path(_temporary(name)) if renames else target
        with explained(self.address):
            if renames:
                self.filesystem.create_dir(target.rsplit("/", 1)[0], recursive=True)
            stream = self.filesystem.open_output_stream(where)
            try:
                yield stream
            except BaseException:
                with contextlib.suppress(OSError):  # the first error is the one to tell
                    stream.close()
                with contextlib.suppress(OSError):
                    self.filesystem.delete_file(where)
                raise
            stream.close()
            if renames:
                self.filesystem.move(where, target)

    def size(self, name: str) -> int:
        """Bytes of a file."""
        with explained(self.address):
            return int(self.filesystem.get_file_info(self.path(name)).size)

    def _write(self, name: str, content: str) -> None:
        with self.output(name) as stream:
            stream.write(content.encode("utf-8"))

    def _write_manifest(self, content: Mapping[str, Any]) -> None:
        self._write(MANIFEST, json.dumps({"made_by": MADE_BY, **content}, ensure_ascii=False, indent=1) + "\n")

    def _read_manifest(self) -> tuple[str, ...] | None:
        """Names of the files that an export owns here; None where the folder is no export."""
        if self._type(self.path(MANIFEST)) != fs.FileType.File:
            return None
        with explained(self.address), self.filesystem.open_input_stream(self.path(MANIFEST)) as stream:
            content = stream.read()
        try:
            manifest = json.loads(content)
        except ValueError:
            return None
        if not isinstance(manifest, dict) or manifest.get("made_by") != MADE_BY:
            return None
        files = manifest.get("files")
        names = [file.get("name") for file in files if isinstance(file, dict)] if isinstance(files, list) else []
        return tuple(name for name in names if isinstance(name, str) and _is_ours(name))

    def _holds_something(self) -> bool:
        selector = fs.FileSelector(self._base, recursive=False, allow_not_found=True)
        with explained(self.address):
            return bool(self.filesystem.get_file_info(selector))

    def _type(self, path: str) -> fs.FileType:
        with explained(self.address):
            return self.filesystem.get_file_info(path).type

    def _delete(self, name: str) -> None:
        if self._type(self.path(name)) == fs.FileType.File:
            with explained(self.address):
                self.filesystem.delete_file(self.path(name))


def _temporary(name: str) -> str:
    folder, _, file = name.rpartition("/")
    return f"{folder}/_{file}.tmp" if folder else f"_{file}.tmp"


def _is_ours(name: str) -> bool:
    """Whether an export can have a file of this name, so that a doctored manifest removes nothing else."""
    parts = name.split("/")
    return len(parts) == 2 and parts[0] in SCHEMAS and not parts[1].startswith(".") and parts[1] != ""
