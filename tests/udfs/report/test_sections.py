from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest

from tests.factories import frame, make_run
from tests.udfs.report.bench import Run, cells_of, small_run
from udfs.report.grid import Grid, Report
from udfs.report.markdown import to_markdown
from udfs.report.notices import SCRIPTED_WARNING, Counts, is_scripted
from udfs.report.page import metrics_page
from udfs.report.run_tables import origins
from udfs.report.sections import build_report
from udfs.schema import Status
from udfs.tables.comparisons import comparisons
from udfs.tables.expected import planned_cells
from udfs.tables.facts import RunFacts, run_facts
from udfs.tables.metrics import metrics
from udfs.tables.observations import response_rows


def make_report(model: str = "smollm2-135m", run: Run | None = None, **counts: int) -> Report:
    run = run or small_run(model=model)
    judgements = frame("judgements", run.judgements)
    rows = response_rows(
        frame("responses", run.responses), frame("questions", run.questions), frame("documents", run.documents)
    )
    runs = frame("runs", run.runs)
    planned = planned_cells(runs)
    return build_report(
        "main",
        metrics(rows, judgements, "main", resamples=100, planned=planned),
        comparisons(rows, judgements, resamples=100, planned=planned),
        run_facts(runs),
        Counts(rows.height, 12, 4, **counts),
        datetime(2026, 3, 1, tzinfo=UTC),
    )


def grid_of(report: Report, title: str) -> Grid:
    (found,) = [grid for section in report.sections for grid in section.grids if grid.title == title]
    return found


def column(grid: Grid, name: str) -> list[object]:
    place = [column for _, column in grid.columns].index(name)
    return [row.cells[place].value for row in grid.measured]


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


def test_complete_run_has_no_warning() -> None:
    assert make_report().warnings == ()


def test_incomplete_run_says_so_at_the_head_and_in_the_statuses() -> None:
    run = small_run()
    run.runs = [make_run(model="smollm2-135m", status="running", cells=cells_of(run, more=4))]
    report = make_report(run=run)
    missing, start = report.warnings
    assert "16 of 40 expected responses are not recorded" in missing
    assert "; 1 more under statuses" in missing
    assert "model smollm2-135m (2026-03-01 12:00 UTC) has not ended" in start
    statuses = grid_of(report, "Statuses")
    assert column(statuses, "not recorded") == [4.0] * 4
    assert column(statuses, "expected") == [10.0] * 4
    assert to_markdown(report).index("16 of 40") < to_markdown(report).index("- run: main")


def test_run_whose_starts_do_not_say_what_was_expected_says_that() -> None:
    run = small_run()
    run.runs = [make_run()]
    report = make_report(run=run)
    assert ["not stored for smollm2-135m" in line for line in report.warnings] == [True]
    assert column(grid_of(report, "Statuses"), "not recorded") == [None] * 4


def test_cell_without_any_response_stands_among_the_statuses() -> None:
    run = small_run()
    cells = [{"method": "fs", "layout": "document_first", "dataset": "short", "expected": 6}]
    run.runs.append(make_run(number=1, model="smollm2-135m", cells=json.dumps(cells)))
    statuses = grid_of(make_report(run=run), "Statuses")
    lines = [(row.labels, [cell.value for cell in row.cells][:4], row.link) for row in statuses.rows]
    assert (("short", "smollm2-135m", "fs"), [6.0, 6.0, 0, 0], "") in lines


def test_superseded_judgements_are_told() -> None:
    assert "3 older judgements" in make_report(superseded_judgements=3).warnings[0]


def test_responses_that_will_be_asked_again_are_told() -> None:
    run = small_run()
    run.responses[0] = replace(run.responses[0], status=Status.PROVIDER_ERROR)
    assert "recorded as provider_error or budget_stopped: 1 responses" in make_report(run=run).warnings[0]


def test_missing_average_has_its_reason_in_both_renderings() -> None:
    run = small_run()
    run.responses = [r for r in run.responses if (r.method, r.dataset) != ("fs_cot", "long")]
    run.runs = [make_run(model="smollm2-135m", cells=cells_of(run))]
    report = make_report(run=run)
    reason = "smollm2-135m · fs_cot: no average, for there is no F1 on long"
    assert to_markdown(report).count(reason) == 1
    page = metrics_page(report, None)
    assert reason in page
    assert "no value; no average" in page
    averages = column(grid_of(report, "F1 by dataset"), "average")
    assert sorted(value is None for value in averages) == [False, True]


def test_every_rate_is_given_with_n() -> None:
    for section in make_report().sections:
        for grid in section.grids:
            rates = [cell for row in grid.measured for cell in row.cells if cell.unit in ("percent", "points")]
            assert all(cell.n is not None for cell in rates if cell.value is not None), grid.title


def test_facts_keep_a_judge_on_a_stage_of_its_own_apart() -> None:
    run = small_run()
    run.runs.append(make_run(number=1, job="judge", model="llm:j", start_id=run.runs[0]["start_id"], prompt_tokens=77))
    report = make_report(run=run)
    totals = grid_of(report, "Totals over the starts of this run")
    assert [name for _, name in totals.columns] == ["asking", "judging apart"]
    assert [cell.value for cell in totals.rows[1].cells] == ["1,000", "77"]
    assert grid_of(report, "What ran").rows[0].cells[0].value == "1"


def test_report_shows_that_code_was_changed() -> None:
    commits = ("a" * 40, f"{'b' * 40}+changes.0123456789ab", "code.ba9876543210")
    code = next(row for row in origins(RunFacts(git_commits=commits)).rows if row.labels == ("code",))
    assert code.cells[0].value == f"{'a' * 12}, {'b' * 12}+changes.0123456789ab, code.ba9876543210"
