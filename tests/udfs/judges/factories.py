"""Responses to judge."""

from __future__ import annotations

from datetime import UTC, datetime

from udfs.records import Response, Turn
from udfs.schema import Status

NOW = datetime(2024, 5, 6, tzinfo=UTC)


def a_response(text: str | None = "30", status: Status = Status.OK) -> Response:
    """A response whose turn 1 said `text`; None: turn 1 failed."""
    turns = () if text is None else (Turn("answer", text, 10, 0, 3, "stop", 0.1),)
    return Response(
        response_id="r1",
        run="t",
        question_id="q1",
        doc_id="d1",
        dataset="tests",
        model="m",
        model_revision="r",
        method="zs",
        layout="document_first",
        template="h",
        detector="rules",
        turns=turns,
        status=status,
        created_at=NOW,
        answer=text,
    )
