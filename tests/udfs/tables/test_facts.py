from __future__ import annotations

import json

import pytest

from tests.factories import frame, make_document, make_question, make_response, make_run
from udfs.tables.facts import RunFacts, newest_run, run_facts


def test_run_facts_ratio_is_over_the_prompts_whose_bound_is_known() -> None:
    plan = [
        make_run(number=0),
        make_run(number=1, bound_tokens=None, bounded_computed_tokens=None, prompt_tokens=500),
        make_run(number=2, bound_tokens=100, bounded_computed_tokens=100, prompt_tokens=9000, cached_tokens=0),
    ]
    facts = run_facts(frame("runs", plan))
    assert (facts.dialogues.prompt_tokens, facts.dialogues.cached_tokens) == (10_500, 1600)
    assert facts.dialogues.bound_tokens == 280
    assert facts.dialogues.computed_over_bound == pytest.approx((200 + 100) / 280)
    assert facts.versions["vllm"] == "0.32.0"


def test_run_facts_show_every_version_that_the_starts_had() -> None:
    runs = [make_run(number=0), make_run(number=1, versions='{"vllm": "0.33.0", "ray": "2.60.0"}'), make_run(number=2)]
    assert run_facts(frame("runs", runs)).versions == {"vllm": "0.32.0 and 0.33.0", "ray": "2.60.0"}


def test_run_facts_row_without_bounded_tokens_counts_its_uncached_prompt() -> None:
    facts = run_facts(frame("runs", [make_run(bounded_computed_tokens=None, prompt_tokens=1080)]))
    assert facts.dialogues.computed_over_bound == pytest.approx(280 / 180)


def test_run_facts_stages_of_one_command_are_one_start_and_judges_stand_apart() -> None:
    judge = make_run(number=1, job="judge", model="llm:j", start_id="s", prompt_tokens=7000, usd=3.0)
    facts = run_facts(frame("runs", [make_run(number=0, start_id="s"), judge]))
    assert facts.starts == 1
    assert (facts.dialogues.prompt_tokens, facts.judging.prompt_tokens, facts.judging.usd) == (1000, 7000, 3.0)
    assert facts.dialogues.computed_over_bound == pytest.approx(200 / 180)


def test_run_facts_rows_without_a_start_id_are_starts_of_their_own() -> None:
    assert run_facts(frame("runs", [make_run(number=n, start_id=None) for n in range(3)])).starts == 3


def test_run_facts_tells_only_of_a_newest_start_that_did_not_end_well() -> None:
    plan = [
        make_run(number=0, model="mended", status="failed", error="out of memory"),
        make_run(number=1, model="mended"),
        make_run(number=2, model="killed"),
        make_run(number=3, model="killed", status="running"),
        make_run(number=4, model="rules", job="judge", status="failed", error="no room"),
    ]
    facts = run_facts(frame("runs", plan))
    told = [(stage.job, stage.model, stage.status, stage.error) for stage in facts.unfinished]
    assert told == [("evaluate", "killed", "running", ""), ("judge", "rules", "failed", "no room")]
    assert facts.without_end == 1
    assert facts.errors == ("out of memory", "no room")
    others = run_facts(frame("runs", plan), models=["mended"])
    assert [stage.model for stage in others.unfinished] == ["rules"]


def test_run_facts_tell_what_each_engine_did() -> None:
    engines = [
        {"engine": name, "started_at": 0.0, "loaded_at": 10.0, "first_at": 11.0, "last_at": last, "busy_seconds": busy,
         "requests": 5}
        for name, last, busy in (("late", 40.0, 25.0), ("early", 30.0, 18.0))
    ]  # fmt: skip
    told = make_run(number=1, engines=json.dumps(engines), busy_seconds=43.0, idle_seconds=17.0, tail_seconds=10.0)
    facts = run_facts(frame("runs", [make_run(number=0), told]))
    assert [(one.loading, one.busy, one.idle, one.waited) for one in facts.engines] == [
        (10.0, 18.0, 12.0, 10.0), (10.0, 25.0, 5.0, 0.0),
    ]  # fmt: skip
    stage = facts.dialogues
    assert (stage.busy_seconds, stage.idle_seconds, stage.tail_seconds) == (43.0, 17.0, 10.0)
    assert run_facts(frame("runs", [make_run()])).dialogues.busy_seconds is None


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
