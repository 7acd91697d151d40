"""The QA agent: a question, its answer and the evidence, and the rules that hold it to the fragment (section 3.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar

from udfs.agents.asking import Asked, Asker, opinion_of_rules
from udfs.agents.base import QA, Opinion
from udfs.agents.checks import Objection, answer_objections, question_objections, term_language_objections
from udfs.agents.replies import MAX_ANSWER, MAX_QUESTION, Filled, Quotations, Reply, at_most
from udfs.prompts.agents import build, fragment_block
from udfs.records import Span
from udfs.schema import Fate, Step, Topic
from udfs.synthesis.alignment import align
from udfs.synthesis.index import DocumentIndex
from udfs.text import normalize
from udfs.views import merged


class QaReply(Reply):
    """The evidence first, so that question and answer follow from it."""

    quotations: ClassVar[frozenset[str]] = frozenset({"evidence"})

    evidence: Quotations
    question: Annotated[Filled, at_most(MAX_QUESTION)]
    answer: Annotated[Filled, at_most(MAX_ANSWER)]


async def propose(asker: Asker, fragment: str, topic: Topic, request_id: str) -> Asked[QaReply]:
    """A question about `topic` that the fragment answers, as the agent proposes it: see `examine`."""
    language = asker.language
    messages = build(language, QA, fragment_block(language, fragment), topic=topic.value)
    gold_topic = topic.value
    return await asker.ask(QA, Step.QA, messages, QaReply, {"fragment": fragment, "topic": gold_topic}, request_id)


def examine(reply: QaReply, text: str, within: Span, language: str) -> tuple[tuple[Span, ...], Opinion]:
    """Where the evidence lies in the document (empty where a quotation is not in the fragment), and the rules' opinion.

    Args:
        text: the document.
        within: the fragment.
    """
    fragment = text[within.start : within.end]
    spans = _aligned(reply.evidence, fragment, language)
    evidence = " ".join(fragment[start:end] for start, end in spans)
    opinion = opinion_of_rules(Step.QA, _objections(reply, bool(spans), evidence, fragment, language))
    return tuple(Span(within.start + start, within.start + end) for start, end in spans), opinion


def _aligned(quotations: Sequence[str], fragment: str, language: str) -> tuple[Span, ...]:
    """Where the quotations lie in the fragment; empty where one is not in it, or stands in sentences that differ: which
    of them it is from would be a guess.
    """
    spans = [align(fragment, quotation, Span(0, len(fragment))) for quotation in quotations]
    found = [span for span in spans if span is not None and len(_said_in(fragment, span, language)) == 1]
    return merged(found, len(fragment)) if len(found) == len(spans) else ()


def _said_in(fragment: str, span: Span, language: str) -> set[str]:
    """The sentences that hold the words of `span` on word borders, normalised."""
    index = DocumentIndex(fragment, language)
    quoted = fragment[span.start : span.end]
    wholes = map(index.whole_sentences, [span, *index.copies(quoted)])
    return {normalize(fragment[start:end]) for start, end in wholes}


def _objections(reply: QaReply, found: bool, evidence: str, fragment: str, language: str) -> Iterator[Objection]:
    yield from question_objections(reply.question, reply.answer, fragment, language)
    yield from term_language_objections("answer", reply.answer, language, fragment)
    if not found:
        yield Objection(Fate.EVIDENCE_NOT_FOUND, "a quotation is not in the fragment, or in several of its sentences")
    yield from answer_objections(reply.answer, evidence, language)
