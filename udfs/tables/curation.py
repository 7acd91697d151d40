"""What became of the questions of a curation: the fate of each, and how many are left after each step. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import polars as pl

from udfs.schema import PERMANENT, ProposalFate, Status

GENERATED, PARSED, DISTINCT, CONFUSING = "generated", "parsed", "distinct", "confused the checker"
ANNOTATED, LABELLED, UNANSWERABLE = "annotated by all", "labelled", "of these unanswerable"
STEPS: Final = (GENERATED, PARSED, DISTINCT, CONFUSING, ANNOTATED, LABELLED, UNANSWERABLE)
PUBLISHED: Final[dict[str, dict[str, int]]] = {
    name: {GENERATED: generated, CONFUSING: kept, ANNOTATED: kept, LABELLED: kept, UNANSWERABLE: unanswerable}
    for name, generated, kept, unanswerable in (
        ("BBC", 9500, 278, 59),
        ("Reddit", 9964, 313, 113),
        ("Yelp", 10000, 165, 51),
    )
}
"""CouldAsk, section 4.1. The unanswerable are printed as 21.22, 36.10 and 30.91 %, which are these integers."""
PUBLISHED_KAPPA: Final = {"BBC": 65.07, "Reddit": 59.94, "Yelp": 58.76}
"""CouldAsk, Table 12: 100 × Fleiss κ of the three annotators."""
_TO_CHECK: Final = frozenset(
    {
        ProposalFate.UNCHECKED, ProposalFate.CHECK_FAILED, ProposalFate.NOT_CONFUSING, ProposalFate.AWAITING_ANNOTATION
    }
)  # fmt: skip
OWED: Final = frozenset({ProposalFate.UNCHECKED, ProposalFate.PROVIDER_ERROR})
"""Fates that another start decides."""
FATE_COLUMNS: Final = (
    "proposal_id", "doc_id", "source_dataset", "language", "number", "question", "excerpt", "fate", "detail",
)  # fmt: skip


def fates(proposals: pl.DataFrame, checks: pl.DataFrame, samples: int) -> pl.DataFrame:
    """Every proposal with its one fate, sorted by document and number.

    Args:
        proposals: rows of the proposals table, of one spec.
        checks: rows of the checks table, of one spec; samples from `samples` on do not count.

    Returns:
        `FATE_COLUMNS`, answered (samples that gave an answer), refused (of these, those that say unanswerable).
    """
    counted = checks.filter(pl.col("sample") < samples).group_by("proposal_id")
    decided = pl.col("status").is_in([str(status) for status in PERMANENT])
    asked = counted.agg(
        done=decided.sum(),
        answered=(pl.col("status") == Status.OK).sum(),
        refused=pl.col("refused").fill_null(False).sum(),
    )
    joined = proposals.select(FATE_COLUMNS).join(asked, on="proposal_id", how="left", maintain_order="left")
    joined = joined.with_columns(pl.col("done", "answered", "refused").fill_null(0).cast(pl.Int64))
    checked = (
        pl.when(pl.col("done") < samples)
        .then(pl.lit(str(ProposalFate.UNCHECKED)))
        .when(pl.col("refused") > 0)
        .then(pl.lit(str(ProposalFate.AWAITING_ANNOTATION)))
        .when(pl.col("answered") == 0)
        .then(pl.lit(str(ProposalFate.CHECK_FAILED)))
        .otherwise(pl.lit(str(ProposalFate.NOT_CONFUSING)))
    )
    fate = pl.when(pl.col("fate") == ProposalFate.PROPOSED).then(checked).otherwise(pl.col("fate"))
    return joined.with_columns(fate=fate).drop("done").sort("doc_id", "number")


def funnel(
    rows: Sequence[Mapping[str, Any]],
    annotated: Iterable[str] | None = None,
    labels: Mapping[str, bool] | None = None,
) -> dict[str, dict[str, int]]:
    """How many questions are left after each of `STEPS`, by source dataset, and of all as `all`.

    Args:
        rows: of `fates`.
        annotated: ids of the proposals that every annotator labelled; None: nobody has yet, the steps end before.
        labels: whether a proposal is answerable, where that is decided.
    """
    counted: dict[str, dict[str, int]] = {}
    steps = STEPS[:4] if annotated is None else STEPS
    seen, decided = set(annotated or ()), labels or {}
    for row in rows:
        fate, name = ProposalFate(row["fate"]), row["proposal_id"]
        passed = {
            GENERATED: True,
            PARSED: fate in _TO_CHECK or fate is ProposalFate.DUPLICATE,
            DISTINCT: fate in _TO_CHECK,
            CONFUSING: fate is ProposalFate.AWAITING_ANNOTATION,
            ANNOTATED: name in seen,
            LABELLED: name in decided,
            UNANSWERABLE: decided.get(name) is False,
        }
        for group in (row["source_dataset"], "all"):
            counts = counted.setdefault(group, dict.fromkeys(steps, 0))
            for step in steps:
                counts[step] += passed[step]
    total = counted.pop("all", dict.fromkeys(steps, 0))
    return counted | {"all": total}
