"""Rows for tests of the metrics table, and a way to pick one of its rows."""

from __future__ import annotations

from typing import Any

import polars as pl

from tests.factories import frame, make_document, make_judgement, make_question, make_response
from udfs.schema import Status
from udfs.tables.expected import PLANNED
from udfs.tables.metrics import metrics
from udfs.tables.observations import response_rows


class Bench:
    """Collects rows for one test; each `ask` is a document's question, its response and its verdicts."""

    def __init__(self) -> None:
        self.documents: list[Any] = []
        self.questions: list[Any] = []
        self.responses: list[Any] = []
        self.judgements: list[Any] = []

    def ask(
        self,
        document: str,
        answerable: bool,
        refused: bool | None,
        consistency: str | None = None,
        response_class: str | None = None,
        dataset: str = "bench",
        status: Status = Status.OK,
        question: dict[str, Any] | None = None,
        bucket: str = "0-16K",
        **response: Any,
    ) -> None:
        made = make_document(document, dataset, length_bucket=bucket)
        self.documents.append(made)
        asked = make_question(made, len(self.questions), answerable, **(question or {}))
        self.questions.append(asked)
        answer = make_response(asked, status=status, refused=bool(refused), **response)
        self.responses.append(answer)
        if status is not Status.OK:
            return
        verdict = None if refused is None else ("refused" if refused else "answered")
        self.judgements.append(make_judgement(answer, "refusal", verdict))
        if consistency:
            self.judgements.append(make_judgement(answer, "answer_consistency", consistency))
        if response_class:
            self.judgements.append(make_judgement(answer, "response_class", response_class))

    def rows(self) -> pl.DataFrame:
        return response_rows(
            frame("responses", self.responses),
            frame("questions", self.questions),
            frame("documents", self.documents).unique(subset=["dataset", "doc_id"]),
        )

    @staticmethod
    def planned(*cells: tuple[str, str, int]) -> pl.DataFrame:
        """`planned_cells`, method zs, of (model, dataset, expected)."""
        plan = [(model, "zs", "document_first", dataset, expected) for model, dataset, expected in cells]
        return pl.DataFrame(plan, schema=PLANNED, orient="row")

    def metrics(self, **given: Any) -> pl.DataFrame:
        return metrics(self.rows(), frame("judgements", self.judgements), "main", **{"resamples": 200, **given})


def pick(found: pl.DataFrame, metric: str, **where: str) -> dict[str, Any]:
    wanted = {"dataset": "bench", "language": "all", "kind": "all", "length_bucket": "all", "metric": metric} | where
    rows = found.filter(*[pl.col(name) == value for name, value in wanted.items()])
    assert rows.height == 1, (wanted, rows)
    return rows.row(0, named=True)


def detection_bench() -> Bench:
    """Three hits, one miss, two false refusals, four answers, over five documents; and one over_length row."""
    bench = Bench()
    for number, (answerable, refused) in enumerate(
        [(False, True)] * 3 + [(False, False)] + [(True, True)] * 2 + [(True, False)] * 4
    ):
        bench.ask(f"document {number % 5}", answerable, refused)
    bench.ask("document 0", False, False, status=Status.OVER_LENGTH)
    return bench
