"""When a synthesis has enough: the rules, without Ray."""

from __future__ import annotations

from jobs.config import BudgetConfig
from jobs.support.budget import Spending
from jobs.support.gate import TARGETS_MET, Accepted, Limits, TargetCount
from jobs.support.synthesis_config import TargetConfig

NO_BUDGET = BudgetConfig(None, None, None)
SHORT, LONG = "0-16K", "128K+"


def accepted(*ids: str, kind: str = "answerable", language: str = "en", bucket: str = SHORT) -> list[Accepted]:
    return [Accepted(name, kind, language, bucket) for name in ids]


def limits(*targets: TargetConfig, budget: BudgetConfig = NO_BUDGET) -> Limits:
    return Limits(TargetCount(targets), Spending(budget, gpus=0.0, gpu_price=0.0))


def test_gate_without_targets_or_budget_refuses_nothing() -> None:
    gate = limits()
    gate.done("b", accepted("a"), 10**9)
    assert gate.refuses("b", "en", SHORT, 0) is None


def test_gate_refuses_a_stratum_once_all_targets_that_it_serves_are_met() -> None:
    gate = limits(TargetConfig(2, language="en"), TargetConfig(1, "lack_of_evidence", "zh", SHORT))
    gate.done("b", accepted("a", "b"), 0)
    assert gate.refuses("b", "en", SHORT, 0) == TARGETS_MET
    assert gate.refuses("b", "zh", SHORT, 0) is None
    assert gate.refuses("b", "zh", LONG, 0) == TARGETS_MET
    gate.done("b", accepted("c", language="zh"), 0)
    assert gate.refuses("b", "zh", SHORT, 0) is None, "an answerable one does not count"
    gate.done("b", accepted("d", kind="lack_of_evidence", language="zh"), 0)
    assert gate.refuses("b", "zh", SHORT, 0) == TARGETS_MET
    assert gate.read().refused == {TARGETS_MET: 3}
    assert gate.read().budget is None


def test_target_without_keys_counts_everything() -> None:
    gate = limits(TargetConfig(3))
    gate.done("b", [*accepted("a"), *accepted("b", language="zh", bucket=LONG)], 0)
    assert gate.refuses("b", "en", SHORT, 0) is None
    gate.done("b", accepted("c", kind="lack_of_evidence"), 0)
    assert gate.refuses("b", "en", SHORT, 0) == TARGETS_MET


def test_targets_count_a_candidate_once_even_when_its_bundle_is_run_again() -> None:
    counted = TargetCount([TargetConfig(2)], accepted("a"))
    counted.add(accepted("a"))
    assert counted.have == [1]
    assert counted.wants("en", SHORT)


def test_gate_refuses_everything_once_the_tokens_are_spent() -> None:
    gate = limits(budget=BudgetConfig(1000, None, None))
    gate.done("b", [], 999)
    assert gate.refuses("b", "en", SHORT, 0) is None
    gate.done("b", [], 1)
    assert gate.refuses("b", "en", SHORT, 0) == "budget.max_tokens=1,000 is spent"
    assert gate.read().budget == "budget.max_tokens=1,000 is spent"


def test_gate_refuses_what_the_bundles_in_flight_leave_no_tokens_for() -> None:
    gate = limits(budget=BudgetConfig(1000, None, None))
    assert gate.refuses("a", "en", SHORT, 600) is None
    assert gate.refuses("b", "en", SHORT, 600) is None, "there was something left"
    assert gate.refuses("c", "en", SHORT, 600) == "budget.max_tokens=1,000 is spent"
