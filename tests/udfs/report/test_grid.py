from __future__ import annotations

import pytest

from udfs.report.grid import Cell, Grid, Row, percent
from udfs.report.markdown import cell_text


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (Cell(0.714, 0.661, 0.765, 210, 0.98), "71.4 (66.1 to 76.5) n 210 · cov 98%"),
        (Cell(0.5, None, None, 4, 1.0), "50.0° n 4"),
        (Cell(None, None, None, 0, 0.0), "–"),
        (Cell(-0.021, -0.1, 0.06, 50, 1.0, "points"), "−2.1 (−10.0 to +6.0) n 50"),
        (Cell(0.0004, unit="p"), "< 0.001"),
        (Cell(12345, unit="integer"), "12,345"),
        (Cell(0.2883), "28.8"),
    ],
)
def test_cell_is_written_compactly(cell: Cell, text: str) -> None:
    assert cell_text(cell) == text


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        (Cell(0.0, None, None, 40, 1.0, "points"), "or all documents alike"),
        (Cell(None, None, None, 8, 0.5, note="no average, for there is no F1 on c"), "no F1 on c; n 8 · cov 50%"),
        (Cell(0.5, 0.4, 0.6, 40, 1.0), "95 % interval 40.0 to 60.0; n 40; coverage 100%"),
    ],
)
def test_hover_says_why_something_is_not_there(cell: Cell, says: str) -> None:
    assert says in cell.hover


def test_footnotes_say_each_reason_once_for_a_model_and_method() -> None:
    lost = Cell(note="why")
    rows = tuple(Row(("m", method, judge), (lost,)) for method in ("zs", "fs") for judge in ("rules", "llm"))
    grid = Grid("t", ("model", "method", "judge"), (("", "x"),), rows).trimmed()
    assert grid.footnotes == ("m · zs: why", "m · fs: why")


@pytest.mark.parametrize(("share", "text"), [(1.0, "100%"), (0.9991, "> 99%"), (0.0001, "< 1%"), (0.0, "0%")])
def test_percent_never_rounds_something_missing_away(share: float, text: str) -> None:
    assert percent(share) == text


def test_trimmed_drops_columns_and_rows_that_hold_nothing() -> None:
    rows = (Row(("a",), (Cell(1.0), Cell())), Row(("b",), (Cell(), Cell())))
    slim = Grid("t", ("model",), (("", "x"), ("", "y")), rows).trimmed()
    assert slim.columns == (("", "x"),)
    assert [row.labels for row in slim.rows] == [("a",)]
