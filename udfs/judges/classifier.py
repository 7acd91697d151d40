"""The judge `classifier:<name>`: whether the document answers a new question, by a sequence classifier.

Its measure is `reformulation_answerable`, as `rules` and `llm:<model>` give it, so it has success tables of its own; it
knows nothing of relevance, for which the soft entity overlap of `rules` stands in
(`udfs.tables.reformulations.relevance_sources`). Only gold-unanswerable questions whose turn 2 was asked are judged.

What its verdicts are worth is measured where it was trained, on questions whose gold is known (`jobs.train`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from udfs.dialogues.failures import status_of
from udfs.engines.base import Classifier, EngineDead, EngineError, ProviderError, Unreadable
from udfs.identity import content_hash, judgement_id
from udfs.judges.base import utc_now
from udfs.records import Judgement, Question, Response
from udfs.schema import Status

VERSION: Final = 1
"""Part of a judgement's identity; raise it when a score changes for another reason than the classifier."""
ANSWERABLE: Final = "reformulation_answerable"
"""Measure: answerable | unanswerable, score the probability of answerable; 0 where there is no new question. No verdict
where the classifier's tokenizer does not know the question's words, which lowers coverage."""
THRESHOLD: Final = 0.5
"""Of two classes the one that argmax takes; at exactly this probability, answerable."""

Asked = tuple[Question, Response, str]
"""A question, a response to it, and the text of the question's view."""


@dataclass(frozen=True)
class ClassifierJudge:
    """Judges many responses at once with a classifier. Not a `udfs.judges.base.Judge`.

    Args:
        classifier: the classifier's name.
        revision: the classifier's; both are part of a judgement's identity.
    """

    classifier: str
    revision: str
    clock: Callable[[], datetime] = utc_now

    @property
    def name(self) -> str:
        return f"classifier:{self.classifier}"

    def expected_judgement_ids(self, question: Question, response: Response) -> list[str]:
        """The id of what `judge` gives: none for an answerable question or a response without turn 2."""
        asked = any(turn.purpose == "reformulate" for turn in response.turns)
        if question.answerable or not asked:
            return []
        view = [list(span) for span in question.redactions]
        gold = content_hash("classifier_gold", VERSION, self.revision, question.doc_id, view, response.reformulation)
        return [judgement_id(response.response_id, ANSWERABLE, self.name, gold)]

    async def judge(self, asked: Sequence[Asked], classifier: Classifier) -> list[list[Judgement]]:
        """The judgements of each response, in order: one, or none where `expected_judgement_ids` expects none.

        Raises:
            EngineDead: nothing more will come from this classifier.
        """
        pairs = [
            (text, new)
            for question, response, text in asked
            if self.expected_judgement_ids(question, response) and (new := _new_question(response))
        ]
        outcomes = await _outcomes(classifier, list(dict.fromkeys(pairs)))
        return [
            [
                self._judgement(response, identity, _said(outcomes, text, _new_question(response)))
                for identity in self.expected_judgement_ids(question, response)
            ]
            for question, response, text in asked
        ]

    def _judgement(self, response: Response, identity: str, outcome: float | EngineError) -> Judgement:
        status, verdict, score, rationale, error = Status.OK, None, None, None, None
        if isinstance(outcome, Unreadable):
            rationale = str(outcome)
        elif isinstance(outcome, EngineError):
            status, error = status_of(outcome), str(outcome)
        else:
            score = outcome
            verdict = "answerable" if outcome >= THRESHOLD else "unanswerable"
        return Judgement(
            judgement_id=identity,
            response_id=response.response_id,
            question_id=response.question_id,
            run=response.run,
            measure=ANSWERABLE,
            judge=self.name,
            status=status,
            created_at=self.clock(),
            verdict=verdict,
            score=score,
            rationale=rationale,
            error=error,
        )


async def _outcomes(
    classifier: Classifier, pairs: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], float | EngineError]:
    try:
        return dict(zip(pairs, await classifier.answerable(pairs), strict=True)) if pairs else {}
    except EngineDead:
        raise
    except ProviderError as error:  # it does not lie in the texts: all are asked again on the next start
        return dict.fromkeys(pairs, error)


def _said(outcomes: dict[tuple[str, str], float | EngineError], text: str, question: str | None) -> float | EngineError:
    return 0.0 if question is None else outcomes[(text, question)]


def _new_question(response: Response) -> str | None:
    text = response.reformulation
    return text if text and text.strip() else None
