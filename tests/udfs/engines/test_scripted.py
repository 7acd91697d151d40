from __future__ import annotations

import asyncio
import json
import multiprocessing
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.engines.base import OverLength, Prompt, ProviderError, Sampling
from udfs.engines.config import ScriptedModel
from udfs.engines.schema_instance import instance
from udfs.engines.scripted import GARBAGE, REFUSALS, ScriptedEngine

GOLD: dict[str, Any] = {
    "question": "When does the ferry leave?",
    "language": "en",
    "answerable": True,
    "answers": ["at nine"],
    "gold_reformulation": "When does the ferry arrive?",
}
UNANSWERABLE = GOLD | {"answerable": False, "answers": []}
SURE = ScriptedModel(accuracy=1, detection=1, false_refusal=0, reformulation=1, judge_accuracy=1)
VERDICT = {
    "type": "object",
    "properties": {"rationale": {"type": "string"}, "verdict": {"type": "string"}},
    "required": ["rationale", "verdict"],
}


def prompt(
    purpose: str, question: dict[str, Any], response: str = "", request_id: str = "r", text: str = "?"
) -> Prompt:
    gold = {"question": question, "response": response}
    return Prompt(({"role": "user", "content": text},), purpose, request_id, gold)


def say(config: ScriptedModel, asked: Prompt, schema: dict[str, Any] | None = None) -> str:
    async def run() -> str:
        engine = ScriptedEngine(config)
        try:
            return (await engine.complete(asked, Sampling(), schema)).text
        finally:
            await engine.close()

    return asyncio.run(run())


def test_answer_answerable_question_is_the_gold() -> None:
    assert say(SURE, prompt("answer", GOLD)) == "at nine"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_answer_unanswerable_question_is_a_refusal_in_its_language(language: str) -> None:
    assert say(SURE, prompt("answer", UNANSWERABLE | {"language": language})).startswith(REFUSALS[language])


def test_answer_undetected_question_is_not_a_refusal() -> None:
    assert not say(replace(SURE, detection=0), prompt("answer", UNANSWERABLE)).startswith(REFUSALS["en"])


@pytest.mark.parametrize(("asked", "line"), [("… starts with Answer: …", "Answer: at nine"), ("…以“答案：”开头", None)])
def test_answer_prompt_that_wants_a_closing_line_gets_it(asked: str, line: str | None) -> None:
    reply = say(SURE, prompt("answer", GOLD, text=asked))
    assert reply.splitlines()[-1] == (line or "at nine")


def test_reformulate_good_reply_is_the_gold_reformulation() -> None:
    assert say(SURE, prompt("reformulate", UNANSWERABLE)) == "New question: When does the ferry arrive?"
    assert say(SURE, prompt("reformulate", UNANSWERABLE | {"language": "zh"})).startswith("新问题：")


@pytest.mark.parametrize(
    ("question", "response", "verdict"),
    [
        (GOLD, "It leaves AT NINE.", "correct"),
        (GOLD, "It leaves at ten.", "incorrect"),
        (GOLD, REFUSALS["en"], "refused"),
        (UNANSWERABLE, "It leaves at ten.", "incorrect"),
        (UNANSWERABLE, REFUSALS["en"], "direct_refusal"),
        (UNANSWERABLE, REFUSALS["zh"] + "因为文中只写了到达时间。", "reasoned_answer"),
    ],
)
def test_judge_verdict_follows_the_gold(question: dict[str, Any], response: str, verdict: str) -> None:
    assert json.loads(say(SURE, prompt("judge.response", question, response), VERDICT))["verdict"] == verdict


@pytest.mark.parametrize(("response", "verdict"), [(REFUSALS["zh"], "refused"), ("At nine.", "answered")])
def test_refusal_verdict_is_json(response: str, verdict: str) -> None:
    assert json.loads(say(SURE, prompt("refusal", GOLD, response)))["verdict"] == verdict


def test_complete_unknown_purpose_fills_the_schema() -> None:
    schema = {"type": "object", "properties": {"items": {"type": "array", "items": {"enum": ["b"]}, "minItems": 2}}}
    assert json.loads(say(SURE, prompt("agent.new", {}), schema)) == {"items": ["b", "b"]}


def test_complete_error_rate_hits_the_same_requests_every_time() -> None:
    def failed(config: ScriptedModel) -> set[int]:
        found = set()
        for number in range(200):
            try:
                say(config, prompt("answer", GOLD, request_id=str(number)))
            except ProviderError:
                found.add(number)
        return found

    config = replace(SURE, error_rate=0.3)
    assert failed(config) == failed(config)
    assert 30 <= len(failed(config)) <= 90
    assert failed(replace(config, seed=1)) != failed(config)


def test_complete_garbage_rate_one_gives_garbage() -> None:
    assert say(replace(SURE, garbage_rate=1), prompt("judge.response", GOLD, "x"), VERDICT) in GARBAGE


def test_complete_prompt_beyond_the_window_is_over_length() -> None:
    with pytest.raises(OverLength):
        say(replace(SURE, window=600), prompt("answer", GOLD, text="word " * 1000))


def test_complete_on_prefill_is_called_once() -> None:
    calls: list[int] = []
    asyncio.run(ScriptedEngine(SURE).complete(prompt("answer", GOLD), Sampling(), None, lambda: calls.append(1)))
    assert calls == [1]


def _log_calls(path: str, worker: int) -> None:
    config = replace(SURE, call_log=path)
    for number in range(200):
        say(config, prompt("answer", GOLD, request_id=f"{worker}-{number}"))


def test_call_log_from_many_processes_has_every_line_whole(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "calls.tsv"
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_log_calls, args=(str(log), worker)) for worker in range(3)]
    for process in workers:
        process.start()
    for process in workers:
        process.join()
    lines = log.read_text(encoding="utf-8").splitlines()
    assert sorted(lines) == sorted(f"{worker}-{number}\tanswer" for worker in range(3) for number in range(200))


SCALARS = st.one_of(
    st.fixed_dictionaries({"type": st.just("integer"), "minimum": st.integers(-5, 5), "maximum": st.integers(6, 9)}),
    st.fixed_dictionaries({"type": st.just("number"), "exclusiveMinimum": st.integers(-5, 5)}),
    st.fixed_dictionaries({"type": st.just("string"), "minLength": st.integers(0, 5)}),
    st.fixed_dictionaries({"enum": st.lists(st.sampled_from(["a", "b", 1]), min_size=1)}),
    st.just({"type": "boolean"}),
    st.just({"anyOf": [{"type": "string"}, {"type": "null"}]}),
    st.just({"$ref": "#/$defs/part"}),
)
SCHEMAS = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.fixed_dictionaries({"type": st.just("array"), "items": inner, "minItems": st.integers(0, 3)}),
        st.dictionaries(st.sampled_from("pqrs"), inner, max_size=3).map(
            lambda parts: {
                "type": "object",
                "properties": parts,
                "required": list(parts),
                "additionalProperties": False,
            }
        ),
    ),
    max_leaves=8,
)


@given(SCHEMAS)
def test_instance_any_schema_is_valid_for_it(schema: dict[str, Any]) -> None:
    rooted = {**schema, "$defs": {"part": {"type": "object", "properties": {"x": {"const": 1}}, "required": ["x"]}}}
    if "$ref" in schema:
        rooted = {"allOf": [schema], "$defs": rooted["$defs"]}
    jsonschema.validate(instance(rooted), rooted)


def test_instance_endless_schema_is_refused() -> None:
    with pytest.raises(ValueError, match="without an end"):
        instance({"$ref": "#/$defs/a", "$defs": {"a": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}}}})
