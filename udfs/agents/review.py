"""The review of candidates: retrieval, the whole view, common sense (FactGuard, section 3.3).

A candidate that is ended, or whose answerable twin is, is asked nothing more.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from udfs.agents.asking import RULES, Asker, together
from udfs.agents.base import FULL_VIEW, SHORT_READING, Opinion
from udfs.agents.common_sense import know, search
from udfs.agents.drafts import Draft, FragmentWork
from udfs.agents.library import Library
from udfs.agents.reading import judged, read
from udfs.agents.twin import Twin
from udfs.agents.web import Searcher
from udfs.judges.base import OnPrefill
from udfs.prompts.agents import document_block, passages_block
from udfs.records import Span
from udfs.scheduling import walk_prefix_tree
from udfs.schema import Fate, Kind, Step
from udfs.views import view_text


@dataclass(frozen=True)
class Reviewer:
    """What reviews a document's candidates.

    Args:
        passages: retrieved passages that a short reading gets.
        parallel: full-view calls in flight at once.
        full_view: whether the whole view is read, too; else what is retrieved has to answer an answerable question.
    """

    asker: Asker
    library: Library
    passages: int
    parallel: int
    full_view: bool
    searcher: Searcher | None

    async def retrieval(self, work: FragmentWork, draft: Draft) -> None:
        """Short reading of the passages that match question and answer best."""
        twin, question = _twin(work), asked_question(work, draft)
        if draft.kind is Kind.LACK_OF_EVIDENCE:
            left = await self.library.survivors(draft.redactions, twin.evidence)
            left = left or await self.library.answering(draft.redactions, question, twin.answer)
            detail = f"the view still says {left[0]!r}" if left else "no sentence of the view says the evidence"
            draft.opinions.append(Opinion(RULES, Step.RETRIEVAL, Fate.EVIDENCE_SURVIVES if left else None, detail))
            if left:
                return
        queries = [question, f"{question} {twin.answer}"]
        found = await self.library.passages(queries, self.passages, draft.redactions)
        if not found:
            draft.opinions.append(Opinion(RULES, Step.RETRIEVAL, detail="no passage of the view matches"))
            return
        text = "\n".join(found)
        block = passages_block(self.asker.language, found)
        asked = await read(self.asker, SHORT_READING, Step.RETRIEVAL, block, text, question, twin, draft.candidate_id)
        answerable = draft.kind is Kind.ANSWERABLE
        draft.opinions += judged(
            asked, question, twin.answer, answerable, not self.full_view, self.asker.language, text
        )

    async def full_views(self, works: Sequence[FragmentWork]) -> None:
        """All full-view calls of a document together: those on the whole document first, then cut views, the later
        the first cut the earlier, since they share more of the document's prefix.
        """
        views: dict[tuple[Span, ...], list[Callable[[OnPrefill], Awaitable[None]]]] = {}
        for work in works:
            for draft in work.alive():
                views.setdefault(draft.redactions, []).append(functools.partial(self._full_view, work, draft))
        order = sorted(views, key=lambda cuts: (bool(cuts), -cuts[0].start if cuts else 0, cuts))
        await walk_prefix_tree([[views[cuts]] for cuts in order], self.parallel)

    async def _full_view(self, work: FragmentWork, draft: Draft, on_prefill: OnPrefill) -> None:
        twin = _twin(work)
        text = view_text(self.library.text, draft.redactions)
        block = document_block(self.asker.language, text)
        question = asked_question(work, draft)
        asked = await read(
            self.asker, FULL_VIEW, Step.FULL_VIEW, block, text, question, twin, draft.candidate_id, on_prefill
        )
        answerable = draft.kind is Kind.ANSWERABLE
        draft.opinions += judged(asked, question, twin.answer, answerable, True, self.asker.language, text)

    async def common_sense(self, work: FragmentWork) -> None:
        """Each question without any document, the answerable one before those that need it."""
        asked: set[str] = set()
        while pending := [draft for draft in work.alive() if asked_question(work, draft) not in asked]:
            first = asked_question(work, work.answerable)
            questions = {asked_question(work, draft): draft for draft in reversed(pending)}
            now = [first] if first in questions else list(reversed(questions))
            await together(self._without_document(work, question, questions[question]) for question in now)
            asked.update(now)

    async def _without_document(self, work: FragmentWork, question: str, asks: Draft) -> None:
        """Ask `question` for all drafts that ask it."""
        twin = _twin(work)
        opinions = await know(self.asker, question, twin, asks.candidate_id)
        if self.searcher is not None and all(opinion.against is None for opinion in opinions):
            opinions += await search(self.asker, self.searcher, question, twin, asks.candidate_id)
        for draft in work.drafts.values():
            if not draft.ended and asked_question(work, draft) == question:
                draft.opinions += opinions


def asked_question(work: FragmentWork, draft: Draft) -> str:
    """A draft's question: its own, else its twin's.

    Raises:
        ValueError: none is written yet.
    """
    question = draft.question or work.question
    if question is None:
        raise ValueError(f"candidate {draft.candidate_id} has no question yet")
    return question


def _twin(work: FragmentWork) -> Twin:
    if work.twin is None:
        raise ValueError(f"fragment {work.index} has no answerable question yet")
    return work.twin
