"""Plans and budgets with the scripted engine: what was planned is what it takes, and a cap ends a run in time."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import polars as pl
import pytest

from jobs.cli import compose
from jobs.config import EvaluateConfig
from jobs.evaluate import evaluate
from jobs.ingest import IngestConfig, ingest
from jobs.plan import plan, plan_and_show
from jobs.report import ReportConfig, report
from jobs.support.plan_config import PlanConfig
from jobs.support.planning import RunPlan
from jobs.support.storage import SUBMITTED_VARIABLE
from udfs.errors import UserError
from udfs.tables.store import Store

DIALOGUES = 144
ONE_BY_ONE = "cluster.blocks_per_actor=1"


pytestmark = pytest.mark.usefixtures("ray_cluster")


@pytest.fixture
def root(tmp_path: Path) -> str:
    """A storage root with the sample in it."""
    where = str(tmp_path / "root")
    ingest(compose("ingest", IngestConfig, ["source=sample", "name=sample", f"storage.root={where}"]))
    return where


def given(root: str, *overrides: str) -> list[str]:
    return ["model=scripted", "datasets=[sample]", "methods=[zs]", f"storage.root={root}", ONE_BY_ONE, *overrides]


def run(root: str, *overrides: str) -> None:
    evaluate(compose("evaluate", EvaluateConfig, given(root, *overrides)))


def planned(root: str, *overrides: str) -> RunPlan:
    return plan(compose("plan", PlanConfig, given(root, *overrides)))


def spent_tokens(root: str) -> int:
    """Computed and output tokens of all stages, by the runs table."""
    runs = Store(root).read("runs")
    return int((runs["prompt_tokens"] - runs["cached_tokens"] + runs["output_tokens"]).sum())


def test_plan_config_is_the_evaluations_and_how_to_plan() -> None:
    config = compose("plan", PlanConfig, given("x"))
    same = {field.name: getattr(config, field.name) for field in dataclasses.fields(EvaluateConfig)}
    assert EvaluateConfig(**same) == compose("evaluate", EvaluateConfig, given("x"))
    assert set(PlanConfig.__dataclass_fields__) - set(EvaluateConfig.__dataclass_fields__) == {"plan"}
    assert set(dataclasses.asdict(config.plan)) == {"documents", "calibrate", "bundles", "json"}
    assert set(dataclasses.asdict(config.budget)) == {"max_tokens", "max_gpu_hours", "max_usd", "partial"}


def test_plan_of_a_submitted_job_refuses_a_file_that_would_be_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SUBMITTED_VARIABLE, "{}")
    with pytest.raises(UserError, match=r"plan\.json='plan\.json' is relative"):
        compose("plan", PlanConfig, given("s3://bucket/x", "storage=s3", "plan.json=plan.json"))


def test_plan_after_calibration_is_what_the_rest_takes(root: str, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    plan_and_show(
        compose("plan", PlanConfig, given(root, "plan.calibrate=true", "plan.bundles=8", f"plan.json={file}"))
    )
    calibrated = Store(root).read("responses").height
    assert 0 < calibrated < DIALOGUES, "what was asked for calibration is recorded"
    told = json.loads(file.read_text())
    assert told["recorded_responses"] == calibrated
    assert told["expected_responses"] == DIALOGUES
    (stage,) = told["stages"]
    assert stage["dialogues"] == DIALOGUES - calibrated
    assert told["assumed"]["refused share: zs, unanswerable"]["source"].startswith("recorded")
    run(root)
    last = Store(root).read("runs").filter(pl.col("job") == "evaluate").sort("started_at").row(-1, named=True)
    assert last["recorded"] == DIALOGUES - calibrated
    for name, actual in (("prompt", last["prompt_tokens"]), ("output", last["output_tokens"])):
        assert stage[name]["mean"] == pytest.approx(actual, rel=0.1)
        assert stage[name]["low"] <= actual <= stage[name]["high"]
    assert planned(root).tokens.high == 0, "nothing is owed"


def test_plan_counts_a_sample_of_the_bundles_and_takes_the_others_to_be_alike(root: str) -> None:
    whole, part = planned(root), planned(root, "plan.documents=8")
    assert (part.stages[0].counted, part.stages[0].bundles) == (8, whole.stages[0].bundles)
    assert part.stages[0].usage.dialogues == pytest.approx(DIALOGUES)
    assert part.tokens.mean == pytest.approx(whole.tokens.mean, rel=0.15)


def test_plan_counts_a_judge_of_its_own_and_what_it_owes_of_recorded_responses(root: str) -> None:
    apart = ("judge=llm", "judge.model=scripted", "judge.overrides={seed: 1, name: another}")
    both = planned(root, *apart)
    assert [stage.label for stage in both.stages] == ["evaluate", "judge llm:another"]
    assert both.stages[1].usage.calls.mean >= DIALOGUES
    run(root, "limit=36")
    owed = planned(root, "limit=36", *apart)
    assert owed.stages[0].usage.dialogues == 0
    assert owed.stages[-1].usage.calls.mean >= 36


def test_budget_of_half_the_plan_ends_in_time_and_a_higher_one_goes_on(
    root: str, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = planned(root).tokens.mean
    cap = round(expected / 2)
    with pytest.raises(UserError, match=rf"budget\.max_tokens={cap:,} does not hold.*budget\.partial=true"):
        run(root, f"budget.max_tokens={cap}")
    store = Store(root)
    assert store.files("runs") == [], "nothing was started"

    run(root, f"budget.max_tokens={cap}", "budget.partial=true")
    first = store.read("responses")
    asked = first.filter(pl.col("status") == "ok")
    assert first.height == DIALOGUES
    assert set(first["status"]) == {"ok", "budget_stopped"}
    assert first.filter(pl.col("status") == "budget_stopped")["turns"].list.len().sum() == 0
    said = capsys.readouterr().out
    assert "stopped: budget.max_tokens" in said
    assert f"{asked.height} responses recorded now, 0 before, {DIALOGUES} expected" in said
    ended = store.read("runs").filter(pl.col("job") == "evaluate").row(0, named=True)
    assert (ended["status"], ended["error"]) == ("stopped", f"budget.max_tokens={cap:,} is spent")
    per_dialogue = asked["turns"].list.eval(pl.element().struct.field("prompt_tokens")).list.sum().to_list()
    dearest = 9 * max(per_dialogue)  # no bundle has more than nine dialogues
    assert cap / 2 < spent_tokens(root) < cap + 2 * dearest

    with pytest.raises(UserError, match=r"does not hold this run.*earlier starts have spent"):
        run(root, f"budget.max_tokens={spent_tokens(root) + 1000}")
    run(root, f"budget.max_tokens={round(1.5 * expected)}")
    rows = store.read("responses")
    assert rows["status"].to_list() == ["ok"] * DIALOGUES
    assert rows["response_id"].n_unique() == DIALOGUES
    kept = rows.join(asked, on="response_id", how="semi")["created_at"].to_list()
    assert sorted(kept) == sorted(asked["created_at"]), "what was asked before was not asked again"


def test_budget_that_is_spent_starts_nothing(root: str) -> None:
    run(root, "limit=36")
    with pytest.raises(UserError, match=r"budget\.max_tokens=10 is spent by earlier starts of run 'main'"):
        run(root, "budget.max_tokens=10", "budget.partial=true")
    run(root, "limit=36", "budget.max_tokens=10")  # owes nothing, so needs nothing


def test_budget_in_money_counts_what_the_endpoint_charges(root: str, capsys: pytest.CaptureFixture[str]) -> None:
    prices = ("model.usd_per_million_prompt=2.0", "model.usd_per_million_output=6.0")
    cost = planned(root, *prices).endpoint_usd.mean
    run(root, *prices, f"budget.max_usd={cost / 2}", "budget.partial=true")
    assert "stopped: budget.max_usd" in capsys.readouterr().out
    runs = Store(root).read("runs").filter(pl.col("job") == "evaluate")
    tokens = runs.select((2.0 * pl.col("prompt_tokens") + 6.0 * pl.col("output_tokens")).sum()).item() / 1e6
    assert runs["usd"].sum() == pytest.approx(tokens)
    assert cost / 4 < tokens < cost
    told = report(compose("report", ReportConfig, [f"storage.root={root}"]))
    assert "What each cell cost" in told
    assert "USD per 1,000 questions" in told
    assert "Engines: seconds with at least one request in flight" in told


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (("budget.max_gpu_hours=1",), "no GPU.*max_tokens"),
        (("budget.max_usd=1",), r"budget\.max_usd=1.*set cluster\.usd_per_gpu_hour"),
        (("budget.max_tokens=0",), r"budget\.max_tokens=0"),
        (("cluster.spot=true", "cluster.usd_per_gpu_hour=2.0"), "cluster.spot_usd_per_gpu_hour"),
        (
            ("model=endpoint", "model.base_url=http://127.0.0.1:9/v1", "model.model=m", "budget.max_usd=1"),
            "9/v1",
        ),
    ],
)
def test_budget_that_cannot_work_says_so_before_anything_starts(
    root: str, overrides: tuple[str, ...], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        run(root, *overrides)
    assert Store(root).files("runs") == []
