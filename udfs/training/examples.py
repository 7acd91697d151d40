"""What is learnt from: questions of ingested datasets, each with the view that it is asked of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from udfs.records import Question, Span
from udfs.sources.training import forbids_training
from udfs.tables.store import Store
from udfs.tables.texts import texts
from udfs.views import View

FORBIDDEN: Final = "its source forbids training"
NO_DOCUMENT: Final = "its document is not there"
BAD_REDACTION: Final = "a redaction does not lie within its document"


@dataclass(frozen=True, slots=True)
class Example:
    """One question, and the text that it is asked of.

    Args:
        split: the dataset's own name for it.
        text: the view: the document without the question's redactions.
        evidence: in characters of `text`; empty where the source names none.
    """

    question_id: str
    doc_id: str
    dataset: str
    split: str
    text: str
    question: str
    answerable: bool
    evidence: tuple[Span, ...]


@dataclass
class Gathered:
    """The examples of all datasets, in an order that no file layout changes, and what was left out and why."""

    examples: list[Example] = field(default_factory=list)
    left_out: dict[str, Counter[str]] = field(default_factory=dict)
    licences: dict[str, list[str]] = field(default_factory=dict)
    """By dataset: the licences that its documents name."""

    @property
    def n_left_out(self) -> int:
        return sum(reasons.total() for reasons in self.left_out.values())


def gather(store: Store, datasets: Sequence[str]) -> Gathered:
    """The questions of `datasets` that may be trained on, with their texts.

    Raises:
        UserError: a dataset is not there or not complete.
    """
    store.require_datasets(datasets)
    found = Gathered()
    for dataset in dict.fromkeys(datasets):
        reasons: Counter[str] = Counter()
        asked: dict[str, list[Question]] = {}
        for row in store.read("questions", part=dataset).sort("doc_id", "question_id").iter_rows(named=True):
            question = Question.from_row(row)
            if forbids_training(question.provenance):
                reasons[FORBIDDEN] += 1
                continue
            asked.setdefault(question.doc_id, []).append(question)
        by_text = {text.doc_id: text.text for text in texts(store, dataset, asked)}
        for doc_id, questions in asked.items():
            for question in questions:
                made = _example(question, by_text.get(doc_id))
                if isinstance(made, str):
                    reasons[made] += 1
                else:
                    found.examples.append(made)
        found.left_out[dataset] = reasons
        licences = store.read("documents", ["license"], part=dataset)["license"]
        found.licences[dataset] = sorted({str(licence) or "unstated" for licence in licences})
    return found


def _example(question: Question, text: str | None) -> Example | str:
    """The example, or why there is none."""
    if text is None:
        return NO_DOCUMENT
    view = View(len(text), question.redactions)
    try:
        shown = view.text(text)
        evidence = [view.to_view(span) for span in question.evidence if span.end <= len(text)]
    except ValueError:
        return BAD_REDACTION
    return Example(
        question_id=question.question_id,
        doc_id=question.doc_id,
        dataset=question.dataset,
        split=question.split,
        text=shown,
        question=question.question,
        answerable=question.answerable,
        evidence=tuple(span for span in evidence if span is not None),
    )
