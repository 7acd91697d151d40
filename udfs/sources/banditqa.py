"""BanditQA: JSONL of the qa-from-hf release, one question with its paragraph a line; `feedback` is the label.

`annotation` is the answer that a worker marked (as text with white space changed, and offsets), `annotations` further
ones. An answer that is not in the paragraph as marked is kept as an answer, without an evidence span.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from udfs.records import Span
from udfs.schema import Kind, Language
from udfs.sources.base import RawDocument, RawQuestion, Row, SourceOptions
from udfs.sources.evidence import locate
from udfs.sources.fields import (
    Fields,
    key_field,
    label_field,
    leftover,
    map_files,
    strings_field,
    text_field,
    whole_number,
)
from udfs.sources.files import require_path, split_of
from udfs.sources.reasons import Reason
from udfs.sources.rows import JSON_SUFFIXES

_USED: Final = (
    *("id", "question", "context", "feedback", "topic", "annotation", "annotations"),
    *("startidx", "endidx", "start_charidx", "end_charidx", "workerId"),
)


def read(options: SourceOptions) -> Iterator[Row]:
    """The questions of every file of `options.path`."""
    return map_files(require_path(options.path, "banditqa"), JSON_SUFFIXES, "id", _to_question)


def _to_question(file: str, fields: Fields) -> RawQuestion:
    question = text_field(fields, "question", Reason.NO_QUESTION)
    text = text_field(fields, "context", Reason.EMPTY_DOCUMENT)
    answerable = label_field(fields, "feedback", yes=("answerable",), no=("unanswerable",))
    topic = text_field(fields, "topic").strip()
    marked = text_field(fields, "annotation") if answerable else ""
    answers = (*strings_field({"annotation": marked}, "annotation"), *strings_field(fields, "annotations"))
    answers = tuple(dict.fromkeys(answers)) if answerable else ()
    spans, moved, lost = _evidence(text, marked, answers, whole_number(fields.get("start_charidx")))
    return RawQuestion(
        document=RawDocument(text=text, title=topic, split=split_of(file), language=Language.EN),
        key=key_field(fields, "id"),
        question=question,
        answerable=answerable,
        kind=Kind.ANSWERABLE if answerable else Kind.UNANSWERABLE,
        answers=answers,
        evidence=spans,
        topic=topic or None,
        extra=leftover(fields, _USED),
        spans_moved=moved,
        spans_lost=lost,
    )


def _evidence(text: str, marked: str, answers: tuple[str, ...], start: int | None) -> tuple[tuple[Span, ...], int, int]:
    """The marked answer's span, or where nothing was marked the first span of another answer; moved; lost."""
    if marked.strip():
        found = locate(text, marked, start) or locate(text, marked.strip(), start)
        return ((found.span,), int(found.moved), 0) if found else ((), 0, 1)
    for answer in answers:
        found = locate(text, answer)
        if found:
            return (found.span,), 0, 0
    return (), 0, int(bool(answers))
