"""Judges of a reformulated question by rule, without a model: `rules` on the question that was cut out of turn 2, and
`couldask` on the one that CouldAsk's own cut gives.

Only gold-unanswerable questions whose turn 2 was asked are judged. What the measures are computed with is in
`udfs.measures`; here they become judgements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from udfs.dialogues.extraction import couldask_uncut
from udfs.identity import content_hash, judgement_id
from udfs.judges.base import utc_now
from udfs.measures.answerability import rules_answerable
from udfs.measures.categories import ErrorCategory, error_category, strategy
from udfs.measures.edit_distance import edit_similarity
from udfs.measures.entities import tag
from udfs.measures.entity_overlap import couldask_overlap, soft_overlap
from udfs.measures.success import couldask_scores, succeeded
from udfs.records import Judgement, Question, Response
from udfs.schema import Status
from udfs.text import normalize

VERSION: Final = 2
"""Raise it when a rule, here or in a measure, changes a value: it is part of a judgement's identity, so old ones are
owed anew."""

ANSWERABLE: Final = "reformulation_answerable"
"""Measure: answerable | unanswerable, score 1 | 0; the rationale is what supports an answerable one in the view. To
`rules` the original, word for word, is unanswerable, since the gold says so."""
ENTITY_OVERLAP: Final = "entity_overlap"
"""Measure: the share of the original's entities that the new question keeps, by exact match; verdict `undefined` and
no score where the original has none."""
ENTITY_OVERLAP_SOFT: Final = "entity_overlap_soft"
EDIT_DISTANCE: Final = "edit_distance"
"""Measure: words, unnormalised, before the cut at “?” (CouldAsk)."""
EDIT_SIMILARITY: Final = "edit_similarity"
ERROR_CATEGORY: Final = "error_category"
"""Measure: a category of `udfs.measures.categories` or `undecided`; `none` for a success."""
STRATEGY: Final = "strategy"
"""Measure: a strategy of `udfs.measures.categories` or `undecided`; `none` for a failure."""

GIVES: Final = (
    ("rules", ANSWERABLE),
    ("couldask", ANSWERABLE),
    ("rules", ENTITY_OVERLAP),
    ("couldask", ENTITY_OVERLAP),
    ("rules", ENTITY_OVERLAP_SOFT),
    ("couldask", EDIT_DISTANCE),
    ("rules", EDIT_SIMILARITY),
    ("rules", ERROR_CATEGORY),
    ("rules", STRATEGY),
)
"""(judge, measure) of what a response gets, in order."""
UNDEFINED: Final = "undefined"
UNDECIDED: Final = "undecided"
NONE: Final = "none"
LONGEST_RATIONALE: Final = 2000
"""Characters of a rationale; a longer one (text without a border anywhere) ends in an ellipsis."""


class Value(NamedTuple):
    """What one measure says of one new question."""

    verdict: str | None = None
    score: float | None = None
    rationale: str | None = None


_UNANSWERABLE: Final = Value("unanswerable", 0.0)
_NO_QUESTION: Final = {
    ANSWERABLE: _UNANSWERABLE,
    ENTITY_OVERLAP: Value(score=0.0),
    ENTITY_OVERLAP_SOFT: Value(score=0.0),
    EDIT_SIMILARITY: Value(score=0.0),
    ERROR_CATEGORY: Value(str(ErrorCategory.OTHER)),
    STRATEGY: Value(NONE),
}


@dataclass(frozen=True)
class ReformulationJudge:
    """Judges new questions by rule: `score`, without a model and without waiting. Not a `udfs.judges.base.Judge`."""

    clock: Callable[[], datetime] = utc_now

    @property
    def name(self) -> str:
        """Of the stage; its judgements are by `rules` and by `couldask`."""
        return "reformulation"

    def expected_judgement_ids(self, question: Question, response: Response) -> list[str]:
        """Ids of what `score` gives, in its order: none for an answerable question or a response without turn 2.

        The words that are judged and the original question enter them; the view is in the response's id.
        """
        reply = _reformulating_reply(question, response)
        if reply is None:
            return []
        new = (reply, response.reformulation, response.reformulation_couldask)
        original = (question.question, question.language, question.entities)
        gold = content_hash("reformulation_gold", VERSION, original, new)
        return [judgement_id(response.response_id, measure, judge, gold) for judge, measure in GIVES]

    def score(self, response: Response, question: Question, document: str) -> list[Judgement]:
        """One judgement for each of `GIVES`; nothing where `expected_judgement_ids` expects none.

        Args:
            document: the text as it was shown: of a view, what the view shows.
        """
        reply = _reformulating_reply(question, response)
        if reply is None:
            return []
        values = _values(question, response, reply, document)
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
                verdict=values[judge, measure].verdict,
                score=values[judge, measure].score,
                rationale=values[judge, measure].rationale,
            )
            for (judge, measure), identity in zip(GIVES, self.expected_judgement_ids(question, response), strict=True)
        ]


def _reformulating_reply(question: Question, response: Response) -> str | None:
    """The text of turn 2 where it is to be judged."""
    if question.answerable:
        return None
    return next((turn.text for turn in response.turns if turn.purpose == "reformulate"), None)


def _values(question: Question, response: Response, reply: str, document: str) -> dict[tuple[str, str], Value]:
    own, cut = response.reformulation, response.reformulation_couldask
    supported = {
        text: _answerability(text, document, question.language)
        for text in dict.fromkeys((own, cut))
        if text is not None
    }
    by_rules = _NO_QUESTION if own is None else _rules_values(question, own, supported[own], document)
    by_couldask = _couldask_values(question, reply, cut, None if cut is None else supported[cut])
    return {("rules", measure): value for measure, value in by_rules.items()} | {
        ("couldask", measure): value for measure, value in by_couldask.items()
    }


def _answerability(text: str, document: str, language: str) -> Value:
    found = rules_answerable(text, document, language)
    if not found.answerable:
        return _UNANSWERABLE
    window = None if found.span is None else document[found.span.start : found.span.end]
    if window is not None and len(window) > LONGEST_RATIONALE:
        window = window[:LONGEST_RATIONALE] + " …"
    return Value("answerable", 1.0, window)


def _rules_values(question: Question, text: str, answerable: Value, document: str) -> dict[str, Value]:
    language = question.language
    if normalize(text) == normalize(question.question):
        answerable = _UNANSWERABLE  # the gold says so, whatever the document seems to say
    old, new = tag(question.question, language), tag(text, language)
    soft = soft_overlap(old, new, text, language)
    success = succeeded(answerable.score == 1, soft, at_least=True)
    category = how = NONE
    if answerable.score == 0 or success is False:
        category = str(error_category(question.question, text, document, language) or UNDECIDED)
    elif success:
        how = str(strategy(question.question, text, language) or UNDECIDED)
    else:  # answerable, and nobody can say whether it is relevant
        category = how = UNDECIDED
    return {
        ANSWERABLE: answerable,
        ENTITY_OVERLAP: _overlap(couldask_overlap(old, new)),
        ENTITY_OVERLAP_SOFT: _overlap(soft),
        EDIT_SIMILARITY: Value(score=edit_similarity(question.question, text)),
        ERROR_CATEGORY: Value(category),
        STRATEGY: Value(how),
    }


def _couldask_values(question: Question, reply: str, text: str | None, answerable: Value | None) -> dict[str, Value]:
    """By the paper's code; entities are the dataset's where it has any, else, as the new question's, the rules'."""
    scores = couldask_scores(
        question.question,
        question.entities or tag(question.question, question.language),
        couldask_uncut(reply) if reply.strip() else None,
        answerable is not None and answerable.score == 1,
        () if text is None else tag(text, question.language),
    )
    return {
        ANSWERABLE: answerable if answerable is not None and scores.answerable else _UNANSWERABLE,
        ENTITY_OVERLAP: _overlap(scores.overlap),
        EDIT_DISTANCE: Value(score=float(scores.edit_distance)),
    }


def _overlap(share: float | None) -> Value:
    return Value(UNDEFINED) if share is None else Value(score=share)
