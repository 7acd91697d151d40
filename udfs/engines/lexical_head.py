"""What a classifier adds to its encoder: a logistic regression over the encoder's answer and over the words.

    log odds = bias + encoder_weight · log odds of the encoder + Σ weight · feature (`udfs.measures.lexical_match`)

It is fitted by `jobs.train` and lies beside the weights; a folder without it is the encoder alone.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from udfs.engines.base import Classifier, EngineError
from udfs.engines.classifier_weights import HEAD, read_json
from udfs.errors import UserError
from udfs.measures.lexical_match import FEATURES, VERSION, lexical_features
from udfs.schema import Language
from udfs.text import detect_language

LEAST_PROBABILITY: Final = 1e-4
"""Log odds are of probabilities that are no nearer to 0 or 1 than this."""


@dataclass(frozen=True)
class LexicalHead:
    """The fitted weights.

    Args:
        encoder_weight: of the encoder's log odds.
        weights: by feature; one for each of `FEATURES`.
    """

    bias: float
    encoder_weight: float
    weights: Mapping[str, float]

    def probability(self, encoder: float, features: Sequence[float]) -> float:
        """The probability of answerable, from the encoder's and the pair's features."""
        lexical = sum(self.weights[name] * value for name, value in zip(FEATURES, features, strict=True))
        odds = self.bias + self.encoder_weight * log_odds(encoder) + lexical
        return 0.5 * (1 + math.tanh(odds / 2))  # the logistic function, without overflow

    def write(self, folder: Path) -> None:
        """Put it beside the weights in `folder`."""
        content = {
            "features_version": VERSION,
            "bias": self.bias,
            "encoder_weight": self.encoder_weight,
            "weights": dict(self.weights),
        }
        (folder / HEAD).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def log_odds(probability: float) -> float:
    """ln(p / (1 − p)), bounded by `LEAST_PROBABILITY`."""
    bounded = min(max(probability, LEAST_PROBABILITY), 1 - LEAST_PROBABILITY)
    return math.log(bounded / (1 - bounded))


def pair_features(text: str, question: str) -> tuple[float, ...]:
    """The features of a pair, in the language of its question, or of its text, or English."""
    language = detect_language(question) or detect_language(text) or Language.EN
    return lexical_features(question, text, language)


def read_head(folder: Path) -> LexicalHead | None:
    """The head beside the weights in `folder`; None where there is none.

    Raises:
        UserError: it cannot be read, or was fitted to other features than this version's.
    """
    file = folder / HEAD
    if not file.is_file():
        return None
    content = read_json(file)
    try:
        head = LexicalHead(
            float(content["bias"]),
            float(content["encoder_weight"]),
            {str(name): float(weight) for name, weight in content["weights"].items()},
        )
        version = content["features_version"]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise UserError(f"{file} cannot be read as the head of a classifier: {error!r}") from error
    if version != VERSION or set(head.weights) != set(FEATURES):
        raise UserError(
            f"{file} was fitted to features of version {version}, this is version {VERSION}: train the model again, or "
            "take the file away to use its encoder alone"
        )
    return head


class HeadedClassifier:
    """A classifier whose probabilities go through a head; what it could not ask stays as it was."""

    def __init__(self, encoder: Classifier, head: LexicalHead) -> None:
        self._encoder, self._head = encoder, head

    @property
    def name(self) -> str:
        return self._encoder.name

    @property
    def revision(self) -> str:
        return self._encoder.revision

    async def answerable(self, pairs: Sequence[tuple[str, str]]) -> list[float | EngineError]:
        outcomes = await self._encoder.answerable(pairs)
        return await asyncio.to_thread(self._through, outcomes, pairs)

    def _through(
        self, outcomes: Sequence[float | EngineError], pairs: Sequence[tuple[str, str]]
    ) -> list[float | EngineError]:
        return [
            one if isinstance(one, EngineError) else self._head.probability(one, pair_features(*pair))
            for one, pair in zip(outcomes, pairs, strict=True)
        ]

    async def close(self) -> None:
        await self._encoder.close()
