"""An engine's process, the driver and the head that die, and an object store that is too small."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest

from infra.bench.memory import document_row, question_row
from tests.faults.ray_nodes import Nodes
from tests.faults.runs import IN_FLIGHT_CALLS, Cost, Evaluation
from udfs.tables.store import Store

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
Report = Callable[[Cost], None]


def test_engine_process_killed_costs_its_bundles_in_flight(nodes: Nodes, run: Evaluation, report: Report) -> None:
    node = nodes.add(cpus=3)
    run.start(nodes)
    run.working(nodes)
    node.holders(run.log)[0].kill()
    run.struck()
    run.wait()
    run.check()
    report(run.cost("an engine's process killed", IN_FLIGHT_CALLS))


def test_driver_killed_and_started_again_asks_only_for_what_is_owed(
    nodes: Nodes, run: Evaluation, report: Report
) -> None:
    nodes.add(cpus=3)
    run.start(nodes)
    run.working(nodes)
    assert run.process is not None
    run.process.kill()
    run.wait(-signal.SIGKILL)
    recorded = set(run.responses()["response_id"])
    made = run.calls()
    run.struck()
    run.start(nodes)
    run.wait()
    run.check()
    again = run.calls() - made
    assert not {call.partition("\t")[0] for call in again} & recorded, "a recorded response was asked for again"
    report(run.cost("driver killed, started again", 2 * IN_FLIGHT_CALLS))


def test_head_lost_and_job_submitted_to_a_new_cluster_goes_on(run: Evaluation, report: Report) -> None:
    with Nodes() as lost:
        lost.add(cpus=3)
        run.start(lost)
        run.working(lost)
        lost.head.kill()
        run.struck()
        run.wait(code=None)
    with Nodes() as nodes:
        nodes.add(cpus=3)
        run.start(nodes)
        run.wait()
    run.check()
    report(run.cost("head lost, submitted to a new cluster", 2 * IN_FLIGHT_CALLS))


def test_object_store_smaller_than_the_documents_is_no_end(nodes: Nodes, run: Evaluation, report: Report) -> None:
    texts = [
        f"Harbour book {number}. " + "Two barges lay at the quay, one of them with salt. " * 80_000
        for number in range(40)
    ]
    documents = [document_row("heavy", text) for text in texts]
    store = Store(run.root)
    store.write("documents", "heavy", documents)
    store.write("questions", "heavy", [question_row("heavy", row["doc_id"]) for row in documents])
    nodes.add(object_store_mb=80)
    run.dataset, run.methods = "heavy", ("zs",)
    run.start(nodes, "cluster.actors=1", "model.delay_s=0.2")
    run.wait()
    run.check()
    report(run.cost("object store half as large as the documents", 0))
