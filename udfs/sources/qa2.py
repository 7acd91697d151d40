"""QA² (also (QA)²): questions of web searches, some of which assume what is not so; CSV of its release.

A row names its web page by address and holds no page, so the pages' texts come apart (`documents=`,
`udfs.sources.pages`); a row whose page is not there is rejected. CouldAsk scraped the pages itself, and left out those
whose text was not clear (appendix A).

- `all_assumptions_valid` is the label: `all_valid` is answerable; `has_invalid` is unanswerable, as in CouldAsk. Its
  kind is `unanswerable`: nobody says whether the page contradicts the assumption or only does not support it.
- `url_extractive_evidence_or_answer` names the document: one address, or several between ` || `, whose texts are put
  one after another.
- `extractive_evidence_or_answer` becomes evidence where the page still holds it; also several between ` || `.
- `abstractive_answer` is the answer; of an unanswerable question it is what a good response says.
- `idx` is the question's own id; `canary` and all else goes into provenance.

It is benchmark data with a canary: every row is marked so that no training record is made of it
(`udfs.sources.training`), also where the column was taken away.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from udfs.errors import UserError
from udfs.records import Span
from udfs.schema import Kind, Language
from udfs.sources.base import Bad, RawDocument, RawQuestion, Row, SourceOptions
from udfs.sources.evidence import locate
from udfs.sources.fields import Fields, RowError, key_field, label_field, leftover, map_fields, text_field
from udfs.sources.files import require_path, split_of
from udfs.sources.pages import Pages, load_pages, normalized_address
from udfs.sources.reasons import Reason
from udfs.sources.rows import TABLE_SUFFIXES, read_files
from udfs.sources.training import NO_TRAINING

ADDRESS: Final = "url_extractive_evidence_or_answer"
EVIDENCE: Final = "extractive_evidence_or_answer"
LABEL: Final = "all_assumptions_valid"
SEVERAL: Final = "||"
BETWEEN_PAGES: Final = "\n\n"
LICENSE: Final = "page texts by their sites' terms; questions: benchmark data with a canary, never train on them"
WHY: Final = "QA² is benchmark data with a canary: never train on it"
_USED: Final = ("idx", "question", "abstractive_answer", EVIDENCE, LABEL)


def read(options: SourceOptions) -> Iterator[Row]:
    """The questions of every file of `options.path`, about the pages of `options.documents`.

    Raises:
        UserError: one of the two was not given or cannot be read, or gives one address two texts.
    """
    path = require_path(options.path, "qa2")
    if not options.documents:
        raise UserError(
            "source=qa2 needs documents=: its release names web pages by address only. Give a table with the columns "
            "url and text, or a folder with a table pages.csv (url, file) beside the files"
        )
    wanted = {
        normalized_address(address)
        for _, _, fields in read_files(path, TABLE_SUFFIXES)
        if isinstance(fields, dict)
        for address in _parts(fields.get(ADDRESS))
    }
    pages = load_pages(options.documents, wanted)
    yield from pages.bad
    for file, number, fields in read_files(path, TABLE_SUFFIXES):
        yield Row(file, number, _item(file, fields, pages))


def _item(file: str, fields: Fields | Bad, pages: Pages) -> RawDocument | RawQuestion | Bad:
    return map_fields(fields, "idx", lambda row: _to_question(file, row, pages))


def _to_question(file: str, fields: Fields, pages: Pages) -> RawQuestion:
    question = text_field(fields, "question", Reason.NO_QUESTION)
    if "canary guid" in question.casefold():
        raise RowError(Reason.NO_QUESTION, "the row holds the dataset's canary")
    answerable = label_field(fields, LABEL, yes=("all_valid",), no=("has_invalid",))
    addresses = _parts(text_field(fields, ADDRESS, Reason.MISSING_FIELD))
    text = _document(addresses, pages)
    spans, moved, lost = _evidence(text, _parts(text_field(fields, EVIDENCE)))
    good = text_field(fields, "abstractive_answer").strip()
    return RawQuestion(
        document=RawDocument(
            text=text,
            key=" ".join(map(normalized_address, addresses)),
            source=f" {SEVERAL} ".join(addresses),
            split=split_of(file),
            language=Language.EN,
            license=LICENSE,
        ),
        key=key_field(fields, "idx"),
        question=question,
        answerable=answerable,
        kind=Kind.ANSWERABLE if answerable else Kind.UNANSWERABLE,
        answers=(good,) if answerable and good else (),
        evidence=spans,
        reference_response=None if answerable else good or None,
        extra=leftover(fields, _USED) | {NO_TRAINING: WHY},
        spans_moved=moved,
        spans_lost=lost,
    )


def _parts(value: object) -> list[str]:
    """What stands between the marks of several, each once, without blanks."""
    parts = (part.strip() for part in value.split(SEVERAL)) if isinstance(value, str) else ()
    return list(dict.fromkeys(part for part in parts if part))


def _document(addresses: list[str], pages: Pages) -> str:
    """The texts of the pages, in the row's order.

    Raises:
        RowError: a page is not there: all that are missing are named.
    """
    texts: list[str] = []
    missing: list[str] = []
    for address in addresses:
        try:
            texts.append(pages.text(address))
        except RowError as error:
            if error.reason is not Reason.NO_PAGE:
                raise
            missing.append(error.detail)
    if missing:
        raise RowError(Reason.NO_PAGE, ", ".join(missing))
    return BETWEEN_PAGES.join(dict.fromkeys(texts))


def _evidence(text: str, quotes: list[str]) -> tuple[tuple[Span, ...], int, int]:
    """Spans of the quotations that the pages still hold; how many stand there in other spelling; how many do not."""
    found = [located for located in (locate(text, quote) for quote in quotes) if located is not None]
    spans = tuple(sorted({located.span for located in found}))
    return spans, sum(located.moved for located in found), len(quotes) - len(found)
