"""A sweep: its jobs one after another, whatever becomes of each; at the end what failed."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Failure:
    """How a job ended that did not do what it was asked: its last line, and the exit code where it stands alone."""

    line: str
    code: int


@dataclass
class Sweep:
    """The jobs of one command, and what became of those that ran.

    Args:
        jobs: the overrides of each.
    """

    jobs: Sequence[Sequence[str]]
    ended: dict[int, Failure | None] = field(default_factory=dict)
    """By the job's place among `jobs`; None where it did what it was asked."""

    def begin(self, place: int) -> None:
        """Print which job starts, with all its overrides, those of the sweep first."""
        own = self.own(place)
        rest = [override for override in self.jobs[place] if override not in own]
        print(f"=== job {place + 1} of {len(self.jobs)}: {' '.join([*own, *rest])}", flush=True)

    def end(self, place: int, failure: Failure | None) -> None:
        """Keep what became of a job; what failed is said at once, too."""
        self.ended[place] = failure
        sys.stdout.flush()
        if failure is not None:
            print(failure.line, file=sys.stderr, flush=True)

    def own(self, place: int) -> list[str]:
        """The overrides of a job that not every job has; all of them where there is nothing to tell apart."""
        shared = Counter(override for job in self.jobs for override in set(job))
        own = [override for override in self.jobs[place] if shared[override] < len(self.jobs)]
        return own or list(self.jobs[place])

    @property
    def failures(self) -> dict[int, Failure]:
        """The jobs that failed."""
        return {place: failure for place, failure in sorted(self.ended.items()) if failure is not None}

    def summary(self) -> Iterator[str]:
        """How many did what they were asked, and of each other one its overrides and last line."""
        failures = self.failures
        ok = len(self.ended) - len(failures)
        yield f"=== sweep of {len(self.jobs)}: {ok} ok, {len(failures)} failed"
        for place, failure in failures.items():
            yield f"job {place + 1}, {' '.join(self.own(place))}: {failure.line}"
