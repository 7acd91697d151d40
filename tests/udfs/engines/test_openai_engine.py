from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from tests.udfs.engines.fake_server import Fake, Handler, cut, hang, not_json, raw, reply, serving, status
from udfs.engines.base import EngineError, Filtered, OverLength, Prompt, ProviderError, Sampling
from udfs.engines.config import EndpointModel
from udfs.engines.factory import check_ready
from udfs.engines.openai_engine import OpenAIEngine
from udfs.errors import UserError

KEY = "sk-very-secret-0123456789"
SAMPLING = Sampling(max_tokens=20)
SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"enum": ["yes", "no"]}},
    "required": ["verdict"],
    "additionalProperties": False,
}


@pytest_asyncio.fixture
async def fake() -> AsyncIterator[Fake]:
    async with serving() as server:
        yield server


@pytest.fixture
def config(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> EndpointModel:
    monkeypatch.setenv("ASKABLE_TEST_KEY", KEY)
    return EndpointModel(
        name="fake", base_url=fake.base_url, model="m", api_key_env="ASKABLE_TEST_KEY", timeout_s=5, max_retries=1
    )


def question(text: str = "When does the ferry leave?") -> Prompt:
    return Prompt(({"role": "user", "content": text},), "answer", "r1")


async def ask(config: EndpointModel, schema: dict[str, Any] | None = None) -> Any:
    engine = OpenAIEngine(config)
    try:
        return await engine.complete(question(), SAMPLING, schema)
    finally:
        await engine.close()


async def test_complete_plain_reply_gives_text_and_usage(fake: Fake, config: EndpointModel) -> None:
    fake.handlers = [reply()]
    done = await ask(config)
    assert (done.text, done.prompt_tokens, done.cached_tokens, done.output_tokens) == ("Nine.", 30, 16, 2)
    assert done.finish_reason == "stop"
    sent = fake.bodies[0]
    assert (sent["model"], sent["temperature"], sent["seed"], sent["max_tokens"]) == ("m", 0.0, 0, 20)


async def test_complete_on_prefill_is_called_once(fake: Fake, config: EndpointModel) -> None:
    fake.handlers = [reply()]
    calls: list[int] = []
    engine = OpenAIEngine(config)
    await engine.complete(question(), SAMPLING, None, lambda: calls.append(1))
    await engine.close()
    assert calls == [1]


async def test_complete_429_then_reply_is_retried(fake: Fake, config: EndpointModel) -> None:
    fake.handlers = [status(429), reply("Ten.")]
    assert (await ask(config)).text == "Ten."


@pytest.mark.parametrize(
    ("handlers", "tries"),
    [
        pytest.param([status(429)], 2, id="429-for-ever"),
        pytest.param([status(500)], 2, id="500"),
        pytest.param([status(503)], 2, id="503"),
        pytest.param([cut], 2, id="cut-connection"),
        pytest.param([reply(None)], 1, id="no-content"),
        pytest.param(
            [raw({"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": []})],
            1,
            id="no-choice",
        ),
        pytest.param([raw({"error": None})], 1, id="no-choices-field"),
        pytest.param([not_json], 1, id="not-json"),
        pytest.param([status(400, {"message": "frequency_penalty is wrong"})], 1, id="400"),
    ],
)
async def test_complete_failure_that_lasts_is_a_provider_error(
    fake: Fake, config: EndpointModel, handlers: list[Handler], tries: int
) -> None:
    fake.handlers = handlers
    with pytest.raises(ProviderError):
        await ask(config)
    assert len(fake.bodies) == tries


async def test_complete_hang_is_a_provider_error_after_the_timeout(fake: Fake, config: EndpointModel) -> None:
    fake.handlers = [hang]
    with pytest.raises(ProviderError, match=r"no answer within 0\.2 s"):
        await ask(replace(config, timeout_s=0.2, max_retries=0))


async def test_complete_hang_then_reply_is_retried(fake: Fake, config: EndpointModel) -> None:
    fake.handlers = [hang, reply("Ten.")]
    assert (await ask(replace(config, timeout_s=0.5))).text == "Ten."


@pytest.mark.parametrize(
    "handler",
    [
        status(400, {"message": "too much", "code": "context_length_exceeded"}),
        status(400, {"message": "This model's maximum context length is 8192 tokens. However, you requested 9000."}),
        status(400, {"message": "The input token count (2000000) exceeds the maximum number of tokens allowed"}),
        status(413, {"message": "payload"}),
    ],
)
async def test_complete_prompt_too_long_is_over_length(fake: Fake, config: EndpointModel, handler: Handler) -> None:
    fake.handlers = [handler]
    with pytest.raises(OverLength):
        await ask(config)
    assert len(fake.bodies) == 1


@pytest.mark.parametrize(
    "handler",
    [
        reply(None, "content_filter"),
        reply("half", "content_filter"),
        status(400, {"message": "no", "code": "content_filter"}),
    ],
)
async def test_complete_content_filter_is_filtered(fake: Fake, config: EndpointModel, handler: Handler) -> None:
    fake.handlers = [handler]
    with pytest.raises(Filtered):
        await ask(config)


@pytest.mark.parametrize("code", [401, 402, 403, 404])
async def test_complete_refused_for_good_is_a_user_error(fake: Fake, config: EndpointModel, code: int) -> None:
    fake.handlers = [status(code, {"message": f"Incorrect API key provided: {KEY}"})]
    with pytest.raises(UserError) as caught:
        await ask(config)
    assert fake.base_url in str(caught.value)
    assert KEY not in str(caught.value)
    assert not isinstance(caught.value, EngineError)


async def test_complete_quota_spent_is_a_user_error(fake: Fake, config: EndpointModel) -> None:
    fake.handlers = [status(429, {"message": "quota", "code": "insufficient_quota"})]
    with pytest.raises(UserError, match="no credit"):
        await ask(config)


async def test_complete_error_that_repeats_the_key_does_not_show_it(fake: Fake, config: EndpointModel) -> None:
    fake.handlers = [status(400, {"message": f"bad header Authorization: Bearer {KEY} and key sk-abcdef123456"})]
    with pytest.raises(ProviderError) as caught:
        await ask(config)
    assert KEY not in str(caught.value)
    assert "sk-abcdef" not in str(caught.value)
    assert caught.value.__cause__ is None


async def test_complete_truncated_reply_says_length(fake: Fake, config: EndpointModel) -> None:
    fake.handlers = [reply("Nine and", "length")]
    assert (await ask(config)).finish_reason == "length"


async def test_complete_refusal_field_is_the_reply(fake: Fake, config: EndpointModel) -> None:
    fake.handlers = [reply(None, refusal="I cannot help.")]
    assert (await ask(config)).text == "I cannot help."


@pytest.mark.parametrize(
    ("structured", "kind"), [("json_schema", "json_schema"), ("json_object", "json_object"), ("none", None)]
)
async def test_complete_schema_is_sent_as_configured(
    fake: Fake, config: EndpointModel, structured: str, kind: str | None
) -> None:
    fake.handlers = [reply('{"verdict": "yes"}')]
    await ask(replace(config, structured=structured), SCHEMA)
    sent = fake.bodies[0].get("response_format")
    assert (sent or {}).get("type") == kind
    if sent is not None and kind == "json_schema":
        assert sent["json_schema"]["schema"] == SCHEMA
        assert sent["json_schema"]["strict"] is True


async def test_complete_omitted_and_extra_parameters_are_honoured(fake: Fake, config: EndpointModel) -> None:
    fake.handlers = [reply()]
    changed = replace(config, omit=("seed", "top_p"), extra_body={"top_k": 1}, max_tokens_field="max_completion_tokens")
    await ask(changed)
    sent = fake.bodies[0]
    assert "seed" not in sent
    assert "top_p" not in sent
    assert "max_tokens" not in sent
    assert (sent["top_k"], sent["max_completion_tokens"]) == (1, 20)


async def test_complete_many_at_once_stays_within_max_concurrency(fake: Fake, config: EndpointModel) -> None:
    fake.handlers = [reply()]
    engine = OpenAIEngine(replace(config, max_concurrency=3))
    await asyncio.gather(*(engine.complete(question(str(i)), SAMPLING) for i in range(20)))
    await engine.close()
    await engine.close()
    assert len(fake.bodies) == 20
    assert fake.most_running <= 3


async def test_complete_beyond_the_rate_waits(fake: Fake, config: EndpointModel) -> None:
    fake.handlers = [reply()]
    engine = OpenAIEngine(replace(config, requests_per_minute=2))
    asked = [asyncio.ensure_future(engine.complete(question(str(i)), SAMPLING)) for i in range(3)]
    done, waiting = await asyncio.wait(asked, timeout=2)
    for task in waiting:
        task.cancel()
    await engine.close()
    assert (len(done), len(waiting)) == (2, 1)


async def test_probe_unknown_model_is_a_user_error_without_the_key(fake: Fake, config: EndpointModel) -> None:
    fake.handlers = [status(404, {"message": "The model `m` does not exist"})]
    with pytest.raises(UserError, match="knows no model 'm'") as caught:
        await check_ready(config)
    assert KEY not in str(caught.value)


async def test_probe_nobody_listens_is_a_user_error_with_the_address(
    config: EndpointModel, unused_tcp_port: int
) -> None:
    address = f"http://127.0.0.1:{unused_tcp_port}/v1"
    with pytest.raises(UserError, match="does not answer as it should") as caught:
        await check_ready(replace(config, base_url=address, max_retries=0))
    assert address in str(caught.value)


async def test_probe_parameter_that_is_not_taken_is_a_user_error(fake: Fake, config: EndpointModel) -> None:
    fake.handlers = [status(400, {"message": "response_format json_schema is not supported"})]
    with pytest.raises(UserError, match="model\\.structured"):
        await check_ready(config)


async def test_probe_good_endpoint_passes(fake: Fake, config: EndpointModel) -> None:
    fake.handlers = [reply(json.dumps({"ok": True}))]
    await check_ready(config)
    assert len(fake.bodies) == 1


def test_engine_key_not_set_names_the_variable(config: EndpointModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASKABLE_TEST_KEY")
    with pytest.raises(UserError, match="ASKABLE_TEST_KEY"):
        OpenAIEngine(config)
