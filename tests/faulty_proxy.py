"""A proxy on the loopback interface that lets a server misbehave: slow, unavailable, cut off, half an answer."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

Fault = Literal["reset", "unavailable", "half", "slow"]
SLOW_SECONDS = 4.0
"""More than what S3 clients wait for a first byte where nobody tells them to be patient (3 s)."""
REASON = b"<?xml version='1.0'?><Error><Code>SlowDown</Code><Message>Reduce your request rate</Message></Error>"
UNAVAILABLE = b"HTTP/1.1 503 Slow Down\r\nContent-Type: application/xml\r\nContent-Length: %d\r\n" % len(REASON)
UNAVAILABLE += b"Connection: close\r\n\r\n" + REASON


class FaultyProxy:
    """Passes requests on to a port of this machine, one a connection; the next ones fail as `faults` says.

    Args:
        port: of the server behind it.
    """

    def __init__(self, port: int) -> None:
        self.port = port
        self.faults: deque[Fault] = deque()
        self.done: list[Fault] = []
        """Faults that a request has met."""
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._never = threading.Event()
        self._thread = threading.Thread(target=self._accept, name="proxy", daemon=True)
        self._thread.start()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def close(self) -> None:
        self._never.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(10)

    def _accept(self) -> None:
        while not self._never.is_set():
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            fault = self.faults.popleft() if self.faults else None
            threading.Thread(target=self._serve, args=(client, fault), daemon=True).start()

    def _serve(self, client: socket.socket, fault: Fault | None) -> None:
        with client, contextlib.suppress(OSError):  # whoever left is gone
            head = _head(client)
            if not head:
                if fault:
                    self.faults.appendleft(fault)  # nobody asked anything
                return
            if fault:
                self.done.append(fault)
            if fault == "reset":
                _reset(client)
            elif fault == "unavailable":
                client.sendall(UNAVAILABLE)
            else:
                if fault == "slow":
                    self._never.wait(SLOW_SECONDS)
                self._pass_on(client, head, fault == "half")

    def _pass_on(self, client: socket.socket, head: bytes, half: bool) -> None:
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as server:
            server.sendall(head.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
            threading.Thread(target=_pump, args=(client, server), daemon=True).start()
            if not half:
                _pump(server, client)
                return
            answer = b"".join(iter(lambda: server.recv(65536), b""))
            client.sendall(answer[: (answer.index(b"\r\n\r\n") + 4 + len(answer)) // 2])
            client.shutdown(socket.SHUT_RDWR)  # a close alone would wait for the thread that still reads


def _head(client: socket.socket) -> bytes:
    """The head of a request and what came with it; empty where the client left."""
    head = b""
    while b"\r\n\r\n" not in head:
        part = client.recv(65536)
        if not part:
            return b""
        head += part
    return head


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while part := source.recv(65536):
            target.sendall(part)
        target.shutdown(socket.SHUT_WR)


def _reset(client: socket.socket) -> None:
    """Close so that the other side sees a connection that was cut, not one that ended."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@contextmanager
def faulty_proxy(port: int) -> Iterator[FaultyProxy]:
    """A proxy for the server at `port`, closed in the end."""
    proxy = FaultyProxy(port)
    try:
        yield proxy
    finally:
        proxy.close()
