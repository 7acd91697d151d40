"""FactGuard's own manual reviews (Tables 4 and 8), as reference beside measured ones: other data, other annotators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Printed:
    """One printed number: the group, how many items, and the share that passed in percent."""

    group: str
    n: int
    percent: float


TABLE4: Final = "FactGuard, Table 4"
TABLE8: Final = "FactGuard, Table 8"
PUBLISHED: Final[dict[str, tuple[str, tuple[Printed, ...]]]] = {
    "questions": (
        TABLE4,
        (
            Printed("answerable", 40, 92.5),
            Printed("lack_of_evidence", 40, 100.0),
            Printed("misleading", 64, 89.06),
            Printed("unanswerable", 104, 93.27),
            Printed("all", 144, 93.06),
        ),
    ),
    "answer_consistency": (
        TABLE8,
        (
            Printed("answerable", 40, 97.5),
            Printed("lack_of_evidence", 40, 87.5),
            Printed("misleading", 64, 98.44),
            Printed("all", 144, 95.14),
        ),
    ),
    "response_class": (
        TABLE8,
        (
            Printed("incorrect", 47, 95.74),
            Printed("direct_refusal", 29, 89.66),
            Printed("reasoned_answer", 28, 96.43),
            Printed("all", 104, 94.23),
        ),
    ),
}
"""Where it was printed and its rows, by what was reviewed: questions, or the measure whose verdicts were."""
