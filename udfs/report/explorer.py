"""Data of the page's reformulation explorer: two questions side by side, what changed, and what the judges say.

For every response with a second turn. Nothing here is measured anew but the marks: words that changed, entities that
were kept, and where in the document the words stand that a judge found the answer in.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import polars as pl

from udfs.measures.changed_words import Change, Piece, changed_words
from udfs.measures.entities import tag
from udfs.measures.entity_overlap import soft_overlap
from udfs.records import Question, Span
from udfs.report.lookup import judge_rank
from udfs.report.reformulation_tables import LABEL_NAMES, SUCCESS_METRIC
from udfs.schema import Status
from udfs.tables import reformulations as measures
from udfs.views import View

SCORE_NAMES: Final = {
    measures.ENTITY_OVERLAP: "entities",
    measures.ENTITY_OVERLAP_SOFT: "entities, soft",
    measures.EDIT_SIMILARITY: "similarity",
    measures.EDIT_DISTANCE: "edit distance",
    measures.COSINE: "cosine",
}
SUCCEEDED, FAILED, NO_ENTITIES = "success", "failed", "no entities"
NOT_DETECTED, NOT_DUE, NOT_JUDGED, NO_ERROR = "not detected", "not due", "not judged", "none"
WHOLE_TO_BLAME, PART_TO_BLAME = "to blame: the whole question", "to blame"
CUT_SHORT: Final = " …"
"""How a rationale ends that is longer than a judge writes down."""
Marked = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Found:
    """Words of the document in which a judge found the answer to a response's new question."""

    response_id: str
    judge: str
    text: str


def found_answers(shown: pl.DataFrame, judgements: pl.DataFrame) -> dict[str, list[Found]]:
    """By question_id: what judges that found new questions answerable gave as the reason, the first judge first.

    Args:
        shown: responses.
        judgements: one a response, judge and measure (`observations.latest_judgements`).
    """
    said = judgements.filter(
        (pl.col("measure") == measures.ANSWERABLE)
        & (pl.col("verdict") == "answerable")
        & (pl.col("rationale").str.strip_chars().str.len_chars() > 0)
    )
    rows = said.select("response_id", "judge", "rationale").join(
        shown.select("response_id", "question_id"), on="response_id"
    )
    found: dict[str, list[Found]] = {}
    for response, judge, text, question in sorted(rows.iter_rows(), key=lambda row: judge_rank(SUCCESS_METRIC, row[1])):
        found.setdefault(question, []).append(Found(response, judge, text.strip()))
    return found


def located(document: str, redactions: Sequence[Span], answers: Iterable[Found]) -> dict[str, tuple[Found, Span]]:
    """By response_id: the first of its answers that stands in what was shown of the document, and where.

    A span is of the document, with what was cut out inside it.
    """
    view = View(len(document), tuple(redactions))
    shown = view.text(document)
    found: dict[str, tuple[Found, Span]] = {}
    for answer in answers:
        words = answer.text.removesuffix(CUT_SHORT)
        at = shown.find(words)
        if answer.response_id not in found and words and at >= 0:
            found[answer.response_id] = answer, view.to_document(Span(at, at + len(words)))
    return found


def both_sides(original: str, reformulated: str, language: str) -> tuple[Marked, Marked]:
    """The two questions as (mark, text): of the original what went is `removed`, of the new one what came is `added`.

    The texts of each side are together that question, character for character.
    """
    changed = changed_words(original, reformulated, language)
    new = [piece for piece in changed if piece.kind is not Change.REMOVED]
    old: list[Piece] = []
    at = 0
    for piece in changed:
        if piece.kind is Change.ADDED:
            continue
        end = at + len(piece.text) if piece.kind is Change.REMOVED else _end_of_same(original, at, piece.text)
        old.append(Piece(piece.kind, original[at:end]))
        at = end
    return marked(old), marked(new)


def marked(pieces: Iterable[Piece]) -> Marked:
    """Pieces as (mark, text): `removed`, `added` or ""; white space behind a marked one is not marked."""
    found: Marked = []
    for kind, text in pieces:
        bare = text if kind is Change.SAME else text.rstrip()
        found += [("" if kind is Change.SAME else kind.value, bare), ("", text[len(bare) :])]
    return [(mark, text) for mark, text in found if text]


def _end_of_same(text: str, at: int, same: str) -> int:
    """Where in `text` ends what `same` says from `at` on, case and spaces aside, spaces behind it included."""
    left = len("".join(same.split()).casefold())
    while at < len(text) and (left > 0 or text[at].isspace()):
        left -= 0 if text[at].isspace() else len(text[at].casefold())
        at += 1
    return at


@lru_cache(maxsize=256)
def _tagged(question: str, language: str) -> tuple[str, ...]:
    return tag(question, language)


def kept_entities(question: Question, reformulated: str | None) -> list[tuple[str, bool | None]]:
    """Entities of the original, as the dataset gives them or else by rule, and whether the new question keeps each.

    None: there is no new question, or the entity has no letter or digit.
    """
    known = question.entities or _tagged(question.question, question.language)
    if reformulated is None:
        return [(entity, None) for entity in known]
    new = tag(reformulated, question.language)
    shares = (soft_overlap([entity], new, reformulated, question.language) for entity in known)
    return [(entity, None if share is None else share >= 1) for entity, share in zip(known, shares, strict=True)]


def explored(
    row: Mapping[str, Any],
    question: Question,
    verdicts: Sequence[Mapping[str, Any]],
    won: Sequence[Mapping[str, Any]],
) -> dict[str, Any] | None:
    """What the explorer shows of one response; None where it has no second turn.

    Args:
        row: of the responses table.
        verdicts: its rows of the judgements table.
        won: its rows of `reformulations.successes`.
    """
    if not any(turn["purpose"] == "reformulate" for turn in row["turns"] or ()):
        return None
    new, couldask = row["reformulation"], row["reformulation_couldask"]
    plain: tuple[Marked, Marked | None] = [("", question.question)], None
    old_side, new_side = plain if new is None else both_sides(question.question, new, question.language)
    own_cut = None if couldask == new else couldask
    return {
        "original": old_side,
        "new": new_side,
        "couldask": own_cut and marked(changed_words(question.question, own_cut, question.language)),
        "entities": kept_entities(question, new),
        "given": bool(question.entities),
        "judges": judges_say(verdicts, won),
    }


def judges_say(verdicts: Sequence[Mapping[str, Any]], won: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One entry a judge, those of success first: its chips as (text, tone), and what it says of its labels in words."""
    by_judge: dict[str, dict[str, Mapping[str, Any]]] = {}
    for verdict in verdicts:
        if verdict["measure"] in measures.MEASURES:
            by_judge.setdefault(verdict["judge"], {})[verdict["measure"]] = verdict
    successes = {row["judge"]: row for row in won}
    told = []
    for judge in sorted(by_judge, key=lambda name: (name not in successes, judge_rank(SUCCESS_METRIC, name))):
        given = by_judge[judge]
        chips = [*_success_chip(successes.get(judge))]
        chips += [chip for name in measures.MEASURES if name in given and (chip := _chip(name, given[name]))]
        reasoned = [
            given[name]["rationale"] for name in measures.LABELLED if name in given and name != measures.MINIMUM_SPAN
        ]
        why = [*filter(None, [_tags(given.get(measures.ENTITY_OVERLAP))]), *(reason for reason in reasoned if reason)]
        told.append({"judge": judge, "chips": chips, "why": why})
    return told


def _tags(overlap: Mapping[str, Any] | None) -> str:
    """The entities that a model tagged in both questions, as it left them in its rationale of their overlap."""
    try:
        said = json.loads((overlap or {}).get("rationale") or "")
        return f"entities: {' · '.join(said['original']) or 'none'} → {' · '.join(said['new']) or 'none'}"
    except (ValueError, TypeError, KeyError):
        return ""  # rules give no list


def _success_chip(row: Mapping[str, Any] | None) -> Iterable[tuple[str, str]]:
    if row is None or not row["readable"]:
        return
    if row["undefined"]:
        yield "no success rate: the question has no entities", ""
    elif row[measures.SUCCESS]:
        yield (SUCCEEDED if row[measures.SUCCESS_STRICT] else "success, with just half of the entities"), "yes"
    else:
        yield FAILED, "no"


def _chip(measure: str, verdict: Mapping[str, Any]) -> tuple[str, str] | None:
    """Text and tone (yes, no, error or "") of one verdict; None where it says that it does not apply."""
    said, score = verdict["verdict"], verdict["score"]
    name = SCORE_NAMES.get(measure, measure.replace("_", " "))
    if verdict["status"] != Status.OK:
        return f"{name}: {verdict['status']}", "error"
    if measure in measures.SCORED:
        digits = 0 if measure == measures.EDIT_DISTANCE else 2
        return f"{name} {measures.UNDEFINED if score is None else f'{score:.{digits}f}'}", ""
    if measure == measures.ANSWERABLE:
        return said, "yes" if said == "answerable" else "no"
    if said == measures.NONE:
        return None
    if measure == measures.MINIMUM_SPAN:
        return (WHOLE_TO_BLAME if said == measures.Q_SPAN else f"{PART_TO_BLAME}: {verdict['rationale']}"), ""
    kind, _ = measures.LABELLED[measure]
    tone = "" if said == measures.UNDECIDED else ("no" if measure == measures.ERROR_CATEGORY else "yes")
    return f"{kind}: {LABEL_NAMES.get(said, said)}", tone


def with_outcomes(shown: pl.DataFrame, judgements: pl.DataFrame) -> pl.DataFrame:
    """`shown` with `success` and `category`, which the page filters by; each by the first judge that gives it.

    Args:
        shown: responses with `answerable` and `refused`.
        judgements: one a response, judge and measure.
    """
    won = _by_first_judge(measures.successes(judgements)).drop("judge", "success_strict").rename({"success": "won"})
    labels = judgements.filter((pl.col("measure") == measures.ERROR_CATEGORY) & (pl.col("verdict") != measures.NONE))
    label = _by_first_judge(labels).select("response_id", category="verdict")
    outcome = (
        pl.when("answerable")
        .then(pl.lit(NOT_DUE))
        .when(~pl.col("refused"))
        .then(pl.lit(NOT_DETECTED))
        .when(pl.col("undefined"))
        .then(pl.lit(NO_ENTITIES))
        .when(pl.col("won"))
        .then(pl.lit(SUCCEEDED))
        .when(~pl.col("won"))
        .then(pl.lit(FAILED))
        .otherwise(pl.lit(NOT_JUDGED))
    )
    joined = shown.join(won, on="response_id", how="left", validate="m:1", maintain_order="left")
    joined = joined.join(label, on="response_id", how="left", validate="m:1", maintain_order="left")
    return joined.with_columns(
        success=outcome if won.height else pl.lit(NOT_JUDGED), category=pl.col("category").fill_null(NO_ERROR)
    ).drop("readable", "undefined", "won")


def _by_first_judge(rows: pl.DataFrame) -> pl.DataFrame:
    first = min(set(rows["judge"]), key=lambda name: judge_rank(SUCCESS_METRIC, name), default="")
    return rows.filter(pl.col("judge") == first)
