"""When a synthesis has enough: the rules, without Ray."""

from __future__ import annotations

from jobs.support.gate import TARGETS_MET, Accepted, Limits, TargetCount
from jobs.support.synthesis_config import BudgetConfig, TargetConfig

NO_BUDGET = BudgetConfig(None, None, None)
SHORT, LONG = "0-16K", "128K+"


def accepted(*ids: str, kind: str = "answerable", language: str = "en", bucket: str = SHORT) -> list[Accepted]:
    return [Accepted(name, kind, language, bucket) for name in ids]


def limits(*targets: TargetConfig, budget: BudgetConfig = NO_BUDGET) -> Limits:
    return Limits(TargetCount(targets), budget, gpus=0.0, usd_per_gpu_hour=0.0)


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


def test_gate_counts_gpu_hours_and_their_price() -> None:
    now = [0.0]
    hours = Limits(TargetCount([]), BudgetConfig(None, 2.0, None), 4.0, 0.0, lambda: now[0])
    money = Limits(TargetCount([]), BudgetConfig(None, None, 5.0), 4.0, 3.0, lambda: now[0])
    now[0] = 1799.0
    assert hours.refuses("b", "en", SHORT, 0) is None
    assert money.refuses("b", "en", SHORT, 0) == "budget.max_usd=5.0 is spent"
    now[0] = 1800.0
    assert hours.refuses("b", "en", SHORT, 0) == "budget.max_gpu_hours=2.0 is spent"


def test_gate_refuses_what_the_bundles_in_flight_leave_no_tokens_for() -> None:
    gate = limits(budget=BudgetConfig(1000, None, None))
    assert gate.refuses("a", "en", SHORT, 600) is None
    assert gate.refuses("b", "en", SHORT, 600) is None, "there was something left"
    assert gate.refuses("c", "en", SHORT, 600) == "budget.max_tokens=1,000 is spent"


def test_gate_expects_bundles_to_cost_what_the_others_did() -> None:
    dear, cheap = (limits(budget=BudgetConfig(1000, None, None)) for _ in range(2))
    for gate, spent in ((dear, 450), (cheap, 1)):
        assert gate.refuses("a", "en", SHORT, 45) is None
        gate.done("a", [], spent)
        assert gate.refuses("b", "en", SHORT, 60) is None
    assert dear.refuses("c", "en", SHORT, 60) == "budget.max_tokens=1,000 is spent"
    assert all(cheap.refuses(f"c{number}", "en", SHORT, 600) is None for number in range(70))


def test_gate_counts_a_bundle_that_is_begun_again_once() -> None:
    gate = limits(budget=BudgetConfig(1000, None, None))
    assert all(gate.refuses("a", "en", SHORT, 600) is None for _ in range(3))
    gate.done("a", [], 10)
    assert gate.refuses("b", "en", SHORT, 600) is None
