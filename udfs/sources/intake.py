"""From a source's rows to records: ids, language, counts of words and tokens, duplicates, and the last checks.

What holds afterwards, whatever the source: texts are storable UTF-8, spans lie inside their document, a question's kind
agrees with its label, and an id stands for one content.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any

from udfs.identity import content_hash, doc_id, question_id
from udfs.records import Document, Question, Reject
from udfs.schema import Kind, length_bucket
from udfs.sources.base import Bad, RawDocument, RawQuestion, Row
from udfs.sources.fields import RowError, is_blank
from udfs.sources.files import shown
from udfs.sources.reasons import Reason, make_reject
from udfs.sources.tokens import TokenCounter
from udfs.text import count_words, detect_language, parse_language

WITHOUT_SPLIT = "all"
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A row whose id and content are those of an earlier row."""

    file: str
    row: int


@dataclass(frozen=True, slots=True)
class Defaults:
    """What the config says of the whole dataset; None leaves it to the source, then to detection.

    `language`, `split` and `domain` win over what the source says of a row; `source` and `license` too.
    """

    language: str | None = None
    split: str | None = None
    domain: str | None = None
    source: str | None = None
    license: str | None = None


Record = Document | Question | Reject | Duplicate


class Intake:
    """Turns the rows of one dataset into records, and knows which it has seen.

    Args:
        dataset: its name.
        defaults: what the config says of all of it.
        tokens: what n_tokens is counted with.
        keep_repeats: whether a row without an id of its own that repeats an earlier question of the same document is a
            question of its own (CouldAsk's counts include them) rather than a duplicate.
    """

    def __init__(self, dataset: str, defaults: Defaults, tokens: TokenCounter, keep_repeats: bool) -> None:
        self.dataset = dataset
        self.rows = 0
        self.spans_moved = 0
        self.spans_lost = 0
        self._defaults = defaults
        self._tokens = tokens
        self._keep_repeats = keep_repeats
        # Hashes as integers: millions of rows must fit. 88 bits of a key, 56 of its content.
        self._documents: dict[int, str] = {}
        self._contents: dict[int, int] = {}
        self._repeats: dict[int, int] = {}

    def records(self, rows: Iterable[Row]) -> Iterator[Record]:
        """For every row exactly one question (or, of a document source, document), reject or duplicate; before the
        first question of a document also the document.
        """
        for row in rows:
            self.rows += 1
            if isinstance(row.item, Bad):
                bad = row.item
                yield make_reject(self.dataset, row.file, row.row, bad.reason, bad.detail, bad.key, bad.raw)
                continue
            try:
                yield from self._admit(row, row.item)
            except RowError as error:
                raw = row.item.question if isinstance(row.item, RawQuestion) else row.item.text[:1000]
                yield make_reject(self.dataset, row.file, row.row, error.reason, error.detail, row.item.key, raw)

    def _admit(self, row: Row, item: RawDocument | RawQuestion) -> list[Record]:
        _check_utf8(item)
        if isinstance(item, RawDocument):
            document, new = self._document(item)
            if not new:
                return [Duplicate(row.file, row.row)]
            return [document]
        _check_question(item)
        document, new = self._document(item.document, remember=False)
        question = self._question(row, item, document)
        if question is None:
            return [Duplicate(row.file, row.row)]
        self._remember(item.document, document)
        self.spans_moved += item.spans_moved
        self.spans_lost += item.spans_lost
        return [document, question] if new else [question]

    def _document(self, raw: RawDocument, remember: bool = True) -> tuple[Document, bool]:
        """The document, and whether its text is new."""
        if is_blank(raw.text):
            raise RowError(Reason.EMPTY_DOCUMENT, "the text is blank")
        identity = doc_id(raw.text)
        if raw.key and self._contents.get(_number("document", raw.key), _short(identity)) != _short(identity):
            raise RowError(Reason.DUPLICATE_ID, f"document {raw.key[:80]!r} has another text")
        language = self._documents.get(_number(identity))
        new = language is None
        if language is None:
            language = self._language(raw)
        n_tokens = self._tokens(raw.text) if new else 0
        document = Document(
            doc_id=identity,
            dataset=self.dataset,
            split=self._defaults.split or raw.split or WITHOUT_SPLIT,
            language=language,
            domain=self._defaults.domain or raw.domain or UNKNOWN,
            title=raw.title,
            source=self._defaults.source or raw.source or UNKNOWN,
            license=self._defaults.license or raw.license or UNKNOWN,
            text=raw.text,
            n_chars=len(raw.text),
            n_words=count_words(raw.text, language) if new else 0,
            n_tokens=n_tokens,
            tokenizer=self._tokens.name,
            length_bucket=length_bucket(n_tokens),
        )
        if remember:
            self._remember(raw, document)
        return document, new

    def _remember(self, raw: RawDocument, document: Document) -> None:
        self._documents.setdefault(_number(document.doc_id), document.language)
        if raw.key:
            self._contents.setdefault(_number("document", raw.key), _short(document.doc_id))

    def _language(self, raw: RawDocument) -> str:
        said = self._defaults.language or raw.language
        language = parse_language(said) if said else detect_language(raw.text)
        if language is None:
            raise RowError(Reason.UNKNOWN_LANGUAGE, f"it says {said[:40]!r}" if said else "by its letters")
        return language.value

    def _question(self, row: Row, raw: RawQuestion, document: Document) -> Question | None:
        """The question, or None where an earlier row is the same."""
        words = raw.question.strip()
        source_id, key = raw.key, _number("question", raw.key)
        if not raw.key:
            key = _number("question of", document.doc_id, words)
            if self._keep_repeats:
                self._repeats[key] = repeat = self._repeats.get(key, 0) + 1
                source_id = f"repeat {repeat}" if repeat > 1 else ""
                key = _number("question of", document.doc_id, words, source_id)
        content = int(content_hash(document.doc_id, words, _content(raw))[:14], 16)
        if key in self._contents:
            if self._contents[key] == content:
                return None
            raise RowError(Reason.DUPLICATE_ID, _duplicate_detail(raw))
        self._contents[key] = content
        return Question(
            question_id=question_id(self.dataset, source_id, document.doc_id, [], words),
            doc_id=document.doc_id,
            dataset=self.dataset,
            split=self._defaults.split or raw.document.split or WITHOUT_SPLIT,
            language=document.language,
            question=words,
            answerable=raw.answerable,
            answers=raw.answers,
            evidence=raw.evidence,
            redactions=(),
            kind=raw.kind.value,
            provenance=_provenance(row, raw),
            twin_id=self._twin_id(raw, document),
            original_question=raw.original_question,
            topic=raw.topic,
            entities=raw.entities,
            reference_response=raw.reference_response,
            gold_reformulation=raw.gold_reformulation,
            gold_reformulation_answer=raw.gold_reformulation_answer,
        )

    def _twin_id(self, raw: RawQuestion, document: Document) -> str | None:
        if raw.twin is None:
            return None
        return question_id(self.dataset, raw.twin.key, document.doc_id, [], raw.twin.question)


def _check_utf8(item: RawDocument | RawQuestion) -> None:
    """Every text of the item can be stored."""
    for entry in fields(item):
        value = getattr(item, entry.name)
        if isinstance(value, RawDocument):
            _check_utf8(value)
            continue
        texts = [value] if isinstance(value, str) else value if isinstance(value, tuple) else ()
        if isinstance(value, dict):
            texts = [json.dumps(value, ensure_ascii=False, default=str)]
        for text in texts:
            if isinstance(text, str) and not _storable(text):
                raise RowError(Reason.BAD_UTF8, entry.name)


def _storable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _check_question(raw: RawQuestion) -> None:
    if is_blank(raw.question):
        raise RowError(Reason.NO_QUESTION, "the question is blank")
    if is_blank(raw.document.text):
        raise RowError(Reason.EMPTY_DOCUMENT, "the text is blank")
    if (raw.kind == Kind.ANSWERABLE) != raw.answerable:
        raise RowError(Reason.BAD_LABEL, f"kind {raw.kind.value} of a question with answerable={raw.answerable}")
    for start, end in raw.evidence:
        if not 0 <= start < end <= len(raw.document.text):
            raise RowError(Reason.BAD_EVIDENCE, f"span {start} to {end} of {len(raw.document.text)} characters")


def _content(raw: RawQuestion) -> list[Any]:
    """What two rows of one id must share to be the same."""
    return [
        raw.answerable,
        raw.kind.value,
        list(raw.answers),
        [list(span) for span in raw.evidence],
        list(raw.entities),
        raw.reference_response,
        raw.gold_reformulation,
    ]


def _duplicate_detail(raw: RawQuestion) -> str:
    if raw.key:
        return f"id {raw.key[:80]!r}"
    return "the same question of the same document, told otherwise (label, answers or evidence)"


def _provenance(row: Row, raw: RawQuestion) -> str:
    content = {"file": shown(row.file), "row": row.row, "id": raw.key, **({"extra": raw.extra} if raw.extra else {})}
    return json.dumps(content, ensure_ascii=False, sort_keys=True, default=str)


def _number(*parts: str) -> int:
    return int(content_hash(*parts)[:22], 16)


def _short(identity: str) -> int:
    return int(identity[:14], 16)
