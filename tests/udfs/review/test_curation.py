"""What annotators see of a question, and what their labels decide."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from udfs.review.curation import CHECK, agreement_table, curation_items, labels, view_of
from udfs.review.sheet import GAP
from udfs.tables.texts import Text
from udfs.views import view_text

FILLER = "The toll was paid at the gate every morning. "
FACT = "The bell was cast by Sela Brook in 1911. "


def text_of(words: str) -> Text:
    return Text("docs", "d1", "A bell", "made for tests", "en", words)


def row(question: str = "Who cast the bell?", excerpt: dict[str, int] | None = None) -> dict[str, Any]:
    return {"proposal_id": "p1", "source_dataset": "docs", "language": "en", "question": question, "excerpt": excerpt}


def votes(said: dict[str, str]) -> pl.DataFrame:
    """Item → one letter an annotator: a(nswerable), u(nanswerable), or a blank for none."""
    rows = [
        ("made", f"a{number}", item, "curation", "docs" if item < "m" else "more", "label", letter == "a")
        for item, letters in said.items()
        for number, letter in enumerate(letters)
        if letter.strip()
    ]
    columns = ["review", "annotator", "item_id", "target", "group", "check", "passed"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def test_curation_items_show_a_short_document_whole() -> None:
    words = FACT + FILLER * 60
    (item,) = curation_items([row()], text_of(words), 20_000, 100)
    assert [run.text for run in item.sections[1].runs] == [words]
    assert item.checks == (CHECK,)
    assert [option.value for option in CHECK.options] == ["answerable", "unanswerable"]
    assert item.group == "docs"


def test_curation_items_show_of_a_long_document_what_matches_the_question() -> None:
    words = FILLER * 200 + FACT + FILLER * 200
    (item,) = curation_items([row()], text_of(words), 2_000, 100)
    runs = item.sections[1].runs
    shown = [run.text for run in runs if not run.marks]
    assert any(FACT in part for part in shown)
    assert sum(map(len, shown)) < len(words) / 2
    left_out = [run for run in runs if run.marks == (GAP,)]
    assert left_out
    assert sum(map(len, shown)) + sum(int(run.text.split()[1].replace(",", "")) for run in left_out) == len(words)


def test_curation_items_show_of_an_excerpt_nothing_else() -> None:
    words = FILLER * 3 + FACT + FILLER * 3
    start = words.index(FACT)
    kept = {"start": start, "end": start + len(FACT)}
    (item,) = curation_items([row(excerpt=kept)], text_of(words), 20_000, 100)
    assert [run.text for run in item.sections[1].runs] == [FACT]
    assert view_text(words, view_of(kept, len(words))) == FACT
    assert view_of(None, len(words)) == ()
    assert view_of({"start": 0, "end": len(words)}, len(words)) == ()


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("majority", {"a": True, "b": True, "c": False, "d": False}),
        ("unanimous", {"a": True, "d": False}),
    ],
)
def test_labels_are_decided_by_their_rule(rule: str, expected: dict[str, bool]) -> None:
    said = votes({"a": "aaa", "b": "aau", "c": "auu", "d": "uuu", "e": "a u"})
    decided, counted = labels(said, rule)
    assert decided == expected
    assert counted == {"a": [3, 0], "b": [2, 1], "c": [1, 2], "d": [0, 3]}, "e was not labelled by all"


def test_labels_of_two_annotators_that_disagree_are_undecided() -> None:
    decided, _ = labels(votes({"a": "aa", "b": "au"}), "majority")
    assert decided == {"a": True}


def test_agreement_table_gives_kappa_by_dataset_beside_the_papers() -> None:
    lines = list(agreement_table(votes({"a": "aaa", "b": "uuu", "x": "aau", "y": "uuu"})))
    cells = {line.split(" | ")[0].strip("| "): line.strip("| ").split(" | ")[1:] for line in lines[2:]}
    assert cells["docs"] == ["3", "2", "2 (100.00 %)", "100.00"]
    # Of more: P = (1/3 + 1) / 2, shares 1/3 and 2/3, so P_e = 5/9 and kappa = (2/3 - 5/9) / (4/9).
    assert cells["more"] == ["3", "2", "1 (50.00 %)", "25.00"]
    assert cells["all"][:3] == ["3", "4", "3 (75.00 %)"]
    assert cells["BBC (CouldAsk, Table 12)"][-1] == "65.07"
