"""A small dataset as synthesis publishes one: two splits, two languages, views, twins, hostile characters."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from tests.factories import make_document, make_judgement, make_question, make_response, make_turn, write_rows
from udfs.records import Document, Judgement, Question, Response, Span

NAME = "synthetic"
HOSTILE = (
    'He said "no", \\n she wrote.\r\nA lone \r return,\u2028a separator,\u2029another,\x85a third 😀\x00 and\ttabs.\n'
    "The mill burnt down in 1911. 磨坊于一九一一年烧毁。\n"
)
ZH = "灯塔建于一九零三年。看守人名叫林海。塔高四十米。"


@dataclass
class Bench:
    """Documents, questions, responses and judgements, written together."""

    documents: list[Document] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    responses: list[Response] = field(default_factory=list)
    judgements: list[Judgement] = field(default_factory=list)

    def write(self, root: str, dataset: str = NAME) -> None:
        write_rows(root, "documents", dataset, self.documents)
        write_rows(root, "questions", dataset, self.questions)
        if self.responses:
            write_rows(root, "responses", "main", self.responses)
        if self.judgements:
            write_rows(root, "judgements", "main", self.judgements)

    def respond(self, question: Question, text: str, verdict: str | None = "incorrect", **given: Any) -> Response:
        """Record a response whose turn 1 says `text` (and concludes `answer`), judged by the rules."""
        answer = given.pop("answer", text)
        finish = given.pop("finish_reason", "stop")
        judge = given.pop("judge", "rules")
        identity = given.pop("response_id", f"r{len(self.responses)}")
        turns = (make_turn(text, finish_reason=finish),)
        response = make_response(question, response_id=identity, turns=turns, answer=answer, **given)
        self.responses.append(response)
        self.judgements.append(make_judgement(response, "answer_consistency", verdict, judge=judge))
        return response


def small_bench() -> Bench:
    """Three documents: train (two of them, one Chinese) and test; six questions, two of them about views."""
    mill = make_document(HOSTILE, NAME, split="train", title="A mill", source="mill.txt")
    tower = make_document(ZH, NAME, split="train", language="zh", title="灯塔", source="tower.txt")
    bridge = make_document("The bridge opened in 1902. It was painted red.", NAME, split="test", source="bridge.txt")
    bench = Bench([mill, tower, bridge])
    for document, evidence, number in ((mill, "in 1911", 0), (tower, "四十米", 10), (bridge, "in 1902", 20)):
        start = document.text.index(evidence)
        span = Span(start, start + len(evidence))
        cut = Span(document.text.rindex("。" if document is tower else " ", 0, start), span.end)
        twin = make_question(document, number, answers=(evidence,), evidence=(span,), topic="time")
        view = make_question(
            document,
            number + 1,
            answerable=False,
            kind="lack_of_evidence",
            evidence=(span,),
            redactions=(cut, span),
            twin_id=twin.question_id,
            reference_response=f"The text does not say so ({number}).",
        )
        bench.questions += [twin, view]
    return bench


def without_reference(bench: Bench) -> Question:
    """Add an unanswerable question of the training split that nobody wrote a reference for."""
    added = replace(make_question(bench.documents[0], 90, answerable=False), reference_response=None)
    bench.questions.append(added)
    return added
