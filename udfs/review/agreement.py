"""From annotations to numbers: the share of items that pass, and how far the annotators agree. Pure.

Only items that every annotator of a review has answered in full are counted, so that "all three" means all three.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import polars as pl
from statsmodels.stats.inter_rater import fleiss_kappa
from statsmodels.stats.proportion import proportion_confint

from udfs.schema import Kind
from udfs.tables.intervals import LEVEL

ALL: Final = "all"
BOTH: Final = "both"
"""Of several checks: whether the item passes every one of them."""
UNANIMOUS: Final = "unanimous"
"""An item passes if every annotator passes it (FactGuard's rule: the three had to agree)."""
MAJORITY: Final = "majority"
"""An item passes if more than half of the annotators pass it."""
UNANSWERABLE: Final = "unanswerable"
MISLEADING: Final = "misleading"
GROUP_ORDER: Final = (
    Kind.ANSWERABLE.value,
    Kind.LACK_OF_EVIDENCE.value,
    MISLEADING,
    Kind.ENTITY_SUBSTITUTION.value,
    Kind.IMPOSSIBLE_CONDITION.value,
    Kind.FALSE_ASSUMPTION.value,
    UNANSWERABLE,
    "correct",
    "incorrect",
    "direct_refusal",
    "reasoned_answer",
)
CHECK_ORDER: Final = ("question", "answer", BOTH, "verdict")
_KINDS: Final = frozenset(kind.value for kind in Kind)

QUALITY: Final[dict[str, pl.DataType]] = {
    "review": pl.String(),
    "target": pl.String(),
    "group": pl.String(),
    "check": pl.String(),
    "rule": pl.String(),
    "n": pl.Int64(),
    "passed": pl.Int64(),
    "value": pl.Float64(),
    "ci_low": pl.Float64(),
    "ci_high": pl.Float64(),
}
AGREEMENT: Final[dict[str, pl.DataType]] = {
    "review": pl.String(),
    "check": pl.String(),
    "annotators": pl.Int64(),
    "items": pl.Int64(),
    "unanimous": pl.Int64(),
    "kappa": pl.Float64(),
}


def groups_of(group: str) -> tuple[str, ...]:
    """The groups that an item of `group` is counted in: a kind, a verdict (or kind/verdict), and the unions of kinds.

    `misleading` unites its three kinds, `unanswerable` every kind but answerable, `all` everything.
    """
    found: list[str] = []
    for part in group.split("/"):
        found.append(part)
        if part.startswith(f"{MISLEADING}."):
            found.append(MISLEADING)
        if part in _KINDS and part != Kind.ANSWERABLE:
            found.append(UNANSWERABLE)
    return tuple(dict.fromkeys([*found, ALL]))


def complete_votes(annotations: pl.DataFrame) -> pl.DataFrame:
    """The annotations of the items that every annotator of their review has answered in full."""
    columns = ["review", "annotator", "item_id", "check"]
    votes = annotations.unique(subset=columns, keep="first", maintain_order=True)
    wanted = votes.group_by("review").agg(pl.col("annotator").n_unique() * pl.col("check").n_unique())
    given = votes.group_by("review", "item_id").len("given")
    full = given.join(wanted.rename({"annotator": "wanted"}), on="review").filter(pl.col("given") == pl.col("wanted"))
    return votes.join(full.select("review", "item_id"), on=["review", "item_id"], how="semi", maintain_order="left")


def review_quality(annotations: pl.DataFrame) -> pl.DataFrame:
    """The share of items that pass, by review, group, check and rule.

    Args:
        annotations: rows of the annotations table, of any number of reviews.

    Returns:
        review, target, group (`groups_of`), check (`both` where a review has several), rule (unanimous | majority),
        n, passed, value (0 to 1), ci_low, ci_high (Wilson, 95 %). Where the items were drawn in equal numbers of each
        class, a union of groups is the share of the sample, not of what it was drawn from.
    """
    rows = []
    for review, target, votes in _reviews(annotations):
        for (check,), mine in _with_both(votes).group_by("check", maintain_order=True):
            items = mine.group_by("item_id", "group", maintain_order=True).agg(
                pl.col("passed").all().alias(UNANIMOUS), (pl.col("passed").mean() > 0.5).alias(MAJORITY)
            )
            spread = items.with_columns(
                pl.col("group").map_elements(lambda name: list(groups_of(name)), return_dtype=pl.List(pl.String))
            ).explode("group")
            for (group,), part in spread.group_by("group", maintain_order=True):
                for rule in (UNANIMOUS, MAJORITY):
                    n, passed = part.height, int(part[rule].sum())
                    low, high = proportion_confint(passed, n, alpha=1 - LEVEL, method="wilson")
                    rows.append((review, target, group, check, rule, n, passed, passed / n, float(low), float(high)))
    made = pl.DataFrame(rows, schema=QUALITY, orient="row")
    return made.sort("review", _rank("group", GROUP_ORDER), "group", _rank("check", CHECK_ORDER), "check", "rule")


def review_agreement(annotations: pl.DataFrame) -> pl.DataFrame:
    """How far the annotators agree, by review and check.

    Returns:
        review, check, annotators, items, unanimous (items that all annotators answered alike, passed or not), kappa
        (Fleiss; null with fewer than two annotators, and where every answer is the same, which leaves it undefined).
    """
    rows = []
    for review, _, votes in _reviews(annotations):
        for (check,), mine in votes.group_by("check", maintain_order=True):
            counts = mine.group_by("item_id", maintain_order=True).agg(
                pl.col("passed").sum().cast(pl.Int64).alias("yes"), pl.len().cast(pl.Int64).alias("votes")
            )
            table = np.column_stack([counts["yes"].to_numpy(), (counts["votes"] - counts["yes"]).to_numpy()])
            annotators = mine["annotator"].n_unique()
            unanimous = int((table.max(axis=1) == annotators).sum())
            defined = annotators > 1 and (table.sum(axis=0) > 0).all()
            kappa = float(fleiss_kappa(table)) if defined else None
            rows.append((review, check, annotators, counts.height, unanimous, kappa))
    made = pl.DataFrame(rows, schema=AGREEMENT, orient="row")
    return made.sort("review", _rank("check", CHECK_ORDER), "check")


def disagreements(annotations: pl.DataFrame) -> pl.DataFrame:
    """The votes on items that the annotators of a review did not answer alike, one row a vote, sorted by item."""
    votes = complete_votes(annotations)
    split = votes.group_by("review", "item_id", "check").agg(pl.col("passed").n_unique().alias("answers"))
    named = split.filter(pl.col("answers") > 1)
    found = votes.join(named, on=["review", "item_id", "check"], how="semi")
    return found.sort(
        "review", _rank("group", GROUP_ORDER), "group", "item_id", _rank("check", CHECK_ORDER), "annotator"
    )


def _reviews(annotations: pl.DataFrame) -> Iterator[tuple[str, str, pl.DataFrame]]:
    for (review, target), votes in complete_votes(annotations).group_by("review", "target", maintain_order=True):
        yield str(review), str(target), votes


def _with_both(votes: pl.DataFrame) -> pl.DataFrame:
    """`votes` and, where there are several checks, each annotator's `both`."""
    if votes["check"].n_unique() < 2:
        return votes
    both = votes.group_by("annotator", "item_id", "group", maintain_order=True).agg(pl.col("passed").all())
    columns = ["annotator", "item_id", "group", "check", "passed"]
    return pl.concat([votes.select(columns), both.with_columns(check=pl.lit(BOTH)).select(columns)])


def _rank(column: str, order: tuple[str, ...]) -> pl.Expr:
    ranks = {name: place for place, name in enumerate(order)}
    return pl.col(column).replace_strict(ranks, default=len(order), return_dtype=pl.Int64)
