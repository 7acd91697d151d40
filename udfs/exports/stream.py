"""The one pass over the documents that writes every row: a text is read once, used for all its questions, let go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from udfs.errors import RunFailed
from udfs.exports.files import RowFiles
from udfs.exports.pairs import Rejected
from udfs.exports.plan import Plan
from udfs.exports.rows import document_row, dpo_row, prompt, question_row, sft_row, view_row
from udfs.records import Question
from udfs.tables.store import Store
from udfs.tables.texts import texts
from udfs.views import view_text


@dataclass(frozen=True)
class Training:
    """What becomes of the questions of the training split.

    Args:
        sft: by question_id, the assistant's message of its SFT record.
        chosen: by question_id, the chosen side of its pairs.
        rejected: by question_id, the rejected sides.
    """

    sft: Mapping[str, str]
    chosen: Mapping[str, str]
    rejected: Mapping[str, list[Rejected]]


def write_rows(store: Store, plan: Plan, benchmark: bool, training: Training, files: RowFiles) -> None:
    """Write the rows of everything that the plan holds.

    Args:
        benchmark: write questions, documents and views, too.

    Raises:
        RunFailed: a document that the plan knows is no longer there.
    """
    for dataset, doc_ids in plan.homes.items():
        wanted = [doc_id for doc_id in doc_ids if benchmark or _trains(plan.by_document[doc_id], training)]
        owed = set(wanted)
        for document in texts(store, dataset, wanted):
            owed.discard(document.doc_id)
            split = plan.names[plan.split_of(document.doc_id)]
            if benchmark:
                facts = plan.documents[dataset, document.doc_id]
                row = document_row(facts, plan.split_of(document.doc_id), document.text)
                files.add("documents", split, row, len(document.text))
            for question in plan.by_document[document.doc_id]:
                if benchmark:
                    _write_benchmark(plan, question, document.text, split, files)
                _write_training(question, document.text, split, training, files)
        if owed:
            raise RunFailed(f"document {min(owed)} of dataset {dataset!r} went away while it was being exported")


def _trains(about: tuple[Question, ...], training: Training) -> bool:
    return any(q.question_id in training.sft or q.question_id in training.rejected for q in about)


def _write_benchmark(plan: Plan, question: Question, text: str, split: str, files: RowFiles) -> None:
    row = question_row(question, plan.facts(question), text)
    files.add("questions", split, row, sum(map(len, row["evidence"])) + len(question.question))
    files.add("views", split, view_row(question, len(text)), 0)


def _write_training(question: Question, text: str, split: str, training: Training, files: RowFiles) -> None:
    good, rejected = training.sft.get(question.question_id), training.rejected.get(question.question_id, [])
    if good is None and not rejected:
        return
    asked = prompt(question, view_text(text, question.redactions))
    if good is not None:
        files.add("sft", split, sft_row(question, asked, good), len(text))
    for bad in rejected:
        files.add("dpo", split, dpo_row(question, asked, training.chosen[question.question_id], bad), len(text))
