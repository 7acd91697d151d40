"""What all classifiers share: many (document, question) pairs as windows, and the greatest probability of each pair."""

from __future__ import annotations

import math
from collections.abc import Sequence

from udfs.engines.base import EngineError, OverLength, ProviderError, Unreadable
from udfs.engines.classifier_input import Window, WindowMaker


class Batch:
    """The windows of several pairs.

    Args:
        pairs: (text, question).
    """

    def __init__(self, maker: WindowMaker, pairs: Sequence[tuple[str, str]]) -> None:
        self.windows: list[Window] = []
        self._owners: list[int] = []
        self._failures: dict[int, EngineError] = {}
        self._count = len(pairs)
        for index, (text, question) in enumerate(pairs):
            try:
                made = maker.windows(text, question)
            except (OverLength, Unreadable) as error:
                self._failures[index] = error
                continue
            self.windows += made
            self._owners += [index] * len(made)

    def outcomes(self, probabilities: Sequence[float]) -> list[float | EngineError]:
        """The greatest probability of each pair's windows, or why it has none, in the order of the pairs.

        Args:
            probabilities: of `windows`, in order.

        Raises:
            ProviderError: another number of them, or one that is none.
        """
        if len(probabilities) != len(self.windows):
            raise ProviderError(f"asked for {len(self.windows)} probabilities and got {len(probabilities)}")
        if not all(math.isfinite(one) and -1e-6 <= one <= 1 + 1e-6 for one in probabilities):
            raise ProviderError("a probability is not a number from 0 to 1")
        best: dict[int, float] = {}
        for owner, one in zip(self._owners, probabilities, strict=True):
            best[owner] = max(best.get(owner, 0.0), min(1.0, float(one)))
        return [self._failures[index] if index in self._failures else best[index] for index in range(self._count)]
