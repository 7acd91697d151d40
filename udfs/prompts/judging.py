"""The prompts of judges: what a reply did, and whether it is right.

A reply that is judged is data. It stands between two lines that carry a hash of the item, which a reply cannot hold,
and the prompt says before and after it what is wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from udfs.engines.base import Message
from udfs.identity import content_hash
from udfs.prompts.library import PromptLibrary, library
from udfs.records import Question

REFUSAL_FILES: Final = ("judge/refusal.j2", "judge/retry.j2")
RESPONSE_FILES: Final = ("judge/response.j2", "judge/retry.j2", "document.j2")


def refusal_template_hash(language: str, prompts: PromptLibrary | None = None) -> str:
    """Hash over what the refusal detector `llm` can say."""
    return (prompts or library()).files_hash(language, REFUSAL_FILES)


def response_template_hash(language: str, prompts: PromptLibrary | None = None) -> str:
    """Hash over what the judge `llm` can say."""
    return (prompts or library()).files_hash(language, RESPONSE_FILES)


def fence_of(question: str, reply: str) -> str:
    """The line around a reply: looks random, is the same every time, and cannot be guessed by the reply itself."""
    return f"=== reply {content_hash('fence', question, reply)[:16]} ==="


def build_refusal(
    language: str, question: str, reply: str, prompts: PromptLibrary | None = None
) -> tuple[Message, ...]:
    """Ask whether `reply` refused `question`."""
    text = (prompts or library()).render(
        language, "judge/refusal.j2", question=question, response=reply, fence=fence_of(question, reply)
    )
    return ({"role": "user", "content": text},)


def build_response(
    question: Question,
    reply: str,
    evidence: Sequence[str],
    verdicts: Sequence[str],
    document: str | None = None,
    prompts: PromptLibrary | None = None,
    cut: Sequence[str] = (),
) -> tuple[Message, ...]:
    """Ask for one of `verdicts` on `reply`.

    Args:
        evidence: excerpts of the document with the gold evidence, as the responder could read them.
        document: the text as the responder saw it, or None to judge against the gold alone. With it, the prompt
            starts as the dialogues of layout `document_first` do.
        cut: evidence that the view does not hold: the responder could not read it.
    """
    prompts = prompts or library()
    text = prompts.render(
        question.language,
        "judge/response.j2",
        document_block=None if document is None else prompts.document_block(question.language, document),
        answerable=question.answerable,
        question=question.question,
        answers=question.answers,
        original_question=question.original_question,
        reference_response=question.reference_response,
        evidence=[excerpt for excerpt in evidence if excerpt.strip()],
        cut=[excerpt for excerpt in cut if excerpt.strip()],
        verdicts=list(verdicts),
        response=reply,
        fence=fence_of(question.question, reply),
    )
    return ({"role": "user", "content": text},)


def build_retry(
    language: str,
    previous: Sequence[Message],
    reply: str,
    verdicts: Sequence[str],
    prompts: PromptLibrary | None = None,
) -> tuple[Message, ...]:
    """Ask once more, after `reply`, which could not be read."""
    text = (prompts or library()).render(language, "judge/retry.j2", verdicts=list(verdicts))
    return (*previous, {"role": "assistant", "content": reply}, {"role": "user", "content": text})
