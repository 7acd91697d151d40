"""The synthesis stage: bundles of owed fragments in, candidates out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from udfs.agents.base import FULL_VIEW, purpose
from udfs.agents.program import Making, Source, run_program
from udfs.agents.spec import SynthesisSpec
from udfs.agents.web import HttpSearcher
from udfs.engines.base import Completion, Engine, Message, Prompt, Sampling
from udfs.scheduling import Admission, parallel_within
from udfs.schema import Kind
from udfs.stages.engine_stage import EnginePlacement, EngineStage
from udfs.stages.gate import Gate
from udfs.stages.results import Tally, result_row
from udfs.stages.watch import Watch

MAX_PARALLEL = 64
"""Calls of one document in flight at once."""
TOKENS_PER_WORD = 2
"""More than most tokenizers take for a word (en) or a character (zh): an estimate that is too high only waits."""
INSTRUCTION_TOKENS = 512


class Room:
    """A bundle's share of the KV budget: little while its agents read fragments, its document's while they read that.

    The little is given back before the rest is asked for. A bundle that held one while it waited for the other could
    wait for ever, for bundles that do the same.
    """

    def __init__(self, admission: Admission, fragments: int, document: int) -> None:
        self._admission, self._fragments, self._document = admission, fragments, document
        self._held = 0
        self._entered = False
        self._entering = asyncio.Lock()

    async def __aenter__(self) -> Self:
        await self._take(self._fragments)
        return self

    async def for_document(self) -> None:
        """Wait until the document fits; from the second call on it does."""
        async with self._entering:
            if not self._entered:
                self._give_back()
                await self._take(self._document)
                self._entered = True

    async def __aexit__(self, *failure: object) -> None:
        self._give_back()

    async def _take(self, tokens: int) -> None:
        await self._admission.acquire(tokens)
        self._held = tokens

    def _give_back(self) -> None:
        held, self._held = self._held, 0
        self._admission.release(held)


class InRoom:
    """The engine as one bundle's program sees it: the first full-view call waits for the document's room."""

    def __init__(self, engine: Engine, room: Room) -> None:
        self._engine, self._room = engine, room

    @property
    def name(self) -> str:
        return self._engine.name

    @property
    def revision(self) -> str:
        return self._engine.revision

    @property
    def kv_tokens(self) -> int | None:
        return self._engine.kv_tokens

    @property
    def block_size(self) -> int:
        return self._engine.block_size

    async def complete(
        self,
        prompt: Prompt,
        sampling: Sampling,
        schema: Mapping[str, Any] | None = None,
        on_prefill: Callable[[], None] | None = None,
    ) -> Completion:
        if prompt.purpose == purpose(FULL_VIEW):
            await self._room.for_document()
        return await self._engine.complete(prompt, sampling, schema, on_prefill)

    async def count_tokens(self, messages: Sequence[Message]) -> int | None:
        return await self._engine.count_tokens(messages)

    async def close(self) -> None:
        await self._engine.close()


class SynthesizeStage(EngineStage):
    """Columns read: SYNTHESIS_PLAN and `text`. Gives RESULTS.

    Args:
        spec: how candidates are made.
        making: what they belong to.
        gate: asked once a bundle has its place in the engine, told when it has ended. A bundle that is refused gives a
            row without candidates: it stays owed.
    """

    def __init__(
        self,
        model: Mapping[str, Any],
        placement: EnginePlacement,
        watch: Watch,
        spec: SynthesisSpec,
        making: Making,
        gate: Gate,
    ) -> None:
        super().__init__(model, placement, watch)
        self.spec = spec
        self.making = making
        self.gate = gate
        self._searcher: HttpSearcher | None = None

    async def run_bundle(self, engine: Engine, bundle: dict[str, Any]) -> dict[str, object]:
        tally = Tally(engine.block_size)
        fragments = [item["fragment_index"] for item in bundle["items"]]
        document, each = await self._tokens(engine, bundle)
        wanted = min(MAX_PARALLEL, len(fragments) * len(self.spec.kinds))
        parallel = parallel_within(self.admission.capacity, document, each, wanted)
        async with Room(self.admission, parallel * each, document + parallel * each) as room:
            about = (bundle["bundle_id"], bundle["language"], bundle["length_bucket"])
            if await self.gate.refuses(*about, self._expected_tokens(engine, bundle)) is not None:
                return result_row(bundle["bundle_id"], bundle["doc_id"], [], [], tally)
            candidates = await run_program(
                InRoom(engine, room),
                bundle["text"],
                _source(bundle),
                fragments,
                self.spec,
                self.making,
                searcher=self._search(),
                parallel=parallel,
                observe=self.observer(tally),
            )
            spent = tally.prompt_tokens - tally.cached_tokens + tally.output_tokens
            await self.gate.done(bundle["bundle_id"], candidates, spent)
        for candidate in candidates:
            self.watch.row(candidate.status)
        return result_row(bundle["bundle_id"], bundle["doc_id"], [], [], tally, candidates)

    async def _tokens(self, engine: Engine, bundle: dict[str, Any]) -> tuple[int, int]:
        """An estimate of the KV that the bundle needs: of what its full-view calls share, and of each call in flight.

        The first cut of a view ends what it shares with the document, so room for one view is counted beside it.
        Where the estimate is too low, the engine computes something again; nothing fails.
        """
        if self.admission.capacity is None:
            return 0, 0
        each = self._tokens_of_a_call(engine)
        if not self.spec.full_view:
            return 0, each
        count = await engine.count_tokens([{"role": "user", "content": bundle["text"]}])
        return self._views() * (bundle["n_tokens"] if count is None else count), each

    def _tokens_of_a_call(self, engine: Engine) -> int:
        """At most, of a call that does not read the document."""
        spec = self.spec
        words = max(spec.fragment_max_words, spec.passages * spec.passage_words)
        return words * TOKENS_PER_WORD + INSTRUCTION_TOKENS + spec.sampling.max_tokens + engine.block_size

    def _views(self) -> int:
        return 2 if Kind.LACK_OF_EVIDENCE in self.spec.kinds else 1

    def _expected_tokens(self, engine: Engine, bundle: Mapping[str, Any]) -> int:
        """What the bundle will cost: a call a candidate, and the document read once a view, or by every candidate where
        nothing says that the engine keeps what it has read.
        """
        candidates = len(bundle["items"]) * len(self.spec.kinds)
        reads = candidates if self.admission.capacity is None else min(candidates, self._views())
        document = reads * bundle["n_tokens"] if self.spec.full_view else 0
        return int(document + candidates * self._tokens_of_a_call(engine))

    def _search(self) -> HttpSearcher | None:
        """The web search, made in the event loop that it is used in."""
        if self._searcher is None and self.spec.web is not None:
            self._searcher = HttpSearcher(self.spec.web)
        return self._searcher

    async def close(self) -> None:
        searcher, self._searcher = self._searcher, None
        if searcher is not None:
            await searcher.aclose()
        await super().close()


def _source(bundle: Mapping[str, Any]) -> Source:
    return Source(
        doc_id=bundle["doc_id"],
        dataset=bundle["dataset"],
        language=bundle["language"],
        domain=bundle["domain"],
        length_bucket=bundle["length_bucket"],
    )
