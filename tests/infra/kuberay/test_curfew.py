from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlsplit

import pytest

from infra.kuberay.curfew import Api, suspend_if_idle


class FakeKubernetes(ThreadingHTTPServer):
    """One RayCluster, `one`, and its pods, behind the paths of Kubernetes' API."""

    cluster: dict[str, Any]
    pods: list[dict[str, str]]

    class Handler(BaseHTTPRequestHandler):
        server: FakeKubernetes

        def do_GET(self) -> None:
            url = urlsplit(self.path)
            if url.path == "/api/v1/namespaces/askable/pods":
                (selector,) = parse_qs(url.query)["labelSelector"]
                wanted = dict(part.split("=") for part in selector.split(","))
                self.answer({"items": [pod for pod in self.server.pods if wanted.items() <= pod.items()]})
            elif url.path == "/apis/ray.io/v1/namespaces/askable/rayclusters/one":
                self.answer(self.server.cluster)
            else:
                self.send_error(404)

        def do_PATCH(self) -> None:
            assert self.headers["Content-Type"] == "application/merge-patch+json"
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.server.cluster["spec"] |= body["spec"]
            self.answer(self.server.cluster)

        def answer(self, content: Any) -> None:
            assert self.headers["Authorization"] == "Bearer secret"
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(content).encode())

        def log_message(self, format: str, *arguments: Any) -> None:
            """Say nothing."""


@pytest.fixture
def kubernetes() -> Iterator[FakeKubernetes]:
    with FakeKubernetes(("127.0.0.1", 0), FakeKubernetes.Handler) as server:
        server.cluster = {"metadata": {"name": "one"}, "spec": {}}
        server.pods = [
            {"ray.io/cluster": "one", "ray.io/node-type": "head"},
            {"ray.io/cluster": "two", "ray.io/node-type": "worker"},
        ]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def api(server: FakeKubernetes) -> Api:
    return Api(f"http://127.0.0.1:{server.server_port}", "askable", "secret", None)


def test_suspend_cluster_without_workers_is_suspended(kubernetes: FakeKubernetes) -> None:
    assert suspend_if_idle(api(kubernetes), "one") == "one was idle and is suspended now"
    assert kubernetes.cluster["spec"] == {"suspend": True}
    assert suspend_if_idle(api(kubernetes), "one") == "one is suspended already"


def test_suspend_cluster_with_a_worker_is_left_alone(kubernetes: FakeKubernetes) -> None:
    kubernetes.pods.append({"ray.io/cluster": "one", "ray.io/node-type": "worker"})
    assert suspend_if_idle(api(kubernetes), "one") == "one is in use: 1 workers"
    assert kubernetes.cluster["spec"] == {}


def test_suspend_cluster_that_is_to_be_kept_is_left_alone(kubernetes: FakeKubernetes) -> None:
    kubernetes.cluster["metadata"]["labels"] = {"askable/keep": "true"}
    assert suspend_if_idle(api(kubernetes), "one").startswith("one is kept")
    assert kubernetes.cluster["spec"] == {}


def test_suspend_cluster_that_is_not_there_fails(kubernetes: FakeKubernetes) -> None:
    with pytest.raises(HTTPError, match="404"):
        suspend_if_idle(api(kubernetes), "three")
