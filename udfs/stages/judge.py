"""The judging stages: recorded responses in, judgements out; on an engine of their own, or on none for the rules."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from udfs.bundles import question_of
from udfs.engines.base import Engine
from udfs.judges.base import Judge
from udfs.judges.joint import judge_of
from udfs.judges.reformulation import ReformulationJudge
from udfs.judges.rules import RulesJudge
from udfs.records import Judgement, Question, Response, Span
from udfs.scheduling import parallel_within, walk_prefix_tree
from udfs.stages.engine_stage import EnginePlacement, EngineStage
from udfs.stages.gate import BudgetGate, OpenBudget
from udfs.stages.results import RESULTS, Tally, result_row
from udfs.stages.watch import Watch
from udfs.views import view_text

Pair = tuple[Question, Response]
OWED: Final = "owed_judgements"
"""Key of a recorded response's JSON row: the judgement_ids that are owed of it. Without it all are."""


def pairs_of(bundle: Mapping[str, Any]) -> list[Pair]:
    """The questions of a bundle with each of their recorded responses."""
    return [
        (question_of(item), Response.from_row(json.loads(row))) for item in bundle["items"] for row in item["responses"]
    ]


@dataclass(frozen=True)
class _Due:
    """A response to judge, and whom by: of several judges those that owe something."""

    question: Question
    response: Response
    judge: Judge

    @property
    def owes(self) -> int:
        return len(self.judge.expected_judgement_ids(self.question, self.response))


def _due_by_view(bundle: Mapping[str, Any], judge: Judge) -> list[list[_Due]]:
    """What is to be judged, by view. In each the one that owes most comes first: it asks about the document, if any
    does, and so brings it into the cache for the others.
    """
    views: dict[tuple[Span, ...], list[_Due]] = {}
    for item in bundle["items"]:
        question = question_of(item)
        for text in item["responses"]:
            row = json.loads(text)
            response = Response.from_row(row)
            by = judge if row.get(OWED) is None else judge_of(judge, question, response, row[OWED])
            views.setdefault(question.redactions, []).append(_Due(question, response, by))
    return [sorted(due, key=lambda one: -one.owes) for _, due in sorted(views.items())]


class RulesStage:
    """`map_batches` without a model: columns read PLAN (no text needed), gives RESULTS."""

    def __init__(self, judge: RulesJudge) -> None:
        self.judge = judge

    def __call__(self, batch: pa.Table) -> pa.Table:
        rows = []
        for bundle in batch.to_pylist():
            judgements = [
                made for question, response in pairs_of(bundle) for made in self.judge.score(response, question)
            ]
            rows.append(result_row(bundle["bundle_id"], bundle["doc_id"], [], judgements, Tally()))
        return pa.Table.from_pylist(rows, schema=RESULTS)


class ReformulationStage:
    """`map_batches` without a model: columns read PLAN and `text`, gives RESULTS."""

    def __init__(self, judge: ReformulationJudge) -> None:
        self.judge = judge

    def __call__(self, batch: pa.Table) -> pa.Table:
        rows = []
        for bundle in batch.to_pylist():
            judgements = self._judgements(pairs_of(bundle), bundle["text"])
            rows.append(result_row(bundle["bundle_id"], bundle["doc_id"], [], judgements, Tally()))
        return pa.Table.from_pylist(rows, schema=RESULTS)

    def _judgements(self, pairs: list[Pair], text: str) -> list[Judgement]:
        """View by view: what the measures know of a text is computed once, and then for its neighbours there."""
        views: dict[tuple[Span, ...], list[Pair]] = {}
        for pair in pairs:
            views.setdefault(pair[0].redactions, []).append(pair)
        made: list[Judgement] = []
        for redactions, of_view in views.items():
            shown = view_text(text, redactions)
            for question, response in of_view:
                made += self.judge.score(response, question, shown)
        return made


class JudgeStage(EngineStage):
    """Columns read: PLAN and `text`. Gives RESULTS.

    Args:
        gate: asked once a bundle has its place in the engine, told when it has ended. Judgements of a bundle that is
            refused are not recorded: they stay owed.
    """

    def __init__(
        self,
        model: Mapping[str, Any],
        placement: EnginePlacement,
        watch: Watch,
        judge: Judge,
        gate: BudgetGate | None = None,
    ) -> None:
        super().__init__(model, placement, watch)
        self.judge = judge
        self.gate = gate or OpenBudget()

    async def run_bundle(self, engine: Engine, bundle: dict[str, Any]) -> dict[str, object]:
        tally = Tally(engine.block_size)
        observe = self.observer(tally)
        text = bundle["text"]
        views = _due_by_view(bundle, self.judge)
        each = self.model.sampling.max_tokens * 2 + 1024 + engine.block_size
        shared = await engine.count_tokens([{"role": "user", "content": text}]) or 0 if self.judge.reads_document else 0
        parallel = parallel_within(self.admission.capacity, shared, each, sum(map(len, views)))

        async def one(due: _Due, on_prefill: Callable[[], None]) -> list[Judgement]:
            made = await due.judge.judge(
                due.response, due.question, text, engine, observe=observe, on_prefill=on_prefill
            )
            for judgement in made:
                self.watch.row(judgement.status)
            return made

        async with self.admission.admit(shared + parallel * each):
            if await self.gate.refuses(bundle["bundle_id"]) is not None:
                return result_row(bundle["bundle_id"], bundle["doc_id"], [], [], tally)
            walk = [[[functools.partial(one, due) for due in view]] for view in views]
            made_of_each = await walk_prefix_tree(walk, parallel)
            await self.gate.done(bundle["bundle_id"], tally.cost)
        judgements = [judgement for made in made_of_each for judgement in made]
        return result_row(bundle["bundle_id"], bundle["doc_id"], [], judgements, tally)
