"""Finding and opening input: files, folders and globs, local or on object storage, and web addresses, also gzipped."""

from __future__ import annotations

import glob
import gzip
import io
import re
import shutil
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path
from typing import IO, BinaryIO, Final, cast

from pyarrow import fs

from udfs.errors import UserError, without_secrets
from udfs.tables.object_storage import explained, open_address

BROKEN: Final = (gzip.BadGzipFile, EOFError, zlib.error)
"""What reading a damaged compressed file raises: the file's fault (a reject), not the connection's."""
READ_BYTES: Final = 4 * 1024 * 1024
"""Of a file on object storage, read at once: each read is a request."""
_WEB: Final = ("http://", "https://")
_SPLIT: Final = re.compile(r"(?<![a-z])(train|validation|valid|val|dev|test)(?![a-z])")


def require_path(path: str | None, source: str) -> str:
    """`path`, or `UserError` where none was given."""
    if not path:
        raise UserError(f"source={source} needs path=: a file, folder, glob or address (s3://…, https://…), also .gz")
    return path


@lru_cache(maxsize=1024)
def shown(address: str) -> str:
    """The address as it may be stored and printed: without a password or a signature that gives access."""
    return without_secrets(address) if "://" in address else address


def bare_suffix(address: str) -> str:
    """The suffix that says what is in a file: `.jsonl` for `a/b.jsonl.gz?version=1`."""
    name = address.split("?")[0].rsplit("/", 1)[-1].lower()
    name = re.sub(r"\.(gz|bz2|zst|xz)$", "", name)
    return Path(name).suffix


def split_of(address: str) -> str | None:
    """The split that a file's name tells (train, validation, dev, test), or None."""
    found = _SPLIT.findall(address.split("?")[0].rsplit("/", 1)[-1].lower())
    return {"valid": "validation", "val": "validation"}.get(found[-1], found[-1]) if found else None


def resolve(path: str, suffixes: Sequence[str]) -> list[str]:
    """The files that `path` names, sorted: itself, those in a folder (at any depth, by `suffixes`), those of a glob.

    Raises:
        UserError: nothing is there, or nothing of a known kind.
    """
    if path.startswith(_WEB):
        return [path]
    found, exact = _remote(path) if "://" in path else _local(path)
    if not found:
        raise UserError(f"path={path!r}: there is no such file or folder, and no file that matches it")
    kept = found if exact else [file for file in found if bare_suffix(file) in suffixes]
    if not kept:
        raise UserError(f"path={path!r} holds no file of a known kind ({', '.join(suffixes)}, also .gz)")
    return sorted(kept)


def _local(path: str) -> tuple[list[str], bool]:
    path = path.removeprefix("file://")
    here = Path(path).expanduser()
    if here.is_file():
        return [str(here)], True
    if here.is_dir():
        files = (file for file in here.rglob("*") if file.is_file())
        return [str(f) for f in files if not any(part.startswith(".") for part in f.relative_to(here).parts)], False
    return [file for file in glob.glob(str(here), recursive=True) if Path(file).is_file()], False


def _remote(path: str) -> tuple[list[str], bool]:
    scheme, _, rest = path.partition("://")
    literal = re.split(r"[*?\[]", rest)[0]
    base = rest if literal == rest else literal.rpartition("/")[0]
    filesystem, inner = open_address(f"{scheme}://{base}", "path")
    with explained(path):
        if literal == rest and filesystem.get_file_info(inner).type == fs.FileType.File:
            return [path], True
        infos = filesystem.get_file_info(fs.FileSelector(inner, recursive=True, allow_not_found=True))
    bucket, inner_bucket = base.partition("/")[0], inner.partition("/")[0]  # they differ where an account is named
    files = [bucket + info.path.removeprefix(inner_bucket) for info in infos if info.is_file]
    if literal != rest:
        files = [file for file in files if fnmatch(file, rest)]
    return [f"{scheme}://{file}" for file in files], False


@contextmanager
def opened(address: str) -> Iterator[BinaryIO]:
    """`address` opened for reading bytes, decompressed by its suffix.

    Raises:
        UserError: it cannot be opened, or a web server fails while it is read.
        StorageError: object storage fails.
    """
    if "://" in address and not address.startswith((*_WEB, "file://")):
        with _opened_object(address) as plain:
            yield cast("BinaryIO", plain)
        return
    import smart_open  # its transports are a slow import, and every worker imports this module

    try:
        with smart_open.open(address, "rb") as stream:
            yield stream
    except BROKEN:
        raise
    except (OSError, NotImplementedError, ImportError) as error:
        raise UserError(f"{shown(address)} cannot be read: {without_secrets(str(error))}") from error


@contextmanager
def _opened_object(address: str) -> Iterator[IO[bytes]]:
    from smart_open.compression import compression_wrapper

    filesystem, path = open_address(address, "path")
    try:
        with explained(address), filesystem.open_input_file(path) as file:
            stream = io.BufferedReader(file, buffer_size=READ_BYTES)
            with compression_wrapper(stream, "rb", filename=path) as plain:
                yield plain
    except BROKEN:
        raise
    except FileNotFoundError as error:
        raise UserError(f"{address} cannot be read: there is no such file") from error


def read_text(address: str) -> str:
    """The whole of a UTF-8 file, on disk or at an address, without a byte order mark.

    Raises:
        FileNotFoundError, IsADirectoryError, UnicodeDecodeError: of a file on disk; UserError: as `opened`.
    """
    if "://" not in address:
        return Path(address).read_text(encoding="utf-8-sig")
    with opened(address) as stream:
        return stream.read().decode("utf-8-sig")


@contextmanager
def seekable(address: str) -> Iterator[BinaryIO]:
    """As `opened`, but seekable (Parquet needs it): what comes over the web or compressed goes through a file first."""
    if not address.startswith(_WEB) and not re.search(r"\.(gz|bz2|zst|xz)$", address):
        with opened(address) as stream:
            yield stream
        return
    with tempfile.TemporaryFile() as copy:
        with opened(address) as stream:
            shutil.copyfileobj(stream, copy)
        copy.seek(0)
        yield copy


def numbered_lines(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Lines that are not blank, with their numbers from 1."""
    for number, line in enumerate(stream, start=1):
        if line.strip():
            yield number, line
