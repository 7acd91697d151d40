"""Classifier configurations (`conf/classifier/*.yaml`) as frozen dataclasses, checked at the door."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from udfs.engines import checks
from udfs.engines.classifier_input import FORMS
from udfs.engines.config import DTYPES, VllmModel
from udfs.errors import UserError


@dataclass(frozen=True, kw_only=True)
class _Input:
    """What both engines share: which weights, and how a document and a question become its input."""

    name: str
    weights: str
    """A folder, or the address of one (s3://…)."""
    input: Literal["pair", "couldask"] | None = None
    """See `udfs.engines.classifier_input`; None: as the weights' own record says."""
    window: int | None = None
    """Tokens of one input; None: as the weights say."""
    stride: int | None = None
    """Tokens that neighbouring windows share; None: as the weights' record says, else a quarter of the window."""
    answerable_label: int | None = None
    """Which label says answerable; None: the one that the weights call so."""

    def check(self, engine: str, given: str) -> None:
        checks.text("classifier.name", self.name)
        checks.choice("classifier.engine", given, (engine,))
        checks.text("classifier.weights", self.weights)
        if self.input is not None:
            checks.choice("classifier.input", self.input, FORMS)
        checks.integer("classifier.window", self.window, 64, optional=True)
        checks.integer("classifier.stride", self.stride, 0, optional=True)
        checks.integer("classifier.answerable_label", self.answerable_label, 0, 1, optional=True)


@dataclass(frozen=True, kw_only=True)
class TransformersClassifier(_Input):
    """A sequence classifier that `transformers` runs, in the actor's process."""

    engine: str = "transformers"
    batch_size: int = 32
    threads: int | None = None
    """None leaves it to torch; in an actor that is `cluster.actor_cpus`."""

    def __post_init__(self) -> None:
        self.check("transformers", self.engine)
        checks.integer("classifier.batch_size", self.batch_size, 1)
        checks.integer("classifier.threads", self.threads, 1, optional=True)


@dataclass(frozen=True, kw_only=True)
class VllmClassifier(_Input):
    """A sequence classifier that vLLM loads with its pooling runner. Keys as in `VllmModel`."""

    engine: str = "vllm"
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
        self.check("vllm", self.engine)
        checks.choice("classifier.dtype", self.dtype, DTYPES)
        checks.number("classifier.kv_cache_gib", self.kv_cache_gib, 0, above=True, optional=True)
        checks.integer("classifier.max_num_seqs", self.max_num_seqs, 1)
        checks.integer("classifier.max_num_batched_tokens", self.max_num_batched_tokens, 1)
        checks.flag("classifier.enforce_eager", self.enforce_eager)
        checks.number("classifier.gpu_memory_utilization", self.gpu_memory_utilization, 0, 1, above=True)
        checks.integer("classifier.cpu_threads", self.cpu_threads, 1, optional=True)
        checks.flag("classifier.trust_remote_code", self.trust_remote_code)
        checks.mapping("classifier.engine_args", self.engine_args)

    def model(self, folder: str, window: int) -> VllmModel:
        """The same for whoever starts vLLM."""
        ours = {f.name for f in dataclasses.fields(_Input)} | {"engine"}
        shared = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name not in ours}
        return VllmModel(name=self.name, weights=folder, window=window, **shared)


ClassifierConfig = TransformersClassifier | VllmClassifier

NO_CLASSIFIER: Final = "none"
_KINDS: Final[dict[str, type[TransformersClassifier] | type[VllmClassifier]]] = {
    "transformers": TransformersClassifier,
    "vllm": VllmClassifier,
}


def classifier_config(given: Mapping[str, Any]) -> ClassifierConfig | None:
    """The dataclass for a resolved `conf/classifier` mapping; None for `engine: none`.

    Raises:
        UserError: an unknown engine or key, a missing key, or a value out of range.
    """
    engine = given.get("engine")
    if engine == NO_CLASSIFIER:
        checks.known_keys("classifier (engine none)", given, ["engine"])
        return None
    if engine not in _KINDS:
        allowed = ", ".join([NO_CLASSIFIER, *_KINDS])
        raise UserError(f"classifier.engine={engine!r} is not allowed; it must be one of {allowed}")
    kind = _KINDS[engine]
    fields = dataclasses.fields(kind)
    checks.known_keys(f"classifier (engine {engine})", given, [f.name for f in fields], ["name", "weights"])
    empty: dict[str, Any] = {"engine_args": {}} if "engine_args" in given and given["engine_args"] is None else {}
    return kind(**{**given, **empty})
