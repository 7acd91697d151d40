"""Whether one more bundle of a synthesis is worth starting: who decides does not concern the stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from udfs.records import Candidate


class Gate(Protocol):
    """Asked before each bundle and told after it."""

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
