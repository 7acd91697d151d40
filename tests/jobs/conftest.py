"""What the tests of jobs share: a Ray on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import ray


@contextmanager
def local_ray() -> Iterator[Path]:
    """A Ray of its own, even where another runs on this machine; jobs use the one that is there. Gives its folder."""
    ray.init("local", num_cpus=4, object_store_memory=200 * 2**20, include_dashboard=False, log_to_driver=False)
    try:
        yield Path(ray.worker.global_worker.node.get_session_dir_path())
    finally:
        ray.shutdown()


@pytest.fixture(scope="module")
def ray_cluster() -> Iterator[None]:
    """One Ray for the module."""
    with local_ray():
        yield
