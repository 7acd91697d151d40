from __future__ import annotations

import json
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.agents.test_robustness import FORMS
from tests.udfs.agents.world import AgentsEngine, made
from udfs.agents.base import AGENTS
from udfs.agents.qa import QaReply
from udfs.agents.quality import QualityReply
from udfs.agents.reading import ReadingReply
from udfs.agents.replies import json_schema, limits, read_reply
from udfs.agents.topic import TopicReply
from udfs.schema import Topic

GOOD = '{"reason": "Plain “facts”.", "score": 4}'
QUALITY = QualityReply(reason="Plain “facts”.", score=4)
PLAIN: dict[str, dict[str, object]] = {
    "quality": {"reason": "r", "score": 4},
    "topic": {"topics": ["time"]},
    "qa": {"evidence": ["e"], "question": "q", "answer": "a"},
}


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"  \n{GOOD}\n",
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```",
        f"<think>Score 1? {{no}}</think>\n{GOOD}",
        f"no opening mark</think>{GOOD}",
        GOOD.replace("}", ', "more": [1, {"a": null}]}'),
        GOOD.replace("4}", "4,}"),
        GOOD.replace('"score"', "score"),
        GOOD.replace('"score"', "'score'"),
    ],
)
def test_reply_one_object_is_read(text: str) -> None:
    assert read_reply(text, QualityReply) == QUALITY


@pytest.mark.parametrize(
    "text",
    [
        f"Here it is: {GOOD}",
        f"{GOOD} I hope this helps.",
        f"{GOOD}\n{GOOD}",
        f"[{GOOD}]",
        f"```json\n{GOOD}\n```\nDone.",
        f"Sure!\n```json\n{GOOD}\n```",
        GOOD[:-1],
        GOOD.replace("4", '"4"'),
        GOOD.replace("4", "4.0"),
        GOOD.replace("4", "true"),
        GOOD.replace("4", "0"),
        GOOD.replace("4", "6"),
        GOOD.replace("4", "null"),
        '{"reason": "x"}',
        '{"score": 1, "score": 5, "reason": "twice"}',
        '{"reason": "x", "score": 4} {',
        '{"reason": "x", "score": 4} and }',
        "{}",
        "{",
        "",
        "{'reason' 4 and more words}",
        '{"reason": "x", "score": ' + "9" * 5000 + "}",
    ],
)
def test_reply_anything_else_is_not_read(text: str) -> None:
    assert read_reply(text, QualityReply) is None


def test_reply_cut_by_its_length_is_not_repaired() -> None:
    broken = '{"reason": "x", "score": 4,}'
    assert read_reply(broken, QualityReply) is not None
    assert read_reply(broken, QualityReply, cut=True) is None
    assert read_reply(GOOD, QualityReply, cut=True) == QUALITY


@given(st.text(max_size=200), st.sampled_from(sorted(FORMS)))
def test_reply_any_text_is_read_or_not(text: str, agent: str) -> None:
    assert read_reply(text, FORMS[agent]) is None
    read_reply("{" + text + "}", FORMS[agent])


@given(st.text(), st.integers(1, 5))
def test_reply_any_reason_is_read_as_it_is_but_for_white_space_around_it(reason: str, score: int) -> None:
    found = read_reply(json.dumps({"reason": reason, "score": score}), QualityReply)
    assert found is not None
    assert found.score == score
    assert found.reason == reason.encode("utf-8", "backslashreplace").decode().strip()


@given(st.text(max_size=40), st.text(max_size=40))
def test_reply_repair_changes_no_word(before: str, after: str) -> None:
    found = read_reply('{"reason": "' + before + '", "score": 4, ' + after + "}", QualityReply)
    if found is not None:
        said = "".join(filter(str.isalnum, found.reason)).casefold()
        whole = "".join(filter(str.isalnum, f"{before}{after}")).casefold()
        assert said in whole or "\\" in before


def test_reply_empty_fields_are_not_read_where_something_must_stand() -> None:
    bad_fields: list[dict[str, object]] = [
        {"evidence": []},
        {"evidence": ["", " "]},
        {"question": " "},
        {"answer": ""},
        {"evidence": "e"},
    ]
    for bad in bad_fields:
        assert read_reply(json.dumps({**PLAIN["qa"], **bad}), QaReply) is None
    found = read_reply(json.dumps({**PLAIN["qa"], "evidence": ["", "e "]}), QaReply)
    assert found is not None
    assert found.evidence == ["e"]


def test_reply_topics_outside_the_list_are_not_read() -> None:
    assert read_reply('{"topics": ["weather"]}', TopicReply) is None
    assert read_reply('{"topics": ["time", "object"]}', TopicReply) == TopicReply(topics=[Topic.TIME, Topic.OBJECT])


def test_reply_answerable_without_an_answer_is_not_read() -> None:
    assert read_reply('{"quote": "", "answerable": true, "answer": " "}', ReadingReply) is None
    assert read_reply('{"quote": "", "answerable": false, "answer": ""}', ReadingReply) is not None
    assert read_reply('{"quote": "", "answerable": "false", "answer": ""}', ReadingReply) is None


@pytest.mark.parametrize("agent", AGENTS)
def test_schema_has_the_fields_in_order_and_nothing_that_an_engine_may_not_know(agent: str) -> None:
    schema = json_schema(FORMS[agent])
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["required"] == list(FORMS[agent].model_fields)
    known = {"type", "enum", "items", "minItems", "maxItems", "maxLength", "minimum", "maximum"}
    assert {key for part in schema["properties"].values() for key in keys(part)} <= known


@pytest.mark.parametrize("agent", AGENTS)
def test_schema_every_text_and_list_has_a_limit(agent: str) -> None:
    for name, part in json_schema(FORMS[agent])["properties"].items():
        longest, most = limits(FORMS[agent])[name]
        holds_text = "enum" not in part.get("items", part) and part.get("items", part)["type"] == "string"
        assert (longest is not None) is holds_text, name
        assert (most is not None) is (part["type"] == "array"), name


@pytest.mark.parametrize("agent", AGENTS)
def test_schema_bounds_no_text_that_is_used(agent: str) -> None:
    """Under xgrammar a bound on a string forbids escapes in it: a quotation mark could only end the string."""
    properties = json_schema(FORMS[agent])["properties"]
    assert {name for name, part in properties.items() if "maxLength" in part} <= {"reason", "quote"}


def keys(schema: Any) -> set[str]:
    if isinstance(schema, dict):
        return set(schema) | {key for value in schema.values() for key in keys(value)}
    return {key for value in schema for key in keys(value)} if isinstance(schema, list) else set()


async def test_schema_every_good_reply_fits_its_own() -> None:
    engine = AgentsEngine()
    await made(engine, "en")
    assert {prompt.purpose.removeprefix("agent.") for prompt in engine.prompts} == set(AGENTS)
    for prompt, schema in zip(engine.prompts, engine.schemas, strict=True):
        assert schema == json_schema(FORMS[prompt.purpose.removeprefix("agent.")])
