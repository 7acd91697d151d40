"""Tokens by length alone, for engines that have no tokenizer."""

from __future__ import annotations

from collections.abc import Sequence

from udfs.engines.base import Message


def estimate_tokens(messages: Sequence[Message]) -> int:
    """About how many tokens `messages` are: four ASCII characters, or one and a half others, to a token."""
    return sum(
        len(message["content"]) // 4 + 4 if message["content"].isascii() else len(message["content"]) * 2 // 3 + 4
        for message in messages
    )
