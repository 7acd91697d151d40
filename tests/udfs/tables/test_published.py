from __future__ import annotations

import polars as pl
import pytest

from udfs.schema import LENGTH_BUCKETS
from udfs.tables.published import (
    COULDASK_TABLE4,
    FACTGUARD_FIGURE2,
    FACTGUARD_TABLE3,
    FACTGUARD_TABLE4,
    FACTGUARD_TABLE5,
    FACTGUARD_TABLE6,
    FACTGUARD_TABLE7,
    FACTGUARD_TABLE8,
    Published,
    published,
)

DATASETS = ["SQuADv2", "QA2", "BanditQA", "BBC", "Reddit", "Yelp"]
UNANSWERABLE = {"SQuADv2": 507, "QA2": 247, "BanditQA": 736, "BBC": 59, "Reddit": 113, "Yelp": 51}
TOTAL = {"SQuADv2": 1000, "QA2": 506, "BanditQA": 2070, "BBC": 278, "Reddit": 313, "Yelp": 165}


def test_couldask_table4_has_every_model_and_method_once() -> None:
    frame = published(COULDASK_TABLE4)
    assert frame.height == 20
    assert frame.select("model", "method").n_unique() == 20
    assert frame["method"].value_counts()["count"].to_list() == [5, 5, 5, 5]


def test_couldask_table4_averages_agree_with_their_cells() -> None:
    frame = published(COULDASK_TABLE4).with_columns(mean=pl.mean_horizontal(DATASETS))
    # One row (GPT-3.5 FS) is cut instead of rounded: 30.3567 is printed as 30.35.
    off = (frame["mean"] - frame["Average"]).abs().to_list()
    assert max(off) <= 0.0100001
    assert sum(value > 0.0051 for value in off) == 1


@pytest.mark.parametrize("dataset", DATASETS)
def test_couldask_table4_cells_are_f1_values_that_the_dataset_allows(dataset: str) -> None:
    """F1 = 2·tp / (unanswerable + predicted), with whole tp and predicted: a slip of a digit mostly breaks it."""
    gold, total = UNANSWERABLE[dataset], TOTAL[dataset]
    allowed = {
        f"{200 * hits / (gold + said):.2f}" for hits in range(gold + 1) for said in range(hits, total - gold + hits + 1)
    }
    for value in published(COULDASK_TABLE4)[dataset]:
        assert f"{value:.2f}" in allowed


@pytest.mark.parametrize(("table", "columns"), [(FACTGUARD_TABLE5, 7), (FACTGUARD_TABLE6, 12), (FACTGUARD_TABLE7, 3)])
def test_factguard_tables_hold_nine_rows_of_percentages(table: Published, columns: int) -> None:
    frame = published(table)
    numbers = frame.drop("model", "note")
    assert (frame.height, numbers.width) == (9, columns)
    assert all(0 <= value <= 100 for row in numbers.iter_rows() for value in row)


def test_factguard_table5_overall_lies_between_its_cells() -> None:
    frame = published(FACTGUARD_TABLE5)
    parts = frame.drop("model", "overall", "note")
    for overall, row in zip(frame["overall"], parts.iter_rows(), strict=True):
        assert min(row) <= overall <= max(row)


def test_factguard_table5_answerable_cells_are_counts_of_its_test_set() -> None:
    """400 English and 300 Chinese answerable questions; Gemini and GPT-4o answered a few less."""
    frame = published(FACTGUARD_TABLE5).filter(~pl.col("model").str.contains("GPT-4o|Gemini"))
    for column, count in (("en answerable", 400), ("zh answerable", 300)):
        for value in frame[column]:
            assert value * count / 100 == pytest.approx(round(value * count / 100), abs=0.02)


def test_factguard_table6_columns_name_the_length_buckets() -> None:
    columns = [name for name in published(FACTGUARD_TABLE6).columns if name not in ("model", "note")]
    assert [name.split()[1] for name in columns] == list(LENGTH_BUCKETS[:4]) * 3


def test_factguard_table7_shares_sum_to_a_hundred_and_the_doubtful_row_is_noted() -> None:
    frame = published(FACTGUARD_TABLE7)
    sums = frame.select(total=pl.sum_horizontal("incorrect", "direct_refusal", "reasoned_answer"))["total"]
    assert all(99 <= value <= 101 for value in sums)
    twice = frame.filter(pl.col("model") == "Qwen2.5-72B-Instruct")
    assert twice["note"].to_list()[0] == ""
    assert "7B" in twice["note"].to_list()[1]


def test_factguard_table3_totals_are_the_sums_of_the_languages_and_of_the_text() -> None:
    frame = published(FACTGUARD_TABLE3)
    assert (frame["en"] + frame["zh"]).to_list() == frame["total"].to_list()
    sums = dict(frame.group_by("what").agg(pl.col("total").sum()).iter_rows())
    assert sums == {"examples": 25_220, "articles": 16_742}  # section 4.2


@pytest.mark.parametrize(
    ("table", "parts", "union", "measure"),
    [
        (FACTGUARD_TABLE4, ("answerable", "lack_of_evidence", "misleading"), "all", None),
        (FACTGUARD_TABLE4, ("lack_of_evidence", "misleading"), "unanswerable", None),
        (FACTGUARD_TABLE8, ("answerable", "lack_of_evidence", "misleading"), "all", "answer_consistency"),
        (FACTGUARD_TABLE8, ("incorrect", "direct_refusal", "reasoned_answer"), "all", "response_class"),
    ],
)
def test_factguard_review_qualities_are_counts_and_add_up_to_their_union(
    table: Published, parts: tuple[str, ...], union: str, measure: str | None
) -> None:
    frame = published(table).filter(pl.lit(True) if measure is None else pl.col("measure") == measure)
    rows = {row["group"]: row for row in frame.iter_rows(named=True)}
    passed = {name: row["n"] * row["quality"] / 100 for name, row in rows.items()}
    assert all(count == pytest.approx(round(count), abs=0.01) for count in passed.values())
    assert rows[union]["n"] == sum(rows[name]["n"] for name in parts)
    assert passed[union] == pytest.approx(sum(passed[name] for name in parts), abs=0.02)


def test_factguard_losses_are_those_that_the_text_says() -> None:
    assert published(FACTGUARD_FIGURE2).select("stage", "lost").rows() == [
        ("QA generation", 6),
        ("negatives and review", 21),
    ]
