"""Which recorded wrong answers become the rejected side of a preference pair, and what became of the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

import polars as pl

from udfs.judges.base import ANSWER_CONSISTENCY
from udfs.schema import Status
from udfs.tables.observations import latest_judgements
from udfs.text import normalize

RESPONSE_COLUMNS: Final = ("run", "response_id", "question_id", "model", "answer", "turns", "status", "created_at")
JUDGEMENT_COLUMNS: Final = (
    *("judgement_id", "run", "response_id", "question_id", "measure", "judge", "verdict", "status", "created_at"),
)


class Passed(StrEnum):
    """Why a recorded response is not in a pair; in the order in which it is decided."""

    NOT_JUDGED = "not_judged"  # not by this judge, or only before it was asked again
    NO_VERDICT = "no_verdict"  # the judge's reply could not be read
    NOT_WRONG = "not_wrong"
    NO_REFERENCE = "no_reference"  # nothing to prefer to it
    CUT = "cut"  # its answer ended at the token limit
    EMPTY = "empty"
    EQUALS_REFERENCE = "equals_reference"
    REPEATED = "repeated"  # another response to the question says the same
    BEYOND_LIMIT = "beyond_limit"  # the question has as many pairs as it may have


@dataclass(frozen=True, slots=True)
class Rejected:
    """A recorded wrong answer."""

    question_id: str
    response_id: str
    model: str
    judge: str
    text: str


@dataclass
class Pairs:
    """The wrong answers by question, and an account: `responses` = pairs + the sum of `passed`."""

    responses: int = 0
    by_question: dict[str, list[Rejected]] = field(default_factory=dict)
    passed: Counter[Passed] = field(default_factory=Counter)
    judges: tuple[str, ...] = ()  # who judged any of these responses

    @property
    def total(self) -> int:
        return sum(map(len, self.by_question.values()))


def choose(
    responses: pl.DataFrame,
    judgements: pl.DataFrame,
    references: Mapping[str, str],
    judge: str,
    per_question: int,
    complete_only: bool,
) -> Pairs:
    """The wrong answers to be rejected, the same ones every time: in the order of their ids.

    A response's text is the answer of its turn 1, without the reasoning before it: the prompt of a pair asks for none.

    Args:
        responses, judgements: rows with `RESPONSE_COLUMNS` and `JUDGEMENT_COLUMNS`, of one run or of several.
        references: by question_id, what a good response says.
        judge: whose verdicts of measure answer_consistency count.
        per_question: at most so many pairs a question.
        complete_only: leave out answers that ended at the token limit.
    """
    consistency = judgements.filter(pl.col("measure") == ANSWER_CONSISTENCY)
    verdicts = [latest_judgements(part) for part in consistency.partition_by("run")]
    known = (pl.concat(verdicts) if verdicts else consistency).filter(pl.col("judge") == judge)
    joined = responses.join(
        known.select("run", "response_id", "verdict", verdict_status="status", judged_at="created_at"),
        on=["run", "response_id"],
        how="left",
    ).sort("response_id", "run")
    pairs = Pairs(responses=responses.height, judges=tuple(sorted(consistency["judge"].unique())))
    said: dict[str, set[str]] = {}
    for row in joined.iter_rows(named=True):
        text = (row["answer"] or "").strip()
        good = references.get(row["question_id"])
        heard = said.setdefault(row["question_id"], set())
        taken = pairs.by_question.get(row["question_id"], [])
        why = _passed(row, text, good, complete_only)
        if why is None and _same(text) in heard:
            why = Passed.REPEATED
        if why is None and len(taken) >= per_question:
            why = Passed.BEYOND_LIMIT
        if why is not None:
            pairs.passed[why] += 1
            continue
        heard.add(_same(text))
        wrong = Rejected(row["question_id"], row["response_id"], row["model"], judge, text)
        pairs.by_question.setdefault(row["question_id"], []).append(wrong)
    return pairs


def _passed(row: Mapping[str, Any], text: str, good: str | None, complete_only: bool) -> Passed | None:
    """Why the response cannot be rejected, looked at alone."""
    if row["judged_at"] is None or row["judged_at"] < row["created_at"]:
        return Passed.NOT_JUDGED
    if row["verdict_status"] != Status.OK or row["verdict"] is None:
        return Passed.NO_VERDICT
    if row["verdict"] != "incorrect":
        return Passed.NOT_WRONG
    if good is None:
        return Passed.NO_REFERENCE
    if complete_only and any(t["purpose"] == "answer" and t["finish_reason"] == "length" for t in row["turns"] or ()):
        return Passed.CUT
    if not text:
        return Passed.EMPTY
    return Passed.EQUALS_REFERENCE if _same(text) == _same(good) else None


def _same(text: str) -> str:
    """What two texts share that say the same; a text of marks alone is itself."""
    return normalize(text) or text.strip()
