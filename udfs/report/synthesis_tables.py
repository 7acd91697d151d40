"""Tables about how a dataset was synthesised and what it holds: FactGuard's Figure 2, Table 3 and Figure 3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import polars as pl

from udfs.report.explanations import FATE_SAYS, STEP_NAMES
from udfs.report.grid import Cell, Grid, Row
from udfs.report.tables import KIND_NAMES
from udfs.schema import Fate, Kind, Language, Step
from udfs.tables.attrition import KINDS_BY_LANGUAGE, SLICE_KINDS, STAGES, UNDECIDED
from udfs.tables.metrics import ALL
from udfs.tables.observations import MISLEADING
from udfs.tables.published import FACTGUARD_FIGURE2, FACTGUARD_TABLE3, published

LANGUAGE_NAMES: Final = {ALL: "all", Language.EN.value: "English", Language.ZH.value: "Chinese"}
BY_NAMES: Final = {"domain": "domain", "kind": "kind", "topic": "topic", "length_bucket": "length (tokens)"}


def languages_in(frame: pl.DataFrame) -> list[str]:
    """The languages of a frame of slices in order; "all" goes first, where there are several."""
    found = [language.value for language in Language if language in set(frame["language"])]
    return found if len(found) == 1 else [ALL, *found]


Slice = tuple[str, str]
"""(language, kind) of a column of a table of attrition."""


def _overall(frame: pl.DataFrame) -> list[Slice]:
    """Every kind that there is, over all languages."""
    have = set(frame.select("language", "kind").iter_rows())
    return [(ALL, kind) for kind in SLICE_KINDS if (ALL, kind) in have]


def _each_language(frame: pl.DataFrame) -> list[Slice]:
    """Kinds for each language; nothing where there is only one."""
    have = set(frame.select("language", "kind").iter_rows())
    plan = [(language, kind) for language in languages_in(frame)[1:] for kind in KINDS_BY_LANGUAGE]
    return [place for place in plan if place in have]


def _by_slice(frame: pl.DataFrame) -> dict[Slice, list[dict[str, Any]]]:
    found: dict[Slice, list[dict[str, Any]]] = {}
    for row in frame.iter_rows(named=True):
        found.setdefault((row["language"], row["kind"]), []).append(row)
    return found


def _columns(places: Sequence[Slice]) -> tuple[tuple[str, str], ...]:
    return tuple(("" if language == ALL else LANGUAGE_NAMES[language], KIND_NAMES[kind]) for language, kind in places)


def remaining(steps: pl.DataFrame) -> list[Grid]:
    """Candidates that were proposed, those left after each step, and those accepted: by kind, and for each language.

    Args:
        steps: `attrition.attrition` by step.
    """
    told = _by_slice(steps)

    def grid(title: str, places: Sequence[Slice]) -> Grid:
        rows = [_counts("proposed", [told[place][0]["reached"] for place in places])]
        for number, step in enumerate(Step):
            name = "accepted" if step is Step.CONSOLE else f"after {STEP_NAMES[step]}"
            rows.append(_counts(name, [told[place][number]["remaining"] for place in places]))
        return Grid(title, ("step",), _columns(places), tuple(rows))

    grids = [grid("Candidates left after each step", _overall(steps))]
    by_language = _each_language(steps)
    return [*grids, grid("Candidates left after each step, by language", by_language)] if by_language else grids


def _counts(label: str, counts: Sequence[int]) -> Row:
    return Row((label,), tuple(Cell(count, unit="integer") for count in counts))


def losses(steps: pl.DataFrame, whole: pl.DataFrame) -> list[Grid]:
    """The share of the candidates that came to a step and ended there; last the share of those proposed accepted.

    Args:
        steps, whole: `attrition.attrition` by step, and over all steps.
    """
    told, overall = _by_slice(steps), _by_slice(whole)

    def grid(title: str, places: Sequence[Slice]) -> Grid:
        rows = [
            Row((f"lost at {STEP_NAMES[step]}",), tuple(_share(told[place][number]) for place in places))
            for number, step in enumerate(Step)
        ]
        rows.append(Row(("accepted of proposed",), tuple(_accepted(overall[place][0]) for place in places)))
        return Grid(title, ("step",), _columns(places), tuple(rows))

    grids = [grid("Share lost at each step", _overall(steps))]
    by_language = _each_language(steps)
    return [*grids, grid("Share lost at each step, by language", by_language)] if by_language else grids


def _share(row: dict[str, Any]) -> Cell:
    return Cell(row["share"], row["ci_low"], row["ci_high"], row["reached"] or None)


def _accepted(row: dict[str, Any]) -> Cell:
    """Of a row over all steps: what was not lost."""
    low, high = (None if bound is None else 1 - bound for bound in (row["ci_high"], row["ci_low"]))
    return Cell(None if row["share"] is None else 1 - row["share"], low, high, row["reached"])


def stages(by_stage: pl.DataFrame) -> Grid:
    """The same by the paper's three stages, beside what the paper says it lost (FactGuard, Figure 2).

    Args:
        by_stage: `attrition.attrition` by `attrition.STAGES`.
    """
    told = _by_slice(by_stage)
    rows = [Row((KIND_NAMES[place[1]],), tuple(map(_share, told[place]))) for place in _overall(by_stage)]
    printed = {row["stage"]: row["lost"] for row in published(FACTGUARD_FIGURE2).iter_rows(named=True)}
    cells = tuple(Cell(f"about {printed[name]}" if name in printed else None) for name in STAGES)
    rows.append(Row((KIND_NAMES[MISLEADING],), cells, published=True))
    named = "; ".join(f"{name}: {', '.join(STEP_NAMES[step] for step in steps)}" for name, steps in STAGES.items())
    columns = tuple(("", f"lost in {name}") for name in STAGES)
    title = "Share lost in each stage of the paper"
    return Grid(title, ("kind",), columns, tuple(rows), FACTGUARD_FIGURE2.source, f"Steps in {named}.")


def reasons(counted: pl.DataFrame, whole: pl.DataFrame) -> Grid:
    """How many candidates ended where and why, by kind and by language; first the proposed, last the accepted.

    Args:
        counted: `attrition.reasons`.
        whole: `attrition.attrition` over all steps.
    """
    overall = {place: rows[0] for place, rows in _by_slice(whole).items()}
    kinds = [kind for kind in SLICE_KINDS[1:] if kind != MISLEADING and (ALL, kind) in overall]
    spoken = languages_in(whole)[1:]
    places = [*((ALL, kind) for kind in kinds), *((name, ALL) for name in spoken), (ALL, ALL)]
    columns = [*(("", KIND_NAMES[kind]) for kind in kinds), *(("", LANGUAGE_NAMES[name]) for name in spoken)]
    columns.append(("", "total"))
    n_of = {(row["language"], row["kind"], row["step"], row["fate"]): row["n"] for row in counted.iter_rows(named=True)}

    def line(step: str, reason: str, counts: Sequence[int], says: str = "") -> Row:
        return Row((step, reason), tuple(Cell(count, unit="integer") for count in counts), note=says)

    rows = [line("", "proposed", [overall[place]["reached"] for place in places])]
    ended = counted.filter((pl.col("language") == ALL) & (pl.col("kind") == ALL))
    undecided = pl.col("fate").is_in([*UNDECIDED])
    for step, fate in pl.concat([ended.filter(~undecided), ended.filter(undecided)]).select("step", "fate").iter_rows():
        counts = [n_of.get((*place, step, fate), 0) for place in places]
        rows.append(line(STEP_NAMES[Step(step)], fate.replace("_", " "), counts, FATE_SAYS[Fate(fate)]))
    rows.append(line("", "accepted", [overall[place]["remaining"] for place in places]))
    return Grid("Why candidates ended", ("ended at", "reason"), tuple(columns), tuple(rows), note=_sum(whole, ended))


def _sum(whole: pl.DataFrame, ended: pl.DataFrame) -> str:
    (row,) = whole.filter((pl.col("language") == ALL) & (pl.col("kind") == ALL)).to_dicts()
    lost = int(ended["n"].sum())
    if row["reached"] != row["remaining"] + lost:
        raise ValueError(
            f"{row['reached']} candidates proposed ≠ {row['remaining']} accepted + {lost} over all reasons"
        )
    undecided = int(ended.filter(pl.col("fate").is_in([*UNDECIDED]))["n"].sum())
    return (
        f"{row['reached']:,} proposed = {row['remaining']:,} accepted + {lost:,} over all reasons"
        f"{f', of these {undecided:,} undecided' if undecided else ''}."
    )


def splits(counts: pl.DataFrame) -> Grid:
    """Examples and articles by split and language (FactGuard, Table 3).

    Args:
        counts: `stats.split_counts` of one dataset.
    """
    printed = published(FACTGUARD_TABLE3)

    def line(row: dict[str, Any], is_published: bool) -> Row:
        cells = tuple(Cell(row[name], unit="integer") for name in ("en", "zh", "total"))
        return Row((row["split"], row["what"]), cells, published=is_published)

    told = counts.filter(pl.col("what") != "documents").iter_rows(named=True)
    rows = [*(line(row, False) for row in told), *(line(row, True) for row in printed.iter_rows(named=True))]
    columns = (("", "English"), ("", "Chinese"), ("", "total"))
    return Grid("Examples and articles", ("split", "what"), columns, tuple(rows), FACTGUARD_TABLE3.source)


def spread(distribution: pl.DataFrame, by: str) -> Grid:
    """Questions by domain, kind, topic or length: counts and shares for every language (FactGuard, Figure 3).

    Args:
        distribution: `stats.distribution` by `by`.
    """
    languages = languages_in(distribution)
    totals = dict(distribution.group_by("language").agg(pl.col("n").sum()).iter_rows())
    cells_of = {(row["language"], row["value"]): row for row in distribution.iter_rows(named=True)}
    rows = []
    for value in distribution["value"].unique(maintain_order=True):
        cells: list[Cell] = []
        for language in languages:
            row = cells_of.get((language, value), {"n": 0, "share": 0.0})
            cells.append(Cell(row["n"], unit="integer"))
            cells.append(Cell(row["share"], n=totals[language], whole=True))
        rows.append(Row((KIND_NAMES.get(value, value) if by == "kind" else value,), tuple(cells)))
    columns = tuple((LANGUAGE_NAMES[name], what) for name in languages for what in ("questions", "share, %"))
    return Grid(f"Questions by {BY_NAMES[by]}", (BY_NAMES[by],), columns, tuple(rows))


def kinds_in(frame: pl.DataFrame) -> list[str]:
    """Single kinds that a frame of slices has, in order."""
    found = set(frame["kind"])
    return [kind.value for kind in Kind if kind in found]
