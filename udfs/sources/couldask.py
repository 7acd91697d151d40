"""CouldAsk: rows of context, question, answerable (0 or 1), entities; Parquet or JSONL. No ids and no answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from udfs.schema import Kind
from udfs.sources.base import RawDocument, RawQuestion, Row, SourceOptions
from udfs.sources.fields import Fields, key_field, label_field, leftover, map_files, strings_field, text_field
from udfs.sources.files import require_path, split_of
from udfs.sources.reasons import Reason
from udfs.sources.rows import TABLE_SUFFIXES

_USED: Final = ("id", "context", "question", "answerable", "entities", "answers")


def read(options: SourceOptions) -> Iterator[Row]:
    """The questions of every file of `options.path`."""
    return map_files(require_path(options.path, "couldask"), TABLE_SUFFIXES, "id", _to_question)


def _to_question(file: str, fields: Fields) -> RawQuestion:
    question = text_field(fields, "question", Reason.NO_QUESTION)
    text = text_field(fields, "context", Reason.EMPTY_DOCUMENT)
    answerable = label_field(fields, "answerable")
    return RawQuestion(
        document=RawDocument(text=text, split=split_of(file)),
        key=key_field(fields, "id"),
        question=question,
        answerable=answerable,
        kind=Kind.ANSWERABLE if answerable else Kind.UNANSWERABLE,
        answers=strings_field(fields, "answers") if answerable else (),
        entities=strings_field(fields, "entities"),
        extra=leftover(fields, _USED),
    )
