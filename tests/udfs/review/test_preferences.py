"""Pairs of new questions: which are made, that nothing shows who offered them, and what is stored of an answer."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from tests.factories import WHEN, make_document, make_question, make_response, make_run, write_rows
from tests.udfs.review.bench import saved_file
from udfs.errors import UserError
from udfs.review.collecting import Sample, drawn_items, read_saved
from udfs.review.preferences import PairPool, pair_pool, preference_rows
from udfs.review.sheet import Sheet, render, sample_hash
from udfs.schema import TABLES
from udfs.tables.store import Store

OFFERS = {"big-model": "Who opened it in 1902?", "small-model": "When was it opened?", "copycat": "when was it opened"}


@pytest.fixture
def store(tmp_path: Any) -> Store:
    """One unanswerable question with three offers, two of them the same, and an answerable one with two."""
    document = make_document()
    asked = [make_question(document, 0, False), make_question(document, 1, True)]
    offers = [
        make_response(question, model=model, refused=True, reformulation=words)
        for question in asked
        for model, words in OFFERS.items()
    ]
    offers.append(make_response(asked[0], model="silent", refused=True, reformulation=None))
    write_rows(str(tmp_path), "documents", "bench", [document])
    write_rows(str(tmp_path), "questions", "bench", asked)
    write_rows(str(tmp_path), "responses", "main", offers)
    write_rows(str(tmp_path), "runs", "main", [make_run()])
    return Store(str(tmp_path))


def pool_of(store: Store, **given: Any) -> PairPool:
    values: dict[str, Any] = {"runs": (), "datasets": (), "models": (), "methods": (), "seed": 0}
    return pair_pool(store, **(values | given))


def test_pairs_are_of_different_words_for_a_question_without_an_answer(store: Store) -> None:
    pool = pool_of(store)
    assert {stratum[0] for stratum in pool.strata.values()} == {
        "big-model zs or copycat zs",
        "big-model zs or small-model zs",
    }
    assert {row["answerable"] for row in store.read("questions").to_dicts()} == {True, False}
    assert len({facts["question_id"] for facts in pool.facts(pool.pairs).values()}) == 1
    assert len(pool_of(store, models=["big-model", "copycat"]).pairs) == 1


def test_which_question_is_shown_first_follows_from_the_seed_alone(store: Store) -> None:
    def firsts(seed: int) -> set[str]:
        pool = pool_of(store, seed=seed, models=["big-model", "small-model"])
        return {facts["first_text"] for facts in pool.facts(pool.pairs).values()}

    assert firsts(3) == firsts(3)
    assert {next(iter(firsts(seed))) for seed in range(12)} == {OFFERS["big-model"], OFFERS["small-model"]}


def test_sheet_shows_both_questions_and_nobody_who_offered_them(store: Store) -> None:
    pool = pool_of(store)
    items = pool.items(store, pool.pairs, 100)
    page = render(Sheet("pairs", sample_hash("pairs", items), 1, (), tuple(items)))
    assert OFFERS["big-model"] in page
    assert not any(model in page for model in OFFERS)
    assert all(not check.passes for item in items for check in item.checks if hasattr(check, "passes"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"models": ["small-model", "copycat"]}, "no question of main has two different new questions"),
        ({"models": ["nobody"]}, "this run has no responses of it; it has big-model"),
        ({"runs": ["other"]}, "run='other' has no responses"),
    ],
)
def test_pool_without_pairs_says_what_is_missing(store: Store, given: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        pool_of(store, **given)


def test_answer_is_stored_with_the_words_that_were_shown(store: Store) -> None:
    pool = pool_of(store)
    items = pool.items(store, pool.pairs, 100)
    sample = Sample("pairs", "0" * 32, "preferences", None, {}, (), drawn_items(items), pool.facts(pool.pairs))
    back = Sample.from_json(sample.to_json(), "sample.json")
    assert back == sample
    answers = {items[0].id: {"checks": {"preferred": "second"}, "note": "nearer"}}
    saved = read_saved(saved_file(sample, " Ada  L. ", answers), "a.json")
    (row,) = preference_rows([saved], back, WHEN)
    assert (row["annotator"], row["preferred"], row["note"]) == ("Ada L.", "second", "nearer")
    assert {row["first_text"], row["second_text"]} <= set(OFFERS.values())
    assert row.keys() == set(TABLES["preferences"].names)
    assert isinstance(row["created_at"], datetime)
