"""The judge `llm:<model>` of minimum spans: which part of a question makes it unanswerable (CouldAsk, section 7, Figure
3 and Table 7).
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Final

from udfs.agents.replies import BOUND_REASON, MAX_REASON, Filled, Reply, Text, at_most
from udfs.dialogues.failures import status_of
from udfs.engines.base import Engine, ProviderError, Sampling
from udfs.identity import content_hash, judgement_id
from udfs.judges.asking import Asker
from udfs.judges.base import PURPOSE_MINIMUM_SPAN, Observe, OnPrefill, is_reformulated, utc_now
from udfs.judges.findings import Finding, clipped, judgements_of
from udfs.judges.reformulation import Value
from udfs.prompts.new_questions import build_minimum_span, span_template_hash
from udfs.records import Judgement, Question, Response, Span, row_of
from udfs.synthesis.alignment import align
from udfs.text import normalize, normalize_mapped
from udfs.views import view_text

VERSION: Final = 1
"""Raise it when code changes what follows from the same replies: it is part of a judgement's identity."""
MINIMUM_SPAN: Final = "minimum_span"
"""Measure: q_span (the whole question) | short_span (a part of it), no score; the rationale is the span."""
Q_SPAN: Final = "q_span"
SHORT_SPAN: Final = "short_span"


class SpanReply(Reply):
    """The part of a question that is to blame, in its words."""

    reason: Annotated[Text, at_most(MAX_REASON, BOUND_REASON)] = ""
    span: Filled


@dataclass(frozen=True)
class MinimumSpanJudge:
    """A model that finds minimum spans, one call a response. Judged are the responses whose new question is judged:
    what is wanted is how answerable those are by the span of their original.

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
        template = span_template_hash(question.language)
        sampling = dataclasses.asdict(self.sampling)
        gold = content_hash("minimum_span_gold", VERSION, question.question, template, sampling, self.revision)
        return [judgement_id(response.response_id, MINIMUM_SPAN, self.name, gold)]

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
        """See `Judge`. A span that the question does not hold, twice, is a parse failure."""
        ids = self.expected_judgement_ids(question, response)
        if not ids:
            return []
        view = view_text(document, question.redactions)
        gold = {"question": row_of(question), "new_question": response.reformulation, "view": view}
        asker = Asker(engine, self.sampling, question.language, response.response_id, gold, observe)
        try:
            finding = await _finding(asker, question, view, on_prefill)
        except ProviderError as error:
            finding = Finding(None, status_of(error), str(error), tuple(asker.calls))
        return judgements_of(response, self.name, {MINIMUM_SPAN: finding}, ids, self.clock())


async def _finding(asker: Asker, question: Question, view: str, on_prefill: OnPrefill | None) -> Finding:
    text = question.question
    messages = build_minimum_span(question.language, text, view)
    heard = await asker.reply(
        PURPOSE_MINIMUM_SPAN, messages, SpanReply, lambda reply: span_in(text, reply.span), on_prefill
    )
    if heard.reply is None:
        return Finding.unheard(heard)
    words = text[heard.reply.start : heard.reply.end]
    verdict = Q_SPAN if normalize(words) == normalize(text) else SHORT_SPAN
    return Finding(Value(verdict, None, clipped(words)), calls=heard.calls)


def span_in(question: str, quoted: str) -> Span | None:
    """Where `quoted` stands in the question: exactly, nearly (`udfs.synthesis.alignment.align`), or up to case and
    punctuation however short it is; None where it does not, or says nothing.
    """
    wanted = normalize(quoted)
    if not wanted:
        return None
    found = align(question, quoted, Span(0, len(question)))
    if found is not None:
        return found
    loose = normalize_mapped(question)
    match = re.search(rf"(?<![a-z0-9]){re.escape(wanted)}(?![a-z0-9])", loose.text)
    return None if match is None else loose.original(match.start(), match.end())
