"""Texts of web pages by address, for sources whose rows name pages instead of holding documents.

They come as a table (JSONL, CSV or Parquet) with the columns `url` and `text`; or `url` and `file`, where a file is the
page's text in UTF-8, beside the table or below; or as a folder that holds such a table, named `pages.csv` (`.jsonl`,
`.parquet`, …). Only pages that are asked for are kept in memory.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from udfs.errors import UserError
from udfs.sources.base import Bad, Row
from udfs.sources.fields import Fields, RowError, is_blank, raw_of, text_field
from udfs.sources.files import BROKEN, bare_suffix, opened, resolve
from udfs.sources.reasons import Reason
from udfs.sources.rows import JSON_SUFFIXES, TABLE_SUFFIXES, read_rows

TABLE_NAME: Final = "pages"
_SCHEME: Final = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
_HOST: Final = re.compile(r"[^/?]*")
_PORT: Final = re.compile(r":(?:80|443)?$")


def normalized_address(address: str) -> str:
    """What two spellings of one address share: no scheme, `www.`, default port, fragment or slash at the path's end;
    the host in lower case, the path without percent-encoding. The query stays as it is.
    """
    bare = address.strip().split("#", maxsplit=1)[0]
    scheme = _SCHEME.match(bare)
    bare = bare[scheme.end() :] if scheme else bare
    host = _HOST.match(bare)
    assert host is not None
    path, mark, query = bare[host.end() :].partition("?")
    name = _PORT.sub("", host.group().casefold()).removeprefix("www.")
    return name + unquote(path).rstrip("/") + (mark + query if query else "")


@dataclass
class Pages:
    """The pages that a source asked for, by normalised address.

    Args:
        texts: what was found.
        faults: why a page that the table names cannot be read.
        bad: rows of the table that name no page.
    """

    texts: dict[str, str] = field(default_factory=dict)
    faults: dict[str, RowError] = field(default_factory=dict)
    bad: list[Row] = field(default_factory=list)

    def text(self, address: str) -> str:
        """The page's text.

        Raises:
            RowError: it is not among the pages, blank, or cannot be read.
        """
        key = normalized_address(address)
        if key in self.texts:
            return self.texts[key]
        if key in self.faults:
            raise RowError(self.faults[key].reason, f"{address} ({self.faults[key].detail})")
        raise RowError(Reason.NO_PAGE, address)


def load_pages(documents: str, wanted: Collection[str]) -> Pages:
    """The texts of the pages `wanted` (normalised addresses) out of a table or folder.

    Raises:
        UserError: `documents` is neither, or gives one address two texts.
    """
    table = _table(documents)
    pages = Pages()
    taken: dict[str, int] = {}
    for number, fields in read_rows(table):
        if isinstance(fields, Bad):
            pages.bad.append(Row(table, number, fields))
            continue
        _require_columns(table, fields)
        try:
            key = normalized_address(text_field(fields, "url", Reason.MISSING_FIELD))
        except RowError as error:
            pages.bad.append(Row(table, number, Bad(error.reason, error.detail, raw=raw_of(fields))))
            continue
        if key in wanted:
            _take(pages, key, table, number, fields, taken)
    return pages


def _require_columns(table: str, fields: Fields) -> None:
    """CSV and Parquet name all columns in every row; a JSON row may leave out what is null."""
    if bare_suffix(table) not in JSON_SUFFIXES and not ("url" in fields and {"text", "file"} & set(fields)):
        raise UserError(f"{table} needs the columns url and text, or url and file; it has {', '.join(fields)}")


def _take(pages: Pages, key: str, table: str, number: int, fields: Fields, taken: dict[str, int]) -> None:
    earlier = taken.setdefault(key, number)
    try:
        text = _page(table, fields)
    except RowError as error:
        if key not in pages.texts:
            pages.faults.setdefault(key, error)
        return
    if pages.texts.setdefault(key, text) != text:
        raise UserError(
            f"{table}: rows {earlier} and {number} give two texts for the address {key!r} (scheme, www., fragment and "
            "a slash at the end do not count); keep one of them"
        )


def _table(documents: str) -> str:
    """The table's own address.

    Raises:
        UserError: it is a folder without one table of pages, or with several.
    """
    found = resolve(documents, TABLE_SUFFIXES)
    if found == [documents.removeprefix("file://")] or found == [str(Path(documents).expanduser())]:
        return found[0]
    named = [file for file in found if _name(file).split(".")[0] == TABLE_NAME]
    if len(named) == 1:
        return named[0]
    what = f"{len(named)} tables of that name ({', '.join(map(_name, named))})" if named else "none"
    raise UserError(
        f"documents={documents!r}: a folder must hold one table {TABLE_NAME}.csv (or .jsonl, .parquet) with the "
        f"columns url and file, or url and text; it holds {what}"
    )


def _name(address: str) -> str:
    return address.split("?")[0].rsplit("/", 1)[-1]


def _page(table: str, fields: Fields) -> str:
    """The text that a row of the table holds, or its file's."""
    file = text_field(fields, "file").strip()
    text = _read(table, file) if file else text_field(fields, "text", Reason.EMPTY_DOCUMENT)
    if is_blank(text):
        raise RowError(Reason.EMPTY_DOCUMENT, f"the page's file {file} is blank")
    return text


def _read(table: str, file: str) -> str:
    if file.startswith(("/", "~")) or "://" in file or ".." in file.split("/"):
        raise RowError(Reason.BAD_FIELD, f"{_name(table)} names the file {file[:200]!r}; it must lie beside the table")
    address = table.rsplit("/", 1)[0] + "/" + file if "/" in table else file
    try:
        with opened(address) as stream:
            return stream.read().decode("utf-8")
    except UserError as error:
        raise RowError(Reason.NO_PAGE, f"{_name(table)} names a file that cannot be read: {error}") from error
    except BROKEN as error:
        raise RowError(Reason.BAD_FILE, f"{address}: damaged compression ({error})") from error
    except UnicodeDecodeError as error:
        raise RowError(Reason.BAD_UTF8, f"{address}, byte {error.start + 1}: {error.reason}") from error
