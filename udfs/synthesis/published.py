"""Accepted candidates as questions: what `jobs.evaluate` asks. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import polars as pl

from udfs.identity import question_id
from udfs.records import Candidate, Question
from udfs.schema import Kind

MISLEADING: Final = (Kind.ENTITY_SUBSTITUTION, Kind.IMPOSSIBLE_CONDITION, Kind.FALSE_ASSUMPTION)
KIND_ORDER: Final = (Kind.ANSWERABLE, Kind.LACK_OF_EVIDENCE, *MISLEADING)


def publishable(accepted: pl.DataFrame, doc_ids: Iterable[str]) -> tuple[pl.DataFrame, dict[str, int]]:
    """The accepted candidates that can be published, in a fixed order, and how many cannot, by why.

    Args:
        accepted: rows of the candidates table, all accepted, of one spec.
        doc_ids: documents that are there.
    """
    here = accepted.filter(pl.col("doc_id").is_in(list(doc_ids)))
    twins = here.filter(pl.col("kind") == Kind.ANSWERABLE)["candidate_id"].to_list()
    paired = here.filter((pl.col("kind") == Kind.ANSWERABLE) | pl.col("twin_id").is_in(twins))
    ranks = {str(kind): rank for rank, kind in enumerate(KIND_ORDER)}
    ordered = paired.sort(
        "doc_id", "fragment_index", pl.col("kind").replace_strict(ranks, return_dtype=pl.Int64), "candidate_id"
    )
    lost = {
        "their document is not in its source dataset any more": accepted.height - here.height,
        "their answerable twin was not accepted": here.height - paired.height,
    }
    return ordered, {why: count for why, count in lost.items() if count}


def questions_of(candidates: Iterable[Candidate], dataset: str, splits: Mapping[str, str]) -> Iterator[Question]:
    """Each candidate as a question of `dataset`.

    Args:
        candidates: accepted ones in the order of `publishable`: a twin before those that are made from it.
        dataset: the published dataset's name.
        splits: split of each document.

    Raises:
        ValueError: a candidate is not accepted or lacks its question; a KeyError where its twin did not come before.
    """
    ids: dict[str, str] = {}
    for candidate in candidates:
        if not candidate.accepted or candidate.question is None or candidate.answer is None:
            raise ValueError(f"candidate {candidate.candidate_id} ({candidate.fate}) is no question")
        own = question_id(
            dataset, candidate.candidate_id, candidate.doc_id, list(candidate.redactions), candidate.question
        )
        answerable = candidate.kind == Kind.ANSWERABLE
        if answerable:
            ids[candidate.candidate_id] = own
        yield _question(candidate, own, dataset, splits, None if answerable else ids[candidate.twin_id or ""])


def _question(
    candidate: Candidate, identity: str, dataset: str, splits: Mapping[str, str], twin: str | None
) -> Question:
    assert candidate.question is not None
    assert candidate.answer is not None
    misleading = candidate.kind in MISLEADING  # the document answers what they were made from
    swapped = candidate.kind == Kind.ENTITY_SUBSTITUTION
    entities = tuple(name for name in (candidate.original, candidate.replacement) if name) if swapped else ()
    return Question(
        question_id=identity,
        doc_id=candidate.doc_id,
        dataset=dataset,
        split=splits[candidate.doc_id],
        language=candidate.language,
        question=candidate.question,
        answerable=twin is None,
        answers=(candidate.answer,) if twin is None else (),
        evidence=candidate.evidence,
        redactions=candidate.redactions,
        kind=candidate.kind,
        provenance=_provenance(candidate),
        twin_id=twin,
        original_question=candidate.original_question,
        topic=candidate.topic,
        entities=entities,
        reference_response=candidate.reference_response,
        gold_reformulation=candidate.original_question if misleading else None,
        gold_reformulation_answer=candidate.answer if misleading else None,
    )


def _provenance(candidate: Candidate) -> str:
    content = {
        "candidate_id": candidate.candidate_id,
        "model": candidate.model,
        "model_revision": candidate.model_revision,
        "spec": candidate.spec,
        "source_dataset": candidate.source_dataset,
        "fragment": None if candidate.fragment is None else list(candidate.fragment),
        "replacement": candidate.replacement,
    }
    return json.dumps(content, ensure_ascii=False, sort_keys=True)
