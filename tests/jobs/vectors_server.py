"""A local embeddings endpoint in a thread, for jobs whose actors are other processes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


class VectorsServer(ThreadingHTTPServer):
    """Counts the letters of each text as its vector."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.texts: Counter[str] = Counter()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, VectorsServer)
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        self.server.texts.update(texts)
        vectors = [[Counter(ord(letter) % 50 for letter in text)[place] for place in range(50)] for text in texts]
        data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(vectors)]
        body = json.dumps({"object": "list", "model": "m", "data": data}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        return None


@contextmanager
def serving_vectors() -> Iterator[VectorsServer]:
    """The server, on a free port of the loopback interface."""
    server = VectorsServer()
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
