"""An embedder of letters, for tests of whatever embeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from udfs.engines.base import EngineError, Vectors


class LetterEmbedder:
    """The letters of a text, counted; raises what it is told for a text that holds a mark."""

    name = "letters"
    revision = "r1"

    def __init__(self, **marks: Callable[[str], EngineError]) -> None:
        self.marks = marks
        self.calls: list[list[str]] = []

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls.append(list(texts))
        for text in texts:
            for mark, error in self.marks.items():
                if mark in text:
                    raise error(f"{mark} in {len(texts)}")
        rows = np.array([np.bincount([ord(letter) % 50 for letter in text], minlength=50) for text in texts])
        units: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        return units

    async def close(self) -> None:
        return None
