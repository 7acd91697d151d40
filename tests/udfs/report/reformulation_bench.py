"""A small run whose refusals came with new questions, judged by rule and by made-up judges; one question is hostile."""

from __future__ import annotations

from typing import Final

from tests.factories import make_document, make_judgement, make_question, make_response, make_run, make_turn
from tests.udfs.report.bench import HOSTILE, Run, cells_of
from udfs.judges.reformulation import ReformulationJudge
from udfs.records import Document, Question, Response, Span
from udfs.schema import Kind, Status
from udfs.views import view_text

EN_ANSWER: Final = "The bridge at Lower Hasp was opened in 1902 by the mayor, Ada Finch."
EN_CUT: Final = "It was closed to carts in 1931."
ZH_ANSWER: Final = "灯塔由工程师陈海生在一九零二年建成。"
EN_ASKED: Final = "When was the bridge at Upper Hasp opened by the mayor?"
EN_NEW: Final = "When was the bridge at Lower Hasp opened by the mayor?"
ZH_ASKED: Final = "灯塔是哪一年拆除的？"
ZH_NEW: Final = "灯塔是哪一年建成的？"


def reformulation_run(filler: int = 400) -> Run:
    """Two languages; of each a success, a repetition, an undetected question and an answerable one, by two methods."""
    made = Run()
    _document(made, "en", f"{'The toll was paid at the gate. 𠮷 ' * filler}{EN_ANSWER} {EN_CUT}", EN_ASKED, EN_NEW)
    _document(made, "zh", f"{'守灯人沿着石阶走上塔顶。😀' * filler}{ZH_ANSWER}", ZH_ASKED, ZH_NEW)
    made.runs = [make_run(model="smollm2-135m", cells=cells_of(made))]
    return made


def _document(made: Run, language: str, text: str, asked: str, new: str) -> None:
    title = "灯塔纪事" if language == "zh" else "Harbour records"
    document = make_document(text, language, language=language, title=title)
    made.documents.append(document)
    cut = (Span(text.index(EN_CUT), text.index(EN_CUT) + len(EN_CUT)),) if EN_CUT in text else ()
    for place in range(4):
        answerable = place == 3
        question = make_question(
            document,
            place,
            answerable,
            kind=(Kind.ANSWERABLE if answerable else Kind.LACK_OF_EVIDENCE).value,
            question=new if answerable else asked,
            evidence=cut,
            redactions=() if answerable else cut,
            entities=("Upper Hasp", "bridge") if language == "en" and place == 0 else (),
        )
        made.questions.append(question)
        said = {0: new, 1: asked, 2: None, 3: None}[place]
        _respond(made, document, question, "zs", said)
        _respond(made, document, question, "fs_cot", f"{HOSTILE} {asked}" if place == 0 else None)


def _respond(made: Run, document: Document, question: Question, method: str, new: str | None) -> None:
    turns = [make_turn("The document does not say.")]
    if new is not None:
        turns.append(make_turn(f"New question: {new}", "reformulate"))
    response = make_response(
        question,
        "smollm2-135m",
        method,
        turns=tuple(turns),
        refused=new is not None,
        answer=turns[0].text,
        reformulation=new,
        reformulation_couldask=None if new is None else new.replace(" by the mayor", ""),
    )
    made.responses.append(response)
    refusal = "answered" if new is None else "refused"
    made.judgements.append(make_judgement(response, "refusal", refusal))
    if new is not None:
        made.judgements += ReformulationJudge().score(response, question, view_text(document.text, question.redactions))
        _other_judges(made, response)


def _other_judges(made: Run, response: Response) -> None:
    made.judgements += [
        make_judgement(
            response, "reformulation_answerable", "answerable", judge="classifier:c", score=0.9, rationale=None
        ),
        make_judgement(response, "error_category", "irrelevant", judge="llm:j", rationale=HOSTILE),
        make_judgement(response, "cosine", None, judge="minilm", status=Status.OK, score=0.8125),
    ]
