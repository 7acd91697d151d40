"""Any OpenAI-compatible embeddings endpoint, through the `openai` SDK and its own retries."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

import openai
from aiolimiter import AsyncLimiter

from udfs.engines import endpoint
from udfs.engines.base import Filtered, OverLength, ProviderError, Unreadable, Vectors
from udfs.engines.chat import first_line
from udfs.engines.embedding import token_ids, unit_vectors
from udfs.engines.embedding_config import EndpointEmbedding
from udfs.engines.openai_errors import typed_errors
from udfs.errors import UserError
from udfs.identity import content_hash

MINUTE_S: Final = 60.0


def revision(config: EndpointEmbedding) -> str:
    """What the embedding's name stands for: the provider's name of it, and settings that change its vectors."""
    settings = [config.prefix, config.dimensions, dict(config.extra_body)]
    return config.model if settings == ["", None, {}] else f"{config.model}-{content_hash(settings)[:8]}"


class EndpointEmbedder:
    """An embedder over an endpoint: `batch_size` texts a request, at most `max_concurrency` requests at once.

    Raises:
        UserError: the key's environment variable is not set, or the tokenizer cannot be loaded.
    """

    def __init__(self, config: EndpointEmbedding) -> None:
        self._config = config
        self._key = endpoint.api_key(config, endpoint.EMBEDDINGS)
        self._client = openai.AsyncOpenAI(
            base_url=config.base_url, api_key=self._key, timeout=config.timeout_s, max_retries=config.max_retries
        )
        self._tokenizer = _tokenizer(config) if config.tokenizer is not None else None
        self._slots = asyncio.Semaphore(config.max_concurrency)
        self._requests = AsyncLimiter(config.requests_per_minute, MINUTE_S) if config.requests_per_minute else None

    @property
    def name(self) -> str:
        return self._config.name

    @property
    def revision(self) -> str:
        return revision(self._config)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """See `udfs.engines.base.Embedder.embed`.

        Raises:
            UserError: the key, the account or the model is refused; every further request would be, too.
        """
        prefixed = [self._config.prefix + text for text in texts]
        if self._tokenizer is not None and self._config.window is not None:
            await asyncio.to_thread(token_ids, self._tokenizer, prefixed, self._config.window)
        size = self._config.batch_size
        parts = [prefixed[start : start + size] for start in range(0, len(prefixed), size)]
        found = await asyncio.gather(*(self._request(self._client, part) for part in parts), return_exceptions=True)
        failures = [error for error in found if isinstance(error, BaseException)]
        if failures:  # what ends the run before what ends a row
            raise next((error for error in failures if isinstance(error, UserError)), failures[0])
        return unit_vectors([row for rows in found if not isinstance(rows, BaseException) for row in rows], len(texts))

    async def probe(self) -> None:
        """Embed one text, in the way that the run will ask.

        Raises:
            UserError: no answer, an unknown model, a refused key, a parameter that the endpoint does not take.
        """
        config = self._config
        client = self._client.with_options(max_retries=min(1, config.max_retries), timeout=min(60.0, config.timeout_s))
        try:
            unit_vectors(await self._request(client, [config.prefix + "When does the ferry leave?"]), 1)
        except (ProviderError, OverLength, Filtered, Unreadable) as error:
            raise UserError(
                f"the endpoint {config.base_url} of embedding {config.name} does not answer as it should: {error}; "
                "check embedding.base_url, embedding.model and embedding.dimensions"
            ) from error

    async def close(self) -> None:
        await self._client.close()

    async def _request(self, client: openai.AsyncOpenAI, texts: list[str]) -> list[Any]:
        config = self._config
        # The SDK's own default asks for base64, which not every server knows.
        arguments: dict[str, Any] = {"model": config.model, "input": texts, "encoding_format": "float"}
        if config.dimensions is not None:
            arguments["dimensions"] = config.dimensions
        if config.extra_body:
            arguments["extra_body"] = dict(config.extra_body)
        async with self._slots:
            if self._requests is not None:
                # A rate below one a minute would never hold a whole request.
                await self._requests.acquire(min(1.0, self._requests.max_rate))
            with typed_errors(config, client, self._key, endpoint.EMBEDDINGS):
                reply = await client.embeddings.create(**arguments)
        return _rows(reply, len(texts))


def _rows(reply: Any, count: int) -> list[Any]:
    """The vectors in the order of their texts, which the reply's need not have."""
    data = getattr(reply, "data", None) or []
    by_index = {getattr(item, "index", None): getattr(item, "embedding", None) for item in data}
    if len(data) != count or set(by_index) != set(range(count)):
        raise ProviderError(f"asked for {count} vectors, the endpoint answered with {len(data)} or without their order")
    return [by_index[index] for index in range(count)]


def _tokenizer(config: EndpointEmbedding) -> Any:
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(config.tokenizer)
    except (OSError, ValueError) as error:
        raise UserError(
            f"the tokenizer {config.tokenizer!r} of embedding {config.name} cannot be loaded: {first_line(error)}"
        ) from error
