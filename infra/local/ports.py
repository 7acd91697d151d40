"""Ports that nobody listens on."""

from __future__ import annotations

import socket


def free_ports(n: int) -> list[int]:
    """`n` different ports of the loopback interface that are free now. Another program may still be quicker."""
    sockets = [socket.socket() for _ in range(n)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()
