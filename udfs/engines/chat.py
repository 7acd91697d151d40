"""Chat messages as the exact tokens that a model is sent: its own template, then its own tokenizer."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import numpy as np

from udfs.engines.base import Message, TokenIds
from udfs.engines.tokenization import IncrementalTokenizer, can_reuse, offset_tokenizer
from udfs.errors import UserError

WORD_JOINER: Final = "\u2060"


class ChatTokenizer:
    """Renders and tokenises in a thread of its own, so that a 128K prompt never holds up the event loop.

    The rendered text is tokenised without special tokens: templates write the BOS themselves, a second one would be
    added otherwise.

    Args:
        tokenizer: a `transformers` tokenizer (or vLLM's, which has the same methods).
        template_file: a Jinja chat template to use in place of the tokenizer's own.
        where: the model's name, for messages.

    Raises:
        UserError: there is no chat template.
    """

    def __init__(self, tokenizer: Any, template_file: str | None, where: str) -> None:
        # Its thread pool would not outlive a fork, and one text at a time has no use for it.
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        self._tokenizer = tokenizer
        self._where = where
        self._template = Path(template_file).expanduser().read_text(encoding="utf-8") if template_file else None
        backend = getattr(tokenizer, "backend_tokenizer", None)
        self._incremental = (
            IncrementalTokenizer(offset_tokenizer(backend), can_reuse(backend)) if backend is not None else None
        )
        if backend is not None and self._template is None and not getattr(tokenizer, "chat_template", None):
            raise UserError(
                f"{where} has no chat template; give a file with one: model.chat_template=/path/to/template.jinja"
            )
        added = getattr(tokenizer, "added_tokens_decoder", {})
        self._control = sorted({t.content for t in added.values() if t.special and len(t.content) > 1}, key=len)[::-1]
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="tokenize")

    @classmethod
    def load(cls, path: str, where: str, template_file: str | None = None) -> ChatTokenizer:
        """The tokenizer of a folder or a hub id.

        Raises:
            UserError: there is none, or it has no chat template.
        """
        from transformers import AutoTokenizer

        try:
            tokenizer = AutoTokenizer.from_pretrained(path)
        except (OSError, ValueError) as error:
            raise UserError(f"the tokenizer {path!r} of {where} cannot be loaded: {first_line(error)}") from error
        return cls(tokenizer, template_file, where)

    async def ids(self, messages: Sequence[Message]) -> TokenIds:
        """The token ids of the rendered messages, ready for the reply; shape (n,).

        Raises:
            UserError: the template does not take these messages.
        """
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._tokenise, list(messages))

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _as_data(self, content: str) -> str:
        """`content` with a word joiner (invisible) in what would be a control token: data must not end its turn."""
        for token in self._control:
            if token in content:
                content = content.replace(token, f"{token[0]}{WORD_JOINER}{token[1:]}")
        return content

    def _tokenise(self, messages: list[Message]) -> TokenIds:
        from jinja2 import TemplateError

        messages = [{**message, "content": self._as_data(message["content"])} for message in messages]
        options: dict[str, Any] = {"add_generation_prompt": True}
        if self._template is not None:
            options["chat_template"] = self._template
        try:
            if self._incremental is None:  # mistral-common's tokenizers render straight to ids
                found = self._tokenizer.apply_chat_template(messages, tokenize=True, return_dict=False, **options)
                return np.asarray(found, dtype=np.uint32)
            text = self._tokenizer.apply_chat_template(messages, tokenize=False, **options)
        except TemplateError as error:
            roles = ", ".join(message["role"] for message in messages)
            raise UserError(
                f"the chat template of {self._where} does not take messages with the roles {roles} ({error}); "
                "give another template with model.chat_template=/path/to/template.jinja"
            ) from error
        return self._incremental.tokenize(text)


def first_line(error: BaseException) -> str:
    """The first line of an error's text, or its type where it has none."""
    lines = str(error).strip().splitlines()
    return lines[0][:300] if lines else type(error).__name__
