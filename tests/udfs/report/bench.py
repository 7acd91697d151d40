"""A small run for tests of the report: two languages, three kinds, two methods, hostile replies."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests.factories import make_document, make_judgement, make_question, make_response, make_run, make_turn, write_rows
from udfs.records import Document, Judgement, Question, Response, Span
from udfs.schema import Kind, Status

HOSTILE = "</script><script>window.harmed = 1</script><img src=x onerror='window.harmed = 2'> | `code` 😀"
EN_FACT = "The bridge at Lower Hasp was opened in 1902."
ZH_FACT = "灯塔建于一九零二年，用了两千块青石。"


@dataclass
class Run:
    """Everything that a report of one run reads."""

    documents: list[Document] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    responses: list[Response] = field(default_factory=list)
    judgements: list[Judgement] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)

    def write(self, root: str) -> None:
        for dataset in {document.dataset for document in self.documents}:
            write_rows(root, "documents", dataset, [d for d in self.documents if d.dataset == dataset])
            write_rows(root, "questions", dataset, [q for q in self.questions if q.dataset == dataset])
        for run in {response.run for response in self.responses}:
            write_rows(root, "responses", run, [r for r in self.responses if r.run == run])
            write_rows(root, "judgements", run, [j for j in self.judgements if j.run == run])
        for row in self.runs:
            write_rows(root, "runs", row["run"], [row], name=row["run_id"])


def small_run(
    documents: int = 4, characters: int = 6_000, model: str = "smollm2-135m", run: str = "main", questions: int = 3
) -> Run:
    made = Run()
    for number in range(documents):
        chinese = number % 2 == 1
        filler, fact = (
            ("守灯人沿着石阶走上塔顶。😀", ZH_FACT) if chinese else ("The toll was paid at the gate. 𠮷 ", EN_FACT)
        )
        half = filler * (characters // len(filler) // 2)
        text = f"{number} {half}{fact}{half}"
        document = make_document(
            text,
            "long" if number >= documents // 2 else "short",
            language="zh" if chinese else "en",
            title="灯塔纪事" if chinese else "Harbour records",
            length_bucket="16-32K" if number >= documents // 2 else "0-16K",
        )
        made.documents.append(document)
        for place in range(questions):
            _ask(made, document, text.index(fact), fact, place, model, run)
    made.runs = [make_run(run, model=model, cells=cells_of(made))]
    return made


def cells_of(made: Run, more: int = 0) -> str:
    """`runs.cells` of a start that covers what is recorded, and `more` responses of each cell beside it."""
    counted = Counter((response.method, response.layout, response.dataset) for response in made.responses)
    names = ("method", "layout", "dataset")
    return json.dumps([dict(zip(names, cell, strict=True)) | {"expected": n + more} for cell, n in counted.items()])


def _ask(made: Run, document: Document, at: int, fact: str, place: int, model: str, run: str) -> None:
    kind = [Kind.ANSWERABLE, Kind.LACK_OF_EVIDENCE, Kind.ENTITY_SUBSTITUTION][place % 3]
    answerable, span = kind is Kind.ANSWERABLE, (Span(at, at + len(fact)),)
    asked = "灯塔是哪一年建成的？" if document.language == "zh" else "When was the bridge opened?"
    question = make_question(
        document,
        place,
        answerable,
        kind=kind.value,
        question=f"{asked} ({place})",
        evidence=span,
        redactions=span if kind is Kind.LACK_OF_EVIDENCE else (),
    )
    made.questions.append(question)
    for method in ("zs", "fs_cot"):
        right = (place + len(method)) % 2 == 0
        refused = answerable != right
        lost = place == 2 and method == "fs_cot"
        status = Status.OVER_LENGTH if lost else Status.OK
        turns = () if lost else (make_turn(f"Step by step. {HOSTILE}"),)
        response = make_response(
            question, model, method, run=run, refused=refused, status=status, turns=turns, answer=HOSTILE
        )
        made.responses.append(response)
        if lost:
            continue
        verdicts = {
            "refusal": "refused" if refused else "answered",
            "answer_consistency": "correct" if right else "incorrect",
        }
        if not answerable:
            verdicts["response_class"] = "reasoned_answer" if refused else "incorrect"
        made.judgements += [
            make_judgement(response, measure, verdict, rationale=HOSTILE) for measure, verdict in verdicts.items()
        ]
