"""SQuAD 2.0: the official JSON, articles → paragraphs → questions. The row is the running number of the question; a
paragraph without questions counts as one row, for its document.

An answer is by definition a span of its paragraph. One that is not where its offset says is looked for elsewhere in the
paragraph; a question none of whose answers is there is rejected, because its paragraph or its label must be wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from udfs.records import Span
from udfs.schema import Kind
from udfs.sources.base import Bad, RawDocument, RawQuestion, Row, SourceOptions
from udfs.sources.evidence import locate
from udfs.sources.fields import (
    Fields,
    RowError,
    key_field,
    label_field,
    map_fields,
    strings_field,
    text_field,
    whole_number,
)
from udfs.sources.files import BROKEN, opened, require_path, resolve, split_of
from udfs.sources.reasons import Reason
from udfs.sources.rows import parse_json

SUFFIXES: Final = (".json",)


def read(options: SourceOptions) -> Iterator[Row]:
    """The questions of every file of `options.path`; a file is read whole."""
    for file in resolve(require_path(options.path, "squad_v2"), SUFFIXES):
        data = _load(file)
        if isinstance(data, Bad):
            yield Row(file, 0, data)
            continue
        for row, item in enumerate(_items(data, file), start=1):
            yield Row(file, row, item)


def _load(file: str) -> Any:
    try:
        with opened(file) as stream:
            raw = stream.read()
    except BROKEN as error:
        return Bad(Reason.BAD_FILE, f"damaged compression ({error})")
    # Bytes that are not UTF-8 become lone surrogates, so that only the questions that hold them are lost.
    text = raw.decode("utf-8-sig", "surrogateescape")
    try:
        value = parse_json(text)
    except ValueError as error:
        return Bad(Reason.BAD_JSON, f"{str(error)[:200]}; the whole file must be one SQuAD 2.0 object", raw=text[:500])
    data = value.get("data") if isinstance(value, dict) else None
    if not isinstance(data, list):
        return Bad(Reason.MISSING_FIELD, "no list `data`; the file must be one SQuAD 2.0 object", raw=text[:500])
    return data


def _items(data: list[Any], file: str) -> Iterator[RawDocument | RawQuestion | Bad]:
    split = split_of(file)
    for article in data:
        paragraphs = article.get("paragraphs") if isinstance(article, dict) else None
        if not isinstance(paragraphs, list):
            yield Bad(Reason.MISSING_FIELD, "an article without a list `paragraphs`", raw=str(article)[:500])
            continue
        title = article.get("title")
        for paragraph in paragraphs:
            questions = paragraph.get("qas") if isinstance(paragraph, dict) else None
            if not isinstance(questions, list):
                yield Bad(Reason.MISSING_FIELD, "a paragraph without a list `qas`", raw=str(paragraph)[:500])
                continue
            context = paragraph.get("context")
            document = RawDocument(
                text=context if isinstance(context, str) else "",
                title=title.replace("_", " ") if isinstance(title, str) else "",
                split=split,
            )
            if not questions:
                yield document
            for fields in questions:
                yield _question(document, fields)


def _question(document: RawDocument, fields: Any) -> RawDocument | RawQuestion | Bad:
    if not isinstance(fields, dict):
        return Bad(Reason.BAD_JSON, "a question that is not an object", raw=str(fields)[:500])
    return map_fields(fields, "id", lambda row: _to_question(document, row))


def _to_question(document: RawDocument, fields: Fields) -> RawQuestion:
    question = text_field(fields, "question", Reason.NO_QUESTION)
    answerable = not label_field(fields, "is_impossible", yes=("true", "1"), no=("false", "0"))
    if not document.text.strip():
        raise RowError(Reason.EMPTY_DOCUMENT, "context is blank")
    answers, spans, moved, lost = _answers(document.text, fields)
    if answers and not answerable:
        raise RowError(Reason.BAD_LABEL, "is_impossible is true, yet answers are given")
    plausible = _texts(fields, "plausible_answers")
    return RawQuestion(
        document=document,
        key=key_field(fields, "id"),
        question=question,
        answerable=answerable,
        kind=Kind.ANSWERABLE if answerable else Kind.UNANSWERABLE,
        answers=answers,
        evidence=spans,
        extra={"plausible_answers": list(plausible)} if plausible else {},
        spans_moved=moved,
        spans_lost=lost,
    )


def _entries(fields: Fields, name: str) -> list[dict[str, Any]]:
    entries = fields.get(name)
    if entries is None:
        return []
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise RowError(Reason.BAD_FIELD, f"{name} must be a list of objects with text and answer_start")
    return entries


def _texts(fields: Fields, name: str) -> tuple[str, ...]:
    return strings_field({name: [entry.get("text") for entry in _entries(fields, name)]}, name)


def _answers(text: str, fields: Fields) -> tuple[tuple[str, ...], tuple[Span, ...], int, int]:
    answers: list[str] = []
    spans: list[Span] = []
    moved = lost = 0
    for entry in _entries(fields, "answers"):
        answer = text_field(entry, "text")
        if not answer.strip():
            continue
        found = locate(text, answer, whole_number(entry.get("answer_start")) or 0)
        if found is None:
            lost += 1
            continue
        moved += found.moved
        answers.append(answer.strip())
        spans.append(found.span)
    if lost and not answers:
        raise RowError(Reason.BAD_EVIDENCE, "none of the answers is in the context")
    return tuple(dict.fromkeys(answers)), tuple(sorted(set(spans))), moved, lost
