"""When a synthesis has enough: targets are met, or the budget is spent. One small actor decides for all engines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import ray

from jobs.config import BudgetConfig
from jobs.support.budget import Spending, Spent
from jobs.support.placement import actor_beside_driver
from jobs.support.synthesis_config import TargetConfig
from udfs.records import Candidate
from udfs.stages.gate import Cost

TARGETS_MET = "targets met"


class Accepted(NamedTuple):
    """An accepted candidate, as far as targets know it."""

    candidate_id: str
    kind: str
    language: str
    length_bucket: str


@dataclass
class Outcome:
    """What the gate has decided so far."""

    budget: str | None = None
    """The cap that was reached, in words; None while there is budget."""
    refused: Counter[str] = field(default_factory=Counter)
    """Bundles that were not started, by reason."""


class TargetCount:
    """How far each target is; a candidate that is told of twice counts once."""

    def __init__(self, targets: Sequence[TargetConfig], accepted: Iterable[Accepted] = ()) -> None:
        self.targets = tuple(targets)
        self.have = [0] * len(self.targets)
        self._seen: set[str] = set()
        self.add(accepted)

    def add(self, accepted: Iterable[Accepted]) -> None:
        """Count what has been accepted."""
        if not self.targets:
            return
        for candidate in accepted:
            if candidate.candidate_id in self._seen:
                continue
            self._seen.add(candidate.candidate_id)
            for number, target in enumerate(self.targets):
                self.have[number] += target.counts(candidate.kind, candidate.language, candidate.length_bucket)

    def wants(self, language: str, length_bucket: str) -> bool:
        """Whether a document of that language and length can still add to a target; without targets always."""
        open_targets = (target for target, have in zip(self.targets, self.have, strict=True) if have < target.count)
        return not self.targets or any(target.served_by(language, length_bucket) for target in open_targets)


class Limits:
    """The gate's rules over what it is told.

    Args:
        targets: with what is accepted already.
        spending: the budget, and what is spent of it.
    """

    def __init__(self, targets: TargetCount, spending: Spending) -> None:
        self.targets, self.spending = targets, spending
        self.outcome = Outcome()

    def refuses(self, bundle_id: str, language: str, length_bucket: str, expected_tokens: int) -> str | None:
        """Why the bundle is not to be started; None: it is in flight from now on, until it is `done`."""
        reason = self.outcome.budget
        if reason is None and not self.targets.wants(language, length_bucket):
            reason = TARGETS_MET
        if reason is None:
            reason = self.outcome.budget = self.spending.refuses(bundle_id, Cost(expected_tokens))
        if reason is not None:
            self.outcome.refused[reason] += 1
        return reason

    def done(self, bundle_id: str, accepted: Sequence[Accepted], spent_tokens: int) -> None:
        """A bundle has ended."""
        self.targets.add(accepted)
        self.spending.done(bundle_id, Cost(spent_tokens))

    def read(self) -> Outcome:
        return self.outcome


class RayGate:
    """What engine actors get (`udfs.stages.gate.Gate`): asks the actor that holds the limits. Needs a started Ray."""

    def __init__(
        self, targets: TargetCount, budget: BudgetConfig, gpus: float, gpu_price: float, before: Spent
    ) -> None:
        spending = Spending(budget, gpus, gpu_price, before)
        self.actor: Any = actor_beside_driver(Limits, targets, spending)

    async def refuses(self, bundle_id: str, language: str, length_bucket: str, expected_tokens: int) -> str | None:
        reason: str | None = await self.actor.refuses.remote(bundle_id, language, length_bucket, expected_tokens)
        return reason

    async def done(self, bundle_id: str, candidates: Sequence[Candidate], spent_tokens: int) -> None:
        accepted = [
            Accepted(made.candidate_id, made.kind, made.language, made.length_bucket)
            for made in candidates
            if made.accepted
        ]
        await self.actor.done.remote(bundle_id, accepted, spent_tokens)

    def read(self) -> Outcome:
        """What was decided; called by the driver."""
        outcome: Outcome = ray.get(self.actor.read.remote())
        return outcome
