from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.factories import WHEN, make_candidate, make_run, write_rows
from tests.udfs.report.synthesis_bench import Made, make_annotations, small_synthesis
from tests.udfs.report.test_sections import Tags
from udfs.report.explanations import FATE_SAYS, STEP_NAMES
from udfs.report.grid import Grid, Report
from udfs.report.markdown import to_markdown
from udfs.report.notices import SCRIPTED_WARNING
from udfs.report.page import metrics_page
from udfs.report.sections import build_synthesis_report
from udfs.schema import Fate, Kind, Step
from udfs.tables.selection import Reviews, Synthesis, reviews_of, synthesis_of
from udfs.tables.store import Store

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def load(root: Path, made: Made) -> tuple[Synthesis, Reviews]:
    made.write(str(root))
    store = Store(str(root))
    synthesis = synthesis_of(store, made.dataset)
    assert synthesis is not None
    return synthesis, reviews_of(store, [made.dataset])


def make_report(root: Path, made: Made) -> Report:
    return build_synthesis_report(*load(root, made), NOW, resamples=50)


def grid_of(report: Report, title: str) -> Grid:
    (found,) = [grid for section in report.sections for grid in section.grids if grid.title == title]
    return found


def values(grid: Grid, column: str, group: str = "") -> dict[str, object]:
    place = list(grid.columns).index((group, column))
    return {row.labels[-1]: row.cells[place].value for row in grid.measured}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    made = small_synthesis()
    made.annotations = make_annotations([(q.question_id, q.kind) for q in made.questions[:40]])
    return make_report(tmp_path_factory.mktemp("root"), made)


def test_report_of_a_synthesis_has_its_sections_and_no_others(report: Report) -> None:
    assert [section.anchor for section in report.sections] == ["attrition", "dataset", "review", "facts"]
    assert report.warnings == ()
    facts = dict(report.summary)
    assert facts["accepted"] == "54 of 80 candidates (67.5 %)"
    assert facts["documents"] == "8 (en 4, zh 4) of books"
    assert facts["questions"].startswith("54 (train ")
    assert facts["computed ÷ bound"] == "1.111"


def test_candidates_left_fall_from_proposed_to_accepted_for_every_kind(report: Report) -> None:
    grid = grid_of(report, "Candidates left after each step")
    assert [row.labels[0] for row in grid.rows][:2] == ["proposed", "after fragments"]
    assert values(grid, "all")["proposed"] == 80
    assert values(grid, "all")["accepted"] == 54
    assert values(grid, "misleading")["proposed"] == 48
    for _, name in grid.columns:
        left = list(values(grid, name).values())
        assert left == sorted(left, key=float, reverse=True)  # type: ignore[arg-type]
    by_language = grid_of(report, "Candidates left after each step, by language")
    spoken = [values(by_language, "all", name)["accepted"] for name in ("English", "Chinese")]
    assert sum(map(int, spoken)) == 54  # type: ignore[arg-type]


def test_shares_lost_are_over_those_that_came(report: Report) -> None:
    grid = grid_of(report, "Share lost at each step")
    quality, review = grid.rows[1].cells[0], grid.rows[4].cells[0]
    assert quality.value == pytest.approx(4 / 80)
    assert quality.n == 80
    assert review.n == values(grid_of(report, "Candidates left after each step"), "all")["after question"]
    accepted = grid.rows[-1].cells[0]
    assert accepted.value == pytest.approx(54 / 80)
    assert accepted.n == 80
    assert accepted.low is not None
    assert accepted.high is not None
    assert accepted.low <= 54 / 80 <= accepted.high


def test_reasons_stand_between_proposed_and_accepted_and_add_up(report: Report) -> None:
    grid = grid_of(report, "Why candidates ended")
    reasons = [row.labels[1] for row in grid.rows]
    assert (reasons[0], reasons[-1]) == ("proposed", "accepted")
    assert reasons[-2] == "parse failure"  # undecided ones last
    for place in range(len(grid.columns)):
        counts = [int(row.cells[place].value or 0) for row in grid.rows]
        assert counts[0] == sum(counts[1:])
    assert grid.note == "80 proposed = 54 accepted + 26 over all reasons, of these 4 undecided."
    assert "undecided" in next(row.note for row in grid.rows if row.labels[1] == "parse failure")


def test_losses_by_stage_stand_beside_the_approximate_ones_of_the_paper(report: Report) -> None:
    grid = grid_of(report, "Share lost in each stage of the paper")
    (printed,) = grid.reference
    assert [cell.text for cell in printed.cells] == ["–", "about 6", "about 21"]
    assert "approximate" in grid.source
    text = to_markdown(report)
    assert "| misleading (published) | – | about 6 | about 21 |" in text
    assert "about 6" not in to_markdown(report, published=False)


def test_compact_markdown_names_reasons_without_saying_what_they_mean(report: Report) -> None:
    meaning = FATE_SAYS[Fate.LOW_QUALITY]
    assert f"| quality | low quality: {meaning} |" in to_markdown(report)
    assert meaning not in to_markdown(report, compact=True)


def test_examples_and_articles_stand_beside_table_3(report: Report) -> None:
    grid = grid_of(report, "Examples and articles")
    assert sum(int(row.cells[2].value or 0) for row in grid.measured if row.labels[1] == "examples") == 54
    assert [cell.text for cell in grid.reference[0].cells] == ["10,699", "8,401", "19,100"]
    assert len(grid.reference) == 6


@pytest.mark.parametrize("by", ["domain", "kind", "topic", "length (tokens)"])
def test_distributions_add_up_to_all_questions_of_each_language(report: Report, by: str) -> None:
    grid = grid_of(report, f"Questions by {by}")
    for place, (_, what) in enumerate(grid.columns):
        total = sum(float(row.cells[place].value or 0) for row in grid.rows)
        if what == "share, %":
            assert total == pytest.approx(1)
    counted = [values(grid, "questions", name).values() for name in ("all", "English", "Chinese")]
    everything, english, chinese = (sum(float(str(count)) for count in counts) for counts in counted)
    assert everything == english + chinese == 54


def test_quality_by_review_stands_beside_table_4(report: Report) -> None:
    grid = grid_of(report, "Questions that pass a manual review")
    unanimous, majority = (grid.columns.index(("question and answer", rule)) for rule in ("unanimous", "majority"))
    (overall,) = [row for row in grid.measured if row.labels == ("r1", "all")]
    assert (overall.cells[unanimous].value, overall.cells[unanimous].n) == (0.75, 40)
    assert overall.cells[majority].value == 1.0
    printed = {row.labels[1]: (row.cells[0].text, row.cells[0].n) for row in grid.reference}
    assert printed["lack of evidence"] == ("100.0", 40)
    assert printed["all"] == ("93.1", 144)
    agreed = grid_of(report, "Agreement of the annotators")
    assert [cell.text for cell in agreed.rows[0].cells] == ["3", "75.0", "−0.09"]


def test_every_rate_about_synthesis_is_given_with_n(report: Report) -> None:
    for section in report.sections:
        for grid in section.grids:
            rates = [cell for row in grid.measured for cell in row.cells if cell.unit == "percent"]
            assert all(cell.n is not None for cell in rates if cell.value is not None), grid.title


def test_page_of_a_synthesis_is_well_formed_with_its_plots(report: Report) -> None:
    page = metrics_page(report, None)
    tags = Tags()
    tags.feed(page)
    assert not tags.open
    assert not {"script", "img", "iframe"} & tags.seen
    assert page.count("<figure>") == 2
    assert "80 proposed = 54 accepted + 26" in page
    assert FATE_SAYS[Fate.LOW_QUALITY].split("'")[0] in page


def test_markdown_of_a_synthesis_has_tables_of_even_width(report: Report) -> None:
    width = 0
    for line in to_markdown(report, compact=True).splitlines():
        cells = line.count("|") if line.startswith("|") else 0
        assert 0 in (width, cells) or width == cells
        width = cells


def test_names_are_there_for_every_step_and_every_reason() -> None:
    assert set(STEP_NAMES) == set(Step)
    assert set(FATE_SAYS) == set(Fate) - {Fate.ACCEPTED}


def test_synthesis_in_one_language_has_no_tables_by_language(tmp_path: Path) -> None:
    made = small_synthesis()
    english = {document.doc_id for document in made.documents if document.language == "en"}
    made.documents = [document for document in made.documents if document.doc_id in english]
    made.candidates = [candidate for candidate in made.candidates if candidate.doc_id in english]
    made.questions = [question for question in made.questions if question.doc_id in english]
    report = make_report(tmp_path, made)
    titles = [grid.title for section in report.sections for grid in section.grids]
    assert not any("by language" in title for title in titles)
    assert [group for group, _ in grid_of(report, "Questions by kind").columns] == ["English", "English"]
    assert "Chinese" not in [name for _, name in grid_of(report, "Why candidates ended").columns]


def test_nothing_accepted_leaves_the_attrition_alone_and_counts_every_candidate(tmp_path: Path) -> None:
    made = small_synthesis()
    made.candidates = [replace(one, step=Step.QA, fate=Fate.NOT_A_QUESTION) for one in made.candidates if one.accepted]
    made.documents, made.questions, made.runs = [], [], []
    report = make_report(tmp_path, made)
    assert [section.anchor for section in report.sections] == ["attrition"]
    assert dict(report.summary)["accepted"] == "0 of 54 candidates (0.0 %)"
    assert grid_of(report, "Why candidates ended").note == "54 proposed = 0 accepted + 54 over all reasons."


def test_other_specs_are_left_out_and_told(tmp_path: Path) -> None:
    made = small_synthesis()
    older = [
        make_candidate(document, 0, spec="another", model="maker", created_at=WHEN.replace(year=2025))
        for document in made.documents
    ]
    write_rows(str(tmp_path), "candidates", made.dataset, older, name="older")
    report = make_report(tmp_path, made)
    (told,) = report.warnings
    assert told.startswith("8 candidates that were made in another way are left out (another (8))")
    assert "spec1" in told
    assert dict(report.summary)["candidates"] == "80 proposed"


def test_spec_that_the_last_start_recorded_goes_before_a_newer_candidate(tmp_path: Path) -> None:
    made = small_synthesis()
    newer = [make_candidate(made.documents[0], 0, spec="newer", created_at=WHEN.replace(year=2027))]
    write_rows(str(tmp_path), "candidates", made.dataset, newer, name="newer")
    store = Store(str(tmp_path))
    synthesis, _ = load(tmp_path, made)
    assert synthesis.left_out == {"spec1": 80}
    (tmp_path / "candidates" / made.dataset / "_made_with.json").write_text('{"spec": "spec1"}', encoding="utf-8")
    again = synthesis_of(store, made.dataset)
    assert again is not None
    assert again.left_out == {"newer": 1}


def test_what_must_be_known_before_believing_a_number_heads_the_report(tmp_path: Path) -> None:
    made = small_synthesis(model="scripted")
    first, *rest = made.candidates
    assert first.accepted
    lost = make_candidate(
        made.documents[0], 0, Kind.ANSWERABLE, Fate.PROVIDER_ERROR, model="scripted", source_dataset="books"
    )
    made.candidates = [lost, *rest]
    made.runs = [make_run("synthetic", job="synthesize", model="scripted", status="running")]
    scripted, again, ended, missing = make_report(tmp_path, made).warnings
    assert scripted == SCRIPTED_WARNING
    assert again.startswith("recorded as provider_error: 1 candidates;")
    assert "start of synthesis by scripted" in ended
    assert missing.startswith("53 candidates are accepted, and the questions table holds 54")
