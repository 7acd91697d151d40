"""A small synthesised dataset for tests of the report: two languages, all kinds, losses at every step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.factories import WHEN, make_candidate, make_document, make_question, make_run, write_rows
from udfs.agents.spec import KINDS
from udfs.records import Candidate, Document, Question, Span
from udfs.schema import LENGTH_BUCKETS, Fate, Kind, Step, Topic

ENDS = (
    (Step.QUALITY, Fate.LOW_QUALITY),
    (Step.QA, Fate.EVIDENCE_NOT_FOUND),
    (Step.QA_REVIEW, Fate.INCOMPLETE_ANSWER),
    (Step.QA_REVIEW, Fate.PARSE_FAILURE),
    (Step.RETRIEVAL, Fate.EVIDENCE_SURVIVES),
    (Step.COMMON_SENSE, Fate.COMMON_SENSE),
)
FACT, COPY = "The sluice at Orrin Weir was rebuilt in 1871.", "the sluice at Orrin Weir was rebuilt in 1871"
ZH_FACT, ZH_COPY = "奥林堰的水闸于一八七一年重建。", "奥林堰的水闸于一八七一年重建"


@dataclass
class Made:
    """Everything that a report of one synthesis reads."""

    dataset: str = "synthetic"
    documents: list[Document] = field(default_factory=list)
    candidates: list[Candidate] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    annotations: list[dict[str, Any]] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)

    def write(self, root: str) -> None:
        write_rows(root, "documents", self.dataset, self.documents)
        write_rows(root, "candidates", self.dataset, self.candidates)
        write_rows(root, "questions", self.dataset, self.questions)
        for row in self.runs:
            write_rows(root, "runs", row["run"], [row], name=row["run_id"])
        for review in {row["review"] for row in self.annotations}:
            write_rows(root, "annotations", review, [row for row in self.annotations if row["review"] == review])


def small_synthesis(documents: int = 8, alpha: int = 2, model: str = "maker", characters: int = 4_000) -> Made:
    """Of every (document, fragment) one candidate a kind; every third of them ends, in turn for one of `ENDS`."""
    made = Made(runs=[make_run("synthetic", job="synthesize", model=model, usd=1.5)])
    number = 0
    for place in range(documents):
        document = _document(place, characters)
        made.documents.append(document)
        for fragment in range(alpha):
            for kind in KINDS:
                number += 1
                step, fate = (Step.CONSOLE, Fate.ACCEPTED) if number % 3 else ENDS[number // 3 % len(ENDS)]
                topic = list(Topic)[(place + fragment) % len(Topic)].value
                given = {"model": model, "source_dataset": "books", "step": step, "topic": topic}
                candidate = make_candidate(document, fragment, kind, fate, **given)
                made.candidates.append(candidate)
                if candidate.accepted:
                    made.questions.append(_question(document, candidate))
    return made


def _document(place: int, characters: int) -> Document:
    chinese = place % 2 == 1
    fact, copy, filler = (
        (ZH_FACT, ZH_COPY, "守堰人每天记录水位。") if chinese else (FACT, COPY, "The keeper wrote down the level. ")
    )
    part = filler * (characters // len(filler) // 3)
    return make_document(
        f"{place} {part}{fact}{part}{'据说' if chinese else 'As was said, '}{copy}. {part}",
        "synthetic",
        split=("train", "dev", "test")[place % 3],
        language="zh" if chinese else "en",
        domain="law" if place % 4 > 1 else "book",
        title=f"{'堰志' if chinese else 'Weir records'} {place}",
        length_bucket=LENGTH_BUCKETS[place % 3],
    )


def _question(document: Document, candidate: Candidate) -> Question:
    kind, chinese = Kind(candidate.kind), document.language == "zh"
    spans = spans_of(document)
    asked = "水闸是哪一年重建的？" if chinese else "When was the sluice rebuilt?"
    reference = "文中没有提到重建的年份。" if chinese else "The text does not say when it was rebuilt."
    return make_question(
        document,
        answerable=kind is Kind.ANSWERABLE,
        question_id=candidate.candidate_id,
        kind=kind.value,
        question=f"{asked} ({candidate.fragment_index})",
        evidence=spans[:1],
        redactions=spans if kind is Kind.LACK_OF_EVIDENCE else (),
        topic=candidate.topic,
        twin_id=candidate.twin_id,
        reference_response=None if kind is Kind.ANSWERABLE else reference,
    )


def spans_of(document: Document) -> tuple[Span, ...]:
    """Where the fact and its copy are in a document."""
    copy = ZH_COPY if document.language == "zh" else COPY
    first = document.text.lower().index(copy.lower())
    second = document.text.lower().index(copy.lower(), first + 1)
    return Span(first, first + len(copy)), Span(second, second + len(copy))


def make_annotations(
    items: Sequence[tuple[str, str]], target: str = "questions", review: str = "r1", annotators: int = 3
) -> list[dict[str, Any]]:
    """Rows of a review of (item_id, group): everybody passes everything, but the last one fails every fourth item."""
    checks = ("question", "answer") if target == "questions" else ("verdict",)
    return [
        {
            "review": review,
            "annotator": f"annotator {who}",
            "item_id": item,
            "target": target,
            "group": group,
            "check": check,
            "passed": not (who == annotators - 1 and place % 4 == 3),
            "created_at": WHEN,
        }
        for who in range(annotators)
        for place, (item, group) in enumerate(items)
        for check in checks
    ]
