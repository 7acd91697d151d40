"""What a judging model may reply, how it is read, and which measures follow. Pure, total functions.

A verdict that cannot be read is no verdict: it is never guessed and never counts as wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal, TypeVar

import json_repair
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from udfs.engines.base import storable
from udfs.judges.base import ANSWER_CONSISTENCY, REFUSAL, RESPONSE_CLASS


def _named(value: object) -> object:
    """`Direct refusal.`, `direct-refusal` → direct_refusal; nothing else is bent."""
    return re.sub(r"[\s-]+", "_", value.strip(" \t\r\n.。!！*`'\"").lower()) if isinstance(value, str) else value


def _text(value: object) -> object:
    """A rationale of null is an empty one."""
    return "" if value is None else storable(value) if isinstance(value, str) else value


class Reply(BaseModel):
    """A reply that holds a verdict; what else it holds is ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    verdict: str


class Judged(Reply):
    """A judge's reply: a verdict and why."""

    rationale: Annotated[str, BeforeValidator(_text)] = ""


class AnswerableVerdict(Judged):
    """Of a reply to a question that the document answers."""

    verdict: Annotated[Literal["correct", "incorrect", "refused"], BeforeValidator(_named)]


class UnanswerableVerdict(Judged):
    """Of a reply to a question that the document does not answer (FactGuard, section 5.2, Task 2)."""

    verdict: Annotated[Literal["incorrect", "direct_refusal", "reasoned_answer"], BeforeValidator(_named)]


class FailureVerdict(Judged):
    """Of a new question that failed (CouldAsk, Table 6): `udfs.measures.categories.ErrorCategory`."""

    verdict: Annotated[Literal["same_or_rephrased", "copied", "irrelevant", "other"], BeforeValidator(_named)]


class SuccessVerdict(Judged):
    """Of a new question that succeeded (CouldAsk, Table 1): `udfs.measures.categories.Strategy`."""

    verdict: Annotated[Literal["correct", "generalize", "nearest_match", "specify"], BeforeValidator(_named)]


class RefusalVerdict(Reply):
    """Of any reply, without its gold: the detector `llm`."""

    verdict: Annotated[Literal["refused", "answered"], BeforeValidator(_named)]


Form = TypeVar("Form", bound=Reply)


def allowed_verdicts(form: type[Reply]) -> tuple[str, ...]:
    """The verdicts of a form, in order."""
    return tuple(json_schema(form)["properties"]["verdict"]["enum"])


def json_schema(form: type[Reply]) -> dict[str, Any]:
    """The form's JSON schema as structured output takes it: every property required, no others.

    The verdict comes last, so that it can follow from the rationale.
    """
    fields = form.model_json_schema()["properties"]
    properties: dict[str, Any] = {
        name: {key: value for key, value in fields[name].items() if key in {"type", "enum"}}
        for name in sorted(fields, key=lambda name: name == "verdict")
    }
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def parse_verdict(text: str, form: type[Form]) -> Form | None:
    """The verdict in a model's reply: the JSON in it as it stands, else repaired as a last resort; else None.

    Objects that disagree with each other are no verdict.
    """
    reply = text.rsplit("</think>", maxsplit=1)[-1].strip()
    objects = list(_objects(reply))
    found = [verdict for verdict in (_valid(value, form) for value in objects) if verdict is not None]
    if found:
        return found[-1] if len({verdict.verdict for verdict in found}) == 1 else None
    if any("verdict" in value for value in objects) or reply.count("verdict") != 1 or "{" not in reply:
        return None
    return _repaired(reply[reply.index("{") :], form)


def _valid(value: object, form: type[Form]) -> Form | None:
    try:
        return form.model_validate(value)
    except ValidationError:
        return None


def _objects(reply: str) -> Iterator[dict[str, Any]]:
    """The JSON objects that stand in the reply, outermost ones, in order."""
    decoder = json.JSONDecoder()
    at = reply.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(reply, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield value
        at = reply.find("{", end)


def _repaired(reply: str, form: type[Form]) -> Form | None:
    """The last resort. json-repair gives '' for what is no JSON at all: that is no verdict."""
    try:
        return _valid(json_repair.loads(reply), form)
    except (ValueError, RecursionError):
        return None


_Values = dict[str, tuple[str, float | None]]


def _values(refused: bool, correct: bool, kind: str | None = None) -> _Values:
    values: _Values = {
        REFUSAL: ("refused", 1.0) if refused else ("answered", 0.0),
        ANSWER_CONSISTENCY: ("correct", 1.0) if correct else ("incorrect", 0.0),
    }
    return values if kind is None else values | {RESPONSE_CLASS: (kind, None)}


_OF_VERDICT: Final[dict[tuple[bool, str], _Values]] = {
    (True, "correct"): _values(refused=False, correct=True),
    (True, "incorrect"): _values(refused=False, correct=False),
    (True, "refused"): _values(refused=True, correct=False),
    (False, "incorrect"): _values(refused=False, correct=False, kind="incorrect"),
    (False, "direct_refusal"): _values(refused=True, correct=True, kind="direct_refusal"),
    (False, "reasoned_answer"): _values(refused=True, correct=True, kind="reasoned_answer"),
}


def measures_of(answerable: bool) -> tuple[str, ...]:
    """The measures of a response to a question that is, or is not, answerable by its gold."""
    return (REFUSAL, ANSWER_CONSISTENCY) if answerable else (REFUSAL, ANSWER_CONSISTENCY, RESPONSE_CLASS)


def measure_values(answerable: bool, verdict: str) -> dict[str, tuple[str, float | None]]:
    """Verdict and score of each measure that follow from a judging model's one verdict."""
    return _OF_VERDICT[answerable, verdict]
