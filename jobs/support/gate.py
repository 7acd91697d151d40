"""When a synthesis has enough: targets are met, or the budget is spent. One small actor decides for all engines."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import ray

from jobs.support.synthesis_config import BudgetConfig, TargetConfig
from udfs.records import Candidate

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
        budget: caps of this start.
        gpus: that the engines hold together, from now on.
        usd_per_gpu_hour: the price of one.
        clock: seconds.
    """

    def __init__(
        self,
        targets: TargetCount,
        budget: BudgetConfig,
        gpus: float,
        usd_per_gpu_hour: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.targets, self.budget = targets, budget
        self.gpus, self.usd_per_gpu_hour = gpus, usd_per_gpu_hour
        self.spent_tokens = 0
        self._expected: dict[str, int] = {}  # of the bundles in flight
        self._expected_of_done = 0
        self.outcome = Outcome()
        self._clock = clock
        self._started = clock()

    def refuses(self, bundle_id: str, language: str, length_bucket: str, expected_tokens: int) -> str | None:
        """Why the bundle is not to be started; None: it is in flight from now on, until it is `done`."""
        self._expected.pop(bundle_id, None)  # of an engine that died with it
        self.outcome.budget = self.outcome.budget or self._cap()
        reason = self.outcome.budget
        if reason is None and not self.targets.wants(language, length_bucket):
            reason = TARGETS_MET
        if reason is not None:
            self.outcome.refused[reason] += 1
        else:
            self._expected[bundle_id] = expected_tokens
        return reason

    def done(self, bundle_id: str, accepted: Sequence[Accepted], spent_tokens: int) -> None:
        """A bundle has ended."""
        self.targets.add(accepted)
        self.spent_tokens += spent_tokens
        self._expected_of_done += self._expected.pop(bundle_id, 0)

    def read(self) -> Outcome:
        return self.outcome

    def _cap(self) -> str | None:
        gpu_hours = (self._clock() - self._started) / 3600 * self.gpus
        spent = {
            "max_tokens": self._projected_tokens(),
            "max_gpu_hours": gpu_hours,
            "max_usd": gpu_hours * self.usd_per_gpu_hour,
        }
        for key, value in spent.items():
            cap = getattr(self.budget, key)
            if cap is not None and value >= cap:
                return f"budget.{key}={cap:,} is spent"
        return None

    def _projected_tokens(self) -> float:
        """Spent, and what the bundles in flight will spend if their cost was expected as well as that of the others."""
        scale = self.spent_tokens / self._expected_of_done if self._expected_of_done else 1.0
        return self.spent_tokens + scale * sum(self._expected.values())


class RayGate:
    """What engine actors get (`udfs.stages.gate.Gate`): asks the actor that holds the limits. Needs a started Ray."""

    def __init__(self, targets: TargetCount, budget: BudgetConfig, gpus: float, usd_per_gpu_hour: float) -> None:
        self.actor: Any = ray.remote(num_cpus=0)(Limits).remote(targets, budget, gpus, usd_per_gpu_hour)

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
