"""What a table of the report is before it becomes Markdown or HTML, and how its numbers are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

FEW: Final = 30
"""Below so many rows a number is shown dimmed: its interval is wide and its bootstrap rough."""

LOW_COVERAGE: Final = 0.9
"""Below this share of the expected rows, coverage is set in the colour of warnings."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One number (or word) of a table. Rates are fractions 0..1; `n` is None for published numbers and words."""

    value: float | str | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    coverage: float | None = None
    unit: Literal["percent", "points", "number", "integer", "text", "p"] = "percent"
    note: str = ""  # why there is no value
    whole: bool = False  # over all that there is, not over a sample of it: no interval is due

    @property
    def holds(self) -> bool:
        """Whether it says anything."""
        return self.value is not None or bool(self.note)

    @property
    def few(self) -> bool:
        """Too few rows to lean on."""
        return self.n is not None and self.n < FEW

    @property
    def partial(self) -> bool:
        """Rows are missing from it."""
        return self.coverage is not None and self.coverage < 0.9995

    @property
    def low_coverage(self) -> bool:
        """So many rows are missing that the rest may not speak for them."""
        return self.coverage is not None and self.coverage < LOW_COVERAGE - 1e-9

    @property
    def text(self) -> str:
        """The value alone, "–" where there is none."""
        if self.value is None:
            return "–"
        if isinstance(self.value, str):
            return self.value
        if self.unit == "p":
            return "< 0.001" if self.value < 0.001 else f"{self.value:.3f}"
        if self.unit == "integer":
            return f"{self.value:,.0f}"
        if self.unit == "number":
            return _minus(f"{self.value:,.2f}")
        return _minus(f"{100 * self.value:+.1f}") if self.unit == "points" else f"{100 * self.value:.1f}"

    @property
    def interval(self) -> str:
        """The interval alone, "" where there is none."""
        if self.low is None or self.high is None:
            return ""
        scale = 1 if self.unit == "number" else 100
        sign = "+" if self.unit == "points" else ""
        digits = 2 if self.unit == "number" else 1
        return _minus(f"{scale * self.low:{sign}.{digits}f} to {scale * self.high:{sign}.{digits}f}")

    @property
    def basis(self) -> str:
        """What the value is over: n, and coverage where rows are missing."""
        if self.n is None:
            return ""
        covered = f" · cov {percent(self.coverage)}" if self.partial else ""
        return f"n {self.n:,}{covered}"

    @property
    def hover(self) -> str:
        """Everything in one line."""
        if self.n is None:
            return self.note
        if self.value is None:
            return "; ".join(filter(None, ["no value", self.note, self.basis, f"coverage {percent(self.coverage)}"]))
        none = "" if self.whole else "no interval (fewer than two documents, or all documents alike)"
        interval = f"95 % interval {self.interval}" if self.interval else none
        covered = "" if self.coverage is None else f"coverage {percent(self.coverage)}"
        few = f"fewer than {FEW} rows" if self.few else ""
        return "; ".join(filter(None, [self.text, interval, self.basis, covered, few]))


def _minus(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}")


def percent(share: float | None) -> str:
    """A share as a percentage that never rounds an incomplete one up to 100 %."""
    if share is None:
        return "–"
    rounded = round(100 * share)
    if rounded == 100 and share < 1:
        return "> 99%"
    return f"{rounded}%" if rounded or not share else "< 1%"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table.

    Args:
        link: a fragment of the responses page that shows its responses.
        note: said of the row, under its last label (of a published row: under its model, or its first label).
    """

    labels: tuple[str, ...]
    cells: tuple[Cell, ...]
    published: bool = False
    link: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """One table: label columns, then value columns under (possibly empty) group headings."""

    title: str
    labels: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]  # (group, name)
    rows: tuple[Row, ...]
    source: str = ""  # where its published rows were printed
    note: str = ""  # said below it

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Group headings with how many columns each spans; empty where no column is grouped."""
        spans: list[tuple[str, int]] = []
        for group, _ in self.columns:
            if spans and spans[-1][0] == group:
                spans[-1] = (group, spans[-1][1] + 1)
            else:
                spans.append((group, 1))
        return spans if any(group for group, _ in spans) else []

    @property
    def numeric_columns(self) -> tuple[bool, ...]:
        """Of each column, whether its values are numbers (and stand to the right)."""
        return tuple(all(row.cells[i].unit != "text" for row in self.rows) for i in range(len(self.columns)))

    @property
    def footnotes(self) -> tuple[str, ...]:
        """The grid's note, and why measured values are not there, each said once for a model and method."""
        told: dict[str, None] = dict.fromkeys([self.note] if self.note else [])
        for row in self.measured:
            named = dict(zip(self.labels, row.labels, strict=True))
            who = " · ".join(named[name] for name in ("model", "method", "layout") if name in named)
            told |= dict.fromkeys(f"{who}: {cell.note}" for cell in row.cells if cell.note)
        return tuple(told)

    @property
    def measured(self) -> list[Row]:
        return [row for row in self.rows if not row.published]

    @property
    def reference(self) -> list[Row]:
        return [row for row in self.rows if row.published]

    def trimmed(self) -> Grid:
        """Without measured rows, and without columns, that hold neither a value nor a note."""
        rows = [row for row in self.rows if row.published or any(cell.holds for cell in row.cells)]
        rows = rows or list(self.rows)
        kept = [i for i in range(len(self.columns)) if any(row.cells[i].holds for row in rows)]
        kept = kept or list(range(len(self.columns)))
        slim = tuple(
            Row(row.labels, tuple(row.cells[i] for i in kept), row.published, row.link, row.note) for row in rows
        )
        return Grid(self.title, self.labels, tuple(self.columns[i] for i in kept), slim, self.source, self.note)


@dataclass(frozen=True, slots=True)
class Section:
    """One part of the report: what it shows, said for a newcomer, then its tables and plots (SVG)."""

    anchor: str
    title: str
    says: tuple[str, ...]
    grids: tuple[Grid, ...] = ()
    plots: tuple[tuple[str, str], ...] = ()  # (caption, svg)


@dataclass(frozen=True, slots=True)
class Report:
    """The whole report of one run."""

    run: str
    title: str
    made_at: str
    summary: tuple[tuple[str, str], ...]  # (name, value) facts for the head of the page
    warnings: tuple[str, ...]
    sections: tuple[Section, ...] = ()
    legend: str = ""  # how its numbers are written
