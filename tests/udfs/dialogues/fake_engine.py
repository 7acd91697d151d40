"""An engine that replies what a test wrote, or raises it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from udfs.engines.base import Completion, Message, Prompt, Sampling
from udfs.records import Question, Span


@dataclass
class FakeEngine:
    """Replies by purpose, in order; an exception among the replies is raised."""

    replies: Mapping[str, Sequence[str | Exception]]
    prompts: list[Prompt] = field(default_factory=list)
    schemas: list[Mapping[str, Any] | None] = field(default_factory=list)
    name: str = "fake"
    revision: str = "r1"
    kv_tokens: int | None = None
    block_size: int = 1

    async def complete(
        self,
        prompt: Prompt,
        sampling: Sampling,
        schema: Mapping[str, Any] | None = None,
        on_prefill: Callable[[], None] | None = None,
    ) -> Completion:
        nth = sum(1 for earlier in self.prompts if earlier.purpose == prompt.purpose)
        self.prompts.append(prompt)
        self.schemas.append(schema)
        reply = self.replies[prompt.purpose][nth]
        if on_prefill is not None:
            on_prefill()
        if isinstance(reply, Exception):
            raise reply
        return Completion(reply, 10, 4, 3, "stop", 0.5, np.arange(10, dtype=np.uint32))

    async def count_tokens(self, messages: Sequence[Message]) -> int | None:
        return None

    async def close(self) -> None:
        return None


def a_question(
    question: str = "Who is the cox of the Tannet crew?",
    answerable: bool = False,
    answers: tuple[str, ...] = (),
    language: str = "en",
    redactions: tuple[Span, ...] = (),
    evidence: tuple[Span, ...] = (),
    reference_response: str | None = None,
) -> Question:
    """A question with what a test cares about."""
    return Question(
        question_id="q1",
        doc_id="d1",
        dataset="tests",
        split="test",
        language=language,
        question=question,
        answerable=answerable,
        answers=answers,
        evidence=evidence,
        redactions=redactions,
        kind="answerable" if answerable else "unanswerable",
        reference_response=reference_response,
    )
