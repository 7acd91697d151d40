"""The sink: what it writes, when, and what it adds up."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from jobs.support.sink import Sink
from tests.factories import make_document, make_judgement, make_question, make_response
from udfs.records import row_of
from udfs.stages.results import RESULTS
from udfs.tables.store import Store


def result(name: str, bound: int | None = None, **costs: int) -> dict[str, Any]:
    question = make_question(make_document())
    response = dataclasses.replace(make_response(question), response_id=name, run="main")
    judgement = make_judgement(response, "refusal", "refused")
    given = {"calls": 1, "prompt_tokens": 100, "cached_tokens": 60, "output_tokens": 5, **costs}
    return {
        "bundle_id": name, "doc_id": "d", "responses": [row_of(response)], "judgements": [row_of(judgement)],
        "bound_tokens": bound, "bound_block_tokens": bound, **given,
    }  # fmt: skip


def results(*rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=RESULTS)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path))


def test_sink_writes_when_enough_rows_have_come(store: Store) -> None:
    with Sink(store, "main", flush_rows=4, flush_seconds=1e9) as sink:
        sink.add(results(result("a")))
        assert store.files("responses") == []
        sink.add(results(result("b")))
        assert len(store.files("responses")) == 1
        sink.add(results(result("c")))
        assert store.read("responses").height == 2
    assert sorted(store.read("responses")["response_id"]) == ["a", "b", "c"]
    assert store.read("judgements").height == 3
    assert len(store.files("responses")) == 2


def test_sink_left_by_an_error_writes_what_it_has(store: Store) -> None:
    def interrupted() -> None:
        with Sink(store, "main", flush_rows=100, flush_seconds=1e9) as sink:
            sink.add(results(result("a")))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert store.read("responses")["response_id"].to_list() == ["a"]


def test_sink_of_a_stage_that_makes_no_responses_writes_none(store: Store) -> None:
    with Sink(store, "main", flush_rows=1, flush_seconds=1e9) as sink:
        sink.add(results(result("a") | {"responses": []}))
    assert store.files("responses") == []
    assert store.read("judgements").height == 1


def test_totals_computed_over_bound_counts_only_bundles_whose_bound_is_known(store: Store) -> None:
    with Sink(store, "main", flush_rows=100, flush_seconds=1e9) as sink:
        sink.add(results(result("a", bound=32), result("b", prompt_tokens=1000, cached_tokens=0)))
    assert sink.totals.computed_tokens == 1040
    assert sink.totals.computed_over_bound == pytest.approx(40 / 32)
    assert sink.totals.rows("responses") == 2
    assert sink.totals.failed("responses") == 0


def test_totals_without_any_bound_have_no_ratio(store: Store) -> None:
    with Sink(store, "main", flush_rows=100, flush_seconds=1e9) as sink:
        sink.add(results(result("a")))
    assert sink.totals.computed_over_bound is None


def test_sink_that_never_writes_by_time_waits_without_failing(store: Store) -> None:
    with Sink(store, "main", flush_rows=100, flush_seconds=float("inf")) as sink:
        sink.add(results(result("a")))
        assert sink._clock.is_alive()
    assert store.read("responses").height == 1
