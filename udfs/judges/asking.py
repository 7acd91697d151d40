"""Ask a model for a verdict: call, read, once more when the reply cannot be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic

from udfs.engines.base import Completion, Engine, Message, Prompt, Sampling
from udfs.judges.base import Observe, OnPrefill
from udfs.judges.verdicts import Form, allowed_verdicts, json_schema, parse_verdict
from udfs.prompts.judging import build_retry


@dataclass(frozen=True)
class Asked(Generic[Form]):
    """What came of it: the verdict, or None after two replies that could not be read; and the calls it took."""

    verdict: Form | None
    completions: tuple[Completion, ...]


async def ask_for_verdict(
    engine: Engine,
    messages: tuple[Message, ...],
    form: type[Form],
    sampling: Sampling,
    *,
    language: str,
    purpose: str,
    request_id: str,
    gold: Mapping[str, Any],
    observe: Observe | None = None,
    on_prefill: OnPrefill | None = None,
) -> Asked[Form]:
    """Ask for a verdict in `form`, the reply constrained to its schema where the engine can.

    Raises:
        EngineError: as `Engine.complete`.
    """
    completions: list[Completion] = []
    schema = json_schema(form)
    for attempt in (1, 2):
        prompt = Prompt(messages, purpose, request_id, gold)
        completion = await engine.complete(prompt, sampling, schema, on_prefill if attempt == 1 else None)
        completions.append(completion)
        if observe is not None:
            observe(completion)
        verdict = parse_verdict(completion.text, form)
        if verdict is not None:
            return Asked(verdict, tuple(completions))
        messages = build_retry(language, messages, completion.text, allowed_verdicts(form))
    return Asked(None, tuple(completions))
