"""The embedder over an endpoint, against a local server that behaves and misbehaves."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import pytest_asyncio

from tests.udfs.engines.fake_server import Fake, Handler, cut, hang, not_json, raw, serving, status, vectors
from udfs.engines.base import EngineError, Filtered, OverLength, ProviderError
from udfs.engines.embedding_config import EndpointEmbedding
from udfs.engines.embedding_endpoint import EndpointEmbedder
from udfs.engines.embedding_factory import check_embedding_ready, describe_embedding
from udfs.errors import UserError

KEY = "sk-very-secret-0123456789"


def answered(*data: dict[str, Any]) -> Handler:
    return raw({"object": "list", "model": "m", "data": list(data)})


@pytest_asyncio.fixture
async def fake() -> AsyncIterator[Fake]:
    async with serving() as server:
        yield server


@pytest.fixture
def config(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> EndpointEmbedding:
    monkeypatch.setenv("ASKABLE_TEST_KEY", KEY)
    return EndpointEmbedding(
        name="fake", base_url=fake.base_url, model="m", api_key_env="ASKABLE_TEST_KEY", timeout_s=5, max_retries=1
    )


async def embed(config: EndpointEmbedding, *texts: str) -> Any:
    embedder = EndpointEmbedder(config)
    try:
        return await embedder.embed(texts)
    finally:
        await embedder.close()


@pytest.mark.parametrize("backwards", [False, True])
async def test_embed_in_several_requests_keeps_the_order(
    fake: Fake, config: EndpointEmbedding, backwards: bool
) -> None:
    fake.handlers = [vectors(backwards)]
    found = await embed(replace(config, batch_size=2), "a", "bbb", "船什么时候开？", "d" * 9, "")
    raw_rows = np.array([[1, 1], [3, 1], [7, 1], [9, 1], [0, 1]])
    np.testing.assert_allclose(found, raw_rows / np.linalg.norm(raw_rows, axis=1, keepdims=True), rtol=1e-6)
    assert found.dtype == np.float32
    assert sorted(len(body["input"]) for body in fake.bodies) == [1, 2, 2]
    assert all(body["encoding_format"] == "float" and "dimensions" not in body for body in fake.bodies)


async def test_embed_sends_prefix_dimensions_and_extra_body(fake: Fake, config: EndpointEmbedding) -> None:
    fake.handlers = [vectors()]
    await embed(replace(config, prefix="query: ", dimensions=2, extra_body={"truncate": False}), "Where?")
    (sent,) = fake.bodies
    assert (sent["input"], sent["dimensions"], sent["truncate"]) == (["query: Where?"], 2, False)


async def test_embed_holds_no_more_requests_at_once_than_it_may(fake: Fake, config: EndpointEmbedding) -> None:
    fake.handlers = [vectors()]
    await embed(replace(config, batch_size=1, max_concurrency=3), *map(str, range(12)))
    assert len(fake.bodies) == 12
    assert 1 <= fake.most_running <= 3


async def test_embed_429_then_vectors_is_retried(fake: Fake, config: EndpointEmbedding) -> None:
    fake.handlers = [status(429), vectors()]
    assert (await embed(config, "a")).shape == (1, 2)


@pytest.mark.parametrize(
    ("handler", "tries"),
    [
        pytest.param(status(429), 2, id="429-for-ever"),
        pytest.param(status(500), 2, id="500"),
        pytest.param(cut, 2, id="cut-connection"),
        pytest.param(not_json, 1, id="not-json"),
        pytest.param(answered(), 1, id="no-vector"),
        pytest.param(answered({"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}), 1, id="same-index"),
        pytest.param(answered({"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}), 1, id="ragged"),
        pytest.param(answered({"index": 0, "embedding": [0.0]}, {"index": 1, "embedding": [1.0]}), 1, id="zero"),
        pytest.param(answered({"index": 0, "embedding": None}, {"index": 1, "embedding": None}), 1, id="null"),
        pytest.param(status(400, {"message": "dimensions is not supported"}), 1, id="400"),
    ],
)
async def test_embed_failure_that_lasts_is_a_provider_error(
    fake: Fake, config: EndpointEmbedding, handler: Handler, tries: int
) -> None:
    fake.handlers = [handler]
    with pytest.raises(ProviderError) as error:
        await embed(config, "a", "b")
    assert KEY not in str(error.value)
    assert len(fake.bodies) == tries


async def test_embed_hang_is_a_provider_error_after_the_timeout(fake: Fake, config: EndpointEmbedding) -> None:
    fake.handlers = [hang]
    with pytest.raises(ProviderError, match=r"no answer within 0\.2 s"):
        await embed(replace(config, timeout_s=0.2, max_retries=0), "a")


@pytest.mark.parametrize(
    ("handler", "expected"),
    [
        (status(400, {"message": "This model's maximum context length is 8192 tokens"}), OverLength),
        (status(413), OverLength),
        (status(400, {"code": "content_filter", "message": "blocked"}), Filtered),
    ],
)
async def test_embed_text_that_is_refused_says_what_is_wrong_with_it(
    fake: Fake, config: EndpointEmbedding, handler: Handler, expected: type[EngineError]
) -> None:
    fake.handlers = [handler]
    with pytest.raises(expected):
        await embed(config, "a")


@pytest.mark.parametrize(
    ("code", "message"),
    [(401, "does not accept the key.*ASKABLE_TEST_KEY"), (404, "no embeddings.*check embedding.model")],
)
async def test_embed_refused_account_or_model_ends_the_run(
    fake: Fake, config: EndpointEmbedding, code: int, message: str
) -> None:
    fake.handlers = [status(code, {"message": f"key {KEY}"})]
    with pytest.raises(UserError, match=message) as error:
        await embed(replace(config, batch_size=1), "a", "b")
    assert KEY not in str(error.value)


async def test_check_ready_asks_for_one_vector(fake: Fake, config: EndpointEmbedding) -> None:
    fake.handlers = [vectors()]
    await check_embedding_ready(config)
    assert len(fake.bodies) == 1
    fake.handlers = [answered({"index": 0, "embedding": []})]
    with pytest.raises(UserError, match=r"does not answer as it should.*check embedding\.base_url"):
        await check_embedding_ready(config)


async def test_check_ready_without_its_key_names_the_variable(
    config: EndpointEmbedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ASKABLE_TEST_KEY")
    with pytest.raises(UserError, match=r"embedding fake wants a key.*ASKABLE_TEST_KEY"):
        await check_embedding_ready(config)


def test_revision_is_the_model_and_what_changes_its_vectors_but_not_where_it_is() -> None:
    plain = EndpointEmbedding(name="e", base_url="https://host/v1", model="m")
    assert describe_embedding(plain) == ("e", "m")
    assert describe_embedding(replace(plain, base_url="https://other/v1", batch_size=3)) == ("e", "m")
    others = [replace(plain, prefix="q: "), replace(plain, dimensions=256), replace(plain, extra_body={"a": 1})]
    assert len({describe_embedding(config)[1] for config in [plain, *others]}) == 4
