"""The console: takes all opinions on the candidates of a fragment and makes one decision for each. Pure, no model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from udfs.agents.base import Opinion
from udfs.schema import Fate, Kind, Status, Step

STEPS: Final = tuple(Step)


@dataclass(frozen=True)
class Decision:
    """What becomes of a candidate, and where it ended."""

    step: Step
    fate: Fate
    detail: str | None = None

    @property
    def status(self) -> Status:
        """`ok` where something was decided, else what kept it from being decided."""
        return Status(self.fate.value) if self.fate.value in set(Status) else Status.OK


TWIN_REJECTED: Final = Decision(Step.CONSOLE, Fate.TWIN_REJECTED, "its answerable twin was not accepted")


def first_against(opinions: Iterable[Opinion]) -> Opinion | None:
    """The opinion that ends a candidate: the first one against it in the order of the steps."""
    found = [opinion for opinion in opinions if opinion.against is not None]
    return min(found, key=lambda opinion: STEPS.index(opinion.step), default=None)


def decide(
    opinions: Mapping[Kind, Sequence[Opinion]], required: Mapping[Kind, frozenset[Step]]
) -> dict[Kind, Decision]:
    """One decision for each candidate of a fragment.

    An opinion against a candidate ends it, whoever speaks for it. A provider that failed in one of them leaves all
    undecided, since the fragment is asked again as a whole. An unanswerable candidate needs its answerable twin.

    Args:
        opinions: all that was said of each candidate, what was said of the fragment included.
        required: the steps whose opinion a candidate must have before it can be accepted.

    Raises:
        RuntimeError: a candidate would be accepted although a required step never spoke of it.
    """
    failed = first_against(
        opinion for said in opinions.values() for opinion in said if opinion.against is Fate.PROVIDER_ERROR
    )
    if failed is not None:
        return dict.fromkeys(opinions, Decision(failed.step, Fate.PROVIDER_ERROR, failed.detail))
    twin = _alone(opinions[Kind.ANSWERABLE], None)
    decisions: dict[Kind, Decision] = {}
    for kind, said in opinions.items():
        decisions[kind] = _alone(said, None if kind is Kind.ANSWERABLE else twin)
        missing = required[kind] - {opinion.step for opinion in said}
        if decisions[kind].fate is Fate.ACCEPTED and missing:
            raise RuntimeError(f"{kind} would be accepted without an opinion of {', '.join(sorted(missing))}")
    return decisions


def _alone(opinions: Sequence[Opinion], twin: Decision | None) -> Decision:
    ending = first_against(opinions)
    if ending is not None and ending.against is not None:
        return Decision(ending.step, ending.against, ending.detail or None)
    if twin is not None and twin.fate is not Fate.ACCEPTED:
        return TWIN_REJECTED
    return Decision(Step.CONSOLE, Fate.ACCEPTED)
