"""What the fault tests share: a cluster, the sample, and where what an event cost is noted."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jobs.cli import compose
from jobs.ingest import IngestConfig, ingest
from tests.faults.ray_nodes import Nodes
from tests.faults.runs import COST, Cost, Evaluation


@pytest.fixture(scope="session")
def head() -> Iterator[Nodes]:
    """A head without worker nodes."""
    with Nodes() as started:
        yield started


@pytest.fixture
def nodes(head: Nodes) -> Iterator[Nodes]:
    """A head; the worker nodes that a test adds end with it."""
    yield head
    head.clear()


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A storage root with the sample in it."""
    where = str(tmp_path_factory.mktemp("faults") / "root")
    ingest(compose("ingest", IngestConfig, ["source=sample", "name=sample", f"storage.root={where}"]))
    return where


@pytest.fixture
def run(root: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Evaluation]:
    """An evaluation of the sample, named as the test; nothing of it runs on."""
    name = str(request.node.name).removeprefix("test_").replace("[", "-").replace("]", "")
    with Evaluation(root, name, tmp_path / "calls") as evaluation:
        yield evaluation


@pytest.fixture
def report(record_property: Callable[[str, object], None]) -> Callable[[Cost], None]:
    """Takes what an event cost; the table is printed when the tests have ended."""
    return lambda cost: record_property(COST, dataclasses.asdict(cost))
