"""Why a row of input is not taken: a closed set of short codes, and the one place where their messages are made."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from udfs.records import Reject
from udfs.sources.files import shown

RAW_CHARACTERS: Final = 500


class Reason(StrEnum):
    """The `reason` column of the rejects table."""

    NO_QUESTION = "no_question"
    EMPTY_DOCUMENT = "empty_document"
    NO_PAGE = "no_page"
    BAD_LABEL = "bad_label"
    BAD_UTF8 = "bad_utf8"
    BAD_JSON = "bad_json"
    BAD_FILE = "bad_file"
    MISSING_FIELD = "missing_field"
    BAD_FIELD = "bad_field"
    BAD_EVIDENCE = "bad_evidence"
    DUPLICATE_ID = "duplicate_id"
    UNKNOWN_LANGUAGE = "unknown_language"


_MESSAGES: Final[dict[Reason, str]] = {
    Reason.NO_QUESTION: "the row has no question; a question is a text that is not blank",
    Reason.EMPTY_DOCUMENT: "the row has no document; a document is a text that is not blank",
    Reason.NO_PAGE: "the page that the row names is not among the documents that were given",
    Reason.BAD_LABEL: "the label is neither answerable nor unanswerable",
    Reason.BAD_UTF8: "the row is not UTF-8 text (or holds half of a surrogate pair)",
    Reason.BAD_JSON: "the row is not a JSON object",
    Reason.BAD_FILE: "the file cannot be read from here on; its later rows are unread",
    Reason.MISSING_FIELD: "the row lacks a field",
    Reason.BAD_FIELD: "a field does not hold what it should",
    Reason.BAD_EVIDENCE: "the evidence or answer span is not in the document as given",
    Reason.DUPLICATE_ID: "an earlier row has this id and other content; the earlier one is kept",
    Reason.UNKNOWN_LANGUAGE: "the language is neither en nor zh; say language=en or language=zh if it is",
}


def printable(text: str, limit: int | None = None) -> str:
    """`text` so that it can be stored: lone surrogates as escapes, cut to `limit` characters."""
    return text[:limit].encode("utf-8", "backslashreplace").decode("utf-8")[:limit]


def make_reject(
    dataset: str, file: str, row: int, reason: Reason, detail: str = "", key: str = "", raw: str = ""
) -> Reject:
    """The reject of one row: its reason's message, and `detail` (which field, which value, what is allowed)."""
    message = _MESSAGES[reason] + (f": {detail}" if detail else "")
    return Reject(
        dataset=dataset,
        file=printable(shown(file)),
        row=row,
        key=printable(key, RAW_CHARACTERS),
        reason=reason.value,
        error=printable(message),
        raw=printable(raw, RAW_CHARACTERS),
    )
