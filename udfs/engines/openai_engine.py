"""Any OpenAI-compatible chat-completions endpoint, through the `openai` SDK and its own retries."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import openai
from aiolimiter import AsyncLimiter

from udfs.engines import endpoint
from udfs.engines.base import (
    Completion,
    Filtered,
    Message,
    OverLength,
    Prompt,
    ProviderError,
    Sampling,
    storable,
)
from udfs.engines.chat import ChatTokenizer
from udfs.engines.config import EndpointModel
from udfs.engines.estimate import estimate_tokens
from udfs.engines.openai_errors import typed_errors
from udfs.errors import UserError

MINUTE_S: Final = 60.0
PROBE_TOKENS: Final = 16


class OpenAIEngine:
    """An engine over an endpoint: at most `max_concurrency` requests at once, within the rates of the account.

    Raises:
        UserError: the key's environment variable is not set, or the tokenizer cannot be loaded.
    """

    def __init__(self, config: EndpointModel) -> None:
        self._config = config
        self._key = endpoint.api_key(config)
        self._client = openai.AsyncOpenAI(
            base_url=config.base_url, api_key=self._key, timeout=config.timeout_s, max_retries=config.max_retries
        )
        self._chat = ChatTokenizer.load(config.tokenizer, config.name) if config.tokenizer else None
        self._slots = asyncio.Semaphore(config.max_concurrency)
        self._requests = AsyncLimiter(config.requests_per_minute, MINUTE_S) if config.requests_per_minute else None
        self._tokens = AsyncLimiter(config.tokens_per_minute, MINUTE_S) if config.tokens_per_minute else None

    @property
    def name(self) -> str:
        return self._config.name

    @property
    def revision(self) -> str:
        return endpoint.revision(self._config)

    @property
    def kv_tokens(self) -> int | None:
        return self._config.kv_tokens

    @property
    def block_size(self) -> int:
        return self._config.block_size

    async def count_tokens(self, messages: Sequence[Message]) -> int | None:
        """By `model.tokenizer`; None without one."""
        return len(await self._chat.ids(messages)) if self._chat is not None else None

    async def complete(
        self,
        prompt: Prompt,
        sampling: Sampling,
        schema: Mapping[str, Any] | None = None,
        on_prefill: Callable[[], None] | None = None,
    ) -> Completion:
        """Complete `prompt`; see `udfs.engines.base.Engine.complete`. `on_prefill` is called at the end.

        Raises:
            UserError: the key, the account or the model is refused; every further request would be, too.
        """
        ids = await self._chat.ids(prompt.messages) if self._chat is not None else None
        count = len(ids) if ids is not None else estimate_tokens(prompt.messages)
        window = self._config.window
        if ids is not None and window is not None and count + sampling.max_tokens > window:
            raise OverLength(f"prompt of {count} tokens + {sampling.max_tokens} for the reply > the window of {window}")
        async with self._slots:
            await self._admit(count + sampling.max_tokens)
            started = time.perf_counter()
            reply = await self._send(self._client, prompt, sampling, schema)
            seconds = time.perf_counter() - started
        text, finish_reason = self._read(reply)
        if on_prefill is not None:
            on_prefill()
        usage = reply.usage
        details = usage.prompt_tokens_details if usage is not None else None
        prompt_tokens = usage.prompt_tokens if usage is not None else count
        return Completion(
            text=storable(text),
            prompt_tokens=prompt_tokens,
            cached_tokens=int(details.cached_tokens or 0) if details is not None else 0,
            output_tokens=usage.completion_tokens if usage is not None else estimate_tokens([_as_message(text)]),
            finish_reason=finish_reason,
            seconds=seconds,
            # The server's template may differ from the tokenizer's: ids are given only where the counts agree.
            prompt_ids=ids if ids is not None and len(ids) == prompt_tokens else None,
        )

    async def probe(self) -> None:
        """Ask for a few tokens, in the way that the run will ask.

        Raises:
            UserError: no answer, an unknown model, a refused key, a parameter that the endpoint does not take.
        """
        schema = {
            "type": "object",
            "properties": {"ok": {"type": "boolean"}},
            "required": ["ok"],
            "additionalProperties": False,
        }
        sampling = Sampling(max_tokens=PROBE_TOKENS)
        messages: tuple[Message, ...] = ({"role": "user", "content": 'Reply with the JSON object {"ok": true}.'},)
        prompt = Prompt(messages, "probe")
        config = self._config
        client = self._client.with_options(max_retries=min(1, config.max_retries), timeout=min(60.0, config.timeout_s))
        try:
            await self._send(client, prompt, sampling, None if config.structured == "none" else schema)
        except (ProviderError, OverLength, Filtered) as error:
            raise UserError(
                f"the endpoint {config.base_url} of model {config.name} does not answer as it should: {error}; check "
                "model.base_url, model.model and, where it does not take them, model.structured and model.omit"
            ) from error

    async def close(self) -> None:
        if self._chat is not None:
            self._chat.close()
        await self._client.close()

    async def _admit(self, tokens: int) -> None:
        if self._requests is not None:
            # A rate below one a minute would never hold a whole request.
            await self._requests.acquire(min(1.0, self._requests.max_rate))
        if self._tokens is not None:
            # A request larger than a whole minute's allowance waits for a full minute and then goes out by itself.
            await self._tokens.acquire(min(float(tokens), self._tokens.max_rate))

    async def _send(
        self, client: openai.AsyncOpenAI, prompt: Prompt, sampling: Sampling, schema: Mapping[str, Any] | None
    ) -> Any:
        with typed_errors(self._config, client, self._key):
            return await client.chat.completions.create(**self._arguments(prompt, sampling, schema))

    def _arguments(self, prompt: Prompt, sampling: Sampling, schema: Mapping[str, Any] | None) -> dict[str, Any]:
        config = self._config
        arguments: dict[str, Any] = {
            "model": config.model,
            "messages": [dict(message) for message in prompt.messages],
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": sampling.seed,
            config.max_tokens_field: sampling.max_tokens,
        }
        for name in config.omit:
            del arguments[name]
        if arguments.get("seed", 0) is None:
            del arguments["seed"]
        if config.extra_body:
            arguments["extra_body"] = dict(config.extra_body)
        if schema is not None and config.structured == "json_schema":
            named = {"name": "reply", "schema": dict(schema), "strict": endpoint.strict_ready(schema)}
            arguments["response_format"] = {"type": "json_schema", "json_schema": named}
        elif schema is not None and config.structured == "json_object":
            arguments["response_format"] = {"type": "json_object"}
        return arguments

    def _read(self, reply: Any) -> tuple[str, str]:
        choices = getattr(reply, "choices", None)
        if not choices:
            raise ProviderError("the endpoint answered without a choice")
        choice = choices[0]
        finish_reason = choice.finish_reason or "unknown"
        if finish_reason == "content_filter":
            raise Filtered("the provider's content filter withheld the reply")
        message = choice.message
        # A model that declines to fill a schema says so in `refusal`: that is its reply.
        text = message.content if message.content is not None else getattr(message, "refusal", None)
        if text is None:
            raise ProviderError(f"the endpoint answered with a choice that has no text (finish reason {finish_reason})")
        return text, finish_reason


def _as_message(text: str) -> Message:
    return {"role": "assistant", "content": text}
