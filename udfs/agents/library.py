"""A document as the program looks things up in it: index, passages, cuts. Slow for long documents, so off the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import ParamSpec, TypeVar

from udfs.records import Span
from udfs.synthesis.copies import redactions, surviving
from udfs.synthesis.index import DocumentIndex
from udfs.synthesis.mentions import answering, mentions
from udfs.synthesis.passages import Passages
from udfs.views import view_text

P = ParamSpec("P")
T = TypeVar("T")


class Library:
    """What is computed once about a document, when it is first asked for."""

    def __init__(self, text: str, language: str, passage_words: int) -> None:
        self.text = text
        self.language = language
        self.index = DocumentIndex(text, language)
        self._passage_words = passage_words
        self._lock = asyncio.Lock()

    @cached_property
    def _passages(self) -> Passages:
        return Passages(self.index, self._passage_words)

    async def compute(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a pure function over this document in a thread, one at a time: the index fills itself as it is used."""
        async with self._lock:
            return await asyncio.to_thread(function, *args, **kwargs)

    async def prepare(self) -> None:
        """Compute what rules ask for on the loop, so that no other document has to wait for it."""
        await self.compute(self._prepare)

    def _prepare(self) -> None:
        self.index.near(frozenset(), 0.0)
        mentions(self.index, "0 0")

    async def cuts(self, evidence: Sequence[Span]) -> tuple[Span, ...]:
        """The redactions after which the document no longer holds the evidence."""
        return await self.compute(redactions, self.index, evidence)

    async def survivors(self, cuts: Sequence[Span], evidence: Sequence[Span]) -> list[str]:
        """The sentences of the view that still say what the evidence, or a whole sentence of it, says."""
        return await self.compute(self._survivors, cuts, evidence)

    def _survivors(self, cuts: Sequence[Span], evidence: Sequence[Span]) -> list[str]:
        said = [*evidence, *map(self.index.whole_sentences, evidence)]
        view = view_text(self.text, cuts)
        texts = list(dict.fromkeys(self.text[start:end] for start, end in said))
        return [view[start:end] for start, end in surviving(self.index, cuts, texts)]

    async def answering(self, cuts: Sequence[Span], question: str, answer: str) -> list[str]:
        """The sentences of the view that hold the answer and nearly all that the question says."""
        found = await self.compute(answering, self.index, cuts, question, answer)
        return [self.text[start:end] for start, end in found]

    async def passages(self, queries: Sequence[str], n: int, cuts: Sequence[Span]) -> list[str]:
        """The `n` passages of the view that match best, as the view shows them, in the document's order."""
        return await self.compute(self._found, queries, n, cuts)

    def _found(self, queries: Sequence[str], n: int, cuts: Sequence[Span]) -> list[str]:
        best = sorted(self._passages.top(queries, n, cuts)[:n])
        texts = (self._passages.text(span, cuts).strip() for span in best)
        return [text for text in texts if text]

    def shown(self, span: Span, cuts: Sequence[Span]) -> str:
        """What the view shows of a span."""
        return self._passages.text(span, cuts)
