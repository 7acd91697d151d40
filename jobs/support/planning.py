"""A run's plan: its owed bundles counted on engines that only count, as tokens, GPU hours and money, cell by cell."""

from __future__ import annotations

import asyncio
import bisect
import dataclasses
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl
import pyarrow as pa

from jobs.support.budget import Spent, over
from jobs.support.evaluation import Evaluation
from jobs.support.owed import Owed, owed_judgements
from udfs.bundles import AttachDocuments, weight
from udfs.engines.config import EndpointModel, ModelConfig, model_config
from udfs.engines.factory import describe
from udfs.engines.prices import Prices, prices_of, unknown_price
from udfs.errors import UserError, warn
from udfs.judges.joint import JointJudge
from udfs.planning.assumptions import Assumptions, cached_of, call_rows, overhead_of, refusal_rows, turn_rows
from udfs.planning.bundles import BundlePlan, Cell, Counter, Usage, plan_dialogues, plan_judging
from udfs.planning.engine import PlanningEngine, Target, target_of
from udfs.planning.hours import Speed, Spot, speed_of
from udfs.planning.ranges import Assumed, Quota, Range
from udfs.planning.recorded import recorded_judgements, recorded_responses
from udfs.schema import RUNS
from udfs.stages.gate import Cost

DOCUMENTS = 200
"""Bundles that are read and tokenised at most, spread over the lengths; the others are taken to be like them."""


@dataclass
class StagePlan:
    """What one stage of the run asks of one model.

    Args:
        label: what `runs` calls it.
        counted: bundles that were tokenised.
        engines: actors.
        gpus: of one actor.
        in_flight: bundles that one actor works on at once, about.
    """

    label: str
    model: ModelConfig
    target: Target
    speed: Speed
    prices: Prices | None
    engines: int
    gpus: float
    in_flight: int
    bundles: int = 0
    counted: int = 0
    usage: Usage = field(default_factory=Usage)
    bound: Range = field(default_factory=Range)
    cells: dict[Cell, Usage] = field(default_factory=dict)
    expected: dict[str, Cost] = field(default_factory=dict)

    def add(self, bundle_id: str, plan: BundlePlan) -> None:
        """Add a bundle."""
        self.bundles += 1
        self.bound += plan.bound
        self.usage.add(plan.usage)
        for cell, usage in plan.cells.items():
            self.cells.setdefault(cell, Usage()).add(usage)
        tokens = round(plan.usage.computed.mean + plan.usage.output.mean)
        self.expected[bundle_id] = Cost(tokens, plan.usage.usd.mean)

    @property
    def engine_hours(self) -> Range | None:
        """Hours for which engines are held, all together; None where nobody knows how fast the model is."""
        if not self.bundles:
            return Range()
        busy = self.speed.busy_seconds(self.usage.computed, self.usage.output)
        return None if busy is None else self.speed.held_seconds(busy, self.engines).times(1 / 3600)

    def spot(self, preemptions: float) -> Spot:
        """What spot nodes lose: a start, and half of what an engine has in flight."""
        hours = self.engine_hours
        each = 0.0 if hours is None or not self.bundles else hours.mean * 3600 / self.bundles
        return Spot(preemptions, self.speed.start.value.mean + self.in_flight * each / 2)

    def share(self, usage: Usage) -> float:
        """A cell's share of the engines' time, by its tokens and how fast they are."""
        busy = self.speed.busy_seconds(usage.computed, usage.output)
        whole = self.speed.busy_seconds(self.usage.computed, self.usage.output)
        return busy.mean / whole.mean if busy is not None and whole is not None and whole.mean else 0.0


@dataclass
class RunPlan:
    """The plan of a whole run: what is still owed.

    Args:
        before: what earlier starts of the run have spent.
    """

    stages: list[StagePlan]
    documents: int
    recorded: int
    expected: int
    before: Spent
    assumed: dict[str, Assumed]
    notes: list[str]

    @property
    def tokens(self) -> Range:
        """Computed prompt tokens and output tokens: what `budget.max_tokens` counts."""
        total = Range()
        for stage in self.stages:
            total += stage.usage.computed + stage.usage.output
        return total

    @property
    def gpu_hours(self) -> Range | None:
        """None where a stage on GPUs has no known speed."""
        total = Range()
        for stage in self.stages:
            if stage.gpus:
                hours = stage.engine_hours
                if hours is None:
                    return None
                total += hours.times(stage.gpus)
        return total

    @property
    def endpoint_usd(self) -> Range:
        total = Range()
        for stage in self.stages:
            total += stage.usage.usd
        return total

    def spot_gpu_hours(self, preemptions: float) -> Range | None:
        """`gpu_hours` with what vanishing nodes cost on top."""
        if self.gpu_hours is None:
            return None
        total = Range()
        for stage in self.stages:
            hours = stage.engine_hours
            if stage.gpus and hours is not None:
                total += stage.spot(preemptions).held_hours(hours).times(stage.gpus)
        return total

    def usd(self, gpu_price: float, spot: float | None = None) -> Range | None:
        """Endpoints and GPUs together.

        Args:
            spot: preemptions of an engine in an hour, for spot nodes.
        """
        hours = self.gpu_hours if spot is None else self.spot_gpu_hours(spot)
        if hours is None:
            return None if gpu_price else self.endpoint_usd
        return self.endpoint_usd + hours.times(gpu_price)


def make_plan(run: Evaluation, questions: pl.DataFrame, owed: Owed, documents: int = DOCUMENTS) -> RunPlan:
    """Count what `run` still owes.

    Args:
        documents: bundles of each stage that are read and tokenised at most.

    Raises:
        UserError: a model's tokenizer cannot be found, or questions are of documents that are not there.
    """
    return _Planner(run, documents).plan(questions, owed)


class _Planner:
    """Reads what is recorded once, then counts stage by stage."""

    def __init__(self, run: Evaluation, documents: int) -> None:
        self.run, self.documents = run, documents
        store = run.store
        self.runs = store.read("runs", [name for name in RUNS.names if name != "versions"])
        self.responses = recorded_responses(store)
        self.judgements = recorded_judgements(store)
        self.assumed: dict[str, Assumed] = {}
        self.notes: list[str] = []
        self.quota = Quota()

    def plan(self, questions: pl.DataFrame, owed: Owed) -> RunPlan:
        run = self.run
        stage, engine = self._stage("evaluate", run.model, questions)
        stages = [stage]
        judge, apart, judging = run.llm_judge, None, engine
        if judge is not None and run.judge_model is not None:
            apart, judging = self._stage(f"judge {judge.name}", model_config(dict(run.judge_model)), questions)
            stages.append(apart)

        async def ask(bundle: dict[str, Any]) -> tuple[BundlePlan, ...]:
            asked = Counter(engine, stage.prices)
            judged = asked if apart is None else Counter(judging, apart.prices)
            await plan_dialogues(bundle, run.specs, asked, judge, judged, self.quota)
            return (asked.close(),) if apart is None else (asked.close(), judged.close())

        asyncio.run(self._count(run.plan_of(owed), ask, [stage] if apart is None else [stage, apart]))
        if judge is not None:
            self._owed_judging(stages, questions, judge, owed)
        before = run.budget.spent
        self.notes += unpriced(stages)
        if run.embedding is not None:
            self.notes.append("the embedding's time is not planned: its calls and tokens are not counted")
        return RunPlan(stages, len(owed.items), owed.recorded, owed.expected, before, self.assumed, self.notes)

    def _owed_judging(self, stages: list[StagePlan], questions: pl.DataFrame, judge: JointJudge, owed: Owed) -> None:
        """Judgements of responses that were recorded before."""
        due = owed_judgements(self.run.store, questions, judge, owed.response_ids, self.run.run)
        if not due.rows:
            return
        model = self.run.model if self.run.judge_model is None else model_config(dict(self.run.judge_model))
        stage, engine = self._stage(f"judge {judge.name}", model, questions)

        async def ask(bundle: dict[str, Any]) -> tuple[BundlePlan, ...]:
            judged = Counter(engine, stage.prices)
            await plan_judging(bundle, judge, judged)
            return (judged.close(),)

        asyncio.run(self._count(self.run.plan_of(due), ask, [stage]))
        stages.append(stage)

    async def _count(
        self,
        blocks: Sequence[pa.Table],
        ask: Callable[[dict[str, Any]], Awaitable[tuple[BundlePlan, ...]]],
        stages: Sequence[StagePlan],
    ) -> None:
        """Count the bundles of a plan, or a sample of them, into `stages`."""
        bundles = [(block, row) for block in blocks for row in range(block.num_rows)]
        attach = AttachDocuments(self.run.store.root)
        chosen = set(sample(len(bundles), self.documents))
        plans: dict[int, tuple[BundlePlan, ...]] = {}
        sizes: list[tuple[int, int, str]] = []  # programs, document's tokens, dataset
        for number, (block, row) in enumerate(bundles):
            one = block.slice(row, 1)
            (bundle,) = one.drop_columns(["file"]).to_pylist()
            items = bundle["items"]
            sizes.append((sum(weight(item) for item in items), bundle["n_tokens"], items[0]["dataset"]))
            if number in chosen:
                (bundle,) = attach(one).to_pylist()
                plans[number] = await ask(bundle)
        for number, like in enumerate(nearest(sorted(plans), [size[2] for size in sizes])):
            bundle_id = bundles[number][0]["bundle_id"][bundles[number][1]].as_py()
            for stage, plan in zip(stages, plans[like], strict=True):
                stage.add(bundle_id, plan if like == number else scaled(plan, sizes[like], sizes[number]))
        for stage in stages:
            stage.counted += len(plans)
            if stage.target.tokenizer is not None:
                stage.target.tokenizer.close()

    def _stage(self, label: str, model: ModelConfig, questions: pl.DataFrame) -> tuple[StagePlan, PlanningEngine]:
        run, cluster = self.run, self.run.config.cluster
        name, revision = describe(model)
        on_gpu = cluster.actor_gpus > 0
        target = target_of(model, name, revision, on_gpu)
        turns = turn_rows(self.responses, name, revision)
        assumptions = Assumptions(
            turns,
            refusal_rows(self.responses, questions, run.name, run.revision, run.config.detector),
            call_rows(self.judgements, f"llm:{name}", model.sampling.max_tokens),
            model.sampling.max_tokens,
            overhead_of(self.runs, name),
            cached_of(turns),
            self.assumed,
        )
        if target.caches:
            self.assumed[f"computed ÷ bound in cache blocks: {name}"] = assumptions.overhead
        speed = speed_of(model, self.runs, dataclasses.asdict(cluster), cluster.engine_start_s)
        plan = StagePlan(
            label, model, target, speed, prices_of(model), cluster.actors, run.gpus(model), cluster.blocks_per_actor
        )
        return plan, PlanningEngine(target, assumptions, run.config.detector == "llm")


def unpriced(stages: Sequence[StagePlan]) -> list[str]:
    """What to say of endpoints whose prices nobody knows."""
    return [unknown_price(s.model) for s in stages if isinstance(s.model, EndpointModel) and s.prices is None]


def sample(n: int, most: int) -> list[int]:
    """At most `most` of `n` numbers, evenly spread."""
    return list(range(n)) if n <= most else [int((i + 0.5) * n / most) for i in range(most)]


def nearest(counted: Sequence[int], datasets: Sequence[str]) -> Iterator[int]:
    """For every bundle the counted one that is nearest in the order (longest first), of its dataset where there is one.

    Args:
        counted: numbers of the counted bundles, ascending.
        datasets: of every bundle.
    """
    by_dataset: dict[str, list[int]] = {}
    for number in counted:
        by_dataset.setdefault(datasets[number], []).append(number)
    for number, dataset in enumerate(datasets):
        among = by_dataset.get(dataset, counted)
        place = bisect.bisect_left(among, number)
        yield min(among[max(0, place - 1) : place + 1], key=lambda other: abs(other - number))


def scaled(plan: BundlePlan, like: tuple[int, int, str], bundle: tuple[int, int, str]) -> BundlePlan:
    """The plan of a bundle that was not counted, by one of its neighbours.

    Args:
        plan: of the neighbour.
        like, bundle: programs and document's tokens of the two.
    """
    asks, length = bundle[0] / like[0], bundle[1] / max(1, like[1])
    document = min(1.0, like[1] / plan.bound.mean) if plan.bound.mean else 0.0
    read = document * length + (1 - document) * asks if document else asks * length

    def usage(of: Usage) -> Usage:
        made = Usage()
        made.add(of, asks)
        made.prompt, made.usd = of.prompt.times(asks * length), of.usd.times(asks * length)
        made.computed = of.computed.times(read)
        return made

    return BundlePlan(
        usage(plan.usage),
        plan.bound.times(read),
        plan.blocks.times(read),
        {cell: usage(of) for cell, of in plan.cells.items()},
    )


def hold_to_budget(run: Evaluation, questions: pl.DataFrame, owed: Owed) -> None:
    """Before anything is spent: plan the run where it has a budget, and hold the plan against the caps.

    Raises:
        UserError: the run is expected to cost more than a cap (unless `budget.partial`), a cap is spent already, or
            nothing that the run does can reach a cap.
    """
    budget, keeper, price = run.config.budget, run.budget, run.config.cluster.gpu_price
    if not budget.capped or not owed.rows:
        return
    plan = make_plan(run, questions, owed)
    _check_reach(run, plan)
    spent = over(budget, keeper.before)
    if spent is not None:
        raise UserError(f"{spent} is spent by earlier starts of run {run.run!r}: give a higher cap to go on")
    for stage in plan.stages:
        keeper.expected[stage.label] = {**keeper.expected.get(stage.label, {}), **stage.expected}
    hours, usd = plan.gpu_hours, plan.usd(price)
    for key, expected, before in (
        ("max_tokens", plan.tokens, keeper.before.tokens),
        ("max_gpu_hours", hours, keeper.before.gpu_hours),
        ("max_usd", usd, keeper.before.usd),
    ):
        cap = getattr(budget, key)
        if cap is None:
            continue
        if expected is None:
            warn(
                f"how long the engines will work is not known beforehand, so budget.{key}={cap:,} is only watched "
                "while they do: model.throughput or `python -m jobs.plan … plan.calibrate=true` tells"
            )
        elif before + expected.mean > cap and not budget.partial:
            raise UserError(_too_much(key, cap, before, expected))


def _check_reach(run: Evaluation, plan: RunPlan) -> None:
    budget, price = run.config.budget, run.config.cluster.gpu_price
    on_gpus = any(stage.gpus for stage in plan.stages)
    if budget.max_gpu_hours is not None and not on_gpus:
        raise UserError("budget.max_gpu_hours never ends a run whose engines take no GPU here; give budget.max_tokens")
    if budget.max_usd is None or (on_gpus and price) or any(stage.prices for stage in plan.stages):
        return
    advice = next(iter(unpriced(plan.stages)), "set cluster.usd_per_gpu_hour")
    raise UserError(f"budget.max_usd={budget.max_usd:,} never ends a run of which nothing is known to cost: {advice}")


def _too_much(key: str, cap: float, before: float, expected: Range) -> str:
    def told(value: float) -> str:
        return f"{value:,.0f}" if key == "max_tokens" else f"{value:,.2f}"

    spread = "" if expected.known else f" ({told(expected.low)} to {told(expected.high)})"
    spent = f" and earlier starts have spent {told(before)}" if before else ""
    return (
        f"budget.{key}={cap:,} does not hold this run: it is expected to need {told(expected.mean)}{spread}{spent}. "
        f"Give a cap of {told(1.1 * (before + expected.mean))} or more, or budget.partial=true to ask what the cap "
        "allows (the rest stays owed). `python -m jobs.plan` with the same arguments shows the plan"
    )
