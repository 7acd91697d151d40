from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pytest

from tests.factories import make_document, make_question
from udfs.records import Document, Question, row_of
from udfs.schema import DOCUMENTS, QUESTIONS
from udfs.tables.stats import (
    BREAKDOWNS,
    breakdown,
    couldask_table,
    factguard_table,
    markdown,
    mean_sd,
    with_question_tokens,
)

SHORT = make_document("one two three", n_words=3, title="A", split="train")
LONG = make_document("one two three four five", n_words=5, title="A", length_bucket="128K+", split="train")
CHINESE = make_document("大桥于一九〇二年通车。", n_words=10, title="", language="zh", domain="law")
SILENT = make_document("nobody asks this", dataset="texts", n_words=3, split="all")


def frames(documents: Sequence[Document], questions: Sequence[Question]) -> tuple[pl.DataFrame, pl.DataFrame]:
    docs = pl.DataFrame([row_of(document) for document in documents], schema=pl.Schema(DOCUMENTS))
    asked = pl.DataFrame([row_of(question) for question in questions], schema=pl.Schema(QUESTIONS))
    return docs, with_question_tokens(asked)


@pytest.fixture
def tables() -> tuple[pl.DataFrame, pl.DataFrame]:
    asked = [
        make_question(SHORT, 0, question="When did it open?", entities=("it", "open")),
        make_question(SHORT, 1, answerable=False, question="Who built it?", kind="lack_of_evidence"),
        make_question(LONG, 2, question="Where?"),
        make_question(CHINESE, 3, answerable=False, question="谁建的？", split="test"),
    ]
    return frames([SHORT, LONG, CHINESE, SILENT], asked)


def test_couldask_table_counts_lengths_and_shares(tables: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    bench, texts = couldask_table(*tables).to_dicts()
    assert (bench["dataset"], bench["documents"], bench["total"], bench["unans %"]) == ("bench", "3", "4", "50.00")
    assert bench["document length (words)"] == "6.00 ± 3.61"
    assert bench["question length"] == "3.50 ± 1.29"  # 5, 4 and 2 Treebank tokens, 3 Han characters
    assert bench["# question entities"] == "0.50 ± 1.00"
    assert bench["domain"] == "book, law"
    assert (texts["total"], texts["unans %"], texts["question length"]) == ("0", "–", "–")
    assert texts["# question entities"] == "–"


def test_factguard_table_counts_examples_articles_documents(tables: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    rows = {
        (r["dataset"], r["split"], r[""]): (r["en"], r["zh"], r["total"]) for r in factguard_table(*tables).to_dicts()
    }
    assert rows["bench", "train", "examples"] == ("3", "0", "3")
    assert rows["bench", "train", "articles"] == ("1", "0", "1")  # one title
    assert rows["bench", "train", "documents"] == ("2", "0", "2")
    assert rows["bench", "test", "articles"] == ("0", "1", "1")
    assert rows["texts", "all", "examples"] == ("0", "0", "0")
    assert rows["texts", "all", "articles"] == ("1", "0", "1")


def test_breakdown_by_kind_and_bucket_adds_up(tables: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    for by in BREAKDOWNS:
        rows = breakdown(*tables, by).to_dicts()
        assert sum(int(row["questions"]) for row in rows) == 4
    kinds = {row["kind"]: (row["documents"], row["unans %"]) for row in breakdown(*tables, "kind").to_dicts()}
    assert kinds == {"answerable": ("2", "0.00"), "lack_of_evidence": ("1", "100.00"), "unanswerable": ("1", "100.00")}
    buckets = [(row["dataset"], row["length bucket"]) for row in breakdown(*tables, "length_bucket").to_dicts()]
    assert buckets == [("bench", "0-16K"), ("bench", "128K+"), ("texts", "0-16K")]


def test_tables_of_documents_without_any_question_still_print() -> None:
    documents, questions = frames([SILENT], [])
    assert breakdown(documents, questions, "kind").height == 0
    assert breakdown(documents, questions, "language")["documents"].to_list() == ["1"]
    assert factguard_table(documents, questions).height == 3


def test_mean_sd_of_none_one_and_more() -> None:
    assert mean_sd(pl.Series([], dtype=pl.Int64)) == "–"
    assert mean_sd(pl.Series([2])) == "2.00"
    assert mean_sd(pl.Series([1, 3, None])) == "2.00 ± 1.41"


def test_markdown_escapes_bars_and_aligns_numbers() -> None:
    lines = markdown(pl.DataFrame({"dataset": ["a|b"], "total": ["1"]})).splitlines()
    assert lines == ["| dataset | total |", "| --- | ---: |", "| a\\|b | 1 |"]
