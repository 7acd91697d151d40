"""What an export holds, decided before any text is read: which questions, in which split, of which documents."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from udfs.errors import UserError
from udfs.exports.rows import LeftOut, reference
from udfs.records import Question
from udfs.tables.store import Store

FACTS: Final = (
    *("doc_id", "dataset", "split", "language", "domain", "title", "source", "license"),
    *("n_chars", "n_words", "n_tokens", "tokenizer", "length_bucket"),
)
"""The documents table without texts."""
SPLIT_ORDER: Final = ("train", "dev", "validation", "test")
HELD_OUT: Final = ("dev", "validation", "test")
"""Splits that never become training records."""
RESERVED: Final = {"all": "full"}
"""Split names that Hugging Face keeps for itself, and what they are called in an export."""


@dataclass(frozen=True)
class Plan:
    """The questions of an export and their documents.

    Args:
        questions: every exported question.
        documents: by (dataset, doc_id), the document's row without its text.
        homes: by dataset, the documents whose text is read there: each doc_id once, in the first dataset that has it.
        by_document: the questions about each doc_id.
        names: split → its name in the export, in the order of the export.
        unasked: documents without an exported question; they are not exported.
        bad_offsets: questions left out because a span does not lie within their document.
        lost_twins: questions whose twin is not in the export.
        shared_titles: titles that documents of two splits bear.
    """

    questions: tuple[Question, ...]
    documents: Mapping[tuple[str, str], Mapping[str, Any]]
    homes: Mapping[str, tuple[str, ...]]
    by_document: Mapping[str, tuple[Question, ...]]
    names: Mapping[str, str]
    unasked: int
    bad_offsets: int
    lost_twins: int
    shared_titles: int

    def split_of(self, doc_id: str) -> str:
        """The split of a document: that of its questions."""
        return self.by_document[doc_id][0].split

    def of_split(self, split: str) -> list[Question]:
        return [question for question in self.questions if question.split == split]

    def facts(self, question: Question) -> Mapping[str, Any]:
        """The question's document in its own dataset."""
        return self.documents[question.dataset, question.doc_id]


def load(store: Store, datasets: Sequence[str]) -> tuple[list[Question], pl.DataFrame]:
    """Questions of `datasets`, and the rows of their documents without texts.

    Raises:
        UserError: an unknown dataset, one whose ingest broke off, or one without questions.
    """
    store.require_datasets(datasets)
    questions: list[Question] = []
    for name in datasets:
        rows = store.read("questions", part=name)
        if rows.is_empty():
            raise UserError(
                f"dataset {name!r} under {store.root} has no questions to export; make some with "
                f"`python -m jobs.synthesize 'datasets=[{name}]' storage.root={store.root}`"
            )
        questions += [Question.from_row(row) for row in rows.iter_rows(named=True)]
    return questions, pl.concat([store.read("documents", FACTS, part=name) for name in datasets])


def make_plan(questions: Iterable[Question], documents: pl.DataFrame, datasets: Sequence[str]) -> Plan:
    """The plan of an export of `datasets`.

    Args:
        documents: rows with the columns `FACTS`.

    Raises:
        UserError: a document has questions in two splits, a question's document is not there, no question is left, or
            two splits would bear one name.
    """
    facts = {(row["dataset"], row["doc_id"]): row for row in documents.iter_rows(named=True)}
    asked = list(questions)
    for question in asked:
        if (question.dataset, question.doc_id) not in facts:
            raise UserError(
                f"question {question.question_id} of dataset {question.dataset!r} is about document {question.doc_id}, "
                "which is not among the documents; ingest the dataset again"
            )
    kept = [question for question in asked if _fits(question, facts[question.dataset, question.doc_id]["n_chars"])]
    if not kept:
        raise UserError(f"the datasets {', '.join(datasets)} hold no question whose offsets lie within its document")
    _require_disjoint(kept)
    by_document: dict[str, list[Question]] = {}
    for question in sorted(kept, key=lambda question: question.question_id):
        by_document.setdefault(question.doc_id, []).append(question)
    homes: dict[str, list[str]] = {}
    for doc_id in by_document:
        home = next(name for name in datasets if (name, doc_id) in facts)
        homes.setdefault(home, []).append(doc_id)
    ids = {question.question_id for question in kept}
    return Plan(
        questions=tuple(kept),
        documents=facts,
        homes={name: tuple(homes[name]) for name in datasets if name in homes},
        by_document={doc_id: tuple(about) for doc_id, about in by_document.items()},
        names=split_names({question.split for question in kept}),
        unasked=len({doc_id for _, doc_id in facts} - by_document.keys()),
        bad_offsets=len(asked) - len(kept),
        lost_twins=sum(question.twin_id is not None and question.twin_id not in ids for question in kept),
        shared_titles=_shared_titles(kept, facts),
    )


def split_names(splits: Collection[str]) -> dict[str, str]:
    """Split → its name as a file and in Hugging Face, which takes letters, digits and `_`, and reserves `all`.

    Raises:
        UserError: two splits would bear one name.
    """
    known = {name: position for position, name in enumerate(SPLIT_ORDER)}
    ordered = sorted(splits, key=lambda split: (known.get(split, len(known)), split))
    names = {split: RESERVED.get(split, re.sub(r"\W+", "_", split).strip("_") or "unnamed") for split in ordered}
    names = {split: RESERVED.get(name, name) for split, name in names.items()}
    for split, name in names.items():
        same = [other for other, taken in names.items() if taken.casefold() == name.casefold() and other != split]
        if same:
            raise UserError(f"the splits {split!r} and {same[0]!r} would both be exported as {name!r}; rename one")
    return names


def references(questions: Iterable[Question]) -> tuple[dict[str, str], dict[LeftOut, int]]:
    """What a good response says, by question_id; and how many questions have none, by reason."""
    found: dict[str, str] = {}
    without: dict[LeftOut, int] = {}
    for question in questions:
        good = reference(question)
        if isinstance(good, LeftOut):
            without[good] = without.get(good, 0) + 1
        else:
            found[question.question_id] = good
    return found, without


def _fits(question: Question, length: int) -> bool:
    return all(0 <= start <= end <= length for start, end in (*question.evidence, *question.redactions))


def _require_disjoint(questions: Iterable[Question]) -> None:
    splits: dict[str, dict[str, str]] = {}
    for question in questions:
        splits.setdefault(question.doc_id, {}).setdefault(question.split, question.dataset)
    shared = {doc_id: found for doc_id, found in splits.items() if len(found) > 1}
    if shared:
        doc_id, found = min(shared.items())
        where = ", ".join(f"{split!r} of dataset {dataset!r}" for split, dataset in sorted(found.items()))
        raise UserError(
            f"{len(shared):,} documents have questions in more than one split, the first is {doc_id} ({where}): what "
            "is trained on would be tested on. Export the datasets apart, or ingest them so that a document has one "
            "split"
        )


def _shared_titles(questions: Iterable[Question], facts: Mapping[tuple[str, str], Mapping[str, Any]]) -> int:
    splits: dict[str, set[str]] = {}
    for question in questions:
        title = facts[question.dataset, question.doc_id]["title"].strip()
        if title:
            splits.setdefault(title, set()).add(question.split)
    return sum(len(found) > 1 for found in splits.values())
