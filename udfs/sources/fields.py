"""Reading single fields out of a row, and turning a whole row into a question or a `Bad`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from udfs.sources.base import Bad, RawDocument, RawQuestion, Row
from udfs.sources.reasons import RAW_CHARACTERS, Reason
from udfs.sources.rows import parse_json, read_files

YES: Final = ("1", "true", "yes", "answerable")
NO: Final = ("0", "false", "no", "unanswerable")
"""What a label may say, in any case, unless the config says otherwise (`labels`)."""

Fields = Mapping[str, Any]


class RowError(Exception):
    """One row cannot be taken; sources turn it into a `Bad`."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


def text_field(fields: Fields, name: str, absent: Reason | None = None) -> str:
    """A text, "" where it is absent or null; with `absent`, a `RowError` of that reason where it is absent or blank."""
    value = fields.get(name)
    if isinstance(value, bytes):
        try:
            value = value.decode("utf-8")
        except UnicodeDecodeError as error:
            raise RowError(Reason.BAD_UTF8, name) from error
    if value is None:
        value = ""
    if not isinstance(value, str):
        raise RowError(Reason.BAD_FIELD, f"{name} must be text, it is {type(value).__name__} {str(value)[:60]!r}")
    if absent is not None and is_blank(value):
        raise RowError(absent, f"{name} is {'blank' if name in fields else 'missing'}")
    return value


def is_blank(text: str) -> bool:
    """Nothing but white space and byte order marks."""
    return not text.replace("\ufeff", "").strip()


def key_field(fields: Fields, name: str) -> str:
    """The source's own id: a text or a whole number; "" where absent."""
    value = fields.get(name)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else text_field(fields, name).strip()


def strings_field(fields: Fields, name: str) -> tuple[str, ...]:
    """Texts, without blanks and repeats: a list, a JSON list in a text, or one text."""
    value = fields.get(name)
    if value is None:
        return ()
    if isinstance(value, str):
        value = _json_list(value) or [value]
    if not isinstance(value, list | tuple):
        raise RowError(Reason.BAD_FIELD, f"{name} must be a text or a list of texts, it is {type(value).__name__}")
    if any(not isinstance(item, str | int | float) or isinstance(item, bool) for item in value if item is not None):
        raise RowError(Reason.BAD_FIELD, f"{name} must hold only texts")
    texts = (str(item).strip() for item in value if item is not None)
    return tuple(dict.fromkeys(text for text in texts if text))


def _json_list(text: str) -> list[Any] | None:
    if not text.lstrip().startswith("["):
        return None
    try:
        value = parse_json(text)
    except ValueError:
        return None
    return value if isinstance(value, list) else None


def whole_number(value: Any) -> int | None:
    """A whole number, also as `3.0`; None for anything else."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def label_field(fields: Fields, name: str, yes: Sequence[str] = YES, no: Sequence[str] = NO) -> bool:
    """Whether the row says answerable. `RowError` where it says neither."""
    value = fields.get(name)
    number = whole_number(value)
    said = str(value if number is None else number).strip().casefold()
    if value is not None and said in {word.casefold() for word in yes}:
        return True
    if value is not None and said in {word.casefold() for word in no}:
        return False
    shown = "missing" if value is None else f"{str(value)[:60]!r}"
    raise RowError(Reason.BAD_LABEL, f"{name} is {shown}; allowed are {', '.join(yes)} and {', '.join(no)}")


def raw_of(fields: Fields) -> str:
    """The start of each field: what a reject shows of its row."""
    return ", ".join(f"{name}={str(value)[:120]!r}" for name, value in fields.items())[:RAW_CHARACTERS]


def leftover(fields: Fields, used: Sequence[str]) -> dict[str, Any]:
    """The fields that nothing else holds, without empty ones: they go into provenance."""
    return {name: value for name, value in fields.items() if name not in used and value not in (None, "", [])}


def map_fields(
    fields: Fields | Bad, key: str, to_item: Callable[[Fields], RawDocument | RawQuestion]
) -> RawDocument | RawQuestion | Bad:
    """`to_item(fields)`, or the `Bad` that it raised as a `RowError`; `key` names the field with the row's own id."""
    if isinstance(fields, Bad):
        return fields
    try:
        return to_item(fields)
    except RowError as error:
        return Bad(error.reason, error.detail, key=str(fields.get(key) or ""), raw=raw_of(fields))


def map_files(
    path: str, suffixes: Sequence[str], key: str, to_item: Callable[[str, Fields], RawDocument | RawQuestion]
) -> Iterator[Row]:
    """A source over rows: `to_item(file, fields)` for every row of every file."""
    for file, number, fields in read_files(path, suffixes):
        yield Row(file, number, map_fields(fields, key, lambda row, file=file: to_item(file, row)))  # type: ignore[misc]
