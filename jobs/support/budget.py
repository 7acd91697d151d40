"""Caps on tokens, GPU hours and money: what was spent, what bundles in flight will spend, when to begin no more.

A run's caps are over all its starts: what earlier ones spent is in the runs table, also of those that were killed
(`RunLedger.beating`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import polars as pl
import ray

from jobs.config import BudgetConfig, RunBudget
from jobs.support.placement import actor_beside_driver
from udfs.stages.gate import Cost
from udfs.tables.store import Store

EVALUATION_JOBS = ("evaluate", "judge")


@dataclass(frozen=True)
class Spent:
    """What is paid for, or expected to be: of one stage, one start or one run."""

    tokens: int = 0
    """Computed prompt tokens and output tokens together."""
    gpu_hours: float = 0.0
    usd: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.tokens + other.tokens, self.gpu_hours + other.gpu_hours, self.usd + other.usd)


def spent_before(store: Store, run: str, jobs: Sequence[str], but: str = "") -> Spent:
    """What the starts of `run` have spent, by the runs table.

    Args:
        jobs: `runs.job` of the stages that count.
        but: start_id of the start that asks.
    """
    columns = ["job", "start_id", "prompt_tokens", "cached_tokens", "output_tokens", "gpu_hours", "usd"]
    counts = pl.col("job").is_in(list(jobs)) & (pl.col("start_id").fill_null("none") != but)
    rows = store.read("runs", columns, part=run).filter(counts)
    tokens = int(rows["prompt_tokens"].sum()) - int(rows["cached_tokens"].sum()) + int(rows["output_tokens"].sum())
    return Spent(tokens, float(rows["gpu_hours"].sum()), float(rows["usd"].sum()))


def over(budget: BudgetConfig, spent: Spent) -> str | None:
    """The first cap that `spent` reaches, as key=value; None: there is budget left."""
    for key, value in (("max_tokens", spent.tokens), ("max_gpu_hours", spent.gpu_hours), ("max_usd", spent.usd)):
        cap = getattr(budget, key)
        if cap is not None and value >= cap:
            return f"budget.{key}={cap:,}"
    return None


class _InFlight(NamedTuple):
    expected: Cost
    since: float


class Spending:
    """Decides bundle by bundle, for one stage. Pure but for its clock.

    Args:
        budget: the caps.
        gpus: that the engines hold together, from now on.
        gpu_price: USD of one GPU for an hour.
        before: what was spent already, and counts.
        clock: seconds.
    """

    def __init__(
        self,
        budget: BudgetConfig,
        gpus: float,
        gpu_price: float,
        before: Spent | None = None,
        clock: Callable[[], float] = time.time,  # it is made on one machine and read on another
    ) -> None:
        self.budget, self.gpus, self.gpu_price = budget, gpus, gpu_price
        self.before = before or Spent()
        self.tokens, self.usd = 0, 0.0  # of ended bundles
        self._flying: dict[str, _InFlight] = {}
        self._expected_of_done = Cost()
        self._seconds_of_done = 0.0
        self._clock = clock
        self._started = clock()

    def refuses(self, bundle_id: str, expected: Cost) -> str | None:
        """The cap that is reached, in words; None: the bundle is in flight from now on, until it is `done`."""
        self._flying.pop(bundle_id, None)  # of an engine that died with it
        cap = over(self.budget, self._projected(expected))
        if cap is not None:
            return f"{cap} is spent"
        self._flying[bundle_id] = _InFlight(expected, self._clock())
        return None

    def done(self, bundle_id: str, spent: Cost) -> None:
        """A bundle has ended."""
        self.tokens += spent.tokens
        self.usd += spent.usd
        flown = self._flying.pop(bundle_id, None)
        if flown is not None:
            total = self._expected_of_done
            self._expected_of_done = Cost(total.tokens + flown.expected.tokens, total.usd + flown.expected.usd)
            self._seconds_of_done += self._clock() - flown.since

    def _projected(self, following: Cost) -> Spent:
        """What will have been spent when the bundles in flight have ended, if their cost was expected as well as that
        of those before; GPUs are paid until the next bundle has ended, if it takes as long as others of its size.
        """
        flying = [one.expected for one in self._flying.values()]
        tokens, usd = sum(cost.tokens for cost in flying), sum(cost.usd for cost in flying)
        done = self._expected_of_done
        token_scale = self.tokens / done.tokens if done.tokens else 1.0
        usd_scale = self.usd / done.usd if done.usd else 1.0
        lasts = self._seconds_of_done / done.tokens * following.tokens if done.tokens else 0.0
        gpu_hours = (self._clock() - self._started + lasts) / 3600 * self.gpus
        return self.before + Spent(
            int(self.tokens + token_scale * tokens),
            gpu_hours,
            self.usd + usd_scale * usd + gpu_hours * self.gpu_price,
        )


class PlannedSpending:
    """`Spending` where the bundles' costs are known beforehand: what an evaluation's gate actor holds.

    Args:
        expected: by bundle_id; one that is not there is expected to cost what the others do on average.
    """

    def __init__(self, spending: Spending, expected: Mapping[str, Cost]) -> None:
        self.spending, self.expected = spending, dict(expected)
        costs, n = self.expected.values(), max(1, len(self.expected))
        self._mean = Cost(sum(cost.tokens for cost in costs) // n, sum(cost.usd for cost in costs) / n)
        self.ended: str | None = None

    def refuses(self, bundle_id: str) -> str | None:
        """See `Spending`. Once a cap was reached no bundle is begun, however small."""
        if self.ended is None:
            self.ended = self.spending.refuses(bundle_id, self.expected.get(bundle_id, self._mean))
        return self.ended

    def done(self, bundle_id: str, spent: Cost) -> None:
        self.spending.done(bundle_id, spent)

    def read(self) -> str | None:
        """The cap that ended the stage, in words."""
        return self.ended


class RayBudget:
    """What engine actors get (`udfs.stages.gate.BudgetGate`): asks the actor that decides. Needs a started Ray."""

    def __init__(
        self, budget: BudgetConfig, gpus: float, gpu_price: float, before: Spent, expected: Mapping[str, Cost]
    ) -> None:
        spending = Spending(budget, gpus, gpu_price, before)
        self.actor: Any = actor_beside_driver(PlannedSpending, spending, dict(expected))

    async def refuses(self, bundle_id: str) -> str | None:
        reason: str | None = await self.actor.refuses.remote(bundle_id)
        return reason

    async def done(self, bundle_id: str, spent: Cost) -> None:
        await self.actor.done.remote(bundle_id, spent)

    def read(self) -> str | None:
        """What ended the stage; called by the driver."""
        reason: str | None = ray.get(self.actor.read.remote())
        return reason


class BudgetKeeper:
    """The budget of one start of an evaluation, stage after stage.

    Args:
        budget: caps over all starts of `run`.
        gpu_price: USD of one GPU for an hour.
    """

    def __init__(self, budget: RunBudget, store: Store, run: str, start_id: str, gpu_price: float) -> None:
        self.budget, self.gpu_price = budget, gpu_price
        self._store, self._run, self._start_id = store, run, start_id
        self.now = Spent()
        self.expected: dict[str, dict[str, Cost]] = {}
        self.reason: str | None = None
        self._gate: RayBudget | None = None
        self._skipped: str | None = None

    @property
    def capped(self) -> bool:
        """Whether there is any cap."""
        return self.budget.capped

    @cached_property
    def before(self) -> Spent:
        """What earlier starts of the run have spent."""
        return spent_before(self._store, self._run, EVALUATION_JOBS, self._start_id)

    @property
    def spent(self) -> Spent:
        """By all starts of the run, this one too."""
        return self.before + self.now

    def gate(self, stage: str, gpus: float) -> RayBudget:
        """The gate of a stage that is about to start.

        Args:
            gpus: that its actors hold together.
        """
        expected = self.expected.get(stage, {})
        self._gate = RayBudget(self.budget, gpus, self.gpu_price, self.spent, expected)
        return self._gate

    def leave(self) -> None:
        """The next stage has no gate, unless one is made."""
        self._gate = self._skipped = None

    def end(self) -> tuple[str, str | None]:
        """Status and error of the stage that has ended."""
        stopped = self._skipped if self._gate is None else self._gate.read()
        self.reason = self.reason or stopped
        return ("ok", None) if stopped is None else ("stopped", stopped)

    def spend(self, spent: Spent) -> None:
        """A stage has ended and has cost this."""
        self.now += spent

    def skips(self) -> bool:
        """Whether a cap is reached: the next stage is not worth loading a model for."""
        if self.capped and self.reason is None and (cap := over(self.budget, self.spent)) is not None:
            self.reason = f"{cap} is spent"
        self._skipped = self.reason
        return self.reason is not None

    def told(self, stopped: int) -> list[str]:
        """What the summary says of it.

        Args:
            stopped: responses that were not asked for.
        """
        if self.reason is None:
            return []
        spent = self.spent
        figures = f"{spent.tokens:,} tokens, {spent.gpu_hours:,.3f} GPU hours, {spent.usd:,.2f} USD by all its starts"
        told = (
            f"stopped: {self.reason} ({figures}); {stopped:,} responses were not asked for and stay owed; start the "
            "same command again with a higher cap to go on"
        )
        return [told]
