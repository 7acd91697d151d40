"""The engine protocol: what completes a prompt, whoever it is.

Dialogues, agents and judges know engines only through this module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypedDict

import numpy as np
import numpy.typing as npt

TokenIds = npt.NDArray[np.uint32]
Vectors = npt.NDArray[np.float32]


class Message(TypedDict):
    """One chat message, as in the OpenAI chat-completions API."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to draw tokens. Part of a response's identity."""

    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 512
    seed: int | None = 0


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request: the messages, and what only a scripted engine may look at."""

    messages: tuple[Message, ...]
    purpose: str  # answer | reformulate | refusal | judge.response (udfs/judges/base.py)
    request_id: str = ""  # the response or judgement that this call serves; for logs
    gold: Mapping[str, Any] = field(default_factory=dict)
    """For `model=scripted` alone: a row of the questions table and, for a judge, the response. Never sent."""


def storable(text: str) -> str:
    """A model's text as it can be stored: lone surrogates, which JSON escapes can make, as visible escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


@dataclass(frozen=True, slots=True)
class Completion:
    """What came back.

    `prompt_ids` are the exact tokens that were sent, shape (prompt_tokens,), where the engine knows them: the bound
    of a bundle is the size of their trie.
    """

    text: str
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    finish_reason: str  # stop | length | content_filter | …
    seconds: float
    prompt_ids: TokenIds | None = None


class EngineError(Exception):
    """An engine could not complete a prompt. Each subclass says what that means for the row."""


class OverLength(EngineError):
    """The prompt and room for the answer do not fit the window. Raised before anything is sent where possible."""


class ProviderError(EngineError):
    """A transient failure that outlasted the engine's own retries: rate limit, server error, timeout, cut line."""


class Filtered(EngineError):
    """The provider's content filter withheld the reply."""


class Unreadable(EngineError):
    """An embedder's tokenizer knows too little of a text: its vector would say nothing about it."""


class EngineDead(EngineError):
    """The engine is gone: its actor must exit, so that Ray replaces it and the bundle is tried again."""


class Engine(Protocol):
    """What completes prompts. One engine serves many concurrent calls on one event loop."""

    @property
    def name(self) -> str:
        """The model's name in tables."""
        ...

    @property
    def revision(self) -> str:
        """What exactly the name stood for: a hash of the weights' configuration, a provider's version, …"""
        ...

    @property
    def kv_tokens(self) -> int | None:
        """How many tokens the KV cache holds; None where the engine does not say (endpoints)."""
        ...

    @property
    def block_size(self) -> int:
        """Tokens in one cache block: the unit in which a prefix can be shared; 1 where unknown."""
        ...

    async def complete(
        self,
        prompt: Prompt,
        sampling: Sampling,
        schema: Mapping[str, Any] | None = None,
        on_prefill: Callable[[], None] | None = None,
    ) -> Completion:
        """Complete `prompt`; with `schema`, a JSON schema that the reply is constrained to.

        `on_prefill` is called once, as soon as the prompt's prefix can be found in the cache by a later request (at
        the first token where the engine streams, else at the end): siblings of a lead request wait for it, not for
        the lead's whole answer.

        Raises:
            OverLength, ProviderError, Filtered: what is to become of this row.
            EngineDead: nothing more will come from this engine.
        """
        ...

    async def count_tokens(self, messages: Sequence[Message]) -> int | None:
        """Tokens of the rendered prompt; None where the engine has no tokenizer."""
        ...

    async def close(self) -> None:
        """Release what the engine holds. Calling it twice is allowed."""
        ...


class Embedder(Protocol):
    """What turns texts into vectors whose inner product is their cosine. It serves concurrent calls on one loop."""

    @property
    def name(self) -> str:
        """The embedding's name in tables."""
        ...

    @property
    def revision(self) -> str:
        """What exactly the name stood for, as `Engine.revision`."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector a text, of length 1: shape (texts, dimensions). Texts are never cut.

        Raises:
            OverLength, Filtered, Unreadable: for one of the texts at least; the others would do without it.
            ProviderError: a failure that does not lie in the texts.
            EngineDead: nothing more will come from this embedder.
        """
        ...

    async def close(self) -> None:
        """Release what the embedder holds. Calling it twice is allowed."""
        ...


class Classifier(Protocol):
    """What says how likely a document answers a question. It serves concurrent calls on one loop."""

    @property
    def name(self) -> str:
        """The classifier's name in tables."""
        ...

    @property
    def revision(self) -> str:
        """What exactly the name stood for, as `Engine.revision`."""
        ...

    async def answerable(self, pairs: Sequence[tuple[str, str]]) -> list[float | EngineError]:
        """For each (text, question) the probability that the text answers it, the greatest over the text's windows;
        in its place `OverLength` or `Unreadable` where it could not be asked. Texts are never cut.

        Raises:
            ProviderError: a failure that does not lie in the texts.
            EngineDead: nothing more will come from this classifier.
        """
        ...

    async def close(self) -> None:
        """Release what the classifier holds. Calling it twice is allowed."""
        ...
