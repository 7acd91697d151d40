"""Which of two new questions is nearer to the original, by people and by the measures (CouldAsk, Table 8). Pure.

A measure prefers the question with the higher entity overlap, similarity or cosine, or with the lower edit distance; a
measure that gives both the same prefers neither. People's answer is what more than half of the annotators say, else a
tie. Only pairs that every annotator of their review has answered count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import polars as pl

from udfs.schema import Status
from udfs.tables.intervals import Estimate, Floats, ratio_estimate, seed_of, statistic_estimate
from udfs.tables.observations import latest_judgements
from udfs.tables.reformulations import COSINE, EDIT_DISTANCE, EDIT_SIMILARITY, ENTITY_OVERLAP, ENTITY_OVERLAP_SOFT

FIRST, SECOND, TIE = "first", "second", "tie"
ANSWERS: Final = (FIRST, SECOND, TIE)
COMPARED: Final = (EDIT_DISTANCE, EDIT_SIMILARITY, ENTITY_OVERLAP, ENTITY_OVERLAP_SOFT, COSINE)
LOWER_IS_NEARER: Final = frozenset({EDIT_DISTANCE})
SAME: Final = 1e-9
"""Scores that differ by less are the same."""
SCORES: Final[dict[str, type[pl.DataType]]] = {
    **dict.fromkeys(("item_id", "measure", "judge"), pl.String),
    **dict.fromkeys(("score_first", "score_second"), pl.Float64),
}
MEASURED: Final[dict[str, type[pl.DataType]]] = {
    "review": pl.String,
    "measure": pl.String,
    "judge": pl.String,
    "pairs": pl.Int64,  # that all annotators answered
    "scored": pl.Int64,  # of these, pairs both of whose questions have a score
    "decided": pl.Int64,  # of these, pairs in which neither people nor the measure see a tie
    "measure_ties": pl.Int64,
    "people_ties": pl.Int64,
    **dict.fromkeys(
        ("agree", "agree_low", "agree_high", "kappa", "kappa_low", "kappa_high", "kappa_ties", "kappa_ties_low",
         "kappa_ties_high"),
        pl.Float64,
    ),
}  # fmt: skip
"""`agree`: share of the decided pairs on which people and measure prefer the same; `kappa`: Fleiss' κ of the two over
the decided pairs; `kappa_ties`: over all scored pairs, with a tie as the third answer."""
BETWEEN: Final[dict[str, type[pl.DataType]]] = {
    "review": pl.String,
    "annotators": pl.Int64,
    "pairs": pl.Int64,
    "unanimous": pl.Int64,
    "ties": pl.Int64,  # pairs whose majority is a tie, or that have none
    "first_share": pl.Float64,  # of the votes that are no tie, those for the question shown first
    **dict.fromkeys(("kappa", "kappa_low", "kappa_high"), pl.Float64),
}


def complete(preferences: pl.DataFrame) -> pl.DataFrame:
    """The preferences of pairs that every annotator of their review has answered."""
    wanted = preferences.group_by("review").agg(wanted=pl.col("annotator").n_unique())
    given = preferences.group_by("review", "item_id").agg(given=pl.col("annotator").n_unique())
    full = given.join(wanted, on="review").filter(pl.col("given") == pl.col("wanted"))
    return preferences.join(full.select("review", "item_id"), on=["review", "item_id"], how="semi")


def majorities(preferences: pl.DataFrame) -> pl.DataFrame:
    """One row a complete pair, sorted: review, item_id, doc_id, the votes for each of `ANSWERS`, preferred."""
    counted = complete(preferences).group_by("review", "item_id", "doc_id").agg(
        *((pl.col("preferred") == answer).sum().cast(pl.Int64).alias(answer) for answer in ANSWERS)
    )  # fmt: skip
    votes = pl.sum_horizontal(ANSWERS)
    said = pl.when(2 * pl.col(FIRST) > votes).then(pl.lit(FIRST)).when(2 * pl.col(SECOND) > votes).then(pl.lit(SECOND))
    return counted.with_columns(preferred=said.otherwise(pl.lit(TIE))).sort("review", "item_id")


def pair_scores(preferences: pl.DataFrame, responses: pl.DataFrame, judgements: pl.DataFrame) -> pl.DataFrame:
    """Columns `SCORES`: what every judge says of both questions of a pair, by each measure of `COMPARED`.

    A response that was asked again since has another question than the one that people saw, and no score here.

    Args:
        preferences: rows of the preferences table.
        responses: run, response_id, reformulation.
        judgements: rows of the judgements table.
    """
    judged = judgements.filter(pl.col("measure").is_in(COMPARED))
    newest = pl.concat([latest_judgements(part) for part in judged.partition_by("run")] or [judged])
    scored = newest.filter((pl.col("status") == Status.OK) & pl.col("score").is_not_null())
    said = scored.select("run", "response_id", "measure", "judge", "score").join(
        responses.select("run", "response_id", "reformulation"), on=["run", "response_id"]
    )
    pairs = preferences.unique("item_id", keep="first", maintain_order=True)

    def side(name: str) -> pl.DataFrame:
        words = pairs.select("item_id", run=f"{name}_run", response_id=name, reformulation=f"{name}_text")
        found = words.join(said, on=["run", "response_id", "reformulation"])
        return found.select("item_id", "measure", "judge", pl.col("score").alias(f"score_{name}"))

    both = side(FIRST).join(side(SECOND), on=["item_id", "measure", "judge"])
    return both.select(list(SCORES)).sort("item_id", "measure", "judge")


def measured_agreement(
    preferences: pl.DataFrame, scores: pl.DataFrame, resamples: int = 1000, seed: int = 0
) -> pl.DataFrame:
    """Columns `MEASURED`: one row a review, measure and judge; intervals are drawn by document.

    Args:
        preferences: rows of the preferences table.
        scores: `pair_scores`.
    """
    rows = []
    for (review,), people in majorities(preferences).group_by("review", maintain_order=True):
        for (measure, judge), said in scores.group_by("measure", "judge"):
            both = people.join(said, on="item_id").with_columns(measured=_preferred(str(measure)))
            if not both.height:
                continue
            decided = both.filter((pl.col("preferred") != TIE) & (pl.col("measured") != TIE))
            draw = seed_of(seed, str(review))
            same = (pl.col("preferred") == pl.col("measured")).sum().cast(pl.Float64)
            shares = decided.group_by("doc_id", maintain_order=True).agg(same=same, n=pl.len().cast(pl.Float64))
            agree = ratio_estimate(shares["same"].to_numpy(), shares["n"].to_numpy(), resamples, draw)
            kappas = [
                _kappa_of_two(part, answers, resamples, draw)
                for part, answers in ((decided, ANSWERS[:2]), (both, ANSWERS))
            ]
            ties = [both.filter(pl.col(name) == TIE).height for name in ("measured", "preferred")]
            numbers = [bound for found in (agree, *kappas) for bound in (found.value, found.low, found.high)]
            rows.append((review, measure, judge, people.height, both.height, decided.height, *ties, *numbers))
    ranks = {measure: place for place, measure in enumerate(COMPARED)}
    order = pl.col("measure").replace_strict(ranks, return_dtype=pl.Int64)
    return pl.DataFrame(rows, schema=MEASURED, orient="row").sort("review", order, "judge")


def _preferred(measure: str) -> pl.Expr:
    """Which question of a pair its two scores prefer."""
    gain = pl.col("score_first") - pl.col("score_second")
    gain = -gain if measure in LOWER_IS_NEARER else gain
    return pl.when(gain > SAME).then(pl.lit(FIRST)).when(gain < -SAME).then(pl.lit(SECOND)).otherwise(pl.lit(TIE))


def annotator_agreement(preferences: pl.DataFrame, resamples: int = 1000, seed: int = 0) -> pl.DataFrame:
    """Columns `BETWEEN`: how far the annotators of each review agree; κ is null where there is one annotator, or where
    all answers are the same.
    """
    rows = []
    for (review,), votes in majorities(preferences).group_by("review", maintain_order=True):
        table = votes.select(ANSWERS).to_numpy().astype(np.float64)
        annotators = int(table[0].sum())
        found = fleiss_estimate(table, votes["doc_id"].to_list(), resamples, seed_of(seed, str(review)))
        unanimous = int((table.max(axis=1) == annotators).sum())
        firsts, seconds = float(table[:, 0].sum()), float(table[:, 1].sum())
        share = firsts / (firsts + seconds) if firsts + seconds else None
        ties = votes.filter(pl.col("preferred") == TIE).height
        rows.append((review, annotators, votes.height, unanimous, ties, share, found.value, found.low, found.high))
    return pl.DataFrame(rows, schema=BETWEEN, orient="row").sort("review")


def _kappa_of_two(both: pl.DataFrame, answers: Sequence[str], resamples: int, seed: int) -> Estimate:
    """Fleiss' κ of people's answer and the measure's as two raters."""
    said = [(pl.col("preferred") == name).cast(pl.Float64) + (pl.col("measured") == name) for name in answers]
    table = both.select(*(votes.alias(name) for votes, name in zip(said, answers, strict=True))).to_numpy()
    return fleiss_estimate(table, both["doc_id"].to_list(), resamples, seed)


def fleiss_estimate(table: Floats, documents: Sequence[str], resamples: int, seed: int) -> Estimate:
    """Fleiss' κ with an interval over documents; no value with one rater, or where every answer is the same.

    Args:
        table: how many raters gave each answer, shape (items, answers); equally many for each item.
        documents: of each item.
    """
    if not len(table) or (raters := table[0].sum()) < 2:
        return Estimate(None)
    agreeing = ((table**2).sum(axis=1) - raters) / (raters * (raters - 1))
    columns = np.column_stack([agreeing, np.ones(len(table)), table])
    order, place = np.unique(np.asarray(documents), return_inverse=True)
    sums = np.zeros((len(order), columns.shape[1]))
    np.add.at(sums, place, columns)
    return statistic_estimate(sums, _fleiss, resamples, seed, least=-1.0)


def _fleiss(sums: Floats) -> Floats:
    """κ of each row of sums: the items' agreement, how many items, and the votes for each answer."""
    votes = sums[:, 2:]
    chance = ((votes / votes.sum(axis=1, keepdims=True)) ** 2).sum(axis=1)
    observed = sums[:, 0] / sums[:, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        kappa: Floats = np.where(chance < 1 - 1e-12, (observed - chance) / (1 - chance), np.nan)
    return kappa


def disputed(preferences: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """(item_id, votes sorted by annotator) of the complete pairs that were not answered alike, by item."""
    votes = complete(preferences).sort("item_id", "annotator")
    for (item_id,), mine in votes.group_by("item_id", maintain_order=True):
        if mine["preferred"].n_unique() > 1:
            yield str(item_id), mine
