"""The prompts of the generation pipeline's agents.

What an agent works on comes first: a fragment, passages, or a whole view. So all agents that are asked about one
fragment share its tokens, and the full-view check starts as the dialogues of layout `document_first` do. Fragments and
passages are data: they stand between two lines that carry a hash of their content, which no content can hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from udfs.engines.base import Message
from udfs.identity import content_hash
from udfs.prompts.library import PromptLibrary, library

FOLDER: Final = "agents"
BLOCKS: Final = ("document.j2", f"{FOLDER}/fragment.j2", f"{FOLDER}/passages.j2", f"{FOLDER}/retry.j2")


def agents_template_hash(language: str, prompts: PromptLibrary | None = None) -> str:
    """Hash over everything that the agents can say in `language`."""
    prompts = prompts or library()
    files = sorted(f"{FOLDER}/{file.name}" for file in (prompts.root / language / FOLDER).glob("*.j2"))
    return prompts.files_hash(language, sorted({*files, *BLOCKS}))


def fence_of(what: str, content: str) -> str:
    """The line around a piece of data: the same every time, and not to be guessed by the data itself."""
    return f"=== {content_hash('agent_fence', what, content)[:16]} ==="


def fragment_block(language: str, fragment: str, shown: str | None = None, prompts: PromptLibrary | None = None) -> str:
    """The fragment in its frame, which every prompt about it starts with.

    Args:
        fragment: the whole fragment; the frame depends on it alone.
        shown: what a view leaves of it, where that is less; the prompt then shares the prefix up to the cut.
    """
    text = fragment if shown is None else shown
    return (prompts or library()).render(
        language, f"{FOLDER}/fragment.j2", fragment=text, fence=fence_of("fragment", fragment)
    )


def passages_block(language: str, passages: Sequence[str], prompts: PromptLibrary | None = None) -> str:
    """Passages in their frame, numbered in the order given."""
    fence = fence_of("passages", "\0".join(passages))
    return (prompts or library()).render(language, f"{FOLDER}/passages.j2", passages=list(passages), fence=fence)


def document_block(language: str, document: str, prompts: PromptLibrary | None = None) -> str:
    """A view as dialogues show it (`PromptLibrary.document_block`)."""
    return (prompts or library()).document_block(language, document)


def build(
    language: str, name: str, block: str | None = None, prompts: PromptLibrary | None = None, **values: Any
) -> tuple[Message, ...]:
    """One user message: the block, then the file `name` with the data of the call.

    Args:
        block: what the agent works on, from one of the functions above; None for an agent that sees no text.
        values: what the file's text needs, inserted verbatim.
    """
    text = (prompts or library()).render(language, f"{FOLDER}/{name}.j2", **values)
    return ({"role": "user", "content": text if block is None else f"{block}\n\n{text}"},)


def build_retry(
    language: str, previous: Sequence[Message], keys: Sequence[str], prompts: PromptLibrary | None = None
) -> tuple[Message, ...]:
    """Ask once more after a reply that could not be read, which is left out: it may be long, and it teaches nothing.

    Args:
        previous: what `build` gave.
        keys: the keys that the reply has to have.
    """
    *before, last = previous
    text = (prompts or library()).render(language, f"{FOLDER}/retry.j2", keys=list(keys))
    return (*before, {"role": last["role"], "content": f"{last['content']}\n\n{text}"})
