"""The tables: one pyarrow schema each, and the closed sets of their columns.

Every table is Parquet under `storage.root`. A reader takes one row per id (`udfs.tables.store.read`), so a task
that was tried twice and wrote its rows twice changes no number.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import pyarrow as pa


class Status(StrEnum):
    """What became of a row. Metrics are over `ok` rows; coverage says what share that is."""

    OK = "ok"
    OVER_LENGTH = "over_length"  # the prompt and room for the answer do not fit the model's window
    PROVIDER_ERROR = "provider_error"  # the engine failed after its retries; asked again on the next start
    PARSE_FAILURE = "parse_failure"  # a reply that had to be structured was not
    FILTERED = "filtered"  # the provider's content filter withheld the reply
    BUDGET_STOPPED = "budget_stopped"  # the run's budget ended before this row; asked again on the next start


PERMANENT: Final = frozenset({Status.OK, Status.OVER_LENGTH, Status.PARSE_FAILURE, Status.FILTERED})
"""Statuses that a resumed run does not ask again."""


class Kind(StrEnum):
    """What kind of question it is (FactGuard, Table 2; `unanswerable` where the source does not say why)."""

    ANSWERABLE = "answerable"
    LACK_OF_EVIDENCE = "lack_of_evidence"  # unverifiable: the view does not say
    ENTITY_SUBSTITUTION = "misleading.entity_substitution"  # the three misleading kinds: the document contradicts
    IMPOSSIBLE_CONDITION = "misleading.impossible_condition"
    FALSE_ASSUMPTION = "misleading.false_assumption"
    UNANSWERABLE = "unanswerable"


class Topic(StrEnum):
    """What a generated question asks for (FactGuard, section 3.1)."""

    TIME = "time"
    NUMBER = "number"
    LOCATION = "location"
    PERSON = "person"
    ORGANISATION = "organisation"
    EVENT = "event"
    OBJECT = "object"


class Step(StrEnum):
    """The steps of synthesis, in order; a candidate ends at one of them (`udfs.agents.program`)."""

    SEGMENT = "segment"
    QUALITY = "quality"
    TOPIC = "topic"
    QA = "qa"
    QA_REVIEW = "qa_review"
    NEGATIVE = "negative"  # redaction or rewriting, and the reference response
    RETRIEVAL = "retrieval"  # short reading of retrieved passages
    FULL_VIEW = "full_view"
    COMMON_SENSE = "common_sense"
    CONSOLE = "console"


class Fate(StrEnum):
    """What became of a candidate: accepted, or the one reason that ended it."""

    ACCEPTED = "accepted"
    NO_FRAGMENT = "no_fragment"  # the document has fewer fragments than alpha
    LOW_QUALITY = "low_quality"  # the fragment's score is below the threshold
    NO_TOPIC = "no_topic"  # the fragment speaks of none of the topics
    NOT_A_QUESTION = "not_a_question"
    WRONG_LANGUAGE = "wrong_language"  # the question, answer or reference is not in the document's language
    TOO_LONG = "too_long"  # a question, answer, quotation or reference beyond its limit
    INSTRUCTIONS = "instructions"  # the reply talks to the pipeline instead of doing its work
    EVIDENCE_NOT_FOUND = "evidence_not_found"  # the quotation is not in the fragment
    ANSWER_IN_QUESTION = "answer_in_question"
    UNRELATED_QUESTION = "unrelated_question"  # it shares no content with the fragment
    UNSUPPORTED_ANSWER = "unsupported_answer"
    NOT_SELF_CONTAINED = "not_self_contained"
    INCOMPLETE_ANSWER = "incomplete_answer"
    TOO_MUCH_REDACTED = "too_much_redacted"  # copies of the evidence are too large a part of the document
    UNCHANGED_QUESTION = "unchanged_question"  # the rewriting did not put in what it says
    IN_DOCUMENT = "in_document"  # the new entity, condition or assumption is in the document after all
    WEAK_REFERENCE = "weak_reference"  # the reference does not say what is wrong, or what the document says instead
    EVIDENCE_SURVIVES = "evidence_survives"  # a reader still finds the gold answer
    CONFLICTING_ANSWERS = "conflicting_answers"  # a reader finds another answer
    NOT_ANSWERED = "not_answered"  # the whole document does not answer the answerable question
    COMMON_SENSE = "common_sense"  # answered without any document
    TWIN_REJECTED = "twin_rejected"  # its answerable twin was not accepted
    PARSE_FAILURE = "parse_failure"  # the last four are the statuses of the same names
    OVER_LENGTH = "over_length"
    FILTERED = "filtered"
    PROVIDER_ERROR = "provider_error"  # transient: the fragment is owed again


class ProposalFate(StrEnum):
    """What became of a question that curation had written (CouldAsk, section 4.1). The table holds the fates down to
    `provider_error`; the last four follow from its checks (`udfs.tables.curation.fates`).
    """

    PROPOSED = "proposed"  # to be checked
    MISSING = "missing"  # the reply has fewer questions than were asked for
    DUPLICATE = "duplicate"  # of another question about its document
    NOT_A_QUESTION = "not_a_question"
    WRONG_LANGUAGE = "wrong_language"
    TOO_LONG = "too_long"
    INSTRUCTIONS = "instructions"
    NO_EXCERPT = "no_excerpt"  # the document has no whole sentences of the wanted length
    PARSE_FAILURE = "parse_failure"  # these four are the statuses of the same names
    OVER_LENGTH = "over_length"
    FILTERED = "filtered"
    PROVIDER_ERROR = "provider_error"
    UNCHECKED = "unchecked"  # answers of the checker are owed
    CHECK_FAILED = "check_failed"  # the checker gave no answer, and will give none
    NOT_CONFUSING = "not_confusing"  # no answer says that the question cannot be answered
    AWAITING_ANNOTATION = "awaiting_annotation"  # at least one does


class Language(StrEnum):
    EN = "en"
    ZH = "zh"


LENGTH_BUCKETS: Final = ("0-16K", "16-32K", "32-64K", "64-128K", "128K+")
"""By tokens of the document, upper bounds exclusive, K = 1,024 (FactGuard, Table 6; its code counted characters)."""
_BUCKET_BOUNDS: Final = (16 * 1024, 32 * 1024, 64 * 1024, 128 * 1024)


def length_bucket(n_tokens: int) -> str:
    """The length bucket of a document of `n_tokens` tokens."""
    for bound, name in zip(_BUCKET_BOUNDS, LENGTH_BUCKETS, strict=False):
        if n_tokens < bound:
            return name
    return LENGTH_BUCKETS[-1]


SPAN: Final = pa.struct([pa.field("start", pa.int64(), False), pa.field("end", pa.int64(), False)])
"""Half-open, in characters (code points) of `documents.text`."""
SPANS: Final = pa.list_(SPAN)
STRINGS: Final = pa.list_(pa.string())


def _table(required: dict[str, pa.DataType], optional: dict[str, pa.DataType]) -> pa.Schema:
    fields = [pa.field(name, kind, nullable=False) for name, kind in required.items()]
    return pa.schema(fields + [pa.field(name, kind) for name, kind in optional.items()])


DOCUMENTS: Final = _table(
    {
        "doc_id": pa.string(),  # hash of the text
        "dataset": pa.string(),
        "split": pa.string(),
        "language": pa.string(),
        "domain": pa.string(),
        "title": pa.string(),
        "source": pa.string(),
        "license": pa.string(),
        "text": pa.large_string(),
        "n_chars": pa.int64(),
        "n_words": pa.int64(),  # white-space words (en); CJK characters and Latin words (zh)
        "n_tokens": pa.int64(),
        "tokenizer": pa.string(),  # what n_tokens was counted with
        "length_bucket": pa.string(),
    },
    {},
)

QUESTIONS: Final = _table(
    {
        "question_id": pa.string(),
        "doc_id": pa.string(),
        "dataset": pa.string(),
        "split": pa.string(),
        "language": pa.string(),
        "question": pa.string(),
        "answerable": pa.bool_(),
        "answers": STRINGS,  # any one is right; empty for an unanswerable question
        "evidence": SPANS,
        "redactions": SPANS,  # the view: what is cut out of the document before it is shown
        "kind": pa.string(),
        "provenance": pa.string(),  # JSON: source file, row, the source's own id and leftover fields
    },
    {
        "twin_id": pa.string(),  # the question that this one was made from, or its answerable twin
        "original_question": pa.string(),
        "topic": pa.string(),
        "entities": STRINGS,
        "reference_response": pa.string(),  # what a good response to an unanswerable question says
        "gold_reformulation": pa.string(),  # a close question that the document does answer
        "gold_reformulation_answer": pa.string(),
    },
)

CANDIDATES: Final = _table(
    {
        "candidate_id": pa.string(),
        "dataset": pa.string(),  # the dataset that is made; the part of the table
        "spec": pa.string(),  # hash of how it was made: model, prompts, settings (`udfs.agents.spec`)
        "model": pa.string(),
        "model_revision": pa.string(),
        "doc_id": pa.string(),
        "source_dataset": pa.string(),  # where the document was ingested to
        "language": pa.string(),
        "domain": pa.string(),
        "length_bucket": pa.string(),
        "kind": pa.string(),
        "fragment_index": pa.int64(),  # 0-based; a larger alpha adds indices and changes none
        "step": pa.string(),  # where it ended; console for the accepted
        "fate": pa.string(),
        "status": pa.string(),  # ok: decided; else the fate's own
        "evidence": SPANS,
        "redactions": SPANS,
        "opinions": pa.string(),  # JSON list: every agent's opinion, in order (`udfs.agents.base.Opinion`)
        "created_at": pa.timestamp("us", tz="UTC"),
    },
    {
        "fragment": SPAN,
        "quality": pa.int64(),  # 1 to 5
        "topic": pa.string(),
        "question": pa.string(),
        "answer": pa.string(),  # the twin's, for an unanswerable one
        "twin_id": pa.string(),  # candidate_id of the answerable twin
        "original_question": pa.string(),
        "original": pa.string(),  # what a rewriting replaced
        "replacement": pa.string(),  # the new entity, the impossible condition or the false assumption
        "reference_response": pa.string(),
        "detail": pa.string(),  # of the fate, in words
    },
)

PROPOSALS: Final = _table(
    {
        "proposal_id": pa.string(),
        "dataset": pa.string(),  # the dataset that is curated; the part of the table
        "spec": pa.string(),  # hash of how questions are written: model, prompts, settings (`udfs.agents.curation`)
        "model": pa.string(),
        "model_revision": pa.string(),
        "doc_id": pa.string(),
        "source_dataset": pa.string(),  # where the document was ingested to
        "language": pa.string(),
        "number": pa.int64(),  # 0-based, in its document; more questions add numbers and change none
        "fate": pa.string(),
        "status": pa.string(),  # ok: decided; else the fate's own
        "created_at": pa.timestamp("us", tz="UTC"),
    },
    {
        "excerpt": SPAN,  # what of the document was shown; null: all of it
        "question": pa.string(),
        "detail": pa.string(),  # of the fate, in words
    },
)

CHECKS: Final = _table(
    {
        "check_id": pa.string(),
        "proposal_id": pa.string(),
        "dataset": pa.string(),
        "spec": pa.string(),  # hash of how the checker is asked: model, prompts, sampling, refusal rules
        "checker": pa.string(),
        "checker_revision": pa.string(),
        "sample": pa.int64(),  # 0-based
        "status": pa.string(),
        "created_at": pa.timestamp("us", tz="UTC"),
    },
    {"text": pa.string(), "refused": pa.bool_(), "error": pa.string()},
)

ANNOTATIONS: Final = _table(
    {
        "review": pa.string(),  # the review's name; the part of the table
        "annotator": pa.string(),
        "item_id": pa.string(),  # a question_id, a judgement_id or a proposal_id
        "target": pa.string(),  # questions | judgements | curation
        "group": pa.string(),  # what results are reported by: a kind, a verdict, a source dataset
        "check": pa.string(),  # what was asked: question, answer, verdict, label
        "passed": pa.bool_(),
        "created_at": pa.timestamp("us", tz="UTC"),
    },
    {"note": pa.string()},
)

PREFERENCES: Final = _table(
    {
        "review": pa.string(),  # the review's name; the part of the table
        "annotator": pa.string(),
        "item_id": pa.string(),  # the pair: hash of its two responses and their words
        "question_id": pa.string(),
        "doc_id": pa.string(),
        "dataset": pa.string(),
        "language": pa.string(),
        "first_run": pa.string(),
        "first": pa.string(),  # the response whose new question was shown first
        "first_text": pa.string(),  # that question as it was shown
        "second_run": pa.string(),
        "second": pa.string(),
        "second_text": pa.string(),
        "preferred": pa.string(),  # which is nearer to what was asked: first | second | tie
        "created_at": pa.timestamp("us", tz="UTC"),
    },
    {"note": pa.string()},
)

TAGS: Final = _table(
    {
        "review": pa.string(),  # the review's name; the part of the table
        "annotator": pa.string(),  # of a hand-tagged file its name, where no column says who
        "item_id": pa.string(),  # the question_id; of a question that is in no dataset, a hash of its words
        "dataset": pa.string(),  # "" where the question is in none
        "language": pa.string(),
        "question": pa.string(),
        "entities": STRINGS,  # what a person marked in it, in its words; empty: it has none
        "created_at": pa.timestamp("us", tz="UTC"),
    },
    {"doc_id": pa.string(), "note": pa.string()},
)

TURN: Final = pa.struct(
    [
        pa.field("purpose", pa.string(), False),  # answer | reformulate
        pa.field("text", pa.string(), False),
        pa.field("prompt_tokens", pa.int64(), False),
        pa.field("cached_tokens", pa.int64(), False),
        pa.field("output_tokens", pa.int64(), False),
        pa.field("finish_reason", pa.string(), False),
        pa.field("seconds", pa.float64(), False),
    ]
)

RESPONSES: Final = _table(
    {
        "response_id": pa.string(),
        "run": pa.string(),
        "question_id": pa.string(),
        "doc_id": pa.string(),
        "dataset": pa.string(),
        "model": pa.string(),
        "model_revision": pa.string(),
        "method": pa.string(),
        "layout": pa.string(),  # document_first | paper
        "template": pa.string(),  # hash of every prompt file that the dialogue can use
        "detector": pa.string(),  # which refusal detector decided on turn 2
        "turns": pa.list_(TURN),
        "status": pa.string(),
        "created_at": pa.timestamp("us", tz="UTC"),
    },
    {
        "answer": pa.string(),
        "refused": pa.bool_(),
        "reformulation": pa.string(),
        "reformulation_couldask": pa.string(),  # cut out by CouldAsk's own rule (a reported variant)
        "error": pa.string(),
    },
)

JUDGEMENTS: Final = _table(
    {
        "judgement_id": pa.string(),
        "response_id": pa.string(),
        "question_id": pa.string(),
        "run": pa.string(),
        "measure": pa.string(),  # refusal | answer_consistency | response_class | …
        "judge": pa.string(),  # rules | couldask | llm:<model> | embedding:<name> | classifier:<name>
        "status": pa.string(),
        "prompt_tokens": pa.int64(),
        "cached_tokens": pa.int64(),
        "output_tokens": pa.int64(),
        "seconds": pa.float64(),
        "created_at": pa.timestamp("us", tz="UTC"),
    },
    {"verdict": pa.string(), "score": pa.float64(), "rationale": pa.string(), "error": pa.string()},
)

METRICS: Final = _table(
    {
        "run": pa.string(),
        "model": pa.string(),
        "method": pa.string(),
        "layout": pa.string(),
        "dataset": pa.string(),
        "language": pa.string(),  # "all" where the metric is over every value of a slice
        "kind": pa.string(),
        "length_bucket": pa.string(),
        "judge": pa.string(),
        "metric": pa.string(),
        "n": pa.int64(),  # ok rows the value is over
        "coverage": pa.float64(),  # ok rows / expected rows
    },
    {"value": pa.float64(), "ci_low": pa.float64(), "ci_high": pa.float64()},
)

RUNS: Final = _table(
    {
        "run_id": pa.string(),  # one stage of one start: its dialogues, or one judge
        "run": pa.string(),  # the name under which starts go on with each other's work
        "job": pa.string(),
        "model": pa.string(),
        "started_at": pa.timestamp("us", tz="UTC"),
        "seconds": pa.float64(),
        "status": pa.string(),  # running | ok | failed | stopped; a killed start stays "running"
        "config": pa.string(),  # JSON, resolved, without secrets
        "config_hash": pa.string(),
        "versions": pa.string(),  # JSON: package → version
        "expected": pa.int64(),
        "recorded_before": pa.int64(),
        "recorded": pa.int64(),
        "failed": pa.int64(),
        "prompt_tokens": pa.int64(),
        "cached_tokens": pa.int64(),
        "output_tokens": pa.int64(),
        "gpu_hours": pa.float64(),
        "usd": pa.float64(),
    },
    {
        "git_commit": pa.string(),  # or what stands for it (`jobs.support.runs.code_version`)
        "bound_tokens": pa.int64(),  # size of the token tries of all prompts, summed over bundles
        "bound_block_tokens": pa.int64(),  # the same when only whole cache blocks can be shared
        "bounded_computed_tokens": pa.int64(),  # computed prompt tokens of the bundles whose bound is known
        "computed_over_bound": pa.float64(),
        "start_id": pa.string(),  # one command, however many stages it ran
        "cells": pa.string(),  # JSON: [{method, layout, dataset, expected}], what the start covers; job "evaluate" only
        "error": pa.string(),
        "engines": pa.string(),  # JSON: the times of each engine (`udfs.stages.busy.EngineTimes`)
        "busy_seconds": pa.float64(),  # over the engines: at least one request in flight
        "idle_seconds": pa.float64(),  # loaded, and none in flight, up to the end of the last request
        "tail_seconds": pa.float64(),  # from the first engine that had no more to do to the end of the last
    },
)

REJECTS: Final = _table(
    {
        "dataset": pa.string(),
        "file": pa.string(),
        "row": pa.int64(),  # 1-based line or row in the file; 0 where the whole file is meant
        "key": pa.string(),  # the source's own id of the row, or ""
        "reason": pa.string(),  # short code: no_question, empty_document, bad_label, bad_utf8, duplicate_id, …
        "error": pa.string(),  # what was wrong and what is allowed
        "raw": pa.string(),  # the first 500 characters of the row
    },
    {},
)

# One metric of one trained model over a dataset's held-out documents (or of `all`); spec: what its weights depend on.
MODELS: Final = _table(
    {
        **dict.fromkeys(("model", "target", "base", "spec", "dataset", "metric"), pa.string()),
        **dict.fromkeys(("n", "documents"), pa.int64()),
        "coverage": pa.float64(),
        "created_at": pa.timestamp("us", tz="UTC"),
    },
    dict.fromkeys(("value", "ci_low", "ci_high"), pa.float64()),
)

TABLES: Final[dict[str, pa.Schema]] = {
    "documents": DOCUMENTS,
    "questions": QUESTIONS,
    "rejects": REJECTS,
    "candidates": CANDIDATES,
    "proposals": PROPOSALS,
    "checks": CHECKS,
    "annotations": ANNOTATIONS,
    "preferences": PREFERENCES,
    "tags": TAGS,
    "responses": RESPONSES,
    "judgements": JUDGEMENTS,
    "metrics": METRICS,
    "runs": RUNS,
    "models": MODELS,
}

KEYS: Final[dict[str, tuple[str, ...]]] = {
    "documents": ("dataset", "doc_id"),
    "questions": ("question_id",),
    "rejects": ("dataset", "file", "row", "reason"),
    "candidates": ("candidate_id",),
    "proposals": ("proposal_id",),
    "checks": ("check_id",),
    "annotations": ("review", "annotator", "item_id", "check"),
    "preferences": ("review", "annotator", "item_id"),
    "tags": ("review", "annotator", "item_id"),
    "responses": ("run", "response_id"),
    "judgements": ("run", "judgement_id"),
    "metrics": (
        "run",
        "model",
        "method",
        "layout",
        "dataset",
        "language",
        "kind",
        "length_bucket",
        "judge",
        "metric",
    ),
    "runs": ("run_id",),
    "models": ("model", "dataset", "metric"),
}
