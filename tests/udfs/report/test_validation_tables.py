"""The report's parts about people: measures and taggers beside them, and how a curated dataset was labelled."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from tests.udfs.tables.test_preferences import preferences, scores
from tests.udfs.tables.test_taggers import tagged, tags
from udfs.report.curation_tables import curation_sections, summary
from udfs.report.grid import Grid, Section
from udfs.report.markdown import grid_markdown
from udfs.report.validation_tables import validation_section
from udfs.review.curated import Curation
from udfs.schema import ProposalFate
from udfs.tables.preferences import annotator_agreement, measured_agreement
from udfs.tables.taggers import between_annotators, tagger_quality
from udfs.tables.validation import Validation


def grids(section: Section) -> dict[str, Grid]:
    return {grid.title: grid for grid in section.grids}


def test_nothing_said_by_people_gives_no_section() -> None:
    assert validation_section(Validation()).grids == ()


def test_preferences_show_agreement_with_n_interval_and_coverage_beside_the_paper() -> None:
    people = preferences({"1": "aa", "2": "bb", "3": "ab"})
    known = scores({"1": (1.0, 0.0), "2": (1.0, 0.0)}, "edit_distance")
    validation = Validation(measured_agreement(people, known, 100), annotator_agreement(people, 100))
    found = grids(validation_section(validation))
    (row,) = found["Which new question is nearer to the original: measures beside people"].measured
    agree = row.cells[0]
    assert (row.labels, agree.value, agree.n) == (("r", "edit distance", "rules"), 0.5, 2)
    assert agree.coverage == pytest.approx(2 / 3)
    assert (agree.low, agree.high) != (None, None)
    printed = found["Which new question is nearer to the original: measures beside people"].reference
    assert {row.labels[1]: row.cells[1].value for row in printed} == {"edit distance": 0.4096, "entity overlap": 0.9399}
    (annotators,) = found["Agreement of the annotators on pairs"].measured
    assert annotators.cells[1].value == pytest.approx(2 / 3)


def test_taggers_show_precision_and_recall_beside_the_paper() -> None:
    hand = tags({"1": [["bridge"], ["bridge"]], "2": [["toll"], []]})
    quality = tagger_quality(hand, tagged({"1": ["bridge", "x"], "2": []}), 100)
    section = validation_section(Validation(quality=quality, tagging=between_annotators(hand, 100)))
    found = grids(section)
    text = "\n".join(grid_markdown(found["Entity tags beside people's"]))
    assert "| r | rules | exact | all | 50.0° n 2 | 100.0° n 1 | 66.7°" in text
    assert "| CouldAsk (published) | GPT-4 |  |  | 99.0 | 94.0 | – |" in text
    assert "Agreement of the annotators on entities" in found


def curation(votes: dict[str, str], fates: dict[str, ProposalFate]) -> Curation:
    """Proposal → one letter an annotator: a(nswerable) or u(nanswerable)."""
    rows: tuple[dict[str, Any], ...] = tuple(
        {"proposal_id": name, "doc_id": f"d{name}", "source_dataset": "news", "fate": str(fate), "question": "Why?"}
        for name, fate in fates.items()
    )
    said = [
        ("made", f"p{number}", name, "curation", "news", "label", letter == "a")
        for name, letters in votes.items()
        for number, letter in enumerate(letters)
    ]
    names = ("review", "annotator", "item_id", "target", "group", "check")
    kinds: dict[str, Any] = {**dict.fromkeys(names, pl.String), "passed": pl.Boolean}
    return Curation("made", rows, pl.DataFrame(said, schema=kinds, orient="row"), {"generator": "m (r1)"})


CONFUSING, DUPLICATE = ProposalFate.AWAITING_ANNOTATION, ProposalFate.DUPLICATE


def test_curation_shows_funnel_both_labels_and_kappa_beside_the_paper() -> None:
    made = curation(
        {"1": "aaa", "2": "uuu", "3": "uua"}, {"1": CONFUSING, "2": CONFUSING, "3": CONFUSING, "4": DUPLICATE}
    )
    (section,) = curation_sections([made], True, 100)
    left, agreed = section.grids
    (row,) = left.measured
    said = dict(zip(left.columns, (cell.value for cell in row.cells), strict=True))
    assert [said["", step] for step in ("generated", "distinct", "confused the checker", "annotated by all")] == [
        4,
        3,
        3,
        3,
    ]
    assert said["labelled by majority", "questions"] == 3
    assert said["labelled by majority", "unanswerable, %"] == pytest.approx(2 / 3)
    assert (said["labelled unanimously", "questions"], said["labelled unanimously", "unanswerable, %"]) == (2, 0.5)
    assert [row.labels[0] for row in left.reference] == ["BBC", "Reddit", "Yelp"]
    (kappa,) = [row.cells[2] for row in agreed.measured]
    assert kappa.value == pytest.approx(1 - (2 / 9) / (2 * 5 / 9 * 4 / 9))
    assert [row.cells[2].value for row in agreed.reference] == pytest.approx([0.6507, 0.5994, 0.5876])
    assert ("questions", "4 generated, 3 confused the checker") in summary(made)


def test_curation_before_its_labels_shows_the_funnel_alone() -> None:
    (section,) = curation_sections([curation({}, {"1": CONFUSING})], False, 100)
    (left,) = section.grids
    assert [name for _, name in left.columns] == ["generated", "parsed", "distinct", "confused the checker"]
    assert section.title.endswith(": made")
    assert ("annotators", "none yet") in summary(curation({}, {"1": CONFUSING}))
