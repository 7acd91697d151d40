"""Parts: no document on both sides, whatever datasets it is in; a dataset's own splits where they are disjoint."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.errors import UserError
from udfs.training.examples import Example
from udfs.training.splits import BY_DOCUMENT, OWN, split


def example(document: int, answerable: bool, dataset: str = "a", part: str = "all") -> Example:
    name = f"{dataset}-{document}-{answerable}"
    return Example(name, f"doc{document}", dataset, part, "text", "question?", answerable, ())


def both(document: int, dataset: str = "a", part: str = "all") -> list[Example]:
    return [example(document, answerable, dataset, part) for answerable in (True, False)]


@given(st.integers(0, 1000), st.floats(0.2, 0.8))
def test_split_of_any_seed_keeps_documents_apart_and_loses_no_question(seed: int, share: float) -> None:
    made = [one for document in range(40) for one in both(document)]
    parts = split(made, share, seed)
    assert {e.doc_id for e in parts.train}.isdisjoint({e.doc_id for e in parts.test})
    assert len(parts.train) + len(parts.test) == len(made)


def test_split_of_one_seed_is_the_same_in_any_order_and_another_of_another_seed() -> None:
    made = [one for document in range(60) for one in both(document)]
    tested = {e.doc_id for e in split(made, 0.3, 1).test}
    assert {e.doc_id for e in split(made[::-1], 0.3, 1).test} == tested
    assert {e.doc_id for e in split(made, 0.3, 2).test} != tested
    assert 8 <= len(tested) <= 28


def test_split_dataset_with_disjoint_train_and_test_keeps_them_and_uses_no_other() -> None:
    made = [*both(1, part="train"), *both(2, part="test"), *both(3, part="dev")]
    parts = split(made, 0.5, 0)
    assert parts.how == {"a": OWN}
    assert {e.doc_id for e in parts.train} == {"doc1"}
    assert {e.doc_id for e in parts.test} == {"doc2"}
    assert parts.unused == {"a": 2}


def test_split_dataset_whose_train_and_test_share_a_document_is_parted_by_document() -> None:
    made = [*both(1, part="train"), *both(1, part="test"), *(one for d in range(2, 40) for one in both(d))]
    parts = split(made, 0.3, 0)
    assert parts.how == {"a": BY_DOCUMENT}
    assert {e.doc_id for e in parts.train}.isdisjoint({e.doc_id for e in parts.test})


def test_split_document_tested_in_one_dataset_is_not_trained_on_in_another() -> None:
    own = [*both(1, "own", "test"), *(one for d in range(50, 60) for one in both(d, "own", "train"))]
    shared = [one for document in range(1, 40) for one in both(document, "b")]
    for seed in range(6):
        parts = split([*own, *shared], 0.3, seed)
        assert "doc1" not in {e.doc_id for e in parts.train}
        assert parts.overlapping.get("b", 0) == 2 * all(e.dataset != "b" for e in parts.test if e.doc_id == "doc1")


def test_split_that_leaves_one_class_only_says_what_to_do() -> None:
    with pytest.raises(UserError, match=r"the (train|test) part .* give more documents"):
        split([example(document, True) for document in range(30)], 0.3, 0)


def test_documents_are_counted_once_a_dataset() -> None:
    made = [*both(1, part="train"), *both(2, part="train"), *both(3, part="test")]
    assert split(made, 0.5, 0).documents() == {"train": {"a": 2}, "test": {"a": 1}}
