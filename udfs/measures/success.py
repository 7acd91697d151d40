"""Whether a reformulation is a success: answerable and relevant; CouldAsk's scores of one response. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from udfs.measures.edit_distance import couldask_edit_distance
from udfs.measures.entity_overlap import RELEVANT, couldask_overlap


def succeeded(answerable: bool, relevance: float | None, at_least: bool) -> bool | None:
    """Whether a reformulation is answerable and relevant; None where its relevance is undefined.

    Args:
        relevance: 0 to 1, such as an entity overlap.
        at_least: True for relevance `>= 0.5`, as CouldAsk's code has it; False for `> 0.5`, as the paper says.
    """
    if relevance is None:
        return None
    return answerable and (relevance >= RELEVANT if at_least else relevance > RELEVANT)


@dataclass(frozen=True)
class CouldAskScores:
    """CouldAsk's scores of one response to a gold-unanswerable question.

    Args:
        asked: whether a new question was cut out; what the next two are about.
        answerable: False where there is no new question.
        overlap: entity overlap; 0.0 where there is no new question, None where the original has no entities.
        edit_distance: in words, before the cut at “?”; 0 where nothing was reformulated, so lower is not better.
        success_at_least: answerable and overlap >= 0.5 (the code).
        success_more_than: answerable and overlap > 0.5 (the paper).
    """

    asked: bool
    answerable: bool
    overlap: float | None
    edit_distance: int
    success_at_least: bool | None
    success_more_than: bool | None


def couldask_scores(
    question: str,
    entities: Sequence[str],
    uncut: str | None,
    new_answerable: bool,
    new_entities: Sequence[str],
) -> CouldAskScores:
    """The scores as CouldAsk's code computes them.

    Args:
        question: the original question.
        entities: its entities, as the dataset or a tagger gives them.
        uncut: the new question before its cut at “?” (`udfs.dialogues.extraction.couldask_uncut`); None where turn 1
            was not read as a refusal by the nine phrases or turn 2 said nothing: then every score is 0.
        new_answerable: whether the cut question is answerable; not looked at where `uncut` has no “?”.
        new_entities: entities of the cut question; not looked at where `uncut` has no “?”.
    """
    if uncut is None:
        return CouldAskScores(False, False, 0.0, 0, False, False)
    distance = couldask_edit_distance(question, uncut)
    if "?" not in uncut:  # a full-width mark is none
        return CouldAskScores(False, False, 0.0, distance, False, False)
    overlap = couldask_overlap(entities, new_entities)
    return CouldAskScores(
        asked=True,
        answerable=new_answerable,
        overlap=overlap,
        edit_distance=distance,
        success_at_least=succeeded(new_answerable, overlap, at_least=True),
        success_more_than=succeeded(new_answerable, overlap, at_least=False),
    )
