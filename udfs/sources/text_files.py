"""Text: a folder, glob or file of .txt and .md (also gzipped), one document a file, no questions.

The text is the decoded file, character for character: no newline is changed, so offsets hold on any system. A file is
its own row 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from udfs.sources.base import Bad, RawDocument, Row, SourceOptions
from udfs.sources.domain import detect_domain
from udfs.sources.fields import is_blank
from udfs.sources.files import BROKEN, opened, require_path, resolve, split_of
from udfs.sources.reasons import Reason

SUFFIXES: Final = (".txt", ".md", ".markdown", ".text")


def read(options: SourceOptions) -> Iterator[Row]:
    """The documents of `options.path`, in the order of their paths."""
    for file in resolve(require_path(options.path, "text"), SUFFIXES):
        yield Row(file, 1, _document(file))


def _document(file: str) -> RawDocument | Bad:
    try:
        with opened(file) as stream:
            raw = stream.read()
    except BROKEN as error:
        return Bad(Reason.BAD_FILE, f"damaged compression ({error})")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        detail = f"byte {error.start + 1}: {error.reason}"
        return Bad(Reason.BAD_UTF8, detail, raw=raw[:500].decode("utf-8", "replace"))
    if is_blank(text):
        return Bad(Reason.EMPTY_DOCUMENT, "the file is blank")
    path = PurePosixPath(file.split("?")[0].replace("\\", "/"))
    title = re.sub(r"(\.(gz|bz2|zst|xz))?$", "", path.name)
    title = PurePosixPath(title).stem
    return RawDocument(text=text, title=title, source=path.name, split=split_of(file), domain=detect_domain(file, text))
