from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.judges.verdicts import (
    AnswerableVerdict,
    RefusalVerdict,
    UnanswerableVerdict,
    allowed_verdicts,
    json_schema,
    measure_values,
    measures_of,
    parse_verdict,
)

READ = [
    '{"rationale": "it says 30", "verdict": "correct"}',
    '{"verdict": "correct"}',
    '{"verdict": "Correct"}',
    '{"verdict": "correct", "confidence": 0.9}',
    '```json\n{"rationale": "x", "verdict": "correct"}\n```',
    'The reply is right.\n{"rationale": "x", "verdict": "correct"}',
    '<think>maybe {"verdict": "incorrect"}</think>{"verdict": "correct"}',
    '{"verdict": "correct"}\n{"verdict": "correct"}',
    '{"rationale": "a {brace} in it", "verdict": "correct"} and that is all',
    "{'rationale': 'x', 'verdict': 'correct'}",
    '{"rationale": "x", "verdict": "correct"',
    '{rationale: "x", verdict: "correct"}',
    '{"rationale": null, "verdict": "correct"}',
    '{"rationale": "x", "verdict": "Correct."}',
    '{"rationale": "x", "verdict": "**correct**"}',
    '{"rationale": "cut "quotes" in it", "verdict": "correct"}',
]
UNREAD = [
    "",
    "correct",
    "The verdict is correct.",
    "I cannot judge this.",
    "null",
    "[]",
    '"correct"',
    "{",
    '{"rationale": "it is correct"}',
    '{"verdict": "right"}',
    '{"verdict": "correct or incorrect"}',
    '{"verdict": "corr',
    '{"verdict": ["correct"]}',
    '{"verdict": null}',
    '{"verdict": "correct"} {"verdict": "incorrect"}',
    '{"verdict": "direct_refusal"}',
    "[" * 2000,
    '{"a":' * 2000,
]


@pytest.mark.parametrize("reply", READ)
def test_verdict_reply_with_one_verdict_is_read(reply: str) -> None:
    verdict = parse_verdict(reply, AnswerableVerdict)
    assert verdict is not None
    assert verdict.verdict == "correct"


@pytest.mark.parametrize("reply", UNREAD)
def test_verdict_reply_without_a_clear_verdict_is_none(reply: str) -> None:
    assert parse_verdict(reply, AnswerableVerdict) is None


def test_verdict_spelling_with_spaces_or_dashes_is_read() -> None:
    for spelling in ("direct refusal", "Direct-Refusal", "DIRECT_REFUSAL"):
        verdict = parse_verdict(json.dumps({"verdict": spelling}), UnanswerableVerdict)
        assert verdict is not None
        assert verdict.verdict == "direct_refusal"


@given(st.text() | st.lists(st.sampled_from([*READ, *UNREAD[:-2]])).map(" ".join))
def test_verdict_any_reply_is_read_or_none(reply: str) -> None:
    verdict = parse_verdict(reply, AnswerableVerdict)
    assert verdict is None or verdict.verdict in allowed_verdicts(AnswerableVerdict)


@given(st.text(), st.sampled_from(allowed_verdicts(UnanswerableVerdict)))
def test_verdict_written_as_json_comes_back(rationale: str, value: str) -> None:
    verdict = parse_verdict(json.dumps({"rationale": rationale, "verdict": value}), UnanswerableVerdict)
    assert verdict is not None
    assert (verdict.rationale, verdict.verdict) == (rationale, value)


@pytest.mark.parametrize("form", [AnswerableVerdict, UnanswerableVerdict, RefusalVerdict])
def test_verdict_schema_requires_every_property(
    form: type[AnswerableVerdict | UnanswerableVerdict | RefusalVerdict],
) -> None:
    schema = json_schema(form)
    assert schema["required"] == list(schema["properties"])
    assert schema["additionalProperties"] is False
    assert schema["properties"]["verdict"]["enum"] == list(allowed_verdicts(form))


@pytest.mark.parametrize("answerable", [True, False])
def test_verdict_each_gives_every_measure(answerable: bool) -> None:
    for verdict in allowed_verdicts(AnswerableVerdict if answerable else UnanswerableVerdict):
        assert tuple(measure_values(answerable, verdict)) == measures_of(answerable)
