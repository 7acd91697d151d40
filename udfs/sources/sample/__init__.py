"""The sample that the project ships, and any folder of the same form: `documents/<slug>.txt`, `questions/<slug>.yaml`.

A YAML file holds title, language, domain, license and questions; a question has id, question, kind, answers, evidence
(exact quotations, each of which occurs once in the document), topic and, where no answer exists, reference_response,
reformulation and reformulation_answer; `twin` names the question it was made from. The row is the question's number.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from udfs.errors import UserError
from udfs.records import Span
from udfs.schema import Kind
from udfs.sources.base import Bad, RawDocument, RawQuestion, Row, SourceOptions, Twin
from udfs.sources.evidence import occurrences
from udfs.sources.fields import Fields, RowError, key_field, map_fields, strings_field, text_field
from udfs.sources.reasons import Reason

HERE = Path(__file__).parent


def read(options: SourceOptions) -> Iterator[Row]:
    """The shipped sample, or the folder `options.path` of the same form.

    Raises:
        UserError: the folder has no `questions/*.yaml`.
    """
    root = Path(options.path) if options.path else HERE
    files = sorted((root / "questions").glob("*.yaml"))
    if not files:
        raise UserError(f"{root} has no questions/*.yaml; it must have documents/<slug>.txt and questions/<slug>.yaml")
    for file in files:
        # The shipped sample is named the same on every machine.
        name = str(file) if options.path else f"sample/questions/{file.name}"
        try:
            document, questions = _load(root, file)
        except RowError as error:
            yield Row(name, 0, Bad(error.reason, error.detail))
            continue
        twins = {q["id"]: q["question"] for q in questions if isinstance(q, dict) and {"id", "question"} <= set(q)}
        for number, fields in enumerate(questions, start=1):
            if not isinstance(fields, dict):
                yield Row(name, number, Bad(Reason.BAD_FIELD, "a question must be a mapping", raw=str(fields)[:500]))
                continue
            item = map_fields(fields, "id", lambda row, d=document, t=twins: _to_question(d, row, t))  # type: ignore[misc]
            yield Row(name, number, item)


def _load(root: Path, file: Path) -> tuple[RawDocument, list[Any]]:
    try:
        head = yaml.safe_load(file.read_bytes())
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise RowError(Reason.BAD_FILE, f"not YAML: {str(error)[:200]}") from error
    questions = head.get("questions") if isinstance(head, dict) else None
    if not isinstance(head, dict) or not isinstance(questions, list):
        raise RowError(Reason.MISSING_FIELD, "no list `questions`")
    path = root / "documents" / f"{file.stem}.txt"
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError as error:
        raise RowError(Reason.EMPTY_DOCUMENT, f"there is no documents/{path.name}") from error
    except UnicodeDecodeError as error:
        raise RowError(Reason.BAD_UTF8, f"documents/{path.name}, byte {error.start + 1}") from error
    document = RawDocument(
        text=text,
        title=text_field(head, "title").strip(),
        source=file.stem,
        language=text_field(head, "language").strip() or None,
        domain=text_field(head, "domain").strip() or None,
        license=text_field(head, "license").strip() or None,
    )
    return document, questions


def _to_question(document: RawDocument, fields: Fields, twins: dict[Any, Any]) -> RawQuestion:
    question = text_field(fields, "question", Reason.NO_QUESTION)
    said = text_field(fields, "kind", Reason.BAD_LABEL)
    if said not in set(Kind):
        raise RowError(Reason.BAD_LABEL, f"kind is {said[:60]!r}; allowed are {', '.join(Kind)}")
    kind = Kind(said)
    answers = strings_field(fields, "answers")
    if bool(answers) != (kind == Kind.ANSWERABLE):
        raise RowError(Reason.BAD_LABEL, f"kind is {said}, answers are {len(answers)}")
    twin = key_field(fields, "twin")
    if twin and twin not in twins:
        raise RowError(Reason.MISSING_FIELD, f"twin {twin!r} is no question of this document")
    return RawQuestion(
        document=document,
        key=key_field(fields, "id"),
        question=question,
        answerable=kind == Kind.ANSWERABLE,
        kind=kind,
        answers=answers,
        evidence=tuple(sorted({_once(document.text, quote) for quote in _quotes(fields)})),
        twin=Twin(twin, str(twins[twin]).strip()) if twin else None,
        original_question=str(twins[twin]).strip() if twin else None,
        topic=text_field(fields, "topic").strip() or None,
        reference_response=text_field(fields, "reference_response").strip() or None,
        gold_reformulation=text_field(fields, "reformulation").strip() or None,
        gold_reformulation_answer=text_field(fields, "reformulation_answer").strip() or None,
    )


def _quotes(fields: Fields) -> list[str]:
    quotes = fields.get("evidence") or []
    if not isinstance(quotes, list) or not all(isinstance(quote, str) and quote.strip() for quote in quotes):
        raise RowError(Reason.BAD_FIELD, "evidence must be a list of quotations")
    return quotes


def _once(text: str, quote: str) -> Span:
    starts = list(occurrences(text, quote))
    if len(starts) != 1:
        raise RowError(Reason.BAD_EVIDENCE, f"occurs {len(starts)} times instead of once: {quote[:80]!r}")
    return Span(starts[0], starts[0] + len(quote))
