"""A web search for the common-sense check: any HTTP endpoint that is asked with GET and answers with JSON.

What the web says is data: it is looked at for the gold answer and goes into no prompt and no table.
"""

from __future__ import annotations

import asyncio
import email.utils
import json
import os
import random
import re
import time
from collections.abc import Mapping
from typing import Any, Final, Protocol

import httpx

from udfs.agents.spec import WebSearch
from udfs.engines.base import ProviderError, storable
from udfs.errors import UserError

MAX_BYTES: Final = 4 * 2**20
"""Of a reply, decompressed; a longer one is an error, since half a JSON text says nothing."""
MAX_WAIT_S: Final = 60.0
"""An endpoint that asks to wait longer than this is not waited for."""
BACK_OFF_S: Final = 0.5
MAX_BACK_OFF_S: Final = 8.0
MAX_DETAIL: Final = 300
MAX_SEARCHED: Final = 4096
RETRIED_STATUS: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
FATAL_STATUS: Final = frozenset({401, 402, 403, 404})
"""A key, an account or an address that is wrong for one search is wrong for all of them."""
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


class Searcher(Protocol):
    """What finds texts about a question outside the documents."""

    async def search(self, query: str) -> list[str]:
        """Texts that were found, best first; an empty list where nothing was.

        Raises:
            ProviderError: no readable answer.
        """
        ...


class HttpSearcher:
    """A searcher over the endpoint of `config`.

    Raises:
        UserError: the settings cannot work, or the key's environment variable is not set.
    """

    def __init__(self, config: WebSearch) -> None:
        check_ready(config)
        self._config = config
        self._url = httpx.URL(config.url)
        self._where = _where(self._url)
        self._key = _api_key(config)
        # No redirects: a header with the key would follow them to another host.
        self._client = httpx.AsyncClient(
            headers=_key_header(config, self._key), timeout=config.timeout_s, follow_redirects=False
        )

    async def search(self, query: str) -> list[str]:
        """The first `n` results for `query`, each one's text fields joined by line breaks.

        Raises:
            ProviderError: rate limits, server errors, timeouts and cut lines that outlast the retries; a reply that
                is too long, no JSON, or not of the form that the settings say.
            UserError: the endpoint refuses the key, or knows no such address.
        """
        url = self._url.copy_merge_params({**self._config.parameters, self._config.query_parameter: storable(query)})
        retries = self._config.max_retries
        for attempt in range(retries + 1):
            try:
                return self._results(await self._get(url))
            except _Again as again:
                wait = again.after_s if again.after_s is not None else _back_off(attempt)
                if attempt == retries or wait > MAX_WAIT_S:
                    tries = f"{attempt + 1} {'try' if attempt == 0 else 'tries'}"
                    raise ProviderError(f"the web search at {self._where} failed after {tries}: {again}") from None
            await asyncio.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    async def aclose(self) -> None:
        """Close the connections. Calling it twice is allowed."""
        await self._client.aclose()

    async def _get(self, url: httpx.URL) -> bytes:
        """One attempt: the body of a good reply.

        Raises:
            _Again: worth another attempt.
        """
        try:
            # httpx counts the time of each read; a reply that trickles in would never end.
            async with asyncio.timeout(self._config.timeout_s), self._client.stream("GET", url) as response:
                if response.status_code != httpx.codes.OK:
                    raise self._meaning(response)
                return await self._body(response)
        except (TimeoutError, httpx.TimeoutException):
            raise _Again(f"no answer within {self._config.timeout_s:g} s") from None
        except httpx.TransportError as error:
            raise _Again(self._safe(str(error) or type(error).__name__)) from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:  # cannot be decompressed, too long an address, …
            raise ProviderError(f"the web search at {self._where} failed: {self._safe(str(error))}") from None

    async def _body(self, response: httpx.Response) -> bytes:
        found = bytearray()
        async for piece in response.aiter_bytes():
            found += piece
            if len(found) > MAX_BYTES:
                raise ProviderError(f"the web search at {self._where} answered with more than {MAX_BYTES:,} bytes")
        return bytes(found)

    def _meaning(self, response: httpx.Response) -> Exception:
        status = response.status_code
        if status in RETRIED_STATUS:
            return _Again(f"it answered {status}", _retry_after(response.headers.get("Retry-After")))
        if status in FATAL_STATUS:
            variable = self._config.api_key_env
            key = f"the key in {variable}" if variable else "web.api_key_env (it is not set)"
            return UserError(f"the web search at {self._where} refuses to answer ({status}); check web.url and {key}")
        return ProviderError(f"the web search at {self._where} answered {status} instead of results")

    def _results(self, body: bytes) -> list[str]:
        try:
            reply = json.loads(body)
        except (ValueError, RecursionError):
            start = self._safe(body[:MAX_SEARCHED].decode("utf-8", "replace"))[:60]
            raise self._unreadable(f"is no JSON; it begins with {start!r}") from None
        results = self._at(reply, self._config.results)
        if not isinstance(results, list):
            raise self._unreadable(f"has {_shape(results)} at {self._config.results!r} instead of a list")
        return [self._text(result) for result in results[: self._config.n]]

    def _at(self, reply: Any, path: str) -> Any:
        """What stands in `reply` at a dotted path."""
        found = reply
        for name in path.split(".") if path else ():
            if not isinstance(found, Mapping) or name not in found:
                raise self._unreadable(f"lacks {name!r} of {path!r}; there it has {_shape(found)}")
            found = found[name]
        return found

    def _text(self, result: Any) -> str:
        """A result's text fields, those that it has; a result may also be a plain text."""
        if isinstance(result, str):
            return storable(result)
        fields = [result.get(name) for name in self._config.text] if isinstance(result, Mapping) else []
        texts = [field for field in fields if isinstance(field, str) and field.strip()]
        if not texts:
            wanted = ", ".join(self._config.text)
            raise self._unreadable(f"has a result without text at {wanted}; the result is {_shape(result)}")
        return storable("\n".join(texts))

    def _unreadable(self, what: str) -> ProviderError:
        return ProviderError(f"the reply of the web search at {self._where} {self._safe(what)}")

    def _safe(self, text: str) -> str:
        """On one line, shortened, without the key."""
        cleaned = text.replace(self._key, "***") if self._key else text
        return storable(" ".join(cleaned.split())[:MAX_DETAIL])


class _Again(Exception):
    """An attempt failed in a way that another may not; `after_s`: how long the endpoint asks to wait."""

    def __init__(self, message: str, after_s: float | None = None) -> None:
        super().__init__(message)
        self.after_s = after_s


def check_ready(config: WebSearch) -> None:
    """What can be told before the first search, so that a job can say it before it starts anything.

    Raises:
        UserError: the settings cannot work, or the key's environment variable is not set.
    """
    try:
        url = httpx.URL(config.url)
    except httpx.InvalidURL:
        url = httpx.URL("")
    if url.scheme not in ("http", "https") or not url.host or url.userinfo:
        shown = "…" if "@" in config.url else config.url
        raise UserError(f"web.url={shown!r} is not allowed; it must be an address such as https://host/search, "
                        "without user and password")  # fmt: skip
    rules = {
        "query_parameter": (bool(config.query_parameter.strip()), "the name of a URL parameter"),
        "text": (bool(config.text), "at least one field of a result"),
        "api_key_header": (_HEADER.fullmatch(config.api_key_header) is not None, "the name of an HTTP header"),
        "n": (config.n >= 1, "a whole number of at least 1"),
        "timeout_s": (config.timeout_s > 0, "a number above 0"),
        "max_retries": (0 <= config.max_retries <= 100, "a whole number from 0 to 100"),
    }
    for name, (holds, allowed) in rules.items():
        if not holds:
            raise UserError(f"web.{name}={getattr(config, name)!r} is not allowed; it must be {allowed}")
    _api_key(config)


def _where(url: httpx.URL) -> str:
    """The address without its parameters, which may hold what is not to be shown."""
    return str(url.copy_with(query=None, fragment=None))


def _api_key(config: WebSearch) -> str | None:
    if config.api_key_env is None:
        return None
    if not config.api_key_env.isidentifier():
        raise UserError(
            "web.api_key_env must be the name of an environment variable (letters, digits, _), not the key itself"
        )
    key = os.environ.get(config.api_key_env, "").strip()
    if not key:
        where = _where(httpx.URL(config.url))
        raise UserError(f"the web search at {where} wants a key: set the environment variable {config.api_key_env}")
    if not (key.isascii() and key.isprintable()):
        raise UserError(f"the environment variable {config.api_key_env} holds characters that no HTTP header takes")
    return key


def _key_header(config: WebSearch, key: str | None) -> dict[str, str]:
    """The key as its header wants it: `Authorization` names a scheme, Bearer where the key brings none."""
    if key is None:
        return {}
    scheme = "Bearer " if config.api_key_header.casefold() == "authorization" and " " not in key else ""
    return {config.api_key_header: scheme + key}


def _retry_after(value: str | None) -> float | None:
    """Seconds out of a Retry-After header (RFC 9110, section 10.2.3): a number or a date; None for anything else."""
    if value is None:
        return None
    seconds = re.fullmatch(r"\s*([0-9]{1,9})\s*", value)
    if seconds:
        return float(seconds[1])
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _back_off(attempt: int) -> float:
    """Twice as long each time, spread so that searches that failed together do not come back together."""
    return min(MAX_BACK_OFF_S, BACK_OFF_S * 2.0**attempt) * random.uniform(0.5, 1.0)


def _shape(value: Any) -> str:
    """What a JSON value is, in words: an object by its keys."""
    if isinstance(value, Mapping):
        return "an object with the keys " + ", ".join(map(str, value)) if value else "an object without keys"
    names = {list: "a list", str: "a text", bool: "a truth value", int: "a number", float: "a number"}
    return names.get(type(value), "null")
