"""Whether one more bundle is worth starting: who decides does not concern the stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from udfs.records import Candidate


@dataclass(frozen=True, slots=True)
class Cost:
    """What asking costs, but for the GPUs' time: that passes by itself."""

    tokens: int = 0
    """Computed prompt tokens and output tokens together."""
    usd: float = 0.0
    """What an endpoint charges."""


class BudgetGate(Protocol):
    """Asked before each bundle of an evaluation or of a judge, and told after it."""

    async def refuses(self, bundle_id: str) -> str | None:
        """Why this bundle is not to be started; None: start it."""
        ...

    async def done(self, bundle_id: str, spent: Cost) -> None:
        """A bundle has ended, and what it cost."""
        ...


class OpenBudget:
    """Without a budget: refuses nothing."""

    async def refuses(self, bundle_id: str) -> str | None:
        return None

    async def done(self, bundle_id: str, spent: Cost) -> None:
        return None


class Gate(Protocol):
    """The same for a synthesis, which has targets as well as a budget."""

    async def refuses(self, bundle_id: str, language: str, length_bucket: str, expected_tokens: int) -> str | None:
        """Why this bundle is not to be started; None: start it.

        Args:
            expected_tokens: what it will cost, as far as is known before.
        """
        ...

    async def done(self, bundle_id: str, candidates: Sequence[Candidate], spent_tokens: int) -> None:
        """A bundle has ended: what it made, and its computed prompt tokens and output tokens together."""
        ...


class OpenGate:
    """For a stage that runs by itself: refuses nothing."""

    async def refuses(self, bundle_id: str, language: str, length_bucket: str, expected_tokens: int) -> str | None:
        return None

    async def done(self, bundle_id: str, candidates: Sequence[Candidate], spent_tokens: int) -> None:
        return None
