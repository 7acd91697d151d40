"""Rows of the exported files out of questions, documents and texts. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Final

from udfs.exports.pairs import Rejected
from udfs.exports.schemas import DOCUMENTS
from udfs.prompts.render import build_answer
from udfs.records import Question, Span
from udfs.sources.training import forbids_training
from udfs.views import merged

METHOD: Final = "zs"
LAYOUT: Final = "document_first"
"""Prompt method and layout of SFT and DPO prompts: the prompt that `jobs.evaluate` asks with."""


class LeftOut(StrEnum):
    """Why a question gives no SFT record."""

    NO_ANSWER = "no_answer"  # answerable, with neither an answer nor a reference response
    NO_REFERENCE = "no_reference"  # unanswerable, without a reference response
    NO_TRAINING = "no_training"  # its source forbids that anything is trained on it


def reference(question: Question) -> str | LeftOut:
    """What a good response says: the reference response, for an answerable question otherwise its first answer."""
    if forbids_training(question.provenance):
        return LeftOut.NO_TRAINING
    written = (question.reference_response or "").strip()
    if written:
        return written
    if not question.answerable:
        return LeftOut.NO_REFERENCE
    return next((answer.strip() for answer in question.answers if answer.strip()), LeftOut.NO_ANSWER)


def question_row(question: Question, facts: Mapping[str, Any], text: str) -> dict[str, Any]:
    """A row of `questions`.

    Args:
        facts: the document's row in the question's own dataset, without its text.
        text: the whole document's text.
    """
    same = ("question_id", "doc_id", "twin_id", "dataset", "language", "question", "answerable", "kind", "topic",
            "reference_response", "original_question", "gold_reformulation", "gold_reformulation_answer")  # fmt: skip
    of_document = ("domain", "length_bucket", "n_tokens", "tokenizer", "source", "license")
    cuts = merged(question.redactions, len(text))
    return {
        **{name: getattr(question, name) for name in same},
        **{name: facts[name] for name in of_document},
        "split": question.split,
        "answers": list(question.answers),
        "evidence": [text[span.start : span.end] for span in question.evidence],
        **_offsets("evidence_", question.evidence),
        **_offsets("redaction_", cuts),
    }


def document_row(facts: Mapping[str, Any], split: str, text: str) -> dict[str, Any]:
    """A row of `documents`; `split` is that of the document's questions."""
    return {**{name: facts[name] for name in DOCUMENTS.names if name != "text"}, "split": split, "text": text}


def view_row(question: Question, length: int) -> dict[str, Any]:
    """A row of `views`: what is cut out of a document of `length` characters, in order, without overlap."""
    cuts = merged(question.redactions, length)
    return {"question_id": question.question_id, "doc_id": question.doc_id, **_offsets("", cuts)}


def prompt(question: Question, view: str) -> list[dict[str, str]]:
    """The chat messages that ask `question` of the text as it is shown."""
    asked = build_answer(METHOD, LAYOUT, question.language, view, question.question)
    return [{"role": message["role"], "content": message["content"]} for message in asked]


def sft_row(question: Question, asked: list[dict[str, str]], good: str) -> dict[str, Any]:
    """A row of `sft`: the prompt, and `good` as the assistant's message."""
    return {
        "messages": [*asked, _assistant(good)],
        "question_id": question.question_id,
        "kind": question.kind,
        "language": question.language,
    }


def dpo_row(question: Question, asked: list[dict[str, str]], good: str, bad: Rejected) -> dict[str, Any]:
    """A row of `dpo`: the prompt, `good` chosen, and a recorded wrong answer rejected."""
    return {
        "prompt": asked,
        "chosen": [_assistant(good)],
        "rejected": [_assistant(bad.text)],
        "question_id": question.question_id,
        "response_id": bad.response_id,
        "model": bad.model,
        "kind": question.kind,
        "language": question.language,
        "judge": bad.judge,
    }


_BREAKS: Final = {mark: f"\\u{ord(mark):04x}" for mark in "\u0085\u2028\u2029"}


def json_line(row: Mapping[str, Any]) -> bytes:
    """The row as one line of JSONL in UTF-8. Whatever some reader takes for the end of a line is escaped."""
    line = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
    for mark, escaped in _BREAKS.items():
        line = line.replace(mark, escaped)  # translate() is many times slower
    return line.encode("utf-8") + b"\n"


def _assistant(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def _offsets(prefix: str, spans: Iterable[Span]) -> dict[str, list[int]]:
    listed = list(spans)
    return {f"{prefix}start": [span.start for span in listed], f"{prefix}end": [span.end for span in listed]}
