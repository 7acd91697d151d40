"""FactGuard-Bench: the release's 23-field Parquet (or JSONL of the same fields), one question with its document a row.

Documents of evidence-removal rows are already reduced: their evidence is not in them and stays in provenance. A
question with a swapped entity or an added condition comes with the question that it was made from, which its document
does answer: that one is the gold reformulation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from udfs.errors import UserError
from udfs.records import Span
from udfs.schema import Kind
from udfs.sources.base import Bad, RawDocument, RawQuestion, Row, SourceOptions
from udfs.sources.evidence import locate
from udfs.sources.fields import Fields, RowError, key_field, label_field, leftover, map_fields, text_field
from udfs.sources.files import bare_suffix, require_path, split_of
from udfs.sources.reasons import Reason
from udfs.sources.rows import JSON_SUFFIXES, PARQUET_SUFFIXES, read_files

NEEDED: Final = ("document", "question", "response", "answerability")
ALIASES: Final[dict[str, tuple[str, ...]]] = {
    "id": ("example_id", "question_id"),
    "document_id": ("doc_id", "uid"),
    "document": ("doc", "context", "text"),
    "response": ("output", "answer", "reference_response"),
    "answerability": ("answerable", "is_answerable"),
    "perturbation": ("perturbation_type", "subtype"),
    "evidence": ("evidence_text",),
    "original_question": ("source_question",),
    "original_answer": ("source_answer",),
    "legacy_length_bucket": ("length_bucket",),
    "source_file": ("source",),
    "substituted_entity": ("replacement_entity",),
}
"""Other spellings that are taken for a field where the field itself is absent."""

_KINDS: Final = {
    "none": Kind.ANSWERABLE,
    "answerable": Kind.ANSWERABLE,
    "evidence_removal": Kind.LACK_OF_EVIDENCE,
    "lack_of_evidence": Kind.LACK_OF_EVIDENCE,
    "entity_substitution": Kind.ENTITY_SUBSTITUTION,
    "impossible_condition": Kind.IMPOSSIBLE_CONDITION,
    "misleading_evidence": Kind.UNANSWERABLE,  # by category alone nobody knows which misleading kind
}
_USED: Final = (
    *("id", "document", "question", "response", "answerability", "category", "perturbation", "language", "domain"),
    *("document_char_length", "question_char_length", "response_char_length", "original_question", "question_type"),
)


def read(options: SourceOptions) -> Iterator[Row]:
    """The questions of every file of `options.path`.

    Raises:
        UserError: a Parquet file lacks a field that every row needs (in JSONL the rows that lack it are rejected).
    """
    path = require_path(options.path, "factguard")
    checked = None
    for file, number, fields in read_files(path, (*PARQUET_SUFFIXES, *JSON_SUFFIXES)):
        if isinstance(fields, Bad):
            yield Row(file, number, fields)
            continue
        fields = _canonical(fields)
        if checked != file and bare_suffix(file) in PARQUET_SUFFIXES:
            _require_fields(file, fields)
            checked = file
        yield Row(file, number, map_fields(fields, "id", lambda row, file=file: _to_question(file, row)))  # type: ignore[misc]


def _canonical(fields: Fields) -> dict[str, object]:
    named = dict(fields)
    for name, others in ALIASES.items():
        if name not in named:
            spelt = next((other for other in others if other in named), None)
            if spelt is not None:
                named[name] = named.pop(spelt)
    return named


def _require_fields(file: str, fields: Fields) -> None:
    missing = [name for name in NEEDED if name not in fields]
    if missing:
        known = "; ".join(f"{name} (also {', '.join(ALIASES[name])})" if name in ALIASES else name for name in missing)
        raise UserError(f"{file} is not FactGuard: it has no {known}; its fields are {', '.join(fields)}")


def _to_question(file: str, fields: Fields) -> RawQuestion:
    question = text_field(fields, "question", Reason.NO_QUESTION)
    text = text_field(fields, "document", Reason.EMPTY_DOCUMENT)
    answerable = label_field(fields, "answerability")
    kind = _kind(fields, answerable)
    response = text_field(fields, "response").strip()
    if answerable and not response:
        raise RowError(Reason.MISSING_FIELD, "response is blank; an answerable row holds its answer there")
    removed = kind == Kind.LACK_OF_EVIDENCE
    spans, lost = ((), 0) if removed else _evidence(text, text_field(fields, "evidence"))
    original = text_field(fields, "original_question").strip()
    mendable = not answerable and not removed and original not in ("", question.strip())
    used = (*_USED, "evidence") if spans else _USED
    return RawQuestion(
        document=_document(file, fields, text),
        key=key_field(fields, "id"),
        question=question,
        answerable=answerable,
        kind=kind,
        answers=(response,) if answerable else (),
        evidence=spans,
        original_question=original or None,
        topic=text_field(fields, "question_type").strip() or None,
        reference_response=None if answerable else response or None,
        gold_reformulation=original if mendable else None,
        gold_reformulation_answer=(text_field(fields, "original_answer").strip() or None) if mendable else None,
        extra=leftover(fields, used),
        spans_lost=lost,
    )


def _document(file: str, fields: Fields, text: str) -> RawDocument:
    return RawDocument(
        text=text,
        title=key_field(fields, "document_id"),  # of the article; its reduced versions share it
        source=text_field(fields, "source_file").strip() or None,
        split=split_of(file),
        language=text_field(fields, "language").strip() or None,
        domain=text_field(fields, "domain").strip() or None,
    )


def _kind(fields: Fields, answerable: bool) -> Kind:
    """The kind by perturbation, or by category where that is empty; it must agree with the label."""
    said = text_field(fields, "perturbation").strip().casefold() or text_field(fields, "category").strip().casefold()
    if not said:
        return Kind.ANSWERABLE if answerable else Kind.UNANSWERABLE
    kind = _KINDS.get(said)
    if kind is None:
        raise RowError(Reason.BAD_LABEL, f"perturbation is {said[:60]!r}; allowed are {', '.join(_KINDS)}")
    if (kind == Kind.ANSWERABLE) != answerable:
        word = "answerable" if answerable else "unanswerable"
        raise RowError(Reason.BAD_LABEL, f"answerability says {word}, perturbation says {said!r}")
    return kind


def _evidence(text: str, quote: str) -> tuple[tuple[Span, ...], int]:
    if not quote.strip():
        return (), 0
    found = locate(text, quote) or locate(text, quote.strip())
    return ((found.span,), 0) if found else ((), 1)
