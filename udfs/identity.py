"""Identity by content: an id is a hash of what was asked, of what, of whom and how.

Paths, cluster shape and batch sizes never enter an id, so a run that is moved or resized still knows what it has.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

ID_BYTES = 16


def content_hash(*parts: Any) -> str:
    """32 hex digits over `parts`: JSON with sorted keys, so equal content gives an equal id on every machine."""
    payload = json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(payload.encode("utf-8", "surrogatepass"), digest_size=ID_BYTES).hexdigest()


def doc_id(text: str) -> str:
    """A document is its text."""
    return content_hash("document", text)


def question_id(dataset: str, source_id: str, document: str, redactions: list[tuple[int, int]], question: str) -> str:
    """A question is its words, of one view of one document, in one dataset (`source_id` parts true repeats)."""
    return content_hash("question", dataset, source_id, document, redactions, question)


def response_id(
    question: str,
    view: str,
    template: str,
    model: str,
    revision: str,
    sampling: dict[str, Any],
    layout: str,
    detector: str,
) -> str:
    """What was asked (question, view), how (template, sampling, layout, detector of turn 2) and of whom (model)."""
    return content_hash("response", question, view, template, model, revision, sampling, layout, detector)


def judgement_id(response: str, measure: str, judge: str, gold: str) -> str:
    """A judgement is of one response, by one judge, against one gold."""
    return content_hash("judgement", response, measure, judge, gold)


def candidate_id(dataset: str, spec: str, document: str, fragment_index: int, kind: str) -> str:
    """A candidate is one kind of question about one fragment, made in one way; known before anything is asked."""
    return content_hash("candidate", dataset, spec, document, fragment_index, kind)
