"""From stored rows to what metrics are taken over: one row a response, with its question's gold beside it.

Every recorded row stays in: a response that has no verdict, or one that could not be parsed, has `ok` false and counts
against coverage; it is never scored as wrong. What was expected and is not recorded is in `udfs.tables.expected`.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from udfs.errors import UserError
from udfs.schema import Status

CELL: Final = ("model", "method", "layout", "dataset")
MISLEADING: Final = "misleading"
"""The union of the three misleading kinds (FactGuard, Tables 5 and 6)."""

RESPONSE_COLUMNS: Final = (
    "response_id",
    "question_id",
    "doc_id",
    *CELL,
    "detector",
    "status",
    "refused",
    "reformulation",
    "reformulation_couldask",
    "turns",
    "created_at",
)
QUESTION_COLUMNS: Final = ("question_id", "language", "kind", "answerable")
DOCUMENT_COLUMNS: Final = ("dataset", "doc_id", "length_bucket")


def latest(responses: pl.DataFrame) -> pl.DataFrame:
    """One response a question in each cell: an ok one first, then the newest (templates or weights may have changed).

    The others are older answers under one run's name; the caller reports how many they were.
    """
    ordered = responses.sort(
        [pl.col("status") == Status.OK, "created_at", "response_id"], descending=[True, True, False]
    )
    return ordered.unique(subset=[*CELL, "question_id"], keep="first", maintain_order=True)


def latest_judgements(judgements: pl.DataFrame) -> pl.DataFrame:
    """One judgement a response, judge and measure: the newest.

    A judge keeps its name when its prompt, context, sampling or rules change, and a response that was asked again has
    other words under the same id; so a run may hold several of its judgements of one response, and only the newest is
    of what stands there now. The others are left out; the caller reports how many they were.
    """
    ordered = judgements.sort(["created_at", "judgement_id"], descending=[True, False])
    return ordered.unique(subset=["response_id", "judge", "measure"], keep="first", maintain_order=True)


def response_rows(responses: pl.DataFrame, questions: pl.DataFrame, documents: pl.DataFrame) -> pl.DataFrame:
    """One row a response: its cell, gold (`answerable`, `kind`), slices (`language`, `length_bucket`) and outcome.

    Args:
        responses, questions, documents: rows of the tables with at least the columns named in this module.

    Raises:
        UserError: a response to a question, or from a document, that the tables do not hold.
    """
    rows = responses.select(RESPONSE_COLUMNS).join(
        questions.select(QUESTION_COLUMNS), on="question_id", how="left", maintain_order="left"
    )
    lost = rows.filter(pl.col("answerable").is_null())
    if lost.height:
        raise UserError(
            f"{lost.height} responses are to questions that the questions table does not hold (first: "
            f"{lost['question_id'][0]} of dataset {lost['dataset'][0]}); ingest that dataset again with jobs.ingest"
        )
    lengths = documents.select(DOCUMENT_COLUMNS).unique(subset=["dataset", "doc_id"])
    rows = rows.join(lengths, on=["dataset", "doc_id"], how="left", maintain_order="left")
    if rows["length_bucket"].null_count():
        dataset = rows.filter(pl.col("length_bucket").is_null())["dataset"][0]
        raise UserError(
            f"responses of dataset {dataset} come from documents that the documents table does not hold; "
            "ingest that dataset again with jobs.ingest"
        )
    return rows.with_columns(
        ok=pl.col("status") == Status.OK,
        n_turns=pl.col("turns").list.len().cast(pl.Int64),
        cut=pl.col("turns").list.eval(pl.element().struct.field("finish_reason") == "length").list.any(),
    ).drop("turns", "created_at")


def verdict_rows(rows: pl.DataFrame, judgements: pl.DataFrame, measure: str) -> pl.DataFrame:
    """`rows` once for each judge of `measure` that judged their model, with that judge's verdict.

    Adds judge, verdict, judged (a judgement is there), unparsed (it is a parse_failure) and makes ok mean that the
    judgement is ok, whatever the response's status: what is judged is the answer of turn 1. Were a response with a
    failed turn 2 left out, only refusals would be missing, for only they have a turn 2.

    Of several judgements by one judge `latest_judgements` keeps one. A model none of whose responses was judged is
    given every judge there is, so that it shows with coverage 0 instead of being absent.
    """
    mine = latest_judgements(judgements.filter(pl.col("measure") == measure)).select(
        "response_id", "judge", "verdict", pl.col("status").alias("verdict_status")
    )
    by_model = rows.select("response_id", "model").join(mine, on="response_id").select("model", "judge").unique()
    unjudged = rows.select("model").unique().join(by_model, on="model", how="anti")
    judges = pl.concat([by_model, unjudged.join(mine.select("judge").unique(), how="cross")])
    joined = rows.join(judges, on="model", how="inner").join(mine, on=["response_id", "judge"], how="left")
    return joined.with_columns(
        judged=pl.col("verdict_status").is_not_null(),
        unparsed=(pl.col("verdict_status") == Status.PARSE_FAILURE).fill_null(False),
        ok=(pl.col("verdict_status") == Status.OK).fill_null(False) & pl.col("verdict").is_not_null(),
    )


def correctness(rows: pl.DataFrame, judgements: pl.DataFrame, measure: str) -> pl.DataFrame:
    """`verdict_rows` with `correct` (null where not ok): of `answer_consistency`, or of `refusal` against the gold."""
    judged = verdict_rows(rows, judgements, measure)
    if measure == "refusal":
        right = (pl.col("verdict") == "refused") != pl.col("answerable")
    else:
        right = pl.col("verdict") == "correct"
    return judged.with_columns(correct=pl.when("ok").then(right))
