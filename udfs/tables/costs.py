"""What each cell of a run cost: engines' time and money shared out by tokens.

A cell does not run by itself: the methods read a document together, and whichever is first computes it for all. So of
each document the computed prompt tokens are shared out among the cells that read it, in proportion to their prompts;
output tokens are each cell's own, and count `OUTPUT_WEIGHT` times. By the sum of the two a model's cells share its
engines' hours and money.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from udfs.tables.observations import CELL

OUTPUT_WEIGHT: Final = 5.0
"""An output token is taken to keep an engine as long as so many computed prompt tokens."""
COSTS: Final[dict[str, type[pl.DataType]]] = {
    **dict.fromkeys(CELL, pl.String),
    "questions": pl.Int64,
    "computed_tokens": pl.Float64,
    "output_tokens": pl.Int64,
    "gpu_hours": pl.Float64,
    "usd": pl.Float64,
}
"""Columns of `cell_costs`; a model's judging is among its cells' tokens, hours and money."""
_TOKENS: Final = ("prompt_tokens", "cached_tokens", "output_tokens")


def cell_costs(responses: pl.DataFrame, judgements: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
    """Columns `COSTS`, one row a cell, sorted.

    Args:
        responses, judgements: rows of the run, of which nothing is left out: what was superseded was paid too.
        runs: its rows of the runs table.
    """
    asked = _turn_tokens(responses)
    judged = _judge_tokens(judgements, responses)
    spent = _spent(runs)
    shares = [_shared_out(asked, spent.filter(pl.col("job") == "evaluate"), ["model"])]
    if judged.height:
        shares.append(_shared_out(judged, spent.filter(pl.col("job") == "judge"), ["judge"]))
    total = pl.concat(shares).group_by(CELL).agg(pl.all().sum())
    counted = responses.group_by(CELL).agg(questions=pl.col("question_id").n_unique().cast(pl.Int64))
    return (
        counted.join(total, on=list(CELL), how="left")
        .with_columns(pl.col("computed_tokens", "output_tokens", "gpu_hours", "usd").fill_null(0))
        .cast({"output_tokens": pl.Int64})
        .select(list(COSTS))
        .sort(CELL)
    )


def _turn_tokens(responses: pl.DataFrame) -> pl.DataFrame:
    """Tokens of the dialogues, by document and cell; those of judges on the same engine are not in them."""
    turns = responses.select("doc_id", *CELL, "turns").explode("turns", empty_as_null=False, keep_nulls=False)
    fields = [pl.col("turns").struct.field(name) for name in _TOKENS]
    return turns.select("doc_id", *CELL, *fields).group_by("doc_id", *CELL).agg(pl.col(_TOKENS).sum())


def _judge_tokens(judgements: pl.DataFrame, responses: pl.DataFrame) -> pl.DataFrame:
    """Tokens of judges that are models, by judge, document and cell."""
    of = responses.select("response_id", "doc_id", *CELL)
    paid = judgements.filter(pl.col("prompt_tokens") > 0).select("response_id", "judge", *_TOKENS)
    return paid.join(of, on="response_id").group_by("judge", "doc_id", *CELL).agg(pl.col(_TOKENS).sum())


def _spent(runs: pl.DataFrame) -> pl.DataFrame:
    """Hours and money by job and model (for judges: the judge's name)."""
    return runs.group_by("job", "model").agg(pl.col("gpu_hours").sum(), pl.col("usd").sum())


def _shared_out(tokens: pl.DataFrame, spent: pl.DataFrame, payer: list[str]) -> pl.DataFrame:
    """Columns `CELL`, computed_tokens, output_tokens, gpu_hours, usd.

    Args:
        tokens: by document, cell and `payer`.
        spent: of jobs whose model stands in the payer's column of `tokens`.
        payer: the column by which hours and money belong to tokens.
    """
    within = [*payer, "doc_id"]
    whole = pl.col("prompt_tokens").sum().over(within)
    computed = (pl.col("prompt_tokens") - pl.col("cached_tokens")).sum().over(within)
    cells = (
        tokens.with_columns(computed_tokens=computed * pl.col("prompt_tokens") / pl.max_horizontal(whole, 1))
        .group_by(list(dict.fromkeys([*payer, *CELL])))
        .agg(pl.col("computed_tokens").sum(), pl.col("output_tokens").sum())
    )
    weight = pl.col("computed_tokens") + OUTPUT_WEIGHT * pl.col("output_tokens")
    named = spent.select(pl.col("model").alias(payer[0]), "gpu_hours", "usd")
    share = weight / weight.sum().over(payer)
    return (
        cells.join(named, on=payer, how="left")
        .with_columns((pl.col(name).fill_null(0.0) * share).fill_nan(0.0).alias(name) for name in ("gpu_hours", "usd"))
        .select(*CELL, "computed_tokens", "output_tokens", "gpu_hours", "usd")
    )
