"""The judging stages: recorded responses in, judgements out; on an engine of their own, or on none for the rules."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from udfs.bundles import question_of
from udfs.engines.base import Engine
from udfs.judges.base import Judge
from udfs.judges.reformulation import ReformulationJudge
from udfs.judges.rules import RulesJudge
from udfs.records import Judgement, Question, Response, Span
from udfs.scheduling import parallel_within, walk_prefix_tree
from udfs.stages.engine_stage import EnginePlacement, EngineStage
from udfs.stages.results import RESULTS, Tally, result_row
from udfs.stages.watch import Watch
from udfs.views import view_text

Pair = tuple[Question, Response]


def pairs_of(bundle: Mapping[str, Any]) -> list[Pair]:
    """The questions of a bundle with each of their recorded responses."""
    return [
        (question_of(item), Response.from_row(json.loads(row))) for item in bundle["items"] for row in item["responses"]
    ]


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
    """Columns read: PLAN and `text`. Gives RESULTS."""

    def __init__(self, model: Mapping[str, Any], placement: EnginePlacement, watch: Watch, judge: Judge) -> None:
        super().__init__(model, placement, watch)
        self.judge = judge

    async def run_bundle(self, engine: Engine, bundle: dict[str, Any]) -> dict[str, object]:
        tally = Tally(engine.block_size)
        observe = self.observer(tally)
        text = bundle["text"]
        pairs = pairs_of(bundle)
        each = self.model.sampling.max_tokens * 2 + 1024 + engine.block_size
        shared = await engine.count_tokens([{"role": "user", "content": text}]) or 0 if self.judge.reads_document else 0
        parallel = parallel_within(self.admission.capacity, shared, each, len(pairs))

        async def one(pair: Pair, on_prefill: Callable[[], None]) -> list[Judgement]:
            question, response = pair
            made = await self.judge.judge(response, question, text, engine, observe=observe, on_prefill=on_prefill)
            for judgement in made:
                self.watch.row(judgement.status)
            return made

        async with self.admission.admit(shared + parallel * each):
            made_of_each = await walk_prefix_tree([[[functools.partial(one, pair) for pair in pairs]]], parallel)
        judgements = [judgement for made in made_of_each for judgement in made]
        return result_row(bundle["bundle_id"], bundle["doc_id"], [], judgements, tally)
