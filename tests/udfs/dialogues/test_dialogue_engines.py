"""The same dialogues over vLLM in process, over a real `vllm serve`, and over a server that misbehaves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.conftest import Server
from tests.udfs.dialogues.fake_engine import a_question
from tests.udfs.engines.fake_server import Fake, Handler, cut, hang, reply, serving, status
from udfs.dialogues import dialogue
from udfs.dialogues.dialogue import DialogueSpec, converse
from udfs.engines.base import Engine, Sampling
from udfs.engines.config import EndpointModel
from udfs.engines.openai_engine import OpenAIEngine
from udfs.engines.vllm_engine import VllmEngine
from udfs.records import Response
from udfs.schema import Status

DOCUMENT = "The ferry leaves Harrow Quay at six. Its master is Ana Brook. A ticket costs four crowns."
REFUSAL = "The document does not say."
NEW = "New question: Who is the master of the ferry?"
SAMPLING = Sampling(max_tokens=12)


async def ask(engine: Engine, method: str = "zs", layout: str = "document_first", language: str = "en") -> Response:
    text = "渡船六点离开。船长是安娜。船票四元。" if language == "zh" else DOCUMENT
    asked = "谁造了渡船？" if language == "zh" else "Who built the ferry?"
    question = a_question(asked, language=language)
    spec = DialogueSpec(method, layout=layout, sampling=SAMPLING)
    return await converse(engine, spec, text, question, response_id="r", run="t")


async def two_turns(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> list[Response]:
    """Each method once, over both layouts and languages, taken to its second turn: the small model seldom refuses."""
    monkeypatch.setattr(dialogue, "detect_refusal", lambda text, language: True)
    cases = (
        ("zs", "document_first", "en"),
        ("zs_cot", "paper", "zh"),
        ("fs", "paper", "en"),
        ("fs_cot", "document_first", "zh"),
    )
    return await asyncio.gather(*(ask(engine, method, layout, language) for method, layout, language in cases))


def check(responses: list[Response], engine: Engine) -> None:
    assert len(responses) == 4
    for response in responses:
        assert response.status is Status.OK, response.error
        assert (response.model, response.model_revision) == (engine.name, engine.revision)
        assert [turn.purpose for turn in response.turns] == ["answer", "reformulate"]
        assert all(turn.prompt_tokens > 50 for turn in response.turns)
        assert all(0 < turn.output_tokens <= SAMPLING.max_tokens for turn in response.turns)
        assert all(turn.finish_reason in ("stop", "length") for turn in response.turns)


@pytest.mark.engine
@pytest.mark.timeout(900)  # two engines start, one in a server of its own
@pytest.mark.asyncio(loop_scope="session")
async def test_dialogues_in_process_and_at_the_endpoint_ask_the_same_tokens(
    smollm2_engine: VllmEngine, smollm2_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = await two_turns(smollm2_engine, monkeypatch)
    check(inside, smollm2_engine)
    endpoint = OpenAIEngine(
        EndpointModel(name="served", base_url=smollm2_server.base_url, model=smollm2_server.model, timeout_s=120)
    )
    try:
        outside = await two_turns(endpoint, monkeypatch)
        check(outside, endpoint)
    finally:
        await endpoint.close()
    asked = [[response.turns[0].prompt_tokens for response in responses] for responses in (inside, outside)]
    assert asked[0] == asked[1], "the same template renders the same prompt on both ways"


@pytest_asyncio.fixture
async def fake() -> AsyncIterator[Fake]:
    async with serving() as server:
        yield server


@pytest_asyncio.fixture
async def engine(fake: Fake) -> AsyncIterator[OpenAIEngine]:
    model = EndpointModel(name="fake", base_url=fake.base_url, model="m", timeout_s=1, max_retries=1)
    made = OpenAIEngine(model)
    yield made
    await made.close()


@pytest.mark.parametrize("fault", [status(429), status(500), hang, cut], ids=["429", "500", "hang", "cut"])
async def test_dialogue_after_a_passing_fault_is_whole(fake: Fake, engine: OpenAIEngine, fault: Handler) -> None:
    fake.handlers = [fault, reply(REFUSAL), fault, reply(NEW)]
    response = await ask(engine)
    assert response.status is Status.OK
    assert response.refused is True
    assert response.reformulation == "Who is the master of the ferry?"
    assert len(fake.bodies) == 4


@pytest.mark.parametrize(
    "fault", [status(429), status(500), hang, cut, reply(None)], ids=["429", "500", "hang", "cut", "empty"]
)
async def test_dialogue_with_a_lasting_fault_is_a_provider_error_of_its_turn(
    fake: Fake, engine: OpenAIEngine, fault: Handler
) -> None:
    fake.handlers = [fault]
    response = await ask(engine)
    assert (response.status, response.turns, response.answer) == (Status.PROVIDER_ERROR, (), None)
    assert response.error is not None
    assert response.error.startswith("answer: ")
    fake.bodies.clear()
    fake.handlers = [reply(REFUSAL), fault]
    response = await ask(engine)
    assert response.status is Status.PROVIDER_ERROR
    assert [turn.text for turn in response.turns] == [REFUSAL]
    assert response.error is not None
    assert response.error.startswith("reformulate: ")
