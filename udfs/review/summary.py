"""A review's results as Markdown: quality by group, agreement, disagreements with notes, the paper's rows beside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import polars as pl

from udfs.review.agreement import MAJORITY, UNANIMOUS, complete_votes, disagreements, review_agreement, review_quality
from udfs.review.collecting import Sample
from udfs.review.published import PUBLISHED
from udfs.review.sampling import Stratum

_RULES: Final = {
    UNANIMOUS: "all annotators pass it (the paper's rule)",
    MAJORITY: "more than half of the annotators pass it",
}


def review_markdown(sample: Sample, annotations: pl.DataFrame) -> str:
    """The whole report of one review.

    Args:
        annotations: the review's rows of the annotations table.
    """
    counted = complete_votes(annotations)
    names = sorted(annotations["annotator"].unique())
    n_items = counted["item_id"].n_unique()
    lines = [f"# Manual review {escaped(sample.review)}", ""]
    lines += [f"- {name}: {escaped(value)}" for name, value in sample.about.items()]
    lines += [f"- annotators: {escaped(', '.join(names))}"]
    lines += [f"- items counted: {n_items} of {len(sample.items)}"]
    if n_items < len(sample.items):
        lines += ["", f"**{len(sample.items) - n_items} items were not answered by every annotator and are left out.**"]
    quality = review_quality(annotations)
    for rule, says in _RULES.items():
        lines += ["", f"## Quality, {rule}", "", f"An item passes a check if {says}. Percent, Wilson's 95 % interval."]
        lines += [
            "Where groups were not drawn by their shares (see below), a union of them is a share of the sample only."
        ]
        lines += ["", *_quality(quality.filter(pl.col("rule") == rule), sample, published=rule == UNANIMOUS)]
    lines += ["", "## Agreement", "", *_agreement(review_agreement(annotations))]
    lines += ["", "## Disagreements", "", *_disagreements(disagreements(annotations), sample)]
    lines += _other_notes(annotations, disagreements(annotations), sample)
    lines += ["", "## What was drawn", "", *strata_table(sample.strata)]
    return "\n".join(lines) + "\n"


def strata_table(strata: Sequence[Stratum]) -> list[str]:
    """What each stratum held and gave, as Markdown lines."""
    rows = [[" · ".join(stratum.name), str(stratum.available), str(stratum.drawn)] for stratum in strata]
    total = ["all", str(sum(s.available for s in strata)), str(sum(s.drawn for s in strata))]
    return list(table(["stratum", "available", "drawn"], [*rows, total]))


def _quality(quality: pl.DataFrame, sample: Sample, published: bool) -> Iterator[str]:
    checks = quality["check"].unique(maintain_order=True).to_list()
    cells = {(row["group"], row["check"]): row for row in quality.iter_rows(named=True)}
    groups = quality["group"].unique(maintain_order=True).to_list()
    rows = [
        [group, str(cells[group, checks[0]]["n"]), *(_share(cells[group, check]) for check in checks)]
        for group in groups
    ]
    source, printed = PUBLISHED.get(sample.measure or sample.target, ("", ()))
    if published:
        empty = [""] * (len(checks) - 1)
        rows += [[f"{row.group} ({source})", str(row.n), *empty, f"{row.percent:.2f}"] for row in printed]
    yield from table(["group", "n", *checks], rows)


def _share(row: dict[str, Any]) -> str:
    return f"{100 * row['value']:.2f} ({100 * row['ci_low']:.1f} to {100 * row['ci_high']:.1f})"


def _agreement(agreement: pl.DataFrame) -> Iterator[str]:
    rows = []
    for row in agreement.iter_rows(named=True):
        if row["annotators"] < 2:
            kappa = "not computed: it takes two annotators"
        elif row["kappa"] is None:
            kappa = "undefined: every answer is the same"
        else:
            kappa = f"{row['kappa']:.3f}"
        share = f"{row['unanimous']} ({100 * row['unanimous'] / row['items']:.2f} %)"
        rows.append([row["check"], str(row["annotators"]), str(row["items"]), share, kappa])
    yield from table(["check", "annotators", "items", "all agree", "Fleiss κ"], rows)


def _disagreements(votes: pl.DataFrame, sample: Sample) -> Iterator[str]:
    if votes.is_empty():
        yield "None."
        return
    titles = {item.id: item.title for item in sample.items}
    for (item_id,), mine in votes.group_by("item_id", maintain_order=True):
        yield f"- **{escaped(titles[str(item_id)])}** ({escaped(mine['group'][0])}, {str(item_id)[:12]})"
        for (check,), said in mine.group_by("check", maintain_order=True):
            passing = [row["annotator"] for row in said.iter_rows(named=True) if row["passed"]]
            failing = [row["annotator"] for row in said.iter_rows(named=True) if not row["passed"]]
            yield f"  - {check}: passed by {escaped(', '.join(passing))}; not by {escaped(', '.join(failing))}"
        yield from _notes(mine)


def _other_notes(annotations: pl.DataFrame, split: pl.DataFrame, sample: Sample) -> list[str]:
    """Notes on items that are not among the disagreements."""
    noted = annotations.filter(pl.col("note").is_not_null()).join(
        split.select("item_id").unique(), on="item_id", how="anti", maintain_order="left"
    )
    if noted.is_empty():
        return []
    titles = {item.id: item.title for item in sample.items}
    lines = ["", "## Other notes", ""]
    for (item_id,), mine in noted.group_by("item_id", maintain_order=True):
        lines.append(f"- **{escaped(titles[str(item_id)])}** ({escaped(mine['group'][0])}, {str(item_id)[:12]})")
        lines += _notes(mine)
    return lines


def _notes(votes: pl.DataFrame) -> Iterator[str]:
    for row in votes.unique("annotator", keep="first", maintain_order=True).iter_rows(named=True):
        if row["note"]:
            yield f"  - {escaped(row['annotator'])} notes: {escaped(row['note'])}"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A Markdown table, the first column left and the others right."""
    yield _line(heads)
    yield _line(["---", *["---:"] * (len(heads) - 1)])
    yield from (_line(row) for row in rows)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(escaped(cell) for cell in cells) + " |"


def escaped(text: str) -> str:
    """Names and notes come from people: no cell may end its row, no tag or mark-up may take effect."""
    flat = " ".join(text.split())
    for character in "\\|<`*":
        flat = flat.replace(character, f"\\{character}")
    return flat
