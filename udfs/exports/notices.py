"""What whoever exports has to know: doubts about the benchmark, and why training records are few. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from udfs.exports.facts import is_unknown
from udfs.exports.pairs import Pairs, Passed
from udfs.exports.plan import Plan
from udfs.sources.training import forbids_training

FEW: Final = 0.1
"""A smaller share of questions with a pair is worth a word."""


def benchmark_notices(plan: Plan) -> list[str]:
    """What is doubtful about the questions and documents; it stands in the card, too."""
    unknown: dict[str, set[str]] = {}
    for question in plan.questions:
        if is_unknown(plan.facts(question)["license"]):
            unknown.setdefault(question.dataset, set()).add(question.doc_id)
    found = [
        f"the licence of {len(documents):,} documents of dataset {dataset} is unknown: settle it before their "
        "texts are published"
        for dataset, documents in unknown.items()
    ]
    found += _forbidden(plan)
    if plan.bad_offsets:
        found.append(f"{plan.bad_offsets:,} questions are left out: their offsets do not lie within their document")
    if plan.lost_twins:
        found.append(f"{plan.lost_twins:,} questions name a twin that is not in the export")
    if plan.shared_titles:
        found.append(f"{plan.shared_titles:,} titles occur in two splits: parts or versions of one work may be in both")
    return found


def _forbidden(plan: Plan) -> list[str]:
    """The questions that must not be trained on, with the canaries that they carry."""
    said: dict[tuple[str, str], int] = {}
    for question in plan.questions:
        if why := forbids_training(question.provenance):
            said[question.dataset, why] = said.get((question.dataset, why), 0) + 1
    return [
        f"{number:,} questions of dataset {dataset} must never be trained on, so no training records are made of them; "
        f"keep the files of this export out of training data, too ({why})"
        for (dataset, why), number in sorted(said.items())
    ]


def training_notices(
    split: str, splits: Sequence[str], references: int, pairs: Pairs | None, judge: str, command: str
) -> list[str]:
    """Why there are no or few training records, and what to do about it.

    Args:
        split: the training split; splits: those that there are.
        references: questions of the split with a reference.
        pairs: None where none were asked for.
        judge: whose verdicts were asked for.
        command: what records more responses.
    """
    if split not in splits:
        has = ", ".join(splits)
        return [f"no training records: there are no questions of split {split!r}, only of {has}; split= says which"]
    if not references:
        why = f"no question of split {split!r} has an answer or a reference response that may be trained on"
        return [f"no training records: {why}"]
    if pairs is None or len(pairs.by_question) >= FEW * references:
        return []
    about = f"{len(pairs.by_question):,} of {references:,} questions of split {split!r} have a DPO pair"
    if not pairs.responses:
        return [f"{about}: no responses to them are recorded; make some with `{command}`"]
    if pairs.passed[Passed.NOT_JUDGED] == pairs.responses:
        judges = ", ".join(pairs.judges) or "nobody"
        return [
            f"{about}: none of {pairs.responses:,} responses was judged by {judge!r}, but by {judges}; see judge_name="
        ]
    why = ", ".join(f"{reason} {number:,}" for reason, number in sorted(pairs.passed.items()))
    return [f"{about}: of {pairs.responses:,} responses {pairs.total:,} serve ({why}); record more with `{command}`"]
