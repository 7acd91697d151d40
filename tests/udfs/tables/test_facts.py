from __future__ import annotations

import pytest

from tests.factories import frame, make_document, make_question, make_response, make_run
from udfs.tables.facts import RunFacts, newest_run, run_facts


def test_run_facts_two_starts_are_summed_and_the_bound_is_over_those_that_report_it() -> None:
    runs = frame("runs", [make_run(number=0), make_run(number=1, bound_tokens=None, prompt_tokens=500)])
    facts = run_facts(runs)
    assert (facts.starts, facts.prompt_tokens, facts.cached_tokens) == (2, 1500, 1600)
    assert facts.computed_over_bound == pytest.approx(200 / 180)
    assert facts.versions["vllm"] == "0.32.0"


def test_run_facts_without_starts_are_empty() -> None:
    assert run_facts(frame("runs", [])) == RunFacts()


def test_newest_run_is_the_one_started_last_that_has_responses() -> None:
    runs = frame("runs", [make_run("a", 0), make_run("b", 2), make_run("empty", 5), make_run("a", 1)])
    assert newest_run(runs, ["a", "b"], frame("responses", [])) == "b"


def test_newest_run_without_runs_rows_is_the_one_with_the_newest_response() -> None:
    question = make_question(make_document())
    responses = frame("responses", [make_response(question, run="only")])
    assert newest_run(frame("runs", []), ["only"], responses) == "only"
    assert newest_run(frame("runs", []), [], frame("responses", [])) is None
