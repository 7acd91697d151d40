"""What a sample is drawn from, read from the tables, and the items that are made of what was drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import polars as pl

from udfs.errors import UserError
from udfs.judges.base import judgeable
from udfs.records import Judgement, Question, Response
from udfs.review.items import judgement_item, question_item
from udfs.review.sheet import Item
from udfs.schema import Status
from udfs.tables.observations import DOCUMENT_COLUMNS, latest, latest_judgements
from udfs.tables.selection import chosen as chosen_rows
from udfs.tables.selection import which_run
from udfs.tables.store import Store
from udfs.tables.texts import texts


class Drawable(Protocol):
    """What a sample is drawn from, whatever is reviewed."""

    @property
    def axes(self) -> tuple[str, ...]:
        """What the strata are by."""
        ...

    @property
    def strata(self) -> Mapping[str, tuple[str, ...]]:
        """The stratum of every item, by id."""
        ...

    @property
    def about(self) -> dict[str, str]:
        """What this is, in words, by name."""
        ...

    def items(self, store: Store, ids: Iterable[str], around: int) -> list[Item]:
        """The items of the ids, sorted by id; `around`: characters of a document shown on both sides of a mark."""
        ...

    def facts(self, ids: Iterable[str]) -> dict[str, dict[str, Any]]:
        """By id, what annotators are not shown and their answers are stored with."""
        ...


@dataclass(frozen=True)
class Pool:
    """Questions or verdicts that can be drawn: the stratum of every item by id, and what the items will be made of.

    Args:
        axes: what the strata are by.
        about: what this is, in words, by name.
        questions: by question_id, with the twins that are in the same datasets.
        judged: the judgement and the response of every item, where verdicts are reviewed; else empty.
    """

    axes: tuple[str, ...]
    strata: Mapping[str, tuple[str, ...]]
    about: dict[str, str]
    questions: Mapping[str, Question]
    judged: Mapping[str, tuple[Judgement, Response]] = field(default_factory=dict)

    def question_of(self, item_id: str) -> Question:
        """The question that an item is about."""
        return self.questions[self.judged[item_id][0].question_id if self.judged else item_id]

    def items(self, store: Store, ids: Iterable[str], around: int) -> list[Item]:
        """See `Drawable`."""
        return made_items(store, self, ids, around)

    def facts(self, ids: Iterable[str]) -> dict[str, dict[str, Any]]:
        """See `Drawable`: an item's id is all that its answers need."""
        return {}


def question_pool(store: Store, datasets: Sequence[str]) -> Pool:
    """Every question of the datasets (none named: all), by kind × language × length bucket.

    Raises:
        UserError: a dataset is unknown, or there are no questions.
    """
    store.require_datasets(list(datasets))
    names = list(dict.fromkeys(datasets)) or store.dataset_names()
    rows = pl.concat([store.read("questions", part=name) for name in names])
    if rows.is_empty():
        raise UserError(f"the datasets {', '.join(names)} under {store.root} hold no questions to review")
    lengths = store.read("documents", DOCUMENT_COLUMNS).unique(subset=["dataset", "doc_id"])
    placed = rows.select("question_id", "dataset", "doc_id", "kind", "language").join(
        lengths, on=["dataset", "doc_id"], how="left", maintain_order="left"
    )
    lost = placed.filter(pl.col("length_bucket").is_null())
    if lost.height:
        raise UserError(
            f"{lost.height} questions are of documents that the documents table does not hold (first: "
            f"{lost['question_id'][0]} of dataset {lost['dataset'][0]}); make or ingest that dataset again"
        )
    strata = {
        row["question_id"]: (row["kind"], row["language"], row["length_bucket"]) for row in placed.iter_rows(named=True)
    }
    about = {"reviewed": "questions", "datasets": ", ".join(names)}
    return Pool(("kind", "language", "length"), strata, about, _questions(rows))


def judgement_pool(store: Store, run: str | None, judge: str | None, measure: str, datasets: Sequence[str]) -> Pool:
    """Every verdict of one judge on what stands in a run now, by verdict (and kind, for answer_consistency).

    Args:
        run: None: the one started last.
        judge: None: the only one there is.

    Raises:
        UserError: there is no such run, judge or dataset, or nothing it has judged.
    """
    run = which_run(store, run, ("responses",))
    responses = latest(chosen_rows(store.read("responses", part=run), datasets, ()))
    rows = store.read("judgements", part=run).filter(pl.col("measure") == measure)
    rows = latest_judgements(rows.join(responses.select("response_id"), on="response_id", how="semi"))
    judge = _which_judge(rows, judge, run, measure)
    rows = rows.filter((pl.col("judge") == judge) & (pl.col("status") == Status.OK) & pl.col("verdict").is_not_null())
    if rows.is_empty():
        raise UserError(f"judge {judge} gave no verdict on {measure} in run {run}: nothing to review")
    questions = _questions(store.read("questions"))
    replies = {row["response_id"]: Response.from_row(row) for row in responses.iter_rows(named=True)}
    strata, judged = {}, {}
    for row in rows.iter_rows(named=True):
        verdict, response = _judgement(row), replies[row["response_id"]]
        question = questions.get(verdict.question_id)
        if question is None:
            raise UserError(
                f"a verdict is on question {verdict.question_id} of dataset {response.dataset}, which the questions "
                "table does not hold; make or ingest that dataset again"
            )
        if not judgeable(response):
            continue  # asked again since, without an answer: its verdict is of words that are gone
        by_kind = (question.kind,) if measure == "answer_consistency" else ()
        strata[verdict.judgement_id] = (*by_kind, str(verdict.verdict))
        judged[verdict.judgement_id] = (verdict, response)
    about = {"reviewed": f"verdicts on {measure}", "judge": judge, "run": run}
    if not strata:
        raise UserError(f"no response of run {run} has an answer any more: nothing to review")
    axes = ("kind", "verdict") if measure == "answer_consistency" else ("verdict",)
    return Pool(axes, strata, about, questions, judged)


def made_items(store: Store, pool: Pool, ids: Iterable[str], around: int) -> list[Item]:
    """The items of the ids, documents read once each.

    Args:
        around: characters of the document shown on both sides of a mark.
    """
    by_document: dict[str, dict[str, list[str]]] = {}
    for item_id in ids:
        question = pool.question_of(item_id)
        by_document.setdefault(question.dataset, {}).setdefault(question.doc_id, []).append(item_id)
    made = []
    for dataset, wanted in by_document.items():
        for text in texts(store, dataset, wanted):
            for item_id in wanted.pop(text.doc_id):
                question = pool.question_of(item_id)
                if pool.judged:
                    made.append(judgement_item(*pool.judged[item_id], question, text, around))
                else:
                    made.append(question_item(question, pool.questions.get(question.twin_id or ""), text, around))
        if wanted:
            raise UserError(
                f"document {next(iter(wanted))} of dataset {dataset} is not in the documents table; make or ingest "
                "that dataset again"
            )
    return sorted(made, key=lambda item: item.id)


def _questions(rows: pl.DataFrame) -> dict[str, Question]:
    return {row["question_id"]: Question.from_row(row) for row in rows.iter_rows(named=True)}


def _judgement(row: dict[str, Any]) -> Judgement:
    names = ("judgement_id", "response_id", "question_id", "run", "measure", "judge", "status", "created_at", "verdict")
    return Judgement(**{name: row[name] for name in names})


def _which_judge(rows: pl.DataFrame, wanted: str | None, run: str, measure: str) -> str:
    have = sorted(rows["judge"].unique())
    if not have:
        raise UserError(f"run {run} holds no verdicts on {measure}; judge it with jobs.evaluate first")
    if wanted is not None and wanted not in have:
        raise UserError(f"judge_name={wanted!r} gave no verdicts on {measure} in run {run}; judges: {', '.join(have)}")
    if wanted is None and len(have) > 1:
        raise UserError(f"run {run} has several judges of {measure}: give judge_name= one of {', '.join(have)}")
    return wanted or have[0]
