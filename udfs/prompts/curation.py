"""The prompt that asks for questions about a document, as they come (CouldAsk, section 4.1). The document stands first,
framed as dialogues frame it, so that the checker's answers find it in the cache.
"""

from __future__ import annotations

from typing import Final

from udfs.engines.base import Message
from udfs.prompts.library import PromptLibrary, library

FILE: Final = "curation/questions.j2"
RETRY: Final = "agents/retry.j2"


def questions_template_hash(language: str, prompts: PromptLibrary | None = None) -> str:
    """Hash over every prompt file that asking for questions can use."""
    return (prompts or library()).files_hash(language, [FILE, RETRY, "document.j2"])


def build_questions(language: str, document: str, n: int, prompts: PromptLibrary | None = None) -> tuple[Message, ...]:
    """Ask for `n` questions about `document`, which is inserted verbatim."""
    prompts = prompts or library()
    block, text = prompts.document_block(language, document), prompts.render(language, FILE, n=n)
    return ({"role": "user", "content": f"{block}\n\n{text}"},)
