"""What one bundle will cost: its dialogues and judges, run on an engine that only counts."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from udfs.bundles import question_of
from udfs.dialogues.dialogue import DialogueSpec, converse
from udfs.engines.prices import Prices
from udfs.engines.trie import PromptTrie
from udfs.judges.base import Judge
from udfs.judges.joint import judge_of
from udfs.planning.engine import Call, PlanningEngine
from udfs.planning.ranges import SCENARIOS, Quota, Range
from udfs.records import Question, Response
from udfs.schema import Status
from udfs.stages.judge import OWED
from udfs.views import view_text

Cell = tuple[str, str]
"""Method and dataset."""


@dataclass
class Usage:
    """Tokens and calls of a cell, a bundle or a stage."""

    dialogues: float = 0.0
    over_length: float = 0.0
    second_turns: Range = field(default_factory=Range)
    calls: Range = field(default_factory=Range)
    prompt: Range = field(default_factory=Range)
    output: Range = field(default_factory=Range)
    computed: Range = field(default_factory=Range)
    """Prompt tokens that no cache gives."""
    usd: Range = field(default_factory=Range)
    """What an endpoint charges."""

    def add(self, other: Usage, factor: float = 1.0) -> None:
        """Add another's, times `factor`."""
        self.dialogues += other.dialogues * factor
        self.over_length += other.over_length * factor
        for name in ("second_turns", "calls", "prompt", "output", "computed", "usd"):
            setattr(self, name, getattr(self, name) + getattr(other, name).times(factor))


@dataclass
class BundlePlan:
    """What one bundle asks of one engine.

    Args:
        bound, blocks: the least that has to be computed, by tokens and by whole cache blocks.
    """

    usage: Usage = field(default_factory=Usage)
    bound: Range = field(default_factory=Range)
    blocks: Range = field(default_factory=Range)
    cells: dict[Cell, Usage] = field(default_factory=dict)

    def cell(self, method: str, dataset: str) -> Usage:
        return self.cells.setdefault((method, dataset), Usage())


@dataclass
class Counter:
    """Adds up one bundle's calls to one engine.

    Args:
        prices: of the endpoint; None where calls cost nothing.
    """

    engine: PlanningEngine
    prices: Prices | None
    plan: BundlePlan = field(default_factory=BundlePlan)

    def __post_init__(self) -> None:
        self._tries = [PromptTrie(self.engine.block_size) for _ in range(SCENARIOS)]

    def add(self, method: str, dataset: str, calls: Sequence[Call], dialogue: bool, over_length: bool = False) -> None:
        """Add the calls of one dialogue, or of its judges."""
        cell = self.plan.cell(method, dataset)
        added = Usage(dialogues=float(dialogue), over_length=float(over_length))
        for call in calls:
            self._add(added, call)
            if call.ids is not None:
                for trie, happens in zip(self._tries, call.happens, strict=True):
                    if happens:
                        trie.add(call.ids)
        cell.add(added)
        self.plan.usage.add(added)

    def _add(self, usage: Usage, call: Call) -> None:
        low, mean, high = call.happens
        happens = Range(float(low), float(mean), float(high))
        usage.calls += happens
        usage.prompt += call.prompt.by(happens)
        usage.output += call.output.by(happens)
        if call.purpose == "reformulate":
            usage.second_turns += happens
        if self.prices is not None:
            usage.usd += self._price(call).by(happens)

    def _price(self, call: Call) -> Range:
        assert self.prices is not None
        cached = self.engine.assumptions.cached.value
        return Range(
            *(
                self.prices.usd(round(prompt), round(prompt * share), round(output))
                for prompt, output, share in (
                    (call.prompt.low, call.output.low, cached.high),
                    (call.prompt.mean, call.output.mean, cached.mean),
                    (call.prompt.high, call.output.high, cached.low),
                )
            )
        )

    def close(self) -> BundlePlan:
        """The bundle's plan, its computed tokens shared out among its cells in proportion to their prompts."""
        plan, target = self.plan, self.engine.target
        if target.tokenizer is not None:
            bounds = [trie.bound for trie in self._tries]
            plan.bound = Range(*(float(bound.tokens) for bound in bounds))
            plan.blocks = Range(*(float(bound.block_tokens) for bound in bounds))
        if target.caches:
            computed = plan.blocks.by(self.engine.assumptions.overhead.value)
            most = plan.usage.prompt
            computed = Range(*(min(a, b) for a, b in zip(_ends(computed), _ends(most), strict=True)))
        else:
            share = self.engine.assumptions.cached.value
            computed = plan.usage.prompt.by(Range(1 - share.high, 1 - share.mean, 1 - share.low))
        plan.usage.computed = computed
        for cell in plan.cells.values():
            cell.computed = Range(
                *(
                    whole * part / total if total else 0.0
                    for whole, part, total in zip(
                        _ends(computed), _ends(cell.prompt), _ends(plan.usage.prompt), strict=True
                    )
                )
            )
        return plan


def _ends(figure: Range) -> tuple[float, float, float]:
    return figure.low, figure.mean, figure.high


async def plan_dialogues(
    bundle: Mapping[str, Any],
    specs: Mapping[str, DialogueSpec],
    asked: Counter,
    judge: Judge | None,
    judged: Counter | None,
    quota: Quota,
) -> None:
    """Count the dialogues of a bundle (a row of PLAN with `text`) in the order in which they are asked.

    Args:
        asked: counts the dialogues.
        judge: judges every response; None: no model does.
        judged: counts the judge's calls: `asked` itself where the evaluated model judges.
    """
    for question, method, response_id in _asks(bundle):
        spec = specs[method]
        share = asked.engine.assumptions.refused(method, question.answerable).value
        refused = quota.draw((method, question.answerable), share)
        renewed = (False, False, False)
        if judge is not None and any(refused) and not question.answerable:
            renewed = quota.draw("renewed", asked.engine.assumptions.renewed().value)
        asked.engine.begin(method, refused, renewed)
        response = await converse(
            asked.engine,
            dataclasses.replace(spec, detector="llm"),  # the one whose word is the engine's
            view_text(bundle["text"], question.redactions),
            question,
            response_id=response_id,
            run="plan",
        )
        asked.add(method, question.dataset, asked.engine.calls, True, response.status is Status.OVER_LENGTH)
        if judge is not None and judged is not None:
            judged.engine.begin(method, refused, renewed)
            await judge.judge(response, question, bundle["text"], judged.engine)
            judged.add(method, question.dataset, judged.engine.calls, False)


async def plan_judging(bundle: Mapping[str, Any], judge: Judge, judged: Counter) -> None:
    """Count what a judge owes of recorded responses (a row of PLAN with `text`)."""
    for item in bundle["items"]:
        question = question_of(item)
        for text in item["responses"]:
            row = json.loads(text)
            response = Response.from_row(row)
            due = judge if row.get(OWED) is None else judge_of(judge, question, response, row[OWED])
            judged.engine.begin(response.method, (True, True, True), (True, True, True))
            await due.judge(response, question, bundle["text"], judged.engine)
            judged.add(response.method, question.dataset, judged.engine.calls, False)


def _asks(bundle: Mapping[str, Any]) -> list[tuple[Question, str, str]]:
    """The bundle's dialogues by view, then method: as `EvaluateStage` walks them."""
    asks = [(question_of(item), ask["method"], ask["response_id"]) for item in bundle["items"] for ask in item["asks"]]
    return sorted(asks, key=lambda ask: (ask[0].redactions, ask[1]))
