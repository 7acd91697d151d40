"""Joining a cluster, and what is left of an actor's error."""

from __future__ import annotations

import socket

import pytest
import ray

from jobs.cli import compose
from jobs.config import ClusterConfig, EvaluateConfig
from jobs.support.runtime import Cluster, root_cause
from udfs.errors import UserError


def cluster(address: str) -> ClusterConfig:
    return compose(
        "evaluate", EvaluateConfig, ["datasets=[x]", "model=scripted", f"cluster.address='{address}'"]
    ).cluster


def test_cluster_that_nobody_answers_for_is_a_user_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        with (
            pytest.raises(UserError, match=f"cluster.address='{address}': nobody answers"),
            Cluster(cluster(address), "x"),
        ):
            pass


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (
            "ray.exceptions.RayTaskError: x\n  File a\nValueError: bad row 3\nThe above\nray.exceptions.X: y",
            "ValueError: bad row 3",
        ),
        ("trace\nudfs.errors.UserError: set model.window\nmore", "set model.window"),
        ("no exception is named\nhere", "no exception is named here"),
    ],
)
def test_root_cause_is_the_first_exception_that_is_not_rays(text: str, cause: str) -> None:
    assert root_cause(RuntimeError(text)) == cause
