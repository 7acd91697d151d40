"""Worker nodes that are killed, drained, or come late, under a running evaluation."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.faults.ray_nodes import Nodes, wait_for
from tests.faults.runs import IN_FLIGHT_CALLS, Cost, Evaluation

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
Report = Callable[[Cost], None]


def test_node_drained_with_notice_costs_at_most_its_bundles_in_flight(
    nodes: Nodes, run: Evaluation, report: Report
) -> None:
    nodes.add()
    nodes.add()
    run.start(nodes)
    run.working(nodes)[0].drain()
    run.struck()
    nodes.add()
    run.wait()
    run.check()
    report(run.cost("node drained, another comes", IN_FLIGHT_CALLS))


def test_two_nodes_killed_in_a_row_cost_their_bundles_in_flight(nodes: Nodes, run: Evaluation, report: Report) -> None:
    nodes.add()
    nodes.add()
    run.start(nodes)
    first = run.working(nodes)[0]
    assert any("Board" in title for title in nodes.head.titles()), "what adds up lives beside the driver"
    first.kill()
    run.struck()
    nodes.add()
    wait_for(lambda: any(node is not first for node in nodes.working(run.log)), "another engine at work")
    next(node for node in nodes.working(run.log) if node is not first).kill()
    nodes.add()
    run.wait()
    run.check()
    report(run.cost("two nodes killed in a row, others come", 2 * IN_FLIGHT_CALLS))


def test_node_that_joins_late_takes_work_and_what_it_loses_is_done_by_the_other(
    nodes: Nodes, run: Evaluation, report: Report
) -> None:
    run.start(nodes, "cluster.actor_cpus=2", "model.delay_s=1.5")
    wait_for(lambda: "bundles" in run.said() or run.poll() is not None, "the job's first line")
    nodes.add(cpus=3)  # room for the reader and one engine: the run starts with what is there
    run.working(nodes)
    late = nodes.add(cpus=2)
    wait_for(lambda: bool(late.holders(run.log)) or run.poll() is not None, "work on the node that came late")
    assert late.holders(run.log)
    late.kill()  # and none comes: the first node has no room for its engine
    run.struck()
    run.wait()
    run.check()
    report(run.cost("a node comes late and is killed, none comes", IN_FLIGHT_CALLS))
