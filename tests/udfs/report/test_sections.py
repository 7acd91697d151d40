from __future__ import annotations

from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest

from tests.factories import frame
from tests.udfs.report.bench import small_run
from udfs.report.grid import Report
from udfs.report.markdown import to_markdown
from udfs.report.page import metrics_page
from udfs.report.sections import SCRIPTED_WARNING, Counts, build_report, is_scripted
from udfs.tables.comparisons import comparisons
from udfs.tables.facts import run_facts
from udfs.tables.metrics import metrics
from udfs.tables.observations import response_rows


def make_report(model: str = "smollm2-135m") -> Report:
    run = small_run(model=model)
    judgements = frame("judgements", run.judgements)
    rows = response_rows(
        frame("responses", run.responses), frame("questions", run.questions), frame("documents", run.documents)
    )
    return build_report(
        "main",
        metrics(rows, judgements, "main", resamples=100),
        comparisons(rows, judgements, resamples=100),
        run_facts(frame("runs", run.runs)),
        Counts(rows.height, 12, 4),
        datetime(2026, 3, 1, tzinfo=UTC),
    )


class Tags(HTMLParser):
    """Collects tags, and whether they are closed in order."""

    VOID = frozenset({"meta", "link", "br", "img", "input", "path", "rect", "line"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag


def test_report_has_every_table_of_the_papers_with_published_rows_marked() -> None:
    report = make_report()
    anchors = [section.anchor for section in report.sections]
    assert anchors == [
        "detection",
        "consistency",
        "length",
        "classes",
        "reformulation",
        "differences",
        "statuses",
        "facts",
    ]
    grids = {grid.title: grid for section in report.sections for grid in section.grids}
    assert len(grids["Published F1"].reference) == 20
    by_language = grids["Accuracy by language and kind"]
    assert len(by_language.reference) == 9
    assert all(row.labels[-1] == "published" for row in by_language.reference)
    assert {group for group, _ in by_language.columns} >= {"English", "Chinese"}


def test_markdown_without_published_rows_holds_measured_ones_alone() -> None:
    report = make_report()
    assert "GPT-4o" not in to_markdown(report, published=False)
    full = to_markdown(report)
    assert "| FactGuard-Bench | GPT-4o (20240806) |" in full
    assert full.count("printed under this name twice") == 1


def test_markdown_tables_have_as_many_cells_as_heads() -> None:
    width = 0
    for line in to_markdown(make_report("odd|name")).splitlines():
        if not line.startswith("|"):
            width = 0
            continue
        cells = line.replace("\\|", "").count("|")
        assert width in (0, cells)
        width = cells


def test_page_is_well_formed_and_asks_for_nothing_outside_itself() -> None:
    tags = Tags()
    tags.feed(metrics_page(make_report(), "responses.html"))
    assert not tags.open
    assert {"svg", "table", "style"} <= tags.seen
    assert not {"script", "img", "iframe"} & tags.seen
    assert all(address.startswith(("#", "responses.html")) for address in tags.addresses)


def test_page_escapes_names_of_models() -> None:
    page = metrics_page(make_report("<b>&evil"), None)
    assert "<b>&evil" not in page
    assert "&lt;b&gt;&amp;evil" in page


@pytest.mark.parametrize(("model", "scripted"), [("scripted", True), ("scripted-b", True), ("smollm2-135m", False)])
def test_scripted_models_carry_the_banner_everywhere(model: str, scripted: bool) -> None:
    assert is_scripted(model) == scripted
    report = make_report(model)
    assert (SCRIPTED_WARNING in to_markdown(report)) == scripted
    assert (SCRIPTED_WARNING in metrics_page(report, None)) == scripted


def test_compact_markdown_leaves_intervals_out_of_wide_tables_only() -> None:
    text = to_markdown(make_report(), compact=True)
    narrow, wide = text.split("### What the F1 is made of")
    assert " to " in narrow.split("### F1 by dataset")[1]
    assert " to " not in wide.split("### ")[0].split("parse failures")[1]
