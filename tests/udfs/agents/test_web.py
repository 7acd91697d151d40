from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from email.utils import formatdate
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer
from hypothesis import given
from hypothesis import strategies as st

from udfs.agents import web as searching
from udfs.agents.spec import WebSearch
from udfs.agents.web import HttpSearcher
from udfs.engines.base import ProviderError
from udfs.errors import UserError

KEY = "very-secret-0123456789"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
RESULTS = [
    {"title": "Gannet Stack", "snippet": "A rock in the sound.", "rank": 1},
    {"title": "Perpetua", "snippet": "A supply boat."},
    {"title": "Porthenys", "snippet": None},
]


class Fake:
    """A search endpoint that takes its behaviour from a list, one entry a request, the last one for all further."""

    def __init__(self) -> None:
        self.handlers: list[Handler] = []
        self.asked: list[web.Request] = []
        self.url = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request)
        return await self.handlers[min(len(self.asked), len(self.handlers)) - 1](request)


@asynccontextmanager
async def serving() -> AsyncIterator[Fake]:
    server = Fake()
    application = web.Application()
    application.router.add_get("/search", server.handle)
    async with TestServer(application) as running:
        server.url = str(running.make_url("/search"))
        yield server


@pytest_asyncio.fixture
async def fake() -> AsyncIterator[Fake]:
    async with serving() as server:
        yield server


@pytest.fixture
def config(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> WebSearch:
    monkeypatch.setenv("ASKABLE_TEST_KEY", KEY)
    monkeypatch.setattr(searching, "BACK_OFF_S", 0.001)
    return WebSearch(
        url=fake.url,
        results="web.results",
        api_key_env="ASKABLE_TEST_KEY",
        api_key_header="X-Key",
        timeout_s=5,
        max_retries=1,
    )


def found(results: Any = RESULTS) -> Handler:
    return body(json.dumps({"web": {"results": results}}).encode())


def body(content: bytes, code: int = 200, headers: dict[str, str] | None = None) -> Handler:
    async def handler(request: web.Request) -> web.StreamResponse:
        return web.Response(body=content, status=code, headers={"Content-Type": "application/json"} | (headers or {}))

    return handler


def echo(code: int = 200) -> Handler:
    """The request's headers, key included, as the reply."""

    async def handler(request: web.Request) -> web.StreamResponse:
        return web.Response(text=f"{request.headers['X-Key']} {dict(request.headers)}", status=code)

    return handler


async def hang(request: web.Request) -> web.StreamResponse:
    await asyncio.sleep(3600)
    return web.Response()


async def trickle(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(b" ")
        await asyncio.sleep(0.02)


async def cut(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": "1000"})
    await response.prepare(request)
    await response.write(b'{"web": ')
    assert request.transport is not None
    request.transport.abort()
    return response


async def search(config: WebSearch, query: str = "Who keeps the light?") -> list[str]:
    searcher = HttpSearcher(config)
    try:
        return await searcher.search(query)
    finally:
        await searcher.aclose()


async def test_search_results_are_their_text_fields_in_order(fake: Fake, config: WebSearch) -> None:
    fake.handlers = [found()]
    assert await search(config) == ["Gannet Stack\nA rock in the sound.", "Perpetua\nA supply boat.", "Porthenys"]


async def test_search_more_results_than_n_gives_the_first_n(fake: Fake, config: WebSearch) -> None:
    fake.handlers = [found()]
    assert await search(replace(config, n=2, text=("title",))) == ["Gannet Stack", "Perpetua"]


async def test_search_no_results_is_an_empty_list(fake: Fake, config: WebSearch) -> None:
    fake.handlers = [found([])]
    assert await search(config) == []


async def test_search_reply_that_is_the_list_of_texts_is_read(fake: Fake, config: WebSearch) -> None:
    fake.handlers = [body(b'["one", "two"]')]
    assert await search(replace(config, results="")) == ["one", "two"]


@pytest.mark.parametrize("query", ["谁看守灯塔？", "a&b=c #d %20", "half \ud800 a pair"])
async def test_search_query_parameters_and_key_arrive(fake: Fake, config: WebSearch, query: str) -> None:
    fake.handlers = [found()]
    url = f"{fake.url}?market=x"
    await search(replace(config, url=url, query_parameter="question", parameters={"count": "5"}), query)
    (asked,) = fake.asked
    expected = query.replace("\ud800", "\\ud800")
    assert dict(asked.query) == {"market": "x", "count": "5", "question": expected}
    assert asked.headers["X-Key"] == KEY


async def test_search_authorization_header_names_a_scheme(
    fake: Fake, config: WebSearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.handlers = [found()]
    await search(replace(config, api_key_header="Authorization"))
    monkeypatch.setenv("ASKABLE_TEST_KEY", "Token abc")
    await search(replace(config, api_key_header="Authorization"))
    await search(replace(config, api_key_env=None, api_key_header="Authorization"))
    sent = [asked.headers.get("Authorization") for asked in fake.asked]
    assert sent == [f"Bearer {KEY}", "Token abc", None]


@pytest.mark.parametrize("first", [body(b"", 429), body(b"", 503), cut], ids=["429", "503", "cut"])
async def test_search_failure_that_passes_is_retried(fake: Fake, config: WebSearch, first: Handler) -> None:
    fake.handlers = [first, found()]
    assert len(await search(config)) == 3
    assert len(fake.asked) == 2


@pytest.mark.parametrize(
    ("handler", "tries", "told"),
    [
        pytest.param(body(b"", 429), 3, "429", id="429"),
        pytest.param(body(b"", 500), 3, "500", id="500"),
        pytest.param(cut, 3, "3 tries", id="cut"),
        pytest.param(body(b"", 400), 1, "400", id="400"),
        pytest.param(body(b"", 302, {"Location": "http://127.0.0.1:9/"}), 1, "302", id="redirect"),
        pytest.param(body(b"<html>gateway</html>"), 1, "<html>gateway", id="garbage"),
        pytest.param(body(b""), 1, "no JSON", id="empty"),
        pytest.param(body(b"\xff\xfe{"), 1, "no JSON", id="bad-utf8"),
        pytest.param(body(b"[" * 100_000), 1, "no JSON", id="deep"),
        pytest.param(body(b'{"web": {"hits": [], "total": 3}}'), 1, "keys hits, total", id="no-path"),
        pytest.param(body(b'{"error": "quota"}'), 1, "'web' of 'web.results'; there it has an object", id="error-body"),
        pytest.param(body(b"[1, 2]"), 1, "a list", id="list-instead-of-object"),
        pytest.param(body(b'{"web": {"results": {"a": 1}}}'), 1, "instead of a list", id="no-list"),
        pytest.param(found([{"name": "x", "rank": 2}]), 1, "keys name, rank", id="no-text"),
        pytest.param(found([7]), 1, "a number", id="result-is-a-number"),
        pytest.param(body(b"not gzip", headers={"Content-Encoding": "gzip"}), 1, "failed", id="bad-gzip"),
    ],
)
async def test_search_failure_is_a_provider_error_that_says_what_came(
    fake: Fake, config: WebSearch, handler: Handler, tries: int, told: str
) -> None:
    fake.handlers = [handler]
    with pytest.raises(ProviderError) as caught:
        await search(replace(config, max_retries=2))
    assert told in str(caught.value)
    assert len(fake.asked) == tries


@pytest.mark.parametrize("handler", [hang, trickle], ids=["hang", "trickle"])
async def test_search_no_answer_in_time_is_a_provider_error(fake: Fake, config: WebSearch, handler: Handler) -> None:
    fake.handlers = [handler]
    with pytest.raises(ProviderError, match=r"after 2 tries: no answer within 0\.2 s"):
        await search(replace(config, timeout_s=0.2))


async def test_search_nobody_listens_is_a_provider_error(config: WebSearch) -> None:
    with pytest.raises(ProviderError, match="after 2 tries"):
        await search(replace(config, url="http://127.0.0.1:9/search"))


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "compressed"])
async def test_search_reply_over_the_limit_is_an_error_and_not_cut(fake: Fake, config: WebSearch, packed: bool) -> None:
    content = json.dumps({"web": {"results": [{"title": "x" * searching.MAX_BYTES}]}}).encode()
    headers = {"Content-Encoding": "gzip"} if packed else {}
    fake.handlers = [body(gzip.compress(content) if packed else content, headers=headers)]
    with pytest.raises(ProviderError, match="more than 4,194,304 bytes"):
        await search(config)
    assert len(fake.asked) == 1


async def test_search_retry_after_is_kept_to(fake: Fake, config: WebSearch) -> None:
    fake.handlers = [body(b"", 429, {"Retry-After": "1"}), found()]
    started = asyncio.get_running_loop().time()
    await search(config)
    assert asyncio.get_running_loop().time() - started >= 1


@pytest.mark.parametrize("value", ["3600", formatdate(4_000_000_000, usegmt=True)], ids=["seconds", "date"])
async def test_search_retry_after_beyond_patience_is_not_waited_for(fake: Fake, config: WebSearch, value: str) -> None:
    fake.handlers = [body(b"", 429, {"Retry-After": value})]
    with pytest.raises(ProviderError, match="429"):
        await search(replace(config, max_retries=5))
    assert len(fake.asked) == 1


DATES = st.builds("{} {} {} {}:{}:{} {}".format, st.integers(0, 40), st.sampled_from(["Jan", "Mar", "Xyz"]),
                  *[st.integers(0, 10_000)] * 4, st.sampled_from(["GMT", "-0000", "+9999", ""]))  # fmt: skip


@given(st.text(max_size=40) | DATES)
def test_retry_after_any_text_is_seconds_or_none(value: str) -> None:
    seconds = searching._retry_after(value)
    assert seconds is None or seconds >= 0


@pytest.mark.parametrize("code", [401, 403, 404])
async def test_search_refused_for_good_is_for_people(fake: Fake, config: WebSearch, code: int) -> None:
    fake.handlers = [echo(code)]
    with pytest.raises(UserError, match="ASKABLE_TEST_KEY") as caught:
        await search(config)
    assert KEY not in str(caught.value)
    assert len(fake.asked) == 1


@pytest.mark.parametrize(
    "handler",
    [
        echo(),
        echo(500),
        echo(400),
        body(b"x" * (searching.MAX_SEARCHED - 5) + KEY.encode()),
        body(b"x" * 50 + KEY.encode()),
        body(json.dumps({KEY: 1}).encode()),
        found([{KEY: 1}]),
        body(b'"' + KEY.encode() + b'"'),
    ],
)
async def test_search_error_never_shows_the_key(fake: Fake, config: WebSearch, handler: Handler) -> None:
    fake.handlers = [handler]
    with pytest.raises(ProviderError) as caught:
        await search(config)
    assert KEY[:8] not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"url": "host/search"}, "web.url"),
        ({"url": "https://"}, "web.url"),
        ({"url": "http://[::1"}, "web.url"),
        ({"url": "https://me:secret@host/"}, "web.url"),
        ({"query_parameter": " "}, "web.query_parameter"),
        ({"text": ()}, "web.text"),
        ({"n": 0}, "web.n"),
        ({"timeout_s": 0}, "web.timeout_s"),
        ({"max_retries": -1}, "web.max_retries"),
        ({"api_key_header": "X Key:"}, "web.api_key_header"),
        ({"api_key_env": "sk-secret"}, "web.api_key_env"),
        ({"api_key_env": "ASKABLE_TEST_NO_KEY"}, "ASKABLE_TEST_NO_KEY"),
        ({"api_key_env": "ASKABLE_TEST_ODD_KEY"}, "ASKABLE_TEST_ODD_KEY"),
    ],
)
def test_searcher_settings_that_cannot_work_are_refused(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], named: str
) -> None:
    monkeypatch.delenv("ASKABLE_TEST_NO_KEY", raising=False)
    monkeypatch.setenv("ASKABLE_TEST_ODD_KEY", "sécret\nsecret")
    with pytest.raises(UserError, match=named) as caught:
        HttpSearcher(replace(WebSearch(url="https://host/search"), **changes))
    assert "secret" not in str(caught.value)
