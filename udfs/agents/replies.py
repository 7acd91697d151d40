"""How an agent's reply is read: one JSON object of a given form, or nothing. Pure, total functions.

A reply that has to be guessed at is no reply. A text beyond its limit is still read: then it is too long
(`udfs.agents.checks`), not unreadable.

Lists and the texts that nobody uses (a reason, a reader's quotation) are bounded in a form's JSON schema, so that a
constrained model does not run on in them. What goes into the dataset is not: under xgrammar a bound on a string forbids
escapes in it, so a quotation mark could only end the string, and half a question would look whole. A model that runs on
there meets its `max_tokens`, and its reply cannot be read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Final, TypeVar

import json_repair
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StrictStr, ValidationError

from udfs.engines.base import storable

MAX_REASON: Final = 1000
MAX_QUESTION: Final = 300
MAX_ANSWER: Final = 300
MAX_ENTITY: Final = 200
MAX_QUOTATION: Final = 1500
MAX_REFERENCE: Final = 1200
MAX_QUOTATIONS: Final = 3
"""Limits, in characters and (the last) in items."""
BOUND_REASON: Final = 300
BOUND_QUOTATION: Final = 600
"""Where structured output ends a text that nobody uses, in characters."""

_FENCED: Final = re.compile(r"```(?:json|JSON)?[ \t]*\n?(.*?)\s*```", re.DOTALL)
_LIMIT: Final = "limit"
_KEPT: Final = frozenset({"type", "enum", "items", "minItems", "maxItems", "maxLength", "minimum", "maximum"})


class Reply(BaseModel):
    """One agent's reply. Keys that the form does not have are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    quotations: ClassVar[frozenset[str]] = frozenset()
    """Fields whose words are the document's, not the agent's."""

    def plain(self) -> dict[str, Any]:
        """The reply as JSON has it."""
        return self.model_dump(mode="json")


Form = TypeVar("Form", bound=Reply)


def _filled(text: str) -> str:
    if not text:
        raise ValueError("must not be empty")
    return text


def _tidy(value: object) -> object:
    return storable(value).strip() if isinstance(value, str) else value


def _some(quotations: list[str]) -> list[str]:
    found = [quotation for quotation in quotations if quotation]
    if not found:
        raise ValueError("must quote something")
    return found


Text = Annotated[StrictStr, BeforeValidator(_tidy)]
"""A string without white space around it, which may be empty."""
Filled = Annotated[Text, AfterValidator(_filled)]


def at_most(characters: int, bound: int | None = None) -> Any:
    """The limit of a field's text, or of each text of a list; with `bound`, structured output ends it there."""
    extra: Any = {_LIMIT: characters} | ({} if bound is None else {"maxLength": bound})
    return Field(json_schema_extra=extra)


def no_more_than(items: int) -> Any:
    """The limit of a list, in structured output too."""
    return Field(json_schema_extra={"maxItems": items})


Quotations = Annotated[
    list[Text],
    AfterValidator(_some),
    Field(min_length=1, json_schema_extra={"maxItems": MAX_QUOTATIONS, _LIMIT: MAX_QUOTATION}),
]


@lru_cache
def limits(form: type[Reply]) -> dict[str, tuple[int | None, int | None]]:
    """Of each field: the most characters of its text or texts, and the most items of a list."""
    properties = form.model_json_schema()["properties"]
    return {name: (part.get(_LIMIT), part.get("maxItems")) for name, part in properties.items()}


@lru_cache
def json_schema(form: type[Reply]) -> dict[str, Any]:
    """The form's JSON schema as structured output takes it: every property required, in order, no others."""
    schema = form.model_json_schema()
    definitions = schema.get("$defs", {})
    properties = {name: _plain(part, definitions) for name, part in schema["properties"].items()}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _plain(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Without titles and descriptions, references resolved."""
    if "$ref" in schema:
        return _plain(definitions[schema["$ref"].rsplit("/", maxsplit=1)[-1]], definitions)
    return {
        key: _plain(value, definitions) if key == "items" else value for key, value in schema.items() if key in _KEPT
    }


def read_reply(text: str, form: type[Form], cut: bool = False) -> Form | None:
    """The reply as `form`: one JSON object and nothing else but a fence around it and reasoning before `</think>`.

    JSON with faults is repaired where that changes no word of it.

    Args:
        cut: whether the model's reply ended by its length: then nothing is repaired.
    """
    body = text.rsplit("</think>", maxsplit=1)[-1].strip()
    fenced = _FENCED.fullmatch(body)
    body = fenced[1].strip() if fenced else body
    if not body.startswith("{"):
        return None
    try:
        value = json.loads(body, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        value = None if cut else _repaired(body)
    try:
        return form.model_validate(value)
    except (ValidationError, RecursionError):
        return None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are there once: which of two values is meant would be a guess."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def _repaired(body: str) -> dict[str, Any] | None:
    """The last resort: other quotation marks, commas too many or too few, a bracket at the end."""
    if not body.endswith("}"):
        return None
    try:
        value = json_repair.loads(body)
        words = json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and _words(words) == _words(body) else None


def _words(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()
