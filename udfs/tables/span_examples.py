"""New questions that a document answers, by the minimum span of their originals: CouldAsk's Table 7. Pure."""

from __future__ import annotations

from typing import Final

import polars as pl

from udfs.schema import Status
from udfs.tables.observations import latest_judgements
from udfs.tables.reformulations import ANSWERABLE, MINIMUM_SPAN, SPANS, span_sources

EACH: Final = 2
"""Examples of a span in each language."""
EXAMPLES: Final[dict[str, type[pl.DataType]]] = dict.fromkeys(
    ("dataset", "model", "method", "language", "judge", "span", "original", "words", "reformulated"), pl.String
)


def span_examples(rows: pl.DataFrame, questions: pl.DataFrame, judgements: pl.DataFrame) -> pl.DataFrame:
    """Columns `EXAMPLES`: of each span and language at most `EACH` questions, no question twice.

    `words` is the minimum span in the question's words, `judge` who found it; the same one judged answerability, or
    whoever of those who go by its spans is first by name. Which are shown follows from their ids, which are hashes.

    Args:
        rows: `observations.response_rows`.
        questions: rows of the questions table.
        judgements: rows of the judgements table.
    """
    judged = latest_judgements(judgements.filter(pl.col("status") == Status.OK))
    sources = span_sources(judged)
    judge = next((name for name, finder in sources.items() if name == finder), next(iter(sources), None))
    if judge is None:
        return pl.DataFrame(schema=EXAMPLES)
    said = judged.filter((pl.col("judge") == judge) & (pl.col("measure") == ANSWERABLE))
    answerable = said.filter(pl.col("verdict") == "answerable").select("response_id")
    spans = judged.filter((pl.col("judge") == sources[judge]) & (pl.col("measure") == MINIMUM_SPAN))
    found = (
        spans.select("response_id", "judge", span="verdict", words="rationale")
        .join(answerable, on="response_id", how="semi")
        .join(rows.select("response_id", "question_id", "dataset", "model", "method", "language", "reformulation"),
              on="response_id")
        .join(questions.select("question_id", original="question"), on="question_id")
        .filter(pl.col("span").is_in(SPANS) & pl.col("reformulation").is_not_null())
        .sort("question_id", "response_id")
        .unique("question_id", keep="first", maintain_order=True)
    )  # fmt: skip
    order = {span: place for place, span in enumerate(SPANS)}
    return (
        found.group_by("span", "language", maintain_order=True)
        .head(EACH)
        .sort(pl.col("span").replace_strict(order, return_dtype=pl.Int64), "language", "question_id")
        .select(*list(EXAMPLES)[:-1], reformulated="reformulation")
    )
