"""How a fragment's unanswerable candidates come about: by cutting its evidence out, or by rewriting its question."""

from __future__ import annotations

from udfs.agents.asking import RULES, Asker
from udfs.agents.base import Opinion
from udfs.agents.drafts import Draft, FragmentWork
from udfs.agents.entity_substitution import substitute
from udfs.agents.false_assumption import assume
from udfs.agents.impossible_condition import impose
from udfs.agents.library import Library
from udfs.agents.reference import respond
from udfs.agents.twin import Twin
from udfs.schema import Fate, Kind, Step


async def make_negative(
    asker: Asker, library: Library, work: FragmentWork, twin: Twin, draft: Draft, max_redacted_share: float
) -> None:
    """Write `draft`, an unanswerable one, and take the opinions on it."""
    match draft.kind:
        case Kind.LACK_OF_EVIDENCE:
            await _cut_out(asker, library, work, twin, draft, max_redacted_share)
        case Kind.ENTITY_SUBSTITUTION:
            await _substitute(asker, library, twin, draft)
        case Kind.IMPOSSIBLE_CONDITION:
            await _impose(asker, library, twin, draft)
        case Kind.FALSE_ASSUMPTION:
            await _assume(asker, library, twin, draft)
        case _:
            raise ValueError(f"{draft.kind} is no kind of unanswerable question that is made")


async def _cut_out(
    asker: Asker, library: Library, work: FragmentWork, twin: Twin, draft: Draft, max_redacted_share: float
) -> None:
    assert work.span is not None  # a twin has a fragment
    draft.redactions = await library.cuts(twin.evidence)
    share = sum(end - start for start, end in draft.redactions) / len(library.text)
    shown = library.shown(work.span, draft.redactions)
    if share > max_redacted_share:
        detail = f"{share:.3f} of the document would be cut, {max_redacted_share:g} is allowed"
    elif not shown.strip():
        detail = "nothing is left of the fragment"
    else:
        draft.opinions.append(Opinion(RULES, Step.NEGATIVE, detail=f"{share:.4f} of the document is cut"))
        asked = await respond(asker, twin, shown, draft.candidate_id)
        draft.opinions += asked.opinions
        draft.reference = asked.reply.reference if asked.reply else None
        return
    draft.opinions.append(Opinion(RULES, Step.NEGATIVE, Fate.TOO_MUCH_REDACTED, detail))


async def _substitute(asker: Asker, library: Library, twin: Twin, draft: Draft) -> None:
    asked = await substitute(asker, twin, library.index, draft.candidate_id)
    draft.opinions += asked.opinions
    if asked.reply is not None:
        draft.question, draft.reference = asked.reply.question, asked.reply.reference
        draft.original, draft.replacement = asked.reply.original, asked.reply.replacement


async def _impose(asker: Asker, library: Library, twin: Twin, draft: Draft) -> None:
    asked = await impose(asker, twin, library.index, draft.candidate_id)
    draft.opinions += asked.opinions
    if asked.reply is not None:
        draft.question, draft.reference = asked.reply.question, asked.reply.reference
        draft.replacement = asked.reply.condition


async def _assume(asker: Asker, library: Library, twin: Twin, draft: Draft) -> None:
    asked = await assume(asker, twin, library.index, draft.candidate_id)
    draft.opinions += asked.opinions
    if asked.reply is not None:
        draft.question, draft.reference = asked.reply.question, asked.reply.reference
        draft.replacement = asked.reply.assumption
