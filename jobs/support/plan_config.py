"""The configuration of `jobs.plan`: the evaluation that is planned, and how."""

from __future__ import annotations

from dataclasses import dataclass

from jobs.config import EvaluateConfig, require
from jobs.support.storage import refuse_temporary


@dataclass(frozen=True)
class PlanSettings:
    """How much is read, and asked, for a plan.

    Args:
        documents: bundles of each stage that are read and tokenised at most.
        calibrate: ask a few bundles first, for real.
        bundles: how many.
        json: a file for the plan as JSON; None: none.
    """

    documents: int
    calibrate: bool
    bundles: int
    json: str | None

    def __post_init__(self) -> None:
        for key in ("documents", "bundles"):
            require(getattr(self, key) >= 1, f"plan.{key}", getattr(self, key), "at least 1")
        if self.json:
            refuse_temporary(self.json, "plan.json")


@dataclass(frozen=True)
class PlanConfig(EvaluateConfig):
    """`jobs.plan`: the configuration of `jobs.evaluate`, and `plan`."""

    plan: PlanSettings
