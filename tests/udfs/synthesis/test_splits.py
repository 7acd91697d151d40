"""Splits: disjoint by construction, near the ratios, and stable when documents are added."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from udfs.errors import UserError
from udfs.synthesis.splits import SplitDocument, assign_splits

RATIOS = {"train": 0.7, "dev": 0.1, "test": 0.2}


def documents(n: int, language: str = "en", domain: str = "law", bucket: str = "0-16K") -> list[SplitDocument]:
    return [SplitDocument(f"{language}-{domain}-{bucket}-{i}", language, domain, bucket) for i in range(n)]


def test_assign_splits_of_one_stratum_gives_the_ratios() -> None:
    assert Counter(assign_splits(documents(100), RATIOS, 0, {}).values()) == {"train": 70, "dev": 10, "test": 20}


def test_assign_splits_is_stratified() -> None:
    strata = [documents(20, language, domain) for language in ("en", "zh") for domain in ("law", "book")]
    given_splits = assign_splits([doc for stratum in strata for doc in stratum], RATIOS, 0, {})
    for stratum in strata:
        assert Counter(given_splits[doc.doc_id] for doc in stratum) == {"train": 14, "dev": 2, "test": 4}


def test_assign_splits_of_strata_of_one_document_each_still_gives_the_ratios() -> None:
    lonely = [doc for i in range(50) for doc in documents(1, domain=f"d{i}")]
    assert Counter(assign_splits(lonely, RATIOS, 0, {}).values()) == {"train": 35, "dev": 5, "test": 10}


def test_assign_splits_depends_on_the_seed_and_not_on_the_order() -> None:
    docs = documents(40)
    assert assign_splits(docs, RATIOS, 1, {}) == assign_splits(reversed(docs), RATIOS, 1, {})
    assert assign_splits(docs, RATIOS, 1, {}) != assign_splits(docs, RATIOS, 2, {})


def test_assign_splits_of_new_documents_fills_what_the_taken_ones_lack() -> None:
    taken = {doc.doc_id: "train" for doc in documents(10)}
    splits = assign_splits(documents(20), RATIOS, 0, taken)
    assert all(splits[doc_id] == "train" for doc_id in taken)
    assert Counter(splits.values()) == {"train": 14, "dev": 2, "test": 4}


def test_assign_splits_with_a_ratio_of_zero_gives_it_nothing() -> None:
    assert set(assign_splits(documents(7), {"train": 0.5, "dev": 0.0, "test": 0.5}, 0, {}).values()) == {
        "train",
        "test",
    }


@pytest.mark.parametrize(
    ("ratios", "message"),
    [
        ({"train": 0.7, "dev": 0.1, "test": 0.1}, r"sum to 1, not 0\.9.*train 0\.7"),
        ({"train": 1.2, "dev": -0.2, "test": 0.0}, r"splits\.train=1\.2"),
        ({"train": math.nan, "dev": 0.5, "test": 0.5}, r"splits\.train=nan"),
    ],
)
def test_assign_splits_with_ratios_that_are_no_shares_says_so(ratios: dict[str, float], message: str) -> None:
    with pytest.raises(UserError, match=message):
        assign_splits(documents(3), ratios, 0, {})


strata = st.tuples(st.sampled_from(["en", "zh"]), st.sampled_from(["law", "book"]), st.sampled_from(["0-16K", "128K+"]))


@settings(deadline=None, max_examples=60)
@given(st.lists(strata, max_size=60), st.lists(strata, max_size=40), st.integers(0, 5))
def test_assign_splits_gives_each_document_one_split_near_the_ratios_and_keeps_it(
    first: list[tuple[str, str, str]], more: list[tuple[str, str, str]], seed: int
) -> None:
    before = [SplitDocument(f"a{i}", *stratum) for i, stratum in enumerate(first)]
    after = before + [SplitDocument(f"b{i}", *stratum) for i, stratum in enumerate(more)]
    splits = assign_splits(before, RATIOS, seed, {})
    assert splits.keys() == {doc.doc_id for doc in before}
    counts = Counter(splits.values())
    n_strata = len({doc.stratum for doc in before})
    for split, ratio in RATIOS.items():
        assert abs(counts[split] - ratio * len(before)) <= n_strata + 1
        for stratum in {doc.stratum for doc in before}:
            members = [doc for doc in before if doc.stratum == stratum]
            inside = sum(splits[doc.doc_id] == split for doc in members)
            assert math.floor(ratio * len(members)) - 1e-9 <= inside <= math.ceil(ratio * len(members))
    grown = assign_splits(after, RATIOS, seed, splits)
    assert grown.keys() == {doc.doc_id for doc in after}
    assert {doc.doc_id: grown[doc.doc_id] for doc in before} == splits
