from __future__ import annotations

from typing import Any

from udfs.records import Document, Question, Reject, Span
from udfs.schema import Kind
from udfs.sources.base import Bad, RawDocument, RawQuestion, Row
from udfs.sources.intake import Defaults, Duplicate, Intake, Record
from udfs.sources.reasons import RAW_CHARACTERS, Reason
from udfs.sources.tokens import EstimatedTokens

TEXT = "The bridge opened in 1902."


def ask(question: str = "When?", text: str = TEXT, **given: Any) -> RawQuestion:
    document = RawDocument(text, **given.pop("document", {}))
    values: dict[str, Any] = {"answerable": True, "kind": Kind.ANSWERABLE, "answers": ("1902",)}
    return RawQuestion(document, question, **(values | given))


def admit(*items: RawDocument | RawQuestion | Bad, defaults: Defaults | None = None) -> list[Record]:
    intake = Intake("bench", defaults or Defaults(), EstimatedTokens(), keep_repeats=False)
    return list(intake.records(Row("f", i, item) for i, item in enumerate(items, start=1)))


def test_intake_writes_a_document_once_and_before_its_questions() -> None:
    records = admit(ask("A?"), ask("B?"))
    assert [type(record) for record in records] == [Document, Question, Question]
    document = records[0]
    assert isinstance(document, Document)
    assert (document.n_chars, document.n_words, document.language) == (len(TEXT), 5, "en")
    assert document.n_tokens > 5


def test_intake_config_wins_over_the_source_and_gaps_are_named() -> None:
    said = {"split": "dev", "domain": "law", "license": "CC0-1.0"}
    given = admit(ask(document=said), defaults=Defaults(language="zh", split="test", domain="book", source="human"))[0]
    left = admit(ask())[0]
    assert isinstance(given, Document)
    assert isinstance(left, Document)
    assert (given.language, given.split, given.domain, given.source) == ("zh", "test", "book", "human")
    assert given.license == "CC0-1.0"
    assert (left.split, left.domain, left.license, left.source) == ("all", "unknown", "unknown", "unknown")


def test_intake_broken_invariants_become_rejects() -> None:
    records = admit(
        ask(evidence=(Span(0, 99),)),
        ask(kind=Kind.UNANSWERABLE),
        ask(" "),
        ask(text="\ufeff \n"),
        ask("\udcffWhen?"),
        ask(extra={"note": "\ud800"}),
        RawDocument("\ud800"),
        Bad(Reason.BAD_JSON, "x", raw="y" * 9999),
    )
    assert [record.reason for record in records if isinstance(record, Reject)] == [
        *("bad_evidence", "bad_label", "no_question", "empty_document", "bad_utf8", "bad_utf8", "bad_utf8", "bad_json")
    ]
    assert all(isinstance(record, Reject) and len(record.raw) <= RAW_CHARACTERS for record in records)


def test_intake_same_id_and_content_is_a_duplicate_other_content_a_reject() -> None:
    records = admit(ask(key="a"), ask(key="a"), ask(key="a", answers=("1903",)), ask("Else?", key="a"))
    assert [type(record) for record in records[1:]] == [Question, Duplicate, Reject, Reject]


def test_intake_equal_questions_with_own_ids_are_two_questions() -> None:
    ids = {record.question_id for record in admit(ask(key="a"), ask(key="b")) if isinstance(record, Question)}
    assert len(ids) == 2


def test_intake_ids_do_not_depend_on_the_file() -> None:
    def ids(file: str) -> list[str]:
        intake = Intake("bench", Defaults(), EstimatedTokens(), keep_repeats=True)
        return [r.question_id for r in intake.records([Row(file, 9, ask())]) if isinstance(r, Question)]

    assert ids("here/a.jsonl") == ids("there/b.jsonl")


def test_intake_document_of_a_rejected_question_comes_with_the_next_good_one() -> None:
    records = admit(ask(" "), ask("B?"))
    assert [type(record) for record in records] == [Reject, Document, Question]
