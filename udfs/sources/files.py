"""Finding and opening input: files, folders and globs, local or on object storage, and web addresses, also gzipped."""

from __future__ import annotations

import glob
import gzip
import re
import shutil
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import BinaryIO, Final

import smart_open
from pyarrow import fs

from udfs.errors import UserError

BROKEN: Final = (gzip.BadGzipFile, EOFError, zlib.error)
"""What reading a damaged compressed file raises: the file's fault (a reject), not the connection's."""
_WEB: Final = ("http://", "https://")
_SPLIT: Final = re.compile(r"(?<![a-z])(train|validation|valid|val|dev|test)(?![a-z])")


def require_path(path: str | None, source: str) -> str:
    """`path`, or `UserError` where none was given."""
    if not path:
        raise UserError(f"source={source} needs path=: a file, folder, glob or address (s3://…, https://…), also .gz")
    return path


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
    try:
        filesystem, inner = fs.FileSystem.from_uri(f"{scheme}://{base}")
        if literal == rest and filesystem.get_file_info(inner).type == fs.FileType.File:
            return [path], True
        infos = filesystem.get_file_info(fs.FileSelector(inner, recursive=True, allow_not_found=True))
    except (OSError, ValueError) as error:  # pyarrow.ArrowInvalid is a ValueError
        raise UserError(f"path={path!r} cannot be listed: {error}") from error
    files = [info.path for info in infos if info.is_file]
    if literal != rest:
        files = [file for file in files if fnmatch(file, rest)]
    return [f"{scheme}://{file}" for file in files], False


@contextmanager
def opened(address: str) -> Iterator[BinaryIO]:
    """`address` opened for reading bytes, decompressed by its suffix.

    Raises:
        UserError: it cannot be opened, or the connection fails while it is read.
    """
    try:
        with smart_open.open(address, "rb") as stream:
            yield stream
    except BROKEN:
        raise
    except (OSError, NotImplementedError, ImportError) as error:
        raise UserError(f"{address} cannot be read: {error}") from error
    except Exception as error:
        if type(error).__module__.split(".")[0] in {"botocore", "boto3", "smart_open"}:
            raise UserError(f"{address} cannot be read: {error}") from error
        raise


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
