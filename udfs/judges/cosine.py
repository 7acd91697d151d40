"""The judge `embedding:<name>`: how near a new question is to the original, as the cosine of their embeddings.

CouldAsk, Table 14. Only gold-unanswerable questions whose turn 2 was asked are judged, by the question that was cut out
of turn 2; where nothing could be cut out the cosine is 0. CouldAsk's own cut is not asked here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import numpy as np

from udfs.dialogues.failures import status_of
from udfs.engines.base import Embedder, EngineDead, EngineError, ProviderError, Unreadable
from udfs.identity import content_hash, judgement_id
from udfs.judges.base import utc_now
from udfs.records import Judgement, Question, Response
from udfs.schema import Status

VERSION: Final = 1
"""Part of a judgement's identity; raise it when a score changes for another reason than the embedding."""
COSINE: Final = "cosine"
"""Measure: -1 to 1, 1 for the same words; no verdict, save `unreadable` with no score, which lowers coverage."""
UNREADABLE: Final = "unreadable"
"""Verdict where the embedding's tokenizer does not know the words of one of the questions, as an English model's does
not know Chinese."""
TEXTS_AT_ONCE: Final = 256
"""Texts of one call of the embedder: what a failure that does not lie in the texts takes with it."""

Pair = tuple[Question, Response]
Outcome = Any
"""A vector, shape (dimensions,), or the `EngineError` that came in its place."""


@dataclass(frozen=True)
class CosineJudge:
    """Judges many responses at once with an embedder. Not a `udfs.judges.base.Judge`.

    Args:
        embedding: the embedder's name.
        revision: the embedder's; both are part of a judgement's identity.
    """

    embedding: str
    revision: str
    clock: Callable[[], datetime] = utc_now

    @property
    def name(self) -> str:
        return f"embedding:{self.embedding}"

    def expected_judgement_ids(self, question: Question, response: Response) -> list[str]:
        """The id of what `judge` gives: none for an answerable question or a response without turn 2."""
        asked = any(turn.purpose == "reformulate" for turn in response.turns)
        if question.answerable or not asked:
            return []
        gold = content_hash("cosine_gold", VERSION, self.revision, question.question, response.reformulation)
        return [judgement_id(response.response_id, COSINE, self.name, gold)]

    async def judge(self, pairs: Sequence[Pair], embedder: Embedder) -> list[list[Judgement]]:
        """The judgements of each pair, in order: one, or none where `expected_judgement_ids` expects none.

        Raises:
            EngineDead: nothing more will come from this embedder.
        """
        owed = [pair for pair in pairs if self.expected_judgement_ids(*pair)]
        texts = [text for pair in owed if (new := _new_question(pair[1])) for text in (pair[0].question, new)]
        outcomes = await embedded(embedder, list(dict.fromkeys(texts)))
        return [
            [
                self._judgement(question, response, identity, outcomes)
                for identity in self.expected_judgement_ids(question, response)
            ]
            for question, response in pairs
        ]

    def _judgement(
        self, question: Question, response: Response, identity: str, outcomes: Mapping[str, Outcome]
    ) -> Judgement:
        new = _new_question(response)
        found = [] if new is None else [outcomes[question.question], outcomes[new]]
        failure = next((outcome for outcome in found if isinstance(outcome, EngineError)), None)
        status = Status.OK
        verdict = error = None
        score: float | None = None
        if isinstance(failure, Unreadable):
            verdict = UNREADABLE
        elif failure is not None:
            status, error = status_of(failure), str(failure)
        else:
            score = float(np.clip(np.dot(*found), -1, 1)) if found else 0.0
        return Judgement(
            judgement_id=identity,
            response_id=response.response_id,
            question_id=response.question_id,
            run=response.run,
            measure=COSINE,
            judge=self.name,
            status=status,
            created_at=self.clock(),
            verdict=verdict,
            score=score,
            rationale=str(failure) if verdict else None,
            error=error,
        )


async def embedded(embedder: Embedder, texts: Sequence[str]) -> dict[str, Outcome]:
    """The vector of each text, or its error; a text that cannot be embedded takes no other with it.

    Raises:
        EngineDead: nothing more will come from this embedder.
    """

    async def part(some: Sequence[str]) -> dict[str, Outcome]:
        try:
            return dict(zip(some, await embedder.embed(some), strict=True))
        except EngineDead:
            raise
        except EngineError as error:
            if len(some) == 1 or isinstance(error, ProviderError):  # which does not lie in the texts
                return dict.fromkeys(some, error)
        half = len(some) // 2
        return await part(some[:half]) | await part(some[half:])

    parts = [texts[start : start + TEXTS_AT_ONCE] for start in range(0, len(texts), TEXTS_AT_ONCE)]
    outcomes: dict[str, Outcome] = {}
    for found in await asyncio.gather(*(part(some) for some in parts)):
        outcomes |= found
    return outcomes


def _new_question(response: Response) -> str | None:
    text = response.reformulation
    return text if text and text.strip() else None
