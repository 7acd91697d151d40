"""A small benchmark and a small run to review: two languages, three kinds with twins, long documents, hostile text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import polars as pl

from tests.factories import (
    frame,
    make_document,
    make_judgement,
    make_question,
    make_response,
    make_run,
    make_turn,
    write_rows,
)
from udfs.records import Document, Question, Span
from udfs.review.collecting import Sample
from udfs.review.sheet import FORMAT
from udfs.schema import Kind

HOSTILE = "</script><script>window.harmed = 1</script><img src=x onerror='window.harmed = 2'>\u2028<!--"
EN_FACT, ZH_FACT = "The bridge at Lower Hasp was opened in 1902.", "灯塔建于一九零二年，用了两千块青石。"
EN_COPY, ZH_COPY = "Its opening fell in that very year, 1902.", "那一年正是一九零二年。"
WHEN = datetime(2026, 4, 1, tzinfo=UTC)


def make_text(chinese: bool, number: int, characters: int = 8_000) -> str:
    """A document that holds the fact in its middle and a copy of it some way on."""
    filler = "守灯人沿着石阶走上塔顶。𠮷" if chinese else "The toll was paid at the gate. 😀 "
    fact, copy = (ZH_FACT, ZH_COPY) if chinese else (EN_FACT, EN_COPY)
    half = filler * (characters // len(filler) // 2)
    return f"{number} {half}{fact}{half[: len(half) // 2]}{copy}{half}"


def benchmark(root: str, documents: int = 4) -> list[Question]:
    """Write `documents` documents of dataset `made`, each with an answerable question and its two twins."""
    texts, asked = [], []
    for number in range(documents):
        chinese = number % 2 == 1
        document = make_document(
            make_text(chinese, number), "made", language="zh" if chinese else "en", title=f"Records {HOSTILE}"
        )
        texts.append(document)
        asked += triplet(document, chinese)
    write_rows(root, "documents", "made", texts)
    write_rows(root, "questions", "made", asked)
    return asked


def triplet(document: Document, chinese: bool) -> list[Question]:
    fact, copy = (ZH_FACT, ZH_COPY) if chinese else (EN_FACT, EN_COPY)
    spans = [Span(document.text.index(part), document.text.index(part) + len(part)) for part in (fact, copy)]
    words = "灯塔是哪一年建成的？" if chinese else f"When was the bridge opened? {HOSTILE}"
    answerable = make_question(
        document, 0, True, question=words, answers=("一九零二年" if chinese else "1902",), evidence=(spans[0],)
    )
    redacted = make_question(
        document,
        1,
        False,
        kind=Kind.LACK_OF_EVIDENCE.value,
        question=words,
        evidence=(spans[0],),
        redactions=tuple(spans),
        twin_id=answerable.question_id,
        reference_response="文中没有说明建成的年份。" if chinese else "The text does not say when it was opened.",
    )
    rewritten = make_question(
        document,
        2,
        False,
        kind=Kind.ENTITY_SUBSTITUTION.value,
        question="钟楼是哪一年建成的？" if chinese else "When was the tunnel opened?",
        original_question=words,
        evidence=(spans[0],),
        twin_id=answerable.question_id,
        reference_response="文中说的是灯塔，不是钟楼。"
        if chinese
        else "It was a bridge that was opened, not a tunnel.",
    )
    return [answerable, redacted, rewritten]


def judged_run(root: str, questions: list[Question], judge: str = "rules") -> None:
    """Write run `main`: one response a question, with verdicts of `judge` on both measures."""
    responses, verdicts = [], []
    for number, question in enumerate(questions):
        response = make_response(question, turns=(make_turn(f"Reply {number}. {HOSTILE}"),))
        responses.append(response)
        right = number % 2 == 0
        verdicts.append(
            make_judgement(response, "answer_consistency", "correct" if right else "incorrect", judge=judge)
        )
        if not question.answerable:
            verdict = ("incorrect", "direct_refusal", "reasoned_answer")[number // 3 % 3]
            verdicts.append(make_judgement(response, "response_class", verdict, judge=judge))
    write_rows(root, "responses", "main", responses)
    write_rows(root, "judgements", "main", verdicts, name=judge)
    write_rows(root, "runs", "main", [make_run()])


def saved_file(sample: Sample, annotator: str, answers: Mapping[str, Mapping[str, Any]], /, **given: Any) -> str:
    """What the sheet saves."""
    file = {
        "format": FORMAT,
        "review": sample.review,
        "sample": sample.sample,
        "sheet": 1,
        "annotator": annotator,
        "saved_at": "2026-04-01T10:00:00.000Z",
        "answers": answers,
    }
    return json.dumps(file | given, ensure_ascii=False)


def all_yes(sample: Sample, no: Mapping[str, str] | None = None) -> dict[str, dict[str, Any]]:
    """Yes to everything, but for the check named for an item in `no`."""
    refused = no or {}
    return {
        item.id: {"checks": {c.id: "no" if refused.get(item.id) == c.id else "yes" for c in item.checks}, "note": ""}
        for item in sample.items
    }


def votes(table: Mapping[tuple[str, str, str], str], **given: Any) -> pl.DataFrame:
    """Annotations by (item, group, check) → one `y` or `n` an annotator."""
    rows = [
        {
            "review": "r",
            "annotator": f"a{place}",
            "item_id": item,
            "target": "questions",
            "group": group,
            "check": check,
            "passed": vote == "y",
            "created_at": WHEN,
            "note": None,
        }
        | given
        for (item, group, check), said in table.items()
        for place, vote in enumerate(said)
        if vote != "-"
    ]
    return frame("annotations", rows)
