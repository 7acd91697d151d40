"""How a curated dataset came to be, from generated to labelled questions (CouldAsk, section 4.1, Table 12)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import polars as pl

from udfs.report.explanations import says
from udfs.report.grid import Cell, Grid, Row, Section
from udfs.review.agreement import MAJORITY, UNANIMOUS, complete_votes
from udfs.review.curated import Curation
from udfs.review.curation import RULES, labels
from udfs.tables.curation import ANNOTATED, CONFUSING, GENERATED, LABELLED, PUBLISHED, STEPS, UNANSWERABLE, funnel
from udfs.tables.intervals import ratio_estimate, seed_of
from udfs.tables.preferences import fleiss_estimate
from udfs.tables.published import COULDASK_TABLE12, published

UNTIL_PEOPLE: Final = STEPS[: STEPS.index(ANNOTATED)]
FUNNEL_SOURCE: Final = "CouldAsk, section 4.1 and Table 2"
ALL: Final = "all"
LABELLED_BY: Final = {MAJORITY: "labelled by majority", UNANIMOUS: "labelled unanimously"}


def curation_sections(
    curations: Sequence[Curation], alone: bool, resamples: int = 1000, seed: int = 0
) -> list[Section]:
    """One section a curated dataset.

    Args:
        alone: the report is of one curation, so its name need not stand in the title.
    """
    return [
        Section(
            f"curation{f'-{number}' if len(curations) > 1 else ''}",
            f"From generated to labelled{'' if alone else f': {one.dataset}'}",
            says("curation"),
            tuple(
                grid
                for grid in (questions_left(one, resamples, seed), agreement(one, resamples, seed))
                if grid.measured
            ),
        )
        for number, one in enumerate(curations, 1)
    ]


def summary(curation: Curation) -> tuple[tuple[str, str], ...]:
    """(name, value) facts for the head of a report of one curation."""
    counts = funnel(curation.rows)[ALL]
    people = sorted(set(curation.annotations["annotator"]))
    return (
        *curation.about.items(),
        ("questions", f"{counts[GENERATED]:,} generated, {counts[CONFUSING]:,} confused the checker"),
        ("annotators", ", ".join(people) if people else "none yet"),
    )


def questions_left(curation: Curation, resamples: int = 1000, seed: int = 0) -> Grid:
    """Questions after each step by source dataset, and the labels by both rules, beside the paper's numbers."""
    decided = {rule: labels(curation.annotations, rule) for rule in RULES} if curation.annotations.height else {}
    counts = {rule: funnel(curation.rows, votes, found) for rule, (found, votes) in decided.items()}
    before = next(iter(counts.values()), None) or funnel(curation.rows)
    steps = [*UNTIL_PEOPLE, *([ANNOTATED] if counts else [])]
    names = list(before) if len(before) > 2 else [ALL]
    rows = []
    for name in names:
        mine = [row for row in curation.rows if name in (ALL, row["source_dataset"])]
        cells = [Cell(before[name][step], unit="integer") for step in steps]
        for found, _ in decided.values():
            cells += _labelled(mine, found, resamples, seed_of(seed, curation.dataset))
        rows.append(Row((name,), tuple(cells)))
    for name, printed in PUBLISHED.items():
        cells = [Cell(printed.get(step), unit="integer") for step in steps]
        share = Cell(printed[UNANSWERABLE] / printed[LABELLED], n=printed[LABELLED])
        cells += [
            part
            for rule in counts
            for part in ((Cell(printed[LABELLED], unit="integer"), share) if rule == RULES[0] else (Cell(), Cell()))
        ]
        rows.append(Row((name,), tuple(cells), published=True))
    columns = [("", step) for step in steps]
    columns += [(LABELLED_BY[rule], head) for rule in counts for head in ("questions", "unanswerable, %")]
    return Grid("Questions left after each step", ("documents of",), tuple(columns), tuple(rows), FUNNEL_SOURCE)


def _labelled(
    rows: Sequence[Mapping[str, Any]], decided: Mapping[str, bool], resamples: int, seed: int
) -> Iterator[Cell]:
    """How many questions have a label, and the share of the unanswerable among them."""
    by_document: dict[str, list[int]] = {}
    for row in rows:
        if (answerable := decided.get(row["proposal_id"])) is not None:
            sums = by_document.setdefault(row["doc_id"], [0, 0])
            sums[0] += not answerable
            sums[1] += 1
    table = np.array(list(by_document.values()), dtype=np.float64).reshape(-1, 2)
    share = ratio_estimate(table[:, 0], table[:, 1], resamples, seed)
    n = int(table[:, 1].sum())
    yield Cell(n, unit="integer")
    yield Cell(share.value, share.low, share.high, n)


def agreement(curation: Curation, resamples: int = 1000, seed: int = 0) -> Grid:
    """How far the annotators agree, by source dataset (CouldAsk, Table 12)."""
    said = complete_votes(curation.annotations)
    documents = {row["proposal_id"]: row["doc_id"] for row in curation.rows}
    annotators = said["annotator"].n_unique()
    groups = sorted(said["group"].unique())
    parts = [(name, said.filter(pl.col("group") == name)) for name in groups]
    rows = []
    for name, part in [*parts, (ALL, said)] if len(parts) > 1 else parts:
        yes = pl.col("passed").sum().cast(pl.Float64)
        votes = part.group_by("item_id", maintain_order=True).agg(yes=yes, no=pl.len() - yes)
        table = votes.select("yes", "no").to_numpy()
        of = [documents.get(item, item) for item in votes["item_id"]]
        kappa = fleiss_estimate(table, of, resamples, seed_of(seed, curation.dataset))
        alike = int((table.max(axis=1) == annotators).sum())
        undefined = "" if kappa.value is not None else "κ is not defined: one annotator, or all answers alike"
        cells = (
            Cell(annotators, unit="integer"),
            Cell(alike / votes.height, n=votes.height, whole=True),
            Cell(kappa.value, kappa.low, kappa.high, votes.height, unit="number", note=undefined),
        )
        rows.append(Row((name,), cells))
    if rows:
        rows += [
            Row(
                (row["dataset"],),
                (Cell(3, unit="integer"), Cell(), Cell(row["kappa"] / 100, n=row["n"], unit="number")),
                published=True,
                note=row["note"],
            )
            for row in published(COULDASK_TABLE12).iter_rows(named=True)
        ]
    columns = (("", "annotators"), ("", "unanimous, %"), ("", "Fleiss' κ"))
    title = "Agreement on whether a question is answerable"
    return Grid(title, ("documents of",), columns, tuple(rows), COULDASK_TABLE12.source)
