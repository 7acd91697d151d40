"""Where a report's files go: `reports/<run>/` under the storage root, on disk or object storage."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from udfs.records import Question
from udfs.report.explorer import found_answers
from udfs.report.grid import Report
from udfs.report.lookup import ACCURACY, main_judge
from udfs.report.page import viewer_page
from udfs.report.viewer import (
    SHOWS_A_SENTENCE,
    Shelf,
    document_chunks,
    index_script,
    response_chunks,
    shown_responses,
)
from udfs.tables.store import Store
from udfs.tables.texts import Text, texts

VIEWER = "responses.html"


class ReportFolder:
    """Writes UTF-8 files under `reports/<run>/`."""

    def __init__(self, store: Store, run: str) -> None:
        self.store = store
        self._parts = ("reports", run)

    def address(self, name: str) -> str:
        return self.store.address(*self._parts, name)

    def write(self, name: str, content: str) -> None:
        self.store.write_bytes(content.encode("utf-8"), *self._parts, name)

    def empty(self, name: str) -> None:
        """Take away what an earlier report left in a folder of this one."""
        self.store.delete_folder(*self._parts, name)


def write_viewer(
    folder: ReportFolder,
    made: Report,
    responses: pl.DataFrame,
    rows: pl.DataFrame,
    judgements: pl.DataFrame,
    questions: pl.DataFrame,
    measured: pl.DataFrame,
    most: int,
    around: int,
) -> str:
    """Write the page of responses and its data; give the page's file name. Documents pass by one chunk at a time.

    Args:
        made: the report that the page belongs to.
        responses, rows, judgements, questions: of the run (`rows` from `observations.response_rows`, `judgements` from
            `observations.latest_judgements`).
        measured: rows of the metrics table, for the judge whose verdicts mark the responses.
        most: at most so many responses.
        around: characters of the document on both sides of a mark in an excerpt.
    """
    judge = main_judge(measured, ACCURACY)
    shown = shown_responses(responses, rows, judgements, judge, most)
    asked = _questions(questions, shown)
    by_document: dict[tuple[str, str], list[Question]] = {}
    for question in asked.values():
        by_document.setdefault((question.dataset, question.doc_id), []).append(question)

    folder.empty("data")
    shelf = Shelf()
    documents = _texts(folder.store, shown)
    answers = found_answers(shown, judgements)
    told = set(shown.filter((pl.col("method") == SHOWS_A_SENTENCE) & pl.col("refused"))["question_id"])
    for name, content in document_chunks(documents, by_document, around, shelf, answers, told):
        folder.write(f"data/{name}", content)
    for name, content in response_chunks(shown, judgements, asked, shelf):
        folder.write(f"data/{name}", content)
    folder.write("data/index.js", index_script(shown, asked, {"run": made.run}))
    left_out = responses.height - shown.height
    note = f"shows {shown.height:,} of {responses.height:,} responses" if left_out else ""
    folder.write(
        VIEWER, viewer_page(made, " · ".join(filter(None, [f"verdict marks by {judge}" if judge else "", note])))
    )
    return VIEWER


def _questions(questions: pl.DataFrame, shown: pl.DataFrame) -> dict[str, Question]:
    needed = questions.join(shown.select("question_id").unique(), on="question_id", how="semi")
    return {row["question_id"]: Question.from_row(row) for row in needed.iter_rows(named=True)}


def _texts(store: Store, shown: pl.DataFrame) -> Iterator[Text]:
    for (dataset,), part in shown.group_by("dataset", maintain_order=True):
        yield from texts(store, str(dataset), set(part["doc_id"]))
