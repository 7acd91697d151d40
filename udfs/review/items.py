"""What is shown and asked of a question (FactGuard, section 4.3) or of a judge's verdict (section 5.3.3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from udfs.judges.base import answer_text
from udfs.records import Judgement, Question, Response, Span
from udfs.report.spans import BOTH, PLAIN, REDACTED, excerpts
from udfs.report.spans import EVIDENCE as EVIDENCE_PIECE
from udfs.review.sheet import CUT, EVIDENCE, GAP, Check, Item, Run, Section
from udfs.schema import Kind
from udfs.tables.texts import Text

_MARKS: Final = {PLAIN: (), EVIDENCE_PIECE: (EVIDENCE,), REDACTED: (CUT,), BOTH: (EVIDENCE, CUT)}

QUESTION_GUIDE: Final = (
    "Read the marked text and what stands around it, then say of each item whether its question and its answer pass.",
    "A question passes if it is clear by itself, is about this text, and is of the kind that it is said to be.",
    (
        "Answerable: the text answers it. Lack of evidence: the text without what was cut out does not answer it. "
        "Misleading: the text contradicts what the question takes for granted."
    ),
    (
        "An answer passes if the text supports it and it is complete. A reference response to an unanswerable question "
        "passes if it says that there is no answer and why: what is missing, or what is wrong and what the text says."
    ),
    "Take at most ten minutes for an item. If in doubt, say no and write down why.",
)
JUDGEMENT_GUIDE: Final = (
    "Each item is a model's response and the verdict that a judge gave on it. Say whether the verdict is right.",
    "The verdict is on the response's conclusion; what it thinks aloud before that does not count.",
    "Take at most ten minutes for an item. If in doubt, say no and write down why.",
)
_QUESTION_HINT: Final = {
    Kind.ANSWERABLE: "Clear by itself, and the text answers it.",
    Kind.LACK_OF_EVIDENCE: "Clear by itself, and without what was cut out the text does not answer it.",
    Kind.UNANSWERABLE: "Clear by itself, and the text does not answer it.",
}
_MISLEADING_HINT: Final = "Clear by itself, and the text contradicts what it takes for granted."
VERDICTS: Final = {
    ("answer_consistency", True): {
        "correct": "The response gives a right answer, in any wording, and does not contradict it.",
        "incorrect": "The response gives another answer, or none.",
    },
    ("answer_consistency", False): {
        "correct": "The response says that the question cannot be answered, or sets right what it takes for granted.",
        "incorrect": "The response answers as if the document held the answer.",
    },
    ("response_class", False): {
        "incorrect": "The response answers as if the document held the answer.",
        "direct_refusal": "The response says that the question cannot be answered, and nothing that explains it.",
        "reasoned_answer": "The response says that the question cannot be answered, or sets right what it takes for "
        "granted, and explains: what is wrong with it, or what the document says instead.",
    },
}
"""What a verdict means, by measure and whether the gold says answerable (as judges are told)."""


def question_item(question: Question, twin: Question | None, text: Text, around: int) -> Item:
    """The item of a question: checks `question` and `answer`, grouped by kind.

    Args:
        twin: the question that this one was made from, if it is in the tables.
        text: the whole document.
        around: characters shown on both sides of a mark.
    """
    answered = "gold answer" if question.answerable else "reference response"
    checks = (
        Check("question", "Does the question pass?", hint=_question_hint(question.kind)),
        Check("answer", "Does the answer pass?", hint=_answer_hint(question, answered)),
    )
    sections = (_asked(question), *_gold(question), *_origin(question, twin), document_section(question, text, around))
    return Item(
        question.question_id,
        question.kind,
        question.language,
        question.question,
        (_words(question.kind), question.language, question.dataset),
        sections,
        checks,
    )


def judgement_item(judgement: Judgement, response: Response, question: Question, text: Text, around: int) -> Item:
    """The item of a verdict: check `verdict`. The judge's reasons are not shown, so that they persuade nobody.

    Its group is the verdict (`response_class`), or kind/verdict (`answer_consistency`).
    """
    verdict = judgement.verdict or ""
    by_kind = judgement.measure == "answer_consistency"
    meaning = VERDICTS.get((judgement.measure, question.answerable), {}).get(verdict, "")
    hint = f"{_words(verdict).capitalize()}: {meaning}" if meaning else ""
    sections = (
        _asked(question),
        *_gold(question),
        Section("Verdict of the judge", (Run(_words(verdict)),), lead=True),
        Section("Response", (Run(answer_text(response)),), reading=True),
        document_section(question, text, around),
    )
    return Item(
        judgement.judgement_id,
        f"{question.kind}/{verdict}" if by_kind else verdict,
        question.language,
        question.question,
        (_words(question.kind), question.language, question.dataset),
        sections,
        (Check("verdict", "Is the verdict right?", hint=hint),),
    )


def document_section(question: Question, text: Text, around: int) -> Section:
    """The document around the evidence and the cuts, clipped to `around` characters on both sides of each."""
    says = [f"{text.title} · {len(text.text):,} characters"]
    if question.redactions:
        says.append("what is struck was cut out before the model saw the text, and leaves no trace there")
    if not (question.evidence or question.redactions):
        says.append("no evidence is marked; this is how the text begins")
    shown = excerpts(text.text, question.evidence, question.redactions, around)
    return Section("Document", tuple(_document_runs(shown, len(text.text))), says=" · ".join(says), reading=True)


def _document_runs(shown: Sequence[tuple[int, list[tuple[str, str]]]], length: int) -> Iterator[Run]:
    end = 0
    for start, parts in shown:
        if start > end:
            yield _gap(Span(end, start))
        yield from (Run(piece, _MARKS[mark]) for mark, piece in parts)
        end = start + sum(len(piece) for _, piece in parts)
    if end < length:
        yield _gap(Span(end, length))


def _gap(left_out: Span) -> Run:
    return Run(f"… {left_out.end - left_out.start:,} characters …", (GAP,))


def _asked(question: Question) -> Section:
    return Section("Question", (Run(question.question),), lead=True)


def _gold(question: Question) -> Iterator[Section]:
    if question.answerable:
        says = "" if len(question.answers) == 1 else "any one of these is right"
        yield Section("Gold answer", (Run("\n".join(question.answers)),), says=says)
    elif question.reference_response:
        yield Section("Reference response", (Run(question.reference_response),))
    else:
        yield Section("Reference response", (), says="none is given: a good response says that there is no answer")


def _origin(question: Question, twin: Question | None) -> Iterator[Section]:
    """What an unanswerable question was made from, and what the answer was then."""
    if question.answerable:
        return
    before = question.original_question or (twin.question if twin else None)
    if before is not None and before != question.question:
        yield Section("Original question", (Run(before),), says="before it was changed")
    if twin is not None and twin.answers:
        says = "before anything was cut out" if question.redactions else "to the original question"
        yield Section("Original answer", (Run(twin.answers[0]),), says=says)


def _question_hint(kind: str) -> str:
    return _MISLEADING_HINT if kind.startswith("misleading") else _QUESTION_HINT[Kind(kind)]


def _answer_hint(question: Question, answered: str) -> str:
    if question.answerable:
        return f"The {answered}: supported by the text, and complete."
    if not question.reference_response:
        return "None is given: pass it if “there is no answer in this text” is the right response."
    return f"The {answered}: says that there is no answer as asked, and gives the right reason."


def _words(name: str) -> str:
    return name.replace("_", " ").replace(".", ": ")
