"""When a budget is spent: the rules, without Ray, and what the runs table says of earlier starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs.config import BudgetConfig
from jobs.support.budget import PlannedSpending, Spending, Spent, over, spent_before
from tests.factories import frame, make_run
from udfs.stages.gate import Cost
from udfs.tables.store import Store

TOKENS = BudgetConfig(1000, None, None)


def spending(budget: BudgetConfig = TOKENS, before: Spent | None = None) -> Spending:
    return Spending(budget, gpus=0.0, gpu_price=0.0, before=before)


def test_spending_refuses_what_the_bundles_in_flight_leave_no_tokens_for() -> None:
    gate = spending()
    assert gate.refuses("a", Cost(600)) is None
    assert gate.refuses("b", Cost(600)) is None, "there was something left"
    assert gate.refuses("c", Cost(600)) == "budget.max_tokens=1,000 is spent"


def test_spending_expects_bundles_to_cost_what_the_others_did() -> None:
    dear, cheap = spending(), spending()
    for gate, spent in ((dear, 450), (cheap, 1)):
        assert gate.refuses("a", Cost(45)) is None
        gate.done("a", Cost(spent))
        assert gate.refuses("b", Cost(60)) is None
    assert dear.refuses("c", Cost(60)) == "budget.max_tokens=1,000 is spent"
    assert all(cheap.refuses(f"c{number}", Cost(600)) is None for number in range(70))


def test_spending_counts_a_bundle_that_is_begun_again_once() -> None:
    gate = spending()
    assert all(gate.refuses("a", Cost(600)) is None for _ in range(3))
    gate.done("a", Cost(10))
    assert gate.refuses("b", Cost(600)) is None


def test_spending_counts_what_earlier_starts_have_spent() -> None:
    gate = spending(before=Spent(tokens=990))
    assert gate.refuses("a", Cost(600)) is None
    gate.done("a", Cost(10))
    assert gate.refuses("b", Cost(1)) == "budget.max_tokens=1,000 is spent"


def test_spending_counts_gpu_hours_and_their_price_beside_what_endpoints_charge() -> None:
    now = [0.0]
    hours = Spending(BudgetConfig(None, 2.0, None), 4.0, 0.0, None, lambda: now[0])
    money = Spending(BudgetConfig(None, None, 5.0), 4.0, 2.0, None, lambda: now[0])
    charged = Spending(BudgetConfig(None, None, 5.0), 0.0, 0.0, None, lambda: now[0])
    now[0] = 1799.0
    assert hours.refuses("a", Cost()) is None
    assert money.refuses("a", Cost(usd=1.1)) is None
    assert money.refuses("b", Cost()) == "budget.max_usd=5.0 is spent"
    assert charged.refuses("a", Cost(usd=4.9)) is None
    charged.done("a", Cost(usd=5.0))
    assert charged.refuses("b", Cost()) == "budget.max_usd=5.0 is spent"
    now[0] = 1800.0
    assert hours.refuses("b", Cost()) == "budget.max_gpu_hours=2.0 is spent"


def test_spending_of_gpu_hours_leaves_time_for_the_next_bundle() -> None:
    now = [0.0]
    gate = Spending(BudgetConfig(None, 1.0, None), 1.0, 0.0, None, lambda: now[0])
    assert gate.refuses("a", Cost(100)) is None
    now[0] = 1200.0
    gate.done("a", Cost(100))
    now[0] = 2000.0
    assert gate.refuses("b", Cost(100)) is None, "a third of an hour is left, and it takes as long"
    now[0] = 2500.0
    assert gate.refuses("c", Cost(100)) == "budget.max_gpu_hours=1.0 is spent"
    assert gate.refuses("d", Cost(10)) is None, "a short one still fits"


def test_planned_spending_begins_no_bundle_once_a_cap_was_reached() -> None:
    gate = PlannedSpending(spending(), {"a": Cost(1000), "b": Cost(1)})
    assert gate.refuses("a") is None
    assert gate.refuses("b") is not None
    gate.done("a", Cost(1))
    assert gate.refuses("b") == gate.read() == "budget.max_tokens=1,000 is spent"


def test_planned_spending_takes_an_unknown_bundle_for_one_like_the_others() -> None:
    gate = PlannedSpending(spending(), {"a": Cost(900), "b": Cost(1100)})
    assert gate.refuses("unknown") is None
    assert gate.refuses("a") is not None


@pytest.mark.parametrize(
    ("spent", "cap"),
    [
        (Spent(999, 9.9, 9.9), None),
        (Spent(1000, 0, 0), "budget.max_tokens=1,000"),
        (Spent(0, 10.0, 0), "budget.max_gpu_hours=10.0"),
        (Spent(0, 0, 10.0), "budget.max_usd=10.0"),
    ],
)
def test_over_names_the_cap_that_is_reached(spent: Spent, cap: str | None) -> None:
    assert over(BudgetConfig(1000, 10.0, 10.0), spent) == cap


def test_spent_before_adds_up_the_stages_of_the_run_killed_ones_too(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    rows = [
        make_run(number=0, run="main", prompt_tokens=1000, cached_tokens=800, output_tokens=30, gpu_hours=0.5, usd=1.0),
        make_run(number=1, run="main", job="judge", status="running", prompt_tokens=100, cached_tokens=0,
                 output_tokens=5, gpu_hours=0.25, usd=0.5),
        make_run(number=2, run="main", job="synthesize", prompt_tokens=7, cached_tokens=0),
    ]  # fmt: skip
    for row in rows:
        store.write("runs", "main", frame("runs", [row]).to_arrow())
    store.write("runs", "other", frame("runs", [make_run(number=3, run="other")]).to_arrow())
    assert spent_before(store, "main", ["evaluate", "judge"]) == Spent(335, 0.75, 1.5)
    assert spent_before(store, "main", ["evaluate", "judge"], but=rows[0]["start_id"]) == Spent(105, 0.25, 0.5)
    assert spent_before(store, "none", ["evaluate"]) == Spent()
