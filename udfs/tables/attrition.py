"""Where candidates ended: how many of those proposed are left after each step, and for what reasons the others are not.

Every candidate has one fate, so what was proposed is what was accepted and the sum over all reasons. The functions
check that (`checked`): where it fails, whoever wrote the candidates is wrong, not the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
import polars as pl

from udfs.schema import Fate, Kind, Language, Status, Step
from udfs.tables.intervals import Estimate, Floats, ratio_estimate, seed_of
from udfs.tables.metrics import ALL
from udfs.tables.observations import MISLEADING

COLUMNS: Final = (
    "candidate_id", "spec", "model", "doc_id", "source_dataset", "language", "domain", "length_bucket", "kind", "topic",
    "fragment_index", "step", "fate", "status", "created_at",
)  # fmt: skip
"""What attrition needs of the candidates table."""
UNDECIDED: Final = frozenset({Fate.PARSE_FAILURE, Fate.OVER_LENGTH, Fate.FILTERED, Fate.PROVIDER_ERROR})
"""Fates that say nothing of the candidate: an agent could not be asked, or its reply could not be read."""
STEPS: Final[dict[str, tuple[Step, ...]]] = {step.value: (step,) for step in Step}
STAGES: Final[dict[str, tuple[Step, ...]]] = {
    "preparation": (Step.SEGMENT, Step.QUALITY, Step.TOPIC),
    "QA generation": (Step.QA, Step.QA_REVIEW),
    "negatives and review": (Step.NEGATIVE, Step.RETRIEVAL, Step.FULL_VIEW, Step.COMMON_SENSE, Step.CONSOLE),
}
"""FactGuard's stages (section 3, Figure 2) in the steps of this pipeline."""
WHOLE: Final[dict[str, tuple[Step, ...]]] = {ALL: tuple(Step)}
SLICE_KINDS: Final = (
    ALL, Kind.ANSWERABLE.value, Kind.LACK_OF_EVIDENCE.value, MISLEADING, Kind.ENTITY_SUBSTITUTION.value,
    Kind.IMPOSSIBLE_CONDITION.value, Kind.FALSE_ASSUMPTION.value,
)  # fmt: skip
"""Kinds in the order of the tables; `misleading` is the union of the three kinds after it."""
KINDS_BY_LANGUAGE: Final = SLICE_KINDS[:4]
"""Kinds that are told for each language with an interval: the misleading ones together."""

ATTRITION: Final[dict[str, type[pl.DataType]]] = {
    "language": pl.String,  # all, or one
    "kind": pl.String,  # one of SLICE_KINDS
    "stage": pl.String,  # a step, or a group of steps
    "reached": pl.Int64,  # candidates that came to it
    "lost": pl.Int64,  # that ended at it
    "undecided": pl.Int64,  # of the lost, those with a fate in UNDECIDED
    "remaining": pl.Int64,
    "share": pl.Float64,  # lost / reached; null where none came
    "ci_low": pl.Float64,
    "ci_high": pl.Float64,
}


def checked(candidates: pl.DataFrame) -> pl.DataFrame:
    """The candidates, if each has exactly one fate and the fates add up.

    Raises:
        ValueError: an unknown kind, step or fate, an accepted candidate that did not reach the console, a status that
            is not its fate's, or proposed ≠ accepted + the sum over reasons.
    """
    for kind, step, fate, status in candidates.select("kind", "step", "fate", "status").unique().iter_rows():
        named = (
            f"candidates of kind {Kind(kind).value}, step {Step(step).value}, fate {Fate(fate).value}, status {status}"
        )
        if fate == Fate.ACCEPTED and step != Step.CONSOLE:
            raise ValueError(f"{named}: the accepted end at {Step.CONSOLE.value}")
        if status != (fate if fate in UNDECIDED else Status.OK):
            raise ValueError(f"{named}: the status is not the fate's")
        if kind == Kind.UNANSWERABLE:
            raise ValueError(f"{named}: synthesis knows why a question is unanswerable")
    accepted = candidates.filter(pl.col("fate") == Fate.ACCEPTED).height
    ended = int(reasons(candidates).filter(pl.col("kind") == ALL, pl.col("language") == ALL)["n"].sum())
    if candidates["candidate_id"].n_unique() != accepted + ended:
        raise ValueError(
            f"{candidates['candidate_id'].n_unique()} candidates were proposed, but {accepted} accepted and "
            f"{ended} ended: some have more than one fate"
        )
    return candidates


def attrition(
    candidates: pl.DataFrame,
    parts: Mapping[str, tuple[Step, ...]] = STEPS,
    resamples: int = 1000,
    seed: int = 0,
    by_language: bool = True,
) -> pl.DataFrame:
    """Columns `ATTRITION`: for every language and kind that there is, one row a part, in order.

    Intervals are drawn for every kind over all languages, and for `KINDS_BY_LANGUAGE` of each language.

    Args:
        candidates: `checked`, of one spec, with `COLUMNS`.
        parts: name → steps, covering all steps in order (`STEPS`, `STAGES`, `WHOLE`).
        resamples, seed: of the documents, for the intervals of the shares.
        by_language: rows for each language, too, not only over all.
    """
    place = {step.value: number for number, steps in enumerate(parts.values()) for step in steps}
    ended = pl.when(pl.col("fate") == Fate.ACCEPTED).then(len(parts)).otherwise(pl.col("step").replace_strict(place))
    placed = candidates.with_columns(place=ended.cast(pl.Int64), undecided=pl.col("fate").is_in([*UNDECIDED]))
    rows: list[dict[str, Any]] = []
    for language, kind, part in slices(placed, by_language):
        lost, reached = _by_document(part, len(parts))
        undecided = part.filter("undecided")["place"].value_counts()
        lost_undecided = dict(undecided.iter_rows())
        for number, name in enumerate(parts):
            came, ended_here = int(reached[:, number].sum()), int(lost[:, number].sum())
            estimate = Estimate(ended_here / came if came else None)
            if language == ALL or kind in KINDS_BY_LANGUAGE:
                own_seed = seed_of(seed, language, kind, name)
                estimate = ratio_estimate(lost[:, number], reached[:, number], resamples, own_seed)
            rows.append(
                {"language": language, "kind": kind, "stage": name, "reached": came, "lost": ended_here}
                | {"undecided": lost_undecided.get(number, 0), "remaining": came - ended_here}
                | {"share": estimate.value, "ci_low": estimate.low, "ci_high": estimate.high}
            )
    return pl.DataFrame(rows, schema=ATTRITION)


def reasons(candidates: pl.DataFrame) -> pl.DataFrame:
    """Columns language, kind, step, fate, n: how many ended where and why, in the order of the steps and fates."""
    steps, fates = [step.value for step in Step], [fate.value for fate in Fate]
    counted = [
        part.group_by("step", "fate").len("n").with_columns(language=pl.lit(language), kind=pl.lit(kind))
        for language, kind, part in slices(candidates.filter(pl.col("fate") != Fate.ACCEPTED))
    ]
    schema = {"language": pl.String, "kind": pl.String, "step": pl.String, "fate": pl.String, "n": pl.Int64}
    if not counted:
        return pl.DataFrame(schema=schema)
    ranks = [
        pl.col("step").replace_strict(steps, range(len(steps))),
        pl.col("fate").replace_strict(fates, range(len(fates))),
    ]
    return (
        pl.concat(counted)
        .select([pl.col(name).cast(kind) for name, kind in schema.items()])
        .sort(ranks, maintain_order=True)
    )


def slices(candidates: pl.DataFrame, by_language: bool = True) -> Iterator[tuple[str, str, pl.DataFrame]]:
    """(language, kind, candidates) of every slice that has some: all languages first, kinds in order."""
    for language in (ALL, *(language.value for language in Language if by_language)):
        spoken = candidates if language == ALL else candidates.filter(pl.col("language") == language)
        for kind in SLICE_KINDS:
            part = spoken.filter(of_kind(kind))
            if part.height:
                yield language, kind, part


def of_kind(kind: str) -> pl.Expr:
    """Whether a row is of a kind of `SLICE_KINDS`."""
    if kind == ALL:
        return pl.lit(True)
    return pl.col("kind").str.starts_with(f"{MISLEADING}.") if kind == MISLEADING else pl.col("kind") == kind


def _by_document(part: pl.DataFrame, parts: int) -> tuple[Floats, Floats]:
    """Candidates lost at, and come to, each part by document; both of shape (documents, parts)."""
    document = part["doc_id"].rank("dense").to_numpy().astype(np.int64) - 1
    width = parts + 1
    counts = np.bincount(document * width + part["place"].to_numpy(), minlength=int(document.max() + 1) * width)
    ended = counts.reshape(-1, width).astype(np.float64)
    came = ended[:, ::-1].cumsum(axis=1)[:, ::-1]
    return ended[:, :parts], came[:, :parts]
