"""The answerable question that a fragment's unanswerable ones are made from."""

from __future__ import annotations

from dataclasses import dataclass

from udfs.agents.base import AgentGold
from udfs.records import Span


@dataclass(frozen=True)
class Twin:
    """A question that the document answers.

    Args:
        fragment: the text that it was made from.
        evidence: in document coordinates, in order.
        evidence_texts: the document's text at `evidence`.
    """

    fragment: str
    question: str
    answer: str
    evidence: tuple[Span, ...]
    evidence_texts: tuple[str, ...]

    def gold(self, question: str | None = None, fragment: str | None = None) -> AgentGold:
        """What the scripted engine may look at; with another question (a rewritten one) or what is left of the
        fragment.
        """
        return {
            "fragment": self.fragment if fragment is None else fragment,
            "question": self.question if question is None else question,
            "answer": self.answer,
            "evidence": list(self.evidence_texts),
        }
