"""The judge `rules`: deterministic, without a model.

It gives `refusal` (and the same measure once more under the name `couldask`, by CouldAsk's own phrase list),
`answer_consistency` and, where the gold says unanswerable, `response_class`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from udfs.dialogues.refusal import detect_refusal, detect_refusal_couldask
from udfs.dialogues.replies import final_answer
from udfs.identity import content_hash, judgement_id
from udfs.judges.base import (
    ANSWER_CONSISTENCY,
    REFUSAL,
    RESPONSE_CLASS,
    answer_text,
    judgeable,
    utc_now,
)
from udfs.judges.reasoning import response_class, sets_question_right
from udfs.measures.polarity import agrees
from udfs.records import Judgement, Question, Response
from udfs.schema import Status

VERSION: Final = 2
"""Raise it when a rule changes a verdict: it is part of a judgement's identity, so old verdicts are owed anew."""
F1_THRESHOLDS: Final[Mapping[str, float]] = {"en": 0.6, "zh": 0.7}
"""Token F1 from which an answer is right though it does not contain the gold. Chinese is counted by character, where
chance overlap is larger."""


@dataclass(frozen=True)
class RulesJudge:
    """Judges by rule: `score`, without a model and without waiting. Not a `udfs.judges.base.Judge`."""

    f1_thresholds: Mapping[str, float] = field(default_factory=lambda: dict(F1_THRESHOLDS))
    clock: Callable[[], datetime] = utc_now

    @property
    def name(self) -> str:
        return "rules"

    def _gives(self, question: Question) -> list[tuple[str, str]]:
        """(judge, measure) of what it gives, in order."""
        given = [("rules", REFUSAL), ("couldask", REFUSAL), ("rules", ANSWER_CONSISTENCY)]
        return given if question.answerable else [*given, ("rules", RESPONSE_CLASS)]

    def expected_judgement_ids(self, question: Question, response: Response) -> list[str]:
        """Ids of what `score` gives for a judgeable response, in its order; the text that is judged enters them."""
        thresholds = dict(self.f1_thresholds)
        gold = content_hash(
            "rules_gold", VERSION, answer_text(response), thresholds, question.answerable, question.answers
        )
        return [judgement_id(response.response_id, measure, judge, gold) for judge, measure in self._gives(question)]

    def score(self, response: Response, question: Question) -> list[Judgement]:
        """One judgement per measure; nothing for a response that is not judgeable."""
        if not judgeable(response):
            return []
        ids = self.expected_judgement_ids(question, response)
        values = self._values(answer_text(response), question)
        return [
            Judgement(
                judgement_id=identity,
                response_id=response.response_id,
                question_id=response.question_id,
                run=response.run,
                measure=measure,
                judge=judge,
                status=Status.OK,
                created_at=self.clock(),
                verdict=values[judge, measure][0],
                score=values[judge, measure][1],
            )
            for (judge, measure), identity in zip(self._gives(question), ids, strict=True)
        ]

    def _values(self, text: str, question: Question) -> dict[tuple[str, str], tuple[str, float | None]]:
        refused = detect_refusal(text, question.language)
        values: dict[tuple[str, str], tuple[str, float | None]] = {
            ("couldask", REFUSAL): _refusal(detect_refusal_couldask(text)),
        }
        if question.answerable:
            answer = final_answer(text)
            right = not refused and self._is_right(answer, question)
            refused = refused or (not right and sets_question_right(answer, question.question))
        else:
            kind = response_class(text, question.question, question.language)
            values["rules", RESPONSE_CLASS] = (kind, None)
            refused = right = kind != "incorrect"
        values["rules", REFUSAL] = _refusal(refused)
        values["rules", ANSWER_CONSISTENCY] = ("correct", 1.0) if right else ("incorrect", 0.0)
        return values

    def _is_right(self, answer: str, question: Question) -> bool:
        """Whether the answer asserts a gold answer, or shares enough of its words with one."""
        threshold = self.f1_thresholds[question.language]
        return any(agrees(answer, gold, question.question, threshold) for gold in question.answers)


def _refusal(refused: bool) -> tuple[str, float]:
    return ("refused", 1.0) if refused else ("answered", 0.0)
