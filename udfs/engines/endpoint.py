"""What an endpoint's errors mean, and words about it that are safe to print. No client here: pure functions."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Protocol

from udfs.engines.config import EndpointModel
from udfs.errors import UserError
from udfs.identity import content_hash

MAX_DETAIL: Final = 300
FATAL_STATUS: Final = frozenset({401, 402, 403, 404})
"""A key, an account or a model that is wrong for one request is wrong for all of them."""
TOO_LONG_CODES: Final = ("context_length_exceeded", "string_above_max_length")
_TOO_LONG: Final = re.compile(
    r"context.length|context.window|maximum (?:model|context|input)|max_model_len|input token count.*exceeds"
    r"|prompt.{0,40}(?:too long|longer than)|too many (?:input )?tokens",
    re.IGNORECASE | re.DOTALL,
)
_FILTERED: Final = re.compile(r"content.filter|content.management.policy|content_policy|blocked.*safety", re.IGNORECASE)
_SECRET: Final = re.compile(
    r"\b(?:sk|key|pk)[-_][\w\-*]{6,}|\bAIza[\w-]{10,}|Bearer\s+\S+|(?<=://)[^/@\s]+@", re.IGNORECASE
)


class Endpoint(Protocol):
    """What the configurations of all endpoints say."""

    @property
    def name(self) -> str: ...

    @property
    def base_url(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def api_key_env(self) -> str | None: ...


class Use(NamedTuple):
    """What an endpoint is asked for, and the group of its configuration: both for messages."""

    group: str
    what: str


CHAT: Final = Use("model", "chat completions")
EMBEDDINGS: Final = Use("embedding", "embeddings")


def revision(config: EndpointModel) -> str:
    """What the model's name stands for: the provider's name of it, and settings that change what it replies.

    The address is left out: a model that moves to another server is the same model.
    """
    settings = [dict(config.extra_body), config.structured, list(config.omit)]
    return config.model if settings == [{}, "json_schema", []] else f"{config.model}-{content_hash(settings)[:8]}"


def api_key(config: Endpoint, use: Use = CHAT) -> str:
    """The key out of the environment.

    Raises:
        UserError: `api_key_env` names a variable that is not set.
    """
    if config.api_key_env is None:
        return "none"  # the SDK wants one; servers of one's own take any
    key = os.environ.get(config.api_key_env, "").strip()
    if not key:
        raise UserError(
            f"{use.group} {config.name} wants a key for {config.base_url}: set the environment variable "
            f"{config.api_key_env}"
        )
    return key


def safe(text: str, key: str) -> str:
    """`text` on one line, shortened, without anything that looks like a credential."""
    cleaned = text.replace(key, "***") if len(key) > 4 else text
    return " ".join(_SECRET.sub("***", cleaned).split())[:MAX_DETAIL]


def error_fields(body: object) -> tuple[str, str]:
    """Code and message of an error body, in the shapes that providers use."""
    while isinstance(body, list) and body:
        body = body[0]
    if isinstance(body, Mapping) and isinstance(body.get("error"), Mapping | str):
        body = body["error"]
    if isinstance(body, str):
        return "", body
    if not isinstance(body, Mapping):
        return "", ""
    return str(body.get("code") or body.get("type") or ""), str(body.get("message") or "")


def is_too_long(code: str, message: str) -> bool:
    """Whether a 400 says that the prompt does not fit the window."""
    return code in TOO_LONG_CODES or bool(_TOO_LONG.search(message))


def is_filtered(code: str, message: str) -> bool:
    """Whether a 400 comes from a content filter."""
    return bool(_FILTERED.search(code) or _FILTERED.search(message))


def fatal_message(config: Endpoint, status: int, code: str, detail: str, use: Use = CHAT) -> str:
    """The one line that ends a run, for an error that every further request would meet."""
    where = f"the endpoint {config.base_url} of {use.group} {config.name}"
    key = f"the variable {config.api_key_env}" if config.api_key_env else f"{use.group}.api_key_env (it is not set)"
    if status == 401:
        return f"{where} does not accept the key (401); check {key}"
    if status == 403:
        return f"{where} refuses access to {config.model!r} (403); check the rights of the key in {key}"
    if status == 404:
        return f"{where} knows no model {config.model!r}, or no {use.what} (404); check {use.group}.model and base_url"
    if status in (402, 429) or code == "insufficient_quota":
        return f"the account at {where} has no credit left ({code or status})"
    return f"{where} does not take the request ({status}): {detail}"


def strict_ready(schema: Any) -> bool:
    """Whether a schema meets the rules of strict mode: every object is closed and requires all its properties."""
    if isinstance(schema, list):
        return all(strict_ready(part) for part in schema)
    if not isinstance(schema, Mapping):
        return True
    if "properties" in schema and (
        schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(schema["properties"])
    ):
        return False
    return all(strict_ready(part) for part in schema.values())
