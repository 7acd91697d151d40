"""What an engine stage tells whoever started it, while it works: progress, and the death of an engine."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol

from udfs.engines.base import Completion


@dataclass
class Flight:
    """Work that has been done, recorded or not yet: rows by status, calls and tokens."""

    statuses: Counter[str] = field(default_factory=Counter)
    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0

    def add_completion(self, completion: Completion) -> None:
        """Count one call's tokens."""
        self.prompt_tokens += completion.prompt_tokens
        self.cached_tokens += completion.cached_tokens
        self.output_tokens += completion.output_tokens

    def add(self, other: Flight) -> None:
        """Add what another counted."""
        self.statuses.update(other.statuses)
        self.prompt_tokens += other.prompt_tokens
        self.cached_tokens += other.cached_tokens
        self.output_tokens += other.output_tokens


class Watch(Protocol):
    """Where an engine stage reports to. Calls return at once, save for `engine_died`."""

    def completed(self, completion: Completion) -> None:
        """A call came back."""
        ...

    def row(self, status: str) -> None:
        """A row (a response, a judgement) is done."""
        ...

    def flush(self) -> None:
        """A block is done: hold nothing back."""
        ...

    def engine_died(self, error: str) -> None:
        """The engine died and its actor is about to exit; raises to end the run instead."""
        ...


class NoWatch:
    """For a stage that runs by itself, as in a benchmark: counts nothing, and an engine's death is an error."""

    def completed(self, completion: Completion) -> None:
        return None

    def row(self, status: str) -> None:
        return None

    def flush(self) -> None:
        return None

    def engine_died(self, error: str) -> None:
        raise RuntimeError(error)
