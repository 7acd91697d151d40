"""Judge `llm:<model>` of a reformulated question: a model says whether it is answerable and what it is about, and why
it failed or how it was made (CouldAsk, section 4.2, Tables 1 and 6).

It judges the question that was cut out of turn 2 (`Response.reformulation`). What it says is checked where that can be
done: an answerable question needs words that stand in the view, an entity has to stand in its question. Its own word
decides on success: answerable, and an exact entity overlap of at least a half.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Final

from udfs.agents.replies import BOUND_QUOTATION, MAX_QUOTATION, Reply, Text, at_most
from udfs.dialogues.failures import status_of
from udfs.engines.base import Engine, ProviderError, Sampling
from udfs.identity import content_hash, judgement_id
from udfs.judges.asking import Asker
from udfs.judges.base import (
    PURPOSE_ANSWERABLE,
    PURPOSE_ERROR_CATEGORY,
    PURPOSE_STRATEGY,
    Observe,
    OnPrefill,
    is_reformulated,
    utc_now,
)
from udfs.judges.findings import Finding, clipped, judgements_of
from udfs.judges.reformulation import (
    ANSWERABLE,
    ENTITY_OVERLAP,
    ENTITY_OVERLAP_SOFT,
    ERROR_CATEGORY,
    NONE,
    STRATEGY,
    UNDECIDED,
    UNDEFINED,
    Value,
)
from udfs.judges.tagging import Tags, tag_entities
from udfs.judges.verdicts import FailureVerdict, SuccessVerdict, allowed_verdicts
from udfs.measures.categories import ErrorCategory
from udfs.measures.entity_overlap import couldask_overlap, soft_overlap
from udfs.measures.success import succeeded
from udfs.prompts import new_questions
from udfs.records import Judgement, Question, Response, Span, row_of
from udfs.synthesis.alignment import align
from udfs.synthesis.overlap import content
from udfs.text import normalize
from udfs.views import view_text

VERSION: Final = 1
"""Raise it when code changes what follows from the same replies: it is part of a judgement's identity."""
GIVES: Final = (ANSWERABLE, ENTITY_OVERLAP, ENTITY_OVERLAP_SOFT, ERROR_CATEGORY, STRATEGY)
"""The measures of a response, in order."""
UNSUPPORTED: Final = "unsupported quote: "
"""How the rationale of a question begins that was called answerable by words that the view does not hold."""

_EMPTY_ZH: Final = frozenset("的了是在有和与也都就")
"""Han characters that say nothing where they are a whole quote; English stop words are known to `content`."""
_UNANSWERABLE: Final = Value("unanswerable", 0.0)
_NO_QUESTION: Final = {
    ANSWERABLE: Finding(_UNANSWERABLE),
    ENTITY_OVERLAP: Finding(Value(score=0.0)),
    ENTITY_OVERLAP_SOFT: Finding(Value(score=0.0)),
    ERROR_CATEGORY: Finding(Value(str(ErrorCategory.OTHER))),
    STRATEGY: Finding(Value(NONE)),
}


class AnswerableReply(Reply):
    """Whether the document answers a question, and by which of its words."""

    quote: Annotated[Text, at_most(MAX_QUOTATION, BOUND_QUOTATION)] = ""
    answerable: bool


@dataclass(frozen=True)
class _Case:
    """What is judged: the original and the new question, the view that they were asked about, and its language."""

    original: str
    new: str
    view: str
    language: str

    @property
    def is_repeated(self) -> bool:
        """Whether the new question is the original, word for word."""
        return normalize(self.original) == normalize(self.new)


@dataclass(frozen=True)
class LlmReformulationJudge:
    """A model as judge of new questions: four or five calls for each, one after the other.

    The original over again costs no verdict: the gold says that it is unanswerable.

    Args:
        model: the judging model's name in tables.
        revision: its revision, part of its judgements' identity.
    """

    model: str
    sampling: Sampling = field(default_factory=Sampling)
    revision: str = ""
    clock: Callable[[], datetime] = utc_now

    @property
    def name(self) -> str:
        return f"llm:{self.model}"

    @property
    def reads_document(self) -> bool:
        return True

    def expected_judgement_ids(self, question: Question, response: Response) -> list[str]:
        """See `Judge`: none for an answerable question or a response without turn 2. The view is in a response's id."""
        if not is_reformulated(question, response):
            return []
        gold = content_hash(
            "llm_reformulation_gold",
            VERSION,
            question.question,
            response.reformulation,
            new_questions.reformulation_template_hash(question.language),
            dataclasses.asdict(self.sampling),
            self.revision,
        )
        return [judgement_id(response.response_id, measure, self.name, gold) for measure in GIVES]

    async def judge(
        self,
        response: Response,
        question: Question,
        document: str,
        engine: Engine,
        *,
        observe: Observe | None = None,
        on_prefill: OnPrefill | None = None,
    ) -> list[Judgement]:
        """See `Judge`. A call's tokens are on the judgement that it was made for.

        What fails at the provider in one call fails in all measures: they hang together and are judged again together.
        """
        ids = self.expected_judgement_ids(question, response)
        if not ids:
            return []
        findings = _NO_QUESTION
        if response.reformulation is not None:
            view = view_text(document, question.redactions)
            case = _Case(question.question, response.reformulation, view, question.language)
            gold = {"question": row_of(question), "new_question": case.new, "view": view}
            asker = Asker(engine, self.sampling, case.language, response.response_id, gold, observe)
            try:
                findings = await _findings(asker, case, on_prefill)
            except ProviderError as error:
                failed = Finding(status=status_of(error), error=str(error))
                findings = dict.fromkeys(GIVES, failed)
                findings[ANSWERABLE] = dataclasses.replace(failed, calls=tuple(asker.calls))
        return judgements_of(response, self.name, findings, ids, self.clock())


async def _findings(asker: Asker, case: _Case, on_prefill: OnPrefill | None) -> dict[str, Finding]:
    answerable = await _answerable(asker, case, on_prefill)
    exact, soft = await _overlaps(asker, case)
    category, how = await _labels(asker, case, answerable, exact)
    return dict(zip(GIVES, (answerable, exact, soft, category, how), strict=True))


async def _answerable(asker: Asker, case: _Case, on_prefill: OnPrefill | None) -> Finding:
    if case.is_repeated:
        return Finding(_UNANSWERABLE)
    messages = new_questions.build_answerable(case.language, case.new, case.view)
    heard = await asker.reply(PURPOSE_ANSWERABLE, messages, AnswerableReply, lambda reply: reply, on_prefill)
    if heard.reply is None:
        return Finding.unheard(heard)
    # in a thread: looking for inexact words in a book takes a second, and other requests are to go on
    value = await asyncio.to_thread(supported, heard.reply, case.view, case.language)
    return Finding(value, calls=heard.calls)


def supported(reply: AnswerableReply, view: str, language: str) -> Value:
    """The verdict on answerability that a reply gives once its quote was looked for in the view.

    Found are the exact words, or words that a model may have made of them by copying (`udfs.synthesis.alignment`). A
    quote that says nothing (`the`) supports nothing. The rationale of an answerable question is the view's own words.
    """
    if not reply.answerable:
        return _UNANSWERABLE
    span = align(view, reply.quote, Span(0, len(view)))
    if span is None or content(reply.quote, language) <= _EMPTY_ZH:
        return Value("unanswerable", 0.0, clipped(UNSUPPORTED + (reply.quote or "none")))
    return Value("answerable", 1.0, clipped(view[span.start : span.end]))


async def _overlaps(asker: Asker, case: _Case) -> tuple[Finding, Finding]:
    """Entity overlap, exact and soft. The calls are counted with the exact one."""
    old = await tag_entities(asker, case.original, "original")
    if old.reply is None:
        failed = Finding.unheard(old)
        return failed, dataclasses.replace(failed, calls=())
    new = old if case.is_repeated else await tag_entities(asker, case.new, "new")
    calls = old.calls if new is old else old.calls + new.calls
    if new.reply is None:
        failed = dataclasses.replace(Finding.unheard(new), calls=calls)
        return failed, dataclasses.replace(failed, calls=())
    rationale = _both_lists(old.reply, new.reply)
    before, after = old.reply.entities, new.reply.entities
    exact = _overlap(couldask_overlap(before, after), rationale)
    soft = _overlap(soft_overlap(before, after, case.new, case.language), rationale)
    return Finding(exact, calls=calls), Finding(soft)


def _both_lists(old: Tags, new: Tags) -> str:
    left_out = [*old.left_out, *new.left_out]
    lists = {"original": old.entities, "new": new.entities} | ({"left_out": left_out} if left_out else {})
    return json.dumps(lists, ensure_ascii=False)


def _overlap(share: float | None, rationale: str) -> Value:
    return Value(UNDEFINED, None, rationale) if share is None else Value(None, share, rationale)


async def _labels(asker: Asker, case: _Case, answerable: Finding, overlap: Finding) -> tuple[Finding, Finding]:
    """Error category and strategy: one of the two is asked for, as the new question failed or not."""
    if answerable.value is None:
        unknown = answerable.passed_on(ANSWERABLE)
        return unknown, unknown
    none = Finding(Value(NONE))
    if not answerable.value.score:
        return await _category(asker, case), none
    if overlap.value is None:
        unknown = overlap.passed_on(ENTITY_OVERLAP)
        return unknown, unknown
    success = succeeded(True, overlap.value.score, at_least=True)
    if success is None:
        return Finding(Value(UNDECIDED)), Finding(Value(UNDECIDED))
    return (none, await _strategy(asker, case)) if success else (await _category(asker, case), none)


async def _category(asker: Asker, case: _Case) -> Finding:
    if case.is_repeated:
        return Finding(Value(str(ErrorCategory.SAME_OR_REPHRASED)))
    return await _compared(asker, case, PURPOSE_ERROR_CATEGORY, new_questions.ERROR_CATEGORY, FailureVerdict)


async def _strategy(asker: Asker, case: _Case) -> Finding:
    return await _compared(asker, case, PURPOSE_STRATEGY, new_questions.STRATEGY, SuccessVerdict)


async def _compared(
    asker: Asker, case: _Case, purpose: str, file: str, form: type[FailureVerdict] | type[SuccessVerdict]
) -> Finding:
    messages = new_questions.build_comparison(
        file, case.language, case.original, case.new, case.view, allowed_verdicts(form)
    )
    heard = await asker.verdict(purpose, messages, form)
    if heard.reply is None:
        return Finding.unheard(heard)
    return Finding(Value(heard.reply.verdict, None, clipped(heard.reply.rationale) or None), calls=heard.calls)
