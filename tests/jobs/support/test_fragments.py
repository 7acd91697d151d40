"""What a synthesis owes, and in what order it is handed out."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from jobs.support.fragments import in_order, owed_fragments, select_documents
from tests.factories import make_candidate, make_document, write_rows
from udfs.bundles import locate_documents
from udfs.errors import UserError
from udfs.identity import candidate_id
from udfs.records import Candidate, Document
from udfs.schema import Fate, Kind, Status
from udfs.tables.store import Store

KINDS = (Kind.ANSWERABLE, Kind.LACK_OF_EVIDENCE)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path))


def documents(n: int, dataset: str = "d", **given: object) -> list[Document]:
    return [make_document(f"Text {i} of {given or ''}.", dataset, **given) for i in range(n)]


def recorded(document: Document, index: int, kind: Kind, fate: Fate = Fate.ACCEPTED) -> Candidate:
    made = make_candidate(document, index, kind, fate)
    return dataclasses.replace(made, candidate_id=candidate_id("made", "s", document.doc_id, index, kind))


def test_owed_fragments_of_a_first_start_is_everything(store: Store) -> None:
    write_rows(store.root, "documents", "d", documents(3))
    owed = owed_fragments(store, select_documents(store, ["d"], None, None, None), "made", "s", KINDS, 2)
    assert set(owed.fragments.values()) == {(0, 1)}
    assert (owed.expected, owed.recorded, len(owed.fragments)) == (12, 0, 3)


def test_owed_fragments_with_a_larger_alpha_are_the_new_ones(store: Store) -> None:
    docs = documents(2)
    write_rows(store.root, "documents", "d", docs)
    write_rows(store.root, "candidates", "made", [recorded(doc, 0, kind) for doc in docs for kind in KINDS])
    owed = owed_fragments(store, select_documents(store, ["d"], None, None, None), "made", "s", KINDS, 2)
    assert owed.fragments == {doc.doc_id: (1,) for doc in docs}
    assert (owed.expected, owed.recorded) == (8, 4)


def test_owed_fragments_with_a_provider_error_are_owed_as_a_whole(store: Store) -> None:
    failed, done = documents(2)
    write_rows(store.root, "documents", "d", [failed, done])
    rows = [recorded(done, 0, kind) for kind in KINDS]
    rows += [recorded(failed, 0, Kind.ANSWERABLE), recorded(failed, 0, Kind.LACK_OF_EVIDENCE, Fate.PROVIDER_ERROR)]
    assert rows[-1].status is Status.PROVIDER_ERROR
    write_rows(store.root, "candidates", "made", rows)
    owed = owed_fragments(store, select_documents(store, ["d"], None, None, None), "made", "s", KINDS, 1)
    assert owed.fragments == {failed.doc_id: (0,)}
    assert owed.recorded == 3


def test_owed_fragments_of_another_spec_or_name_count_for_nothing(store: Store) -> None:
    (doc,) = documents(1)
    write_rows(store.root, "documents", "d", [doc])
    write_rows(store.root, "candidates", "made", [recorded(doc, 0, kind) for kind in KINDS])
    scope = select_documents(store, ["d"], None, None, None)
    assert owed_fragments(store, scope, "made", "t", KINDS, 1).recorded == 0
    assert owed_fragments(store, scope, "other", "s", KINDS, 1).recorded == 0


def test_select_documents_takes_a_text_of_two_datasets_once(store: Store) -> None:
    write_rows(store.root, "documents", "a", documents(2, "a"))
    write_rows(store.root, "documents", "b", documents(3, "b"))
    found = select_documents(store, ["b", "a"], None, None, None)
    assert found["dataset"].to_list() == ["b"] * 3


def test_select_documents_filters_and_limits_each_dataset(store: Store) -> None:
    write_rows(store.root, "documents", "a", [*documents(3, "a"), *documents(2, "a", language="zh", split="train")])
    assert select_documents(store, ["a"], None, "zh", None).height == 2
    assert select_documents(store, ["a"], "test", None, 2).height == 2
    with pytest.raises(UserError, match="no document of split 'dev'; it has test, train"):
        select_documents(store, ["a"], "dev", None, None)
    with pytest.raises(UserError, match="unknown dataset 'b'"):
        select_documents(store, ["b"], None, None, None)


def test_in_order_is_longest_first_or_strata_in_turn(store: Store) -> None:
    sizes = {"en": (90, 70, 50), "zh": (40, 20)}
    docs = [
        make_document(f"{language} {n}", "d", language=language, n_tokens=n)
        for language, tokens in sizes.items()
        for n in tokens
    ]
    write_rows(store.root, "documents", "d", docs)
    rows = select_documents(store, ["d"], None, None, None).to_dicts()
    places = locate_documents(store, ["d"])
    assert [row["n_tokens"] for row in in_order(rows, places, interleave=False)] == [90, 70, 50, 40, 20]
    assert [row["n_tokens"] for row in in_order(rows, places, interleave=True)] == [90, 40, 70, 20, 50]
