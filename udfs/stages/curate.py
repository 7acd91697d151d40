"""The curation stage: bundles of questions to write and to check in, proposals and the checker's answers out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from udfs.agents.curation import Curating, CurationSpec, Slot, curate
from udfs.agents.drafts import Source
from udfs.engines.base import Engine
from udfs.scheduling import parallel_within
from udfs.stages.engine_stage import EnginePlacement, EngineStage
from udfs.stages.results import Tally, result_row
from udfs.stages.synthesize import INSTRUCTION_TOKENS, MAX_PARALLEL, TOKENS_PER_WORD
from udfs.stages.watch import Watch


class CurateStage(EngineStage):
    """Columns read: CURATION_PLAN and `text`. Gives RESULTS. What a bundle's items lack is asked: a question, samples.

    Args:
        spec: how questions are written and checked.
        curating: what they belong to.
    """

    def __init__(
        self,
        model: Mapping[str, Any],
        placement: EnginePlacement,
        watch: Watch,
        spec: CurationSpec,
        curating: Curating,
    ) -> None:
        super().__init__(model, placement, watch)
        self.spec = spec
        self.curating = curating

    async def run_bundle(self, engine: Engine, bundle: dict[str, Any]) -> dict[str, object]:
        tally = Tally(engine.block_size)
        slots = [Slot(item["number"], item["question"], tuple(item["samples"])) for item in bundle["items"]]
        document, each = await self._tokens(engine, bundle)
        wanted = min(MAX_PARALLEL, sum(1 + len(slot.samples) for slot in slots))
        parallel = parallel_within(self.admission.capacity, document, each, wanted)
        source = Source(*(bundle[name] for name in ("doc_id", "dataset", "language", "domain", "length_bucket")))
        async with self.admission.admit(document + parallel * each):
            made = await curate(
                engine, bundle["text"], source, slots, self.spec, self.curating, parallel=parallel,
                observe=self.observer(tally),
            )  # fmt: skip
        for row in made.proposals or made.checks:
            self.watch.row(row.status)
        return result_row(
            bundle["bundle_id"], bundle["doc_id"], [], [], tally, proposals=made.proposals, checks=made.checks
        )

    async def _tokens(self, engine: Engine, bundle: dict[str, Any]) -> tuple[int, int]:
        """An estimate of the KV that the bundle needs: of what its calls share, and of each call in flight."""
        if self.admission.capacity is None:
            return 0, 0
        spec = self.spec
        reply = max(spec.generator.max_tokens, spec.checker.max_tokens)
        each = INSTRUCTION_TOKENS + reply + engine.block_size
        if spec.excerpt_words is not None:
            return min(bundle["n_tokens"], spec.excerpt_words * TOKENS_PER_WORD), each
        count = await engine.count_tokens([{"role": "user", "content": bundle["text"]}])
        return bundle["n_tokens"] if count is None else count, each
