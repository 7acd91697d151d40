"""A dataset out of accepted candidates: complete, stable, and honest about what it leaves out."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from jobs.support.made_with import MadeWith, check_name, made_with, write_record
from jobs.support.publishing import Published, publish
from tests.factories import make_candidate, make_document, write_rows
from udfs.agents.spec import SynthesisSpec, WebSearch
from udfs.errors import UserError
from udfs.records import Document
from udfs.schema import Fate, Kind
from udfs.sources.writer import DatasetWriter, write_dataset
from udfs.tables.store import Store

RATIOS = {"train": 0.5, "dev": 0.0, "test": 0.5}
MADE = MadeWith("spec1", {"model": "m", "seed": 0})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path))


def documents(n: int) -> list[Document]:
    return [make_document(f"Text {i}: " + "the bridge opened in 1902. " * 5_000, "bench") for i in range(n)]


def add(store: Store, docs: list[Document], name: str = "rows", **given: Any) -> None:
    """Documents as an ingest would leave them, and two accepted candidates and a rejected one about each."""
    write_rows(store.root, "documents", "bench", docs, name)
    made = [make_candidate(doc, 0, kind, **given) for doc in docs for kind in (Kind.ANSWERABLE, Kind.LACK_OF_EVIDENCE)]
    made += [make_candidate(doc, 1, fate=Fate.LOW_QUALITY, **given) for doc in docs]
    write_rows(store.root, "candidates", "synthetic", made, name)


def make(store: Store, redraw: bool = False, made: MadeWith = MADE) -> Published:
    return publish(store, "synthetic", made, RATIOS, 0, redraw)


def files(store: Store) -> dict[str, int]:
    found = [path for path in Path(store.root).rglob("*") if path.is_file() and "synthetic" in path.parts]
    return {str(path): path.stat().st_mtime_ns for path in found}


def test_publish_writes_questions_and_the_documents_that_they_are_about(store: Store) -> None:
    docs = documents(4)
    add(store, docs)
    write_rows(store.root, "documents", "bench", [make_document("Nobody asks about this.", "bench")], "more")
    published = make(store)
    assert published.written
    assert (published.questions, published.documents_by_split) == (8, {"train": 2, "test": 2})
    copied = store.read("documents", part="synthetic")
    assert set(copied["doc_id"]) == {doc.doc_id for doc in docs}
    assert set(copied["dataset"]) == {"synthetic"}
    assert dict(copied.select("doc_id", "text").iter_rows()) == {doc.doc_id: doc.text for doc in docs}
    questions = store.read("questions", part="synthetic")
    assert dict(questions.select("doc_id", "split").iter_rows()) == dict(copied.select("doc_id", "split").iter_rows())


def test_publish_again_changes_nothing(store: Store) -> None:
    add(store, documents(3))
    make(store)
    before = files(store)
    again = make(store)
    assert not again.written
    assert again.questions == 6
    assert files(store) == before
    assert not make(store, redraw=True).written, "the same documents are dealt out the same way"


def test_publish_with_more_candidates_keeps_every_split_and_leaves_no_old_file(store: Store) -> None:
    add(store, documents(4))
    make(store)
    before = dict(store.read("documents", ["doc_id", "split"], part="synthetic").iter_rows())
    add(store, documents(10)[4:], "more")
    published = make(store)
    after = dict(store.read("documents", ["doc_id", "split"], part="synthetic").iter_rows())
    assert {doc_id: after[doc_id] for doc_id in before} == before
    assert published.documents_by_split == {"train": 5, "test": 5}
    assert len(store.files("documents", "synthetic")) == 1
    assert store.read("questions", part="synthetic").height == 20


def test_publish_leaves_out_a_document_that_is_gone_and_says_so(store: Store) -> None:
    docs = documents(3)
    add(store, docs)
    make(store)
    write_rows(store.root, "documents", "bench", docs[:2])
    published = make(store)
    assert published.questions == 4
    assert list(published.left_out.values()) == [2]
    assert store.read("documents", ["doc_id"], part="synthetic").height == 2


def test_publish_when_a_file_is_lost_writes_it_again(store: Store) -> None:
    add(store, documents(2))
    make(store)
    Path(store.files("questions", "synthetic")[0].path).unlink()
    assert make(store).written
    assert store.read("questions", part="synthetic").height == 4


def test_publish_of_another_spec_replaces_the_dataset(store: Store) -> None:
    add(store, documents(2))
    make(store)
    add(store, documents(3)[2:], "other", spec="spec2")
    published = make(store, made=MadeWith("spec2", {"model": "m", "seed": 1}))
    assert published.questions == 2
    assert store.read("questions", part="synthetic")["provenance"].str.contains("spec2").all()


def test_publish_of_nothing_accepted_writes_nothing(store: Store) -> None:
    write_rows(store.root, "candidates", "synthetic", [make_candidate(documents(1)[0], fate=Fate.LOW_QUALITY)])
    assert make(store) == Published()
    assert store.files("documents", "synthetic") == []


def test_check_name_of_an_ingested_dataset_is_refused_whatever_is_given(store: Store) -> None:
    def feed(writer: DatasetWriter) -> int:
        writer.add(make_document(dataset="synthetic"))
        return 1

    write_dataset(store, "synthetic", False, {"source": "text"}, feed)
    for overwrite in (False, True):
        with pytest.raises(UserError, match=r"'synthetic'.*was ingested.*another name="):
            check_name(store, "synthetic", MADE, overwrite)


def test_check_name_with_other_settings_says_which_differ(store: Store) -> None:
    write_record(store, "synthetic", MADE)
    check_name(store, "synthetic", MADE, False)
    other = MadeWith("spec2", {"model": "n", "seed": 0, "kinds": ["answerable"]})
    with pytest.raises(UserError, match=r'model was "m", is "n"; synthesis\.kinds.*overwrite=true'):
        check_name(store, "synthetic", other, False)
    check_name(store, "synthetic", other, True)
    write_record(store, "synthetic", other)
    check_name(store, "synthetic", other, False)


def test_check_name_without_a_record_goes_by_the_candidates(store: Store) -> None:
    add(store, documents(1))
    check_name(store, "synthetic", MADE, False)
    with pytest.raises(UserError, match="other settings"):
        check_name(store, "synthetic", dataclasses.replace(MADE, spec="spec2"), False)


def test_made_with_a_web_search_keeps_its_secrets_to_itself() -> None:
    web = WebSearch("http://127.0.0.1/s", parameters={"key": "sk-1", "lang": "en"}, api_key_env="MY_KEY")
    settings = made_with("s", SynthesisSpec(web=web), "m", "r", {}).settings
    assert "sk-1" not in str(settings)
    assert settings["web"]["api_key_env"] == "MY_KEY"
