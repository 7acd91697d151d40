"""A local OpenAI-compatible server that behaves, and misbehaves, as it is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Fake:
    """A local server that takes its behaviour from a list, one entry a request, the last one for all further ones."""

    def __init__(self) -> None:
        self.handlers: list[Handler] = []
        self.bodies: list[dict[str, Any]] = []
        self.running = 0
        self.most_running = 0
        self.base_url = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.bodies.append(await request.json())
        handler = self.handlers[min(len(self.bodies), len(self.handlers)) - 1]
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            return await handler(request)
        finally:
            self.running -= 1


def reply(text: str | None = "Nine.", finish_reason: str = "stop", **message: Any) -> Handler:
    choice = {"index": 0, "finish_reason": finish_reason, "message": {"role": "assistant", "content": text, **message}}
    usage = {
        "prompt_tokens": 30,
        "completion_tokens": 2,
        "total_tokens": 32,
        "prompt_tokens_details": {"cached_tokens": 16},
    }
    return raw(
        {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}
    )


def raw(body: dict[str, Any]) -> Handler:
    async def handler(request: web.Request) -> web.StreamResponse:
        return web.json_response(body)

    return handler


def vectors(backwards: bool = False) -> Handler:
    """For `/embeddings`: vectors (length of the text, 1), not normalised."""

    async def handler(request: web.Request) -> web.StreamResponse:
        texts = (await request.json())["input"]
        data = [
            {"object": "embedding", "index": index, "embedding": [float(len(text)), 1.0]}
            for index, text in enumerate(texts)
        ]
        return web.json_response({"object": "list", "model": "m", "data": data[::-1] if backwards else data})

    return handler


def status(code: int, error: dict[str, Any] | None = None) -> Handler:
    async def handler(request: web.Request) -> web.StreamResponse:
        return web.json_response(
            {"error": error or {"message": f"code {code}"}}, status=code, headers={"retry-after-ms": "1"}
        )

    return handler


async def hang(request: web.Request) -> web.StreamResponse:
    await asyncio.sleep(3600)
    return web.Response()


async def cut(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "1000"})
    await response.prepare(request)
    await response.write(b'{"id": "1", "choices": [')
    assert request.transport is not None
    request.transport.abort()
    return response


async def not_json(request: web.Request) -> web.StreamResponse:
    return web.Response(text="<html>gateway</html>", content_type="text/html")


@asynccontextmanager
async def serving() -> AsyncIterator[Fake]:
    """The server, on a free port of the loopback interface."""
    server = Fake()
    application = web.Application()
    application.router.add_post("/v1/chat/completions", server.handle)
    application.router.add_post("/v1/embeddings", server.handle)
    async with TestServer(application) as running:
        server.base_url = str(running.make_url("/v1"))
        yield server
