"""The evaluation stage: bundles in, responses (and a same-engine judge's judgements) out."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from udfs.bundles import question_of
from udfs.dialogues.dialogue import DialogueSpec, converse
from udfs.engines.base import Completion, Engine
from udfs.judges.base import Judge, utc_now
from udfs.prompts import build_answer
from udfs.records import Judgement, Question, Response, Span
from udfs.scheduling import parallel_within, walk_prefix_tree
from udfs.schema import PERMANENT, Status
from udfs.stages.engine_stage import EnginePlacement, EngineStage
from udfs.stages.gate import BudgetGate, OpenBudget
from udfs.stages.results import Tally, result_row
from udfs.stages.watch import Watch
from udfs.views import view_text

TURN_SLACK_TOKENS = 128
"""The second turn's request and the question itself, beside the two answers."""


@dataclass(frozen=True)
class Ask:
    """One dialogue that is owed."""

    question: Question
    spec: DialogueSpec
    response_id: str


class EvaluateStage(EngineStage):
    """Columns read: PLAN and `text`. Gives RESULTS.

    Args:
        specs: how each method's dialogue goes, by method.
        run: name of the run, written into every row.
        judge: judges each response right after its dialogue on the same engine; None: judged later.
        gate: asked once a bundle has its place in the engine, told when it has ended. The dialogues of a bundle that is
            refused become rows of status `budget_stopped`.
    """

    def __init__(
        self,
        model: Mapping[str, Any],
        placement: EnginePlacement,
        watch: Watch,
        specs: Mapping[str, DialogueSpec],
        run: str,
        judge: Judge | None = None,
        gate: BudgetGate | None = None,
    ) -> None:
        super().__init__(model, placement, watch)
        self.specs = dict(specs)
        self.run = run
        self.judge = judge
        self.gate = gate or OpenBudget()

    async def run_bundle(self, engine: Engine, bundle: dict[str, Any]) -> dict[str, object]:
        tally = Tally(engine.block_size)
        text = bundle["text"]
        views = self._views(bundle)
        observe = self.observer(tally)
        asks = [ask for groups in views for group in groups for ask in group]
        prefix, each = await self._tokens(engine, bundle, views)
        parallel = parallel_within(self.admission.capacity, prefix, each, len(asks))
        remaining = len(asks)
        async with self.admission.admit(prefix + parallel * each) as give_back:
            reason = await self.gate.refuses(bundle["bundle_id"])
            if reason is not None:
                stopped = [self._stopped(engine, ask, reason) for ask in asks]
                return result_row(bundle["bundle_id"], bundle["doc_id"], stopped, [], tally)

            async def one(ask: Ask, on_prefill: Callable[[], None]) -> tuple[Response, list[Judgement]]:
                nonlocal remaining
                result = await self._dialogue(engine, text, ask, observe, on_prefill)
                self.watch.row(result[0].status)
                remaining -= 1
                if remaining < parallel:
                    give_back(each)
                return result

            walk = [[[functools.partial(one, ask) for ask in group] for group in groups] for groups in views]
            results = await walk_prefix_tree(walk, parallel)
            await self.gate.done(bundle["bundle_id"], tally.cost)
        responses = [response for response, _ in results]
        judgements = [judgement for _, made in results for judgement in made]
        return result_row(bundle["bundle_id"], bundle["doc_id"], responses, judgements, tally)

    def _stopped(self, engine: Engine, ask: Ask, reason: str) -> Response:
        """A dialogue that the budget leaves no room for: owed again on the next start."""
        self.watch.row(Status.BUDGET_STOPPED)
        question, spec = ask.question, ask.spec
        return Response(
            response_id=ask.response_id,
            run=self.run,
            question_id=question.question_id,
            doc_id=question.doc_id,
            dataset=question.dataset,
            model=engine.name,
            model_revision=engine.revision,
            method=spec.method,
            layout=spec.layout,
            template=spec.template(question.language),
            detector=spec.detector,
            turns=(),
            status=Status.BUDGET_STOPPED,
            created_at=utc_now(),
            error=reason,
        )

    def _views(self, bundle: dict[str, Any]) -> list[list[list[Ask]]]:
        """The bundle's dialogues as a tree of shared prefixes: by view, then method."""
        views: dict[tuple[Span, ...], dict[str, list[Ask]]] = {}
        for item in bundle["items"]:
            question = question_of(item)
            methods = views.setdefault(question.redactions, {})
            for ask in item["asks"]:
                methods.setdefault(ask["method"], []).append(
                    Ask(question, self.specs[ask["method"]], ask["response_id"])
                )
        return [[methods[name] for name in sorted(methods)] for _, methods in sorted(views.items())]

    async def _tokens(
        self, engine: Engine, bundle: dict[str, Any], views: Sequence[Sequence[Sequence[Ask]]]
    ) -> tuple[int, int]:
        """An estimate of the KV that the bundle needs: its longest first prompt, and what a dialogue in flight adds.

        Prefixes of views and methods that the walk has left may be pushed out; the document is used by every request
        and stays. Where the estimate is too low, vLLM computes something again; nothing fails.
        """
        if self.admission.capacity is None:
            return 0, 0
        leads = [group[0] for groups in views for group in groups]
        counts = []
        for lead in leads:
            view = view_text(bundle["text"], lead.question.redactions)
            method, layout = lead.spec.method, lead.spec.layout
            messages = build_answer(method, layout, lead.question.language, view, lead.question.question)
            counts.append(await engine.count_tokens(messages))
        longest = max(bundle["n_tokens"] if count is None else count for count in counts)
        replies = 2 * max(lead.spec.sampling.max_tokens for lead in leads)
        return longest, replies + TURN_SLACK_TOKENS + engine.block_size

    async def _dialogue(
        self,
        engine: Engine,
        text: str,
        ask: Ask,
        observe: Callable[[Completion], None],
        on_prefill: Callable[[], None],
    ) -> tuple[Response, list[Judgement]]:
        response = await converse(
            engine,
            ask.spec,
            view_text(text, ask.question.redactions),
            ask.question,
            response_id=ask.response_id,
            run=self.run,
            observe=observe,
            on_prefill=on_prefill,
        )
        if self.judge is None or response.status not in PERMANENT:  # what will be asked again is judged then
            return response, []
        return response, await self.judge.judge(response, ask.question, text, engine, observe=observe)
