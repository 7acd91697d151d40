"""How `model=scripted` judges new questions and finds minimum spans: by the rules of `udfs.measures`.

What it says, from `Prompt.gold`, is what the judge `rules` would, near enough, or where it is to be wrong something
else of the right form. Nothing here is a claim about models.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from udfs.measures.answerability import rules_answerable
from udfs.measures.categories import ErrorCategory, Strategy, error_category, strategy
from udfs.measures.entities import tag
from udfs.text import normalize

JUDGING_VERSION: Final = 1
"""Raise it when a reply changes: it is part of the scripted engine's revision."""
_RATIONALE: Final = "Decided by rule from the words."


def reply(purpose: str, gold: Mapping[str, Any], accurate: bool) -> dict[str, Any] | None:
    """The reply to a prompt of one of the purposes that are played here; None for another, or without its gold."""
    play = _PLAYED.get(purpose)
    if play is None or "view" not in gold:
        return None
    question = gold.get("question") or {}
    language = "zh" if question.get("language") == "zh" else "en"
    return play(str(question.get("question") or ""), gold, language, accurate)


def _answerable(original: str, gold: Mapping[str, Any], language: str, accurate: bool) -> dict[str, Any]:
    view = str(gold["view"])
    found = rules_answerable(str(gold.get("new_question") or ""), view, language)
    if found.answerable is not accurate:
        return {"quote": "", "answerable": False}
    span = found.span
    return {"quote": view[:40] if span is None else view[span.start : span.end], "answerable": True}


def _entities(original: str, gold: Mapping[str, Any], language: str, accurate: bool) -> dict[str, Any]:
    found = list(tag(str(gold.get("tagged") or ""), language))
    return {"entities": found if accurate else found[:1]}


def _error_category(original: str, gold: Mapping[str, Any], language: str, accurate: bool) -> dict[str, Any]:
    by_rule = error_category(original, str(gold.get("new_question") or ""), str(gold["view"]), language)
    verdict = by_rule or ErrorCategory.IRRELEVANT
    return {"rationale": _RATIONALE, "verdict": str(verdict if accurate else _other(list(ErrorCategory), verdict))}


def _strategy(original: str, gold: Mapping[str, Any], language: str, accurate: bool) -> dict[str, Any]:
    by_rule = strategy(original, str(gold.get("new_question") or ""), language)
    verdict = by_rule or Strategy.NEAREST_MATCH
    return {"rationale": _RATIONALE, "verdict": str(verdict if accurate else _other(list(Strategy), verdict))}


def _minimum_span(original: str, gold: Mapping[str, Any], language: str, accurate: bool) -> dict[str, Any]:
    """The first entity that the view does not hold, else the whole question."""
    held = normalize(str(gold["view"]))
    named = tag(original, language)
    missing = next((entity for entity in named if normalize(entity) not in held), original)
    wrong = original if missing != original or not named else named[0]
    return {"reason": _RATIONALE, "span": missing if accurate else wrong}


def _other(all_of: list[Any], verdict: Any) -> Any:
    return all_of[(all_of.index(verdict) + 1) % len(all_of)]


_PLAYED: Final[Mapping[str, Callable[[str, Mapping[str, Any], str, bool], dict[str, Any]]]] = {
    "judge.answerable": _answerable,
    "judge.entities": _entities,
    "judge.error_category": _error_category,
    "judge.strategy": _strategy,
    "judge.minimum_span": _minimum_span,
}
