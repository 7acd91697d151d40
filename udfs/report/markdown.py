"""The report as plain Markdown: reads in a terminal, renders anywhere."""

from __future__ import annotations

from typing import Final

from udfs.report.grid import Cell, Grid, Report, Row

COMPACT_FROM: Final = 5
"""From so many value columns on, a compact table shows values and n alone."""


def to_markdown(
    report: Report, pages: tuple[tuple[str, str], ...] = (), published: bool = True, compact: bool = False
) -> str:
    """The report as Markdown.

    Args:
        pages: (what, where) of the other renderings, named at the end.
        published: whether the papers' rows are written too.
        compact: leave intervals and coverage out of wide tables, and what is said of rows, which a terminal would fold
            beyond reading.
    """
    lines = [f"# {report.title}", ""]
    lines += [f"> **{_escaped(text)}**\n" for text in report.warnings]
    lines += [f"- {name}: {_escaped(value)}" for name, value in report.summary]
    lines += ["", report.legend, ""]
    for section in report.sections:
        lines += [f"## {section.title}", ""]
        for text in section.says:
            lines += [text, ""]
        for grid in section.grids:
            if grid.measured or published:
                lines += [f"### {grid.title}", "", *grid_markdown(grid, published, compact), ""]
    lines += [f"- {what}: {where}" for what, where in pages]
    return "\n".join(lines).rstrip() + "\n"


def grid_markdown(grid: Grid, published: bool = True, compact: bool = False) -> list[str]:
    """One table as Markdown lines, without its title; arguments as of `to_markdown`."""
    heads = [f"{group} {name}".strip() for group, name in grid.columns]
    rows = grid.rows if published else grid.measured
    # Published rows alone have no n: a column "judge" (or "dataset") that says "published" tells them apart.
    rules = ["---"] * len(grid.labels) + ["---:" if number else "---" for number in grid.numeric_columns]
    lines = [_line([*grid.labels, *heads]), _line(rules)]
    write = short_text if compact and len(heads) >= COMPACT_FROM else cell_text
    lines += [_line([*_labels(row, grid, compact), *(write(cell) for cell in row.cells)]) for row in rows]
    named = grid.labels.index("model") if "model" in grid.labels else 0
    notes = [f"{row.labels[named]}: {row.note}" for row in rows if row.note and row.published]
    if grid.source and any(row.published for row in rows):
        notes.insert(0, f"Published rows: {grid.source}.")
    notes[:0] = grid.footnotes
    return lines + [f"\n{_escaped(note)}" for note in notes]


def _labels(row: Row, grid: Grid, compact: bool) -> list[str]:
    if row.published and "judge" not in grid.labels:
        return [f"{row.labels[0]} (published)", *row.labels[1:]]
    if row.note and not row.published and not compact:
        return [*row.labels[:-1], f"{row.labels[-1]}: {row.note}"]
    return list(row.labels)


def cell_text(cell: Cell) -> str:
    """`71.4 (66.1 to 76.5) n 210 · cov 98 %`, with ° after a value from few rows."""
    few = "°" if cell.few and cell.value is not None else ""
    interval = f" ({cell.interval})" if cell.interval else ""
    basis = f" {cell.basis}" if cell.basis and cell.n != 0 else ""
    return f"{cell.text}{few}{interval}{basis}"


def short_text(cell: Cell) -> str:
    """`71.4 n 210`."""
    few = "°" if cell.few and cell.value is not None else ""
    return f"{cell.text}{few}" + (f" n {cell.n:,}" if cell.n else "")


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(_escaped(cell) for cell in cells) + " |"


def _escaped(text: str) -> str:
    """Names come from users: no cell may end its row, and no tag may take effect."""
    flat = " ".join(text.split())
    return flat.replace("\\", "\\\\").replace("|", "\\|").replace("<", "\\<").replace("`", "\\`")
