"""What a judge found by one measure, and how findings become rows of the judgements table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from udfs.engines.base import Completion
from udfs.judges.asking import Heard
from udfs.judges.reformulation import LONGEST_RATIONALE, Value
from udfs.records import Judgement, Response
from udfs.schema import Status


@dataclass(frozen=True)
class Finding:
    """A value, or the status and error of a judgement without one; and the calls that are counted with it."""

    value: Value | None = None
    status: Status = Status.OK
    error: str | None = None
    calls: tuple[Completion, ...] = ()

    @classmethod
    def unheard(cls, heard: Heard[Any]) -> Finding:
        """Of what was asked in vain."""
        return cls(None, heard.status, heard.error, heard.calls)

    def passed_on(self, measure: str) -> Finding:
        """What another measure, which hangs on this one without a value, is then: the same, without the calls."""
        return Finding(None, self.status, f"hangs on {measure}: {self.error}")


def clipped(rationale: str) -> str:
    """A rationale as it is stored: a longer one than `LONGEST_RATIONALE` ends in an ellipsis."""
    return rationale if len(rationale) <= LONGEST_RATIONALE else rationale[:LONGEST_RATIONALE] + " …"


def judgements_of(
    response: Response, judge: str, findings: Mapping[str, Finding], ids: Sequence[str], now: datetime
) -> list[Judgement]:
    """One judgement a measure of `findings`, in its order; `ids` are theirs, in the same order."""
    made: list[Judgement] = []
    for (measure, finding), identity in zip(findings.items(), ids, strict=True):
        value = finding.value or Value()
        made.append(
            Judgement(
                judgement_id=identity,
                response_id=response.response_id,
                question_id=response.question_id,
                run=response.run,
                measure=measure,
                judge=judge,
                status=finding.status,
                created_at=now,
                verdict=value.verdict,
                score=value.score,
                rationale=value.rationale,
                error=finding.error,
                prompt_tokens=sum(call.prompt_tokens for call in finding.calls),
                cached_tokens=sum(call.cached_tokens for call in finding.calls),
                output_tokens=sum(call.output_tokens for call in finding.calls),
                seconds=sum(call.seconds for call in finding.calls),
            )
        )
    return made
