"""The prompts of judges of a reformulated question: is it answerable, what is it about, why did it fail, how was it
made; and which part of the original makes that one unanswerable.

Prompts that show the document start with it, as the dialogues of layout `document_first` do. Questions are data, the
original ones too: each stands between two lines that carry a hash of its words, which it cannot hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from udfs.engines.base import Message
from udfs.identity import content_hash
from udfs.prompts.library import PromptLibrary, library

ANSWERABLE: Final = "judge/answerable.j2"
ENTITIES: Final = "judge/entities.j2"
ERROR_CATEGORY: Final = "judge/error_category.j2"
STRATEGY: Final = "judge/strategy.j2"
MINIMUM_SPAN: Final = "judge/minimum_span.j2"
RETRY: Final = "judge/retry_reply.j2"
REFORMULATION_FILES: Final = (
    ANSWERABLE, ENTITIES, ERROR_CATEGORY, STRATEGY, RETRY, "judge/retry.j2", "document.j2"
)  # fmt: skip
SPAN_FILES: Final = (MINIMUM_SPAN, RETRY, "document.j2")


def reformulation_template_hash(language: str, prompts: PromptLibrary | None = None) -> str:
    """Hash over what the model that judges new questions can be asked."""
    return (prompts or library()).files_hash(language, REFORMULATION_FILES)


def span_template_hash(language: str, prompts: PromptLibrary | None = None) -> str:
    """Hash over what the model that finds minimum spans can be asked."""
    return (prompts or library()).files_hash(language, SPAN_FILES)


def fence_of(what: str, text: str) -> str:
    """The line around a question: the same every time, and not to be guessed by the question itself."""
    return f"=== {what} {content_hash('question_fence', what, text)[:16]} ==="


def build_answerable(
    language: str, question: str, document: str, prompts: PromptLibrary | None = None
) -> tuple[Message, ...]:
    """Ask whether `document`, the text as it was shown, answers `question`, and by which words."""
    return _about(ANSWERABLE, language, question, document, prompts)


def build_minimum_span(
    language: str, question: str, document: str, prompts: PromptLibrary | None = None
) -> tuple[Message, ...]:
    """Ask which part of `question` is to blame that `document` does not answer it."""
    return _about(MINIMUM_SPAN, language, question, document, prompts)


def build_entities(language: str, question: str, prompts: PromptLibrary | None = None) -> tuple[Message, ...]:
    """Ask for the entities of `question`."""
    text = (prompts or library()).render(language, ENTITIES, question=question, fence=fence_of("question", question))
    return ({"role": "user", "content": text},)


def build_comparison(
    file: str,
    language: str,
    original: str,
    question: str,
    document: str,
    verdicts: Sequence[str],
    prompts: PromptLibrary | None = None,
) -> tuple[Message, ...]:
    """Ask for one of `verdicts` on `question`, which was made out of `original`.

    Args:
        file: `ERROR_CATEGORY` or `STRATEGY`.
        document: the text as it was shown.
    """
    prompts = prompts or library()
    text = prompts.render(
        language,
        file,
        document_block=prompts.document_block(language, document),
        original=original,
        original_fence=fence_of("original", original),
        question=question,
        fence=fence_of("question", question),
        verdicts=list(verdicts),
    )
    return ({"role": "user", "content": text},)


def build_retry_reply(
    language: str, previous: Sequence[Message], keys: Sequence[str], prompts: PromptLibrary | None = None
) -> tuple[Message, ...]:
    """Ask once more after a reply that could not be used, which is left out: it may be long, and it teaches nothing.

    Args:
        previous: what was asked.
        keys: the keys that the reply has to have.
    """
    *before, last = previous
    text = (prompts or library()).render(language, RETRY, keys=list(keys))
    return (*before, {"role": last["role"], "content": f"{last['content']}\n\n{text}"})


def _about(
    file: str, language: str, question: str, document: str, prompts: PromptLibrary | None
) -> tuple[Message, ...]:
    prompts = prompts or library()
    text = prompts.render(
        language,
        file,
        document_block=prompts.document_block(language, document),
        question=question,
        fence=fence_of("question", question),
    )
    return ({"role": "user", "content": text},)
