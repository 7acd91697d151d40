"""FactGuard's pipeline over one document (Algorithm 1): fragments in, one decided candidate per fragment and kind out.

A plain coroutine over an engine. Fragments go through the steps at once; two steps wait for all of them: the draw of
topics, which is balanced over the document, and the full-view calls, which share the document's prefix.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from udfs.agents.asking import RULES, Asker, together
from udfs.agents.base import Opinion
from udfs.agents.console import decide
from udfs.agents.drafts import Draft, FragmentWork, Making, Source, begin, candidate
from udfs.agents.library import Library
from udfs.agents.negatives import make_negative
from udfs.agents.qa import examine, propose
from udfs.agents.qa_review import review
from udfs.agents.quality import assess
from udfs.agents.review import Reviewer
from udfs.agents.spec import SynthesisSpec
from udfs.agents.topic import draw_topic, name_topics
from udfs.agents.twin import Twin
from udfs.agents.web import Searcher
from udfs.engines.base import Engine
from udfs.errors import UserError
from udfs.judges.base import Observe, utc_now
from udfs.prompts.agents import agents_template_hash
from udfs.prompts.render import LANGUAGES
from udfs.records import Candidate, Span
from udfs.schema import Fate, Kind, Step, Topic
from udfs.synthesis.fragments import fragments

__all__ = ["Making", "Source", "run_program", "template_hashes"]

SHARED_STEPS: Final = frozenset({Step.QUALITY, Step.TOPIC, Step.QA, Step.QA_REVIEW, Step.RETRIEVAL})
"""The steps that every accepted candidate has gone through, whatever the settings."""


def template_hashes() -> dict[str, str]:
    """Hash over all prompt files of the agents, by language: for `udfs.agents.spec.spec_hash`."""
    return {language: agents_template_hash(language) for language in LANGUAGES}


async def run_program(
    engine: Engine,
    text: str,
    source: Source,
    fragment_indices: Sequence[int],
    spec: SynthesisSpec,
    making: Making,
    *,
    searcher: Searcher | None = None,
    parallel: int = 64,
    observe: Observe | None = None,
    clock: Callable[[], datetime] = utc_now,
) -> list[Candidate]:
    """Exactly one candidate per fragment index and kind, in that order, each with its fate.

    What goes wrong with a reply or a call is a candidate's fate. A call that ends in a provider error gives all
    candidates of its fragment that status: the fragment is owed again as a whole.

    Args:
        text: the document.
        fragment_indices: the fragments that are owed, 0-based; entry i is the same fragment whatever else is asked.
        searcher: for the common-sense check on the web; None: no web.
        parallel: calls in flight at once, at least 1.
        observe: called with every completion, for accounting.

    Raises:
        UserError: `spec.kinds` has no answerable, which the other kinds are made from.
        EngineDead: nothing more will come from this engine.
    """
    if Kind.ANSWERABLE not in spec.kinds:
        raise UserError(
            f"synthesis kinds {', '.join(spec.kinds)} lack {Kind.ANSWERABLE}: the other kinds are made from it"
        )
    asker = Asker(engine, spec.sampling, source.language, asyncio.Semaphore(parallel), observe)
    library = Library(text, source.language, spec.passage_words)
    reviewer = Reviewer(asker, library, spec.passages, parallel, spec.full_view, searcher)
    program = _Program(text, source, spec, making, asker, library, reviewer)
    works = await program.run(fragment_indices)
    required = {kind: _required(kind, spec) for kind in spec.kinds}
    made: list[Candidate] = []
    for work in works:
        decisions = decide(work.opinions_by_kind(), required)
        made += [candidate(work, work.drafts[kind], decisions[kind], source, making, clock()) for kind in spec.kinds]
    return made


def _required(kind: Kind, spec: SynthesisSpec) -> frozenset[Step]:
    steps = set(SHARED_STEPS)
    if kind is not Kind.ANSWERABLE:
        steps.add(Step.NEGATIVE)
    if spec.full_view:
        steps.add(Step.FULL_VIEW)
    if spec.common_sense:
        steps.add(Step.COMMON_SENSE)
    return frozenset(steps)


@dataclass(frozen=True)
class _Program:
    text: str
    source: Source
    spec: SynthesisSpec
    making: Making
    asker: Asker
    library: Library
    reviewer: Reviewer

    async def run(self, indices: Sequence[int]) -> list[FragmentWork]:
        works = await self._segment(indices)
        await together(self._select(work) for work in works if not work.ended)
        self._draw_topics([work for work in works if not work.ended])
        if any(not work.ended for work in works):
            await self.library.prepare()
        await together(self._propose(work) for work in works if not work.ended)
        if self.spec.full_view:
            await self.reviewer.full_views([work for work in works if work.alive()])
        if self.spec.common_sense:
            await together(self.reviewer.common_sense(work) for work in works if work.alive())
        return works

    async def _segment(self, indices: Sequence[int]) -> list[FragmentWork]:
        """The owed fragments; a document without room for one ends its candidates."""
        spans = await self.library.compute(self._spans, max(indices, default=-1) + 1)
        kinds = sorted(self.spec.kinds, key=lambda kind: kind is not Kind.ANSWERABLE)
        works = [begin(index, spans[index], kinds, self.source.doc_id, self.making) for index in indices]
        for work in works:
            if work.span is None:
                detail = "the document has fewer fragments of the wanted length"
                work.add([Opinion(RULES, Step.SEGMENT, Fate.NO_FRAGMENT, detail)])
        return works

    def _spans(self, alpha: int) -> list[Span | None]:
        spec, source = self.spec, self.source
        return fragments(
            self.text,
            source.language,
            source.doc_id,
            spec.seed,
            alpha,
            spec.fragment_min_words,
            spec.fragment_max_words,
        )

    async def _select(self, work: FragmentWork) -> None:
        """Quality and topics of a fragment."""
        fragment, request = self._fragment(work), work.answerable.candidate_id
        assessed = await assess(self.asker, fragment, self.spec.quality_threshold, request)
        work.quality = assessed.reply.score if assessed.reply else None
        if not work.add(assessed.opinions):
            return
        topics = await name_topics(self.asker, fragment, request)
        work.named = tuple(topics.reply.topics) if topics.reply else ()
        work.add(topics.opinions)

    def _draw_topics(self, works: Sequence[FragmentWork]) -> None:
        """In the order of the fragments, whoever replied first."""
        used: Counter[Topic] = Counter()
        for work in sorted(works, key=lambda work: work.index):
            work.topic = draw_topic(work.named, used, self.source.doc_id, work.index, self.spec.seed)
            used[work.topic] += 1

    async def _propose(self, work: FragmentWork) -> None:
        """The answerable question, the negatives made from it, and their review by retrieval."""
        work.twin = await self._twin(work)
        if work.twin is None:
            return
        await self.reviewer.retrieval(work, work.answerable)
        await together(self._negative(work, work.twin, draft) for draft in work.alive()[1:])

    async def _twin(self, work: FragmentWork) -> Twin | None:
        """The question and answer that hold against the rules and the review agent; None where the fragment ends."""
        assert work.span is not None
        assert work.topic is not None
        fragment, request = self._fragment(work), work.answerable.candidate_id
        proposed = await propose(self.asker, fragment, work.topic, request)
        reply = proposed.reply
        if not work.add(proposed.opinions) or reply is None:
            return None
        work.question, work.answer = reply.question, reply.answer
        work.evidence, opinion = examine(reply, self.text, work.span, self.source.language)
        if not work.add([opinion]):
            return None
        texts = tuple(self.text[start:end] for start, end in work.evidence)
        reviewed = await review(self.asker, fragment, reply.question, reply.answer, texts, request)
        if not work.add(reviewed.opinions):
            return None
        return Twin(fragment, reply.question, reply.answer, work.evidence, texts)

    async def _negative(self, work: FragmentWork, twin: Twin, draft: Draft) -> None:
        await make_negative(self.asker, self.library, work, twin, draft, self.spec.max_redacted_share)
        if not draft.ended:
            await self.reviewer.retrieval(work, draft)

    def _fragment(self, work: FragmentWork) -> str:
        assert work.span is not None
        return self.text[work.span.start : work.span.end]
