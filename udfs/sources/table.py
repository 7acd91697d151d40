"""Any JSONL, CSV or Parquet file: the config says which column is what (`columns`) and what a label's values mean.

With a `question` column a row is a question with its document; without one it is a document. `doc_id`, if mapped, names
a text: a second text under the same name is rejected.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from udfs.errors import UserError
from udfs.records import Span
from udfs.schema import Kind
from udfs.sources.base import Bad, RawDocument, RawQuestion, Row, SourceOptions
from udfs.sources.evidence import locate
from udfs.sources.fields import (
    NO,
    YES,
    Fields,
    RowError,
    key_field,
    label_field,
    map_fields,
    strings_field,
    text_field,
    whole_number,
)
from udfs.sources.files import bare_suffix, require_path, split_of
from udfs.sources.reasons import Reason
from udfs.sources.rows import JSON_SUFFIXES, parse_json, read_files

COLUMNS: Final = (
    *("text", "question", "answerable", "answers", "id", "doc_id", "evidence", "kind", "title", "language", "domain"),
    *("split", "source", "license", "topic", "entities", "original_question", "reference_response"),
    *("gold_reformulation", "gold_reformulation_answer"),
)
LABELS: Final = ("answerable", "unanswerable")


def read(options: SourceOptions) -> Iterator[Row]:
    """The rows of every file of `options.path`.

    Raises:
        UserError: the mapping names an unknown field, misses one that is needed, or names a column that a file lacks.
    """
    path = require_path(options.path, "table")
    columns = dict(options.columns)
    labels = _checked_labels(columns, options.labels)
    checked = None
    for file, number, fields in read_files(path):
        if isinstance(fields, Bad):
            yield Row(file, number, fields)
            continue
        if checked != file and bare_suffix(file) not in JSON_SUFFIXES:
            _require_columns(file, fields, columns)
            checked = file
        named = {name: fields[column] for name, column in columns.items() if column in fields}
        yield Row(file, number, map_fields(named, "id", lambda row, file=file: _to_item(file, row, columns, labels)))  # type: ignore[misc]


def _checked_labels(columns: Mapping[str, str], given: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    unknown = [name for name in columns if name not in COLUMNS]
    if unknown:
        raise UserError(f"columns.{unknown[0]} is unknown; allowed are {', '.join(COLUMNS)}")
    if "text" not in columns:
        raise UserError("source=table needs columns.text=<the column with the document>")
    if "question" in columns and not {"answerable", "answers"} & set(columns):
        raise UserError(
            "source=table with columns.question needs columns.answerable=<the label's column>, or "
            "columns.answers=<column>, where a question with an answer counts as answerable"
        )
    strange = [name for name in given if name not in LABELS]
    if strange:
        raise UserError(f"labels.{strange[0]} is unknown; allowed are {', '.join(LABELS)}")
    labels = {"answerable": given.get("answerable", YES), "unanswerable": given.get("unanswerable", NO)}
    both = {word.casefold() for word in labels["answerable"]} & {word.casefold() for word in labels["unanswerable"]}
    if both:
        raise UserError(f"labels: {min(both)!r} stands for both answerable and unanswerable")
    return labels


def _require_columns(file: str, fields: Fields, columns: Mapping[str, str]) -> None:
    """CSV and Parquet name all columns in every row; a JSON row may leave out what is null."""
    for name, column in columns.items():
        if column not in fields:
            raise UserError(f"{file} has no column {column!r} (columns.{name}); it has {', '.join(fields)}")


def _to_item(
    file: str, fields: Fields, columns: Mapping[str, str], labels: Mapping[str, tuple[str, ...]]
) -> RawDocument | RawQuestion:
    question = text_field(fields, "question", Reason.NO_QUESTION) if "question" in columns else ""
    text = text_field(fields, "text", Reason.EMPTY_DOCUMENT)
    document = RawDocument(
        text=text,
        key=key_field(fields, "doc_id"),
        title=text_field(fields, "title").strip(),
        split=text_field(fields, "split").strip() or split_of(file),
        source=_optional(fields, "source"),
        language=_optional(fields, "language"),
        domain=_optional(fields, "domain"),
        license=_optional(fields, "license"),
    )
    if not question:
        return document
    answers = strings_field(fields, "answers")
    if "answerable" in columns:
        answerable = label_field(fields, "answerable", labels["answerable"], labels["unanswerable"])
    else:
        answerable = bool(answers)
    return RawQuestion(
        document=document,
        key=key_field(fields, "id"),
        question=question,
        answerable=answerable,
        kind=_kind(fields, answerable),
        answers=answers if answerable else (),
        evidence=_evidence(text, fields.get("evidence")),
        entities=strings_field(fields, "entities"),
        topic=_optional(fields, "topic"),
        original_question=_optional(fields, "original_question"),
        reference_response=_optional(fields, "reference_response"),
        gold_reformulation=_optional(fields, "gold_reformulation"),
        gold_reformulation_answer=_optional(fields, "gold_reformulation_answer"),
    )


def _optional(fields: Fields, name: str) -> str | None:
    return text_field(fields, name).strip() or None


def _kind(fields: Fields, answerable: bool) -> Kind:
    said = text_field(fields, "kind").strip()
    if not said:
        return Kind.ANSWERABLE if answerable else Kind.UNANSWERABLE
    try:
        return Kind(said)
    except ValueError as error:
        raise RowError(Reason.BAD_LABEL, f"kind is {said[:60]!r}; allowed are {', '.join(Kind)}") from error


def _evidence(text: str, value: Any) -> tuple[Span, ...]:
    """Spans from a quotation, a list of quotations, or a list of offsets (`{start, end}` or `[start, end]`)."""
    if isinstance(value, str):
        try:
            value = parse_json(value) if value.lstrip().startswith("[") else [value]
        except ValueError:
            value = [value]
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise RowError(Reason.BAD_FIELD, "evidence must be quotations or offsets")
    return tuple(sorted({_span(text, entry) for entry in value if entry not in (None, "")}))


def _span(text: str, entry: Any) -> Span:
    if isinstance(entry, str):
        found = locate(text, entry)
        if found is None:
            raise RowError(Reason.BAD_EVIDENCE, f"not in the text: {entry[:80]!r}")
        return found.span
    pair = (entry.get("start"), entry.get("end")) if isinstance(entry, dict) else entry
    bounds = [whole_number(bound) for bound in pair] if isinstance(pair, list | tuple) else []
    if len(bounds) != 2 or bounds[0] is None or bounds[1] is None:
        raise RowError(Reason.BAD_FIELD, f"evidence must be quotations or offsets, not {str(entry)[:60]!r}")
    return Span(bounds[0], bounds[1])
