"""The contract between agents, the console and whoever completes their prompts.

An agent is one role of the generation pipeline: prompt → call → parse, an opinion. What a prompt asks for
(`Prompt.purpose`), and the one JSON object that the reply has to be:

| purpose | reply |
| --- | --- |
| `agent.quality` | `{"reason": str, "score": 1 … 5}` |
| `agent.topic` | `{"topics": [time \\| number \\| location \\| person \\| organisation \\| event \\| object, …]}` |
| `agent.qa` | `{"evidence": [str, …], "question": str, "answer": str}`; evidence: quotations of the fragment |
| `agent.qa_review` | `{"reason": str, "self_contained": bool, "supported": bool, "complete": bool}` |
| `agent.reference` | `{"reference": str}`; for a question whose evidence has been cut out |
| `agent.entity_substitution` | `{"original": str, "replacement": str, "question": str, "reference": str}` |
| `agent.impossible_condition` | `{"condition": str, "question": str, "reference": str}` |
| `agent.false_assumption` | `{"assumption": str, "question": str, "reference": str}` |
| `agent.short_reading` | `{"quote": str, "answerable": bool, "answer": str}`; over retrieved passages |
| `agent.full_view` | the same, over the whole view |
| `agent.common_sense` | `{"known": bool, "answer": str}`; without any document |
| `agent.question_generator` | `{"questions": [str, …]}`; of curation, over an excerpt or the whole document |

Every prompt carries `Prompt.gold["agent"]` for the scripted engine alone: what that agent works on (`AgentGold`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypedDict

from udfs.schema import Fate, Step

QUALITY: Final = "quality"
TOPIC: Final = "topic"
QA: Final = "qa"
QA_REVIEW: Final = "qa_review"
REFERENCE: Final = "reference"
ENTITY_SUBSTITUTION: Final = "entity_substitution"
IMPOSSIBLE_CONDITION: Final = "impossible_condition"
FALSE_ASSUMPTION: Final = "false_assumption"
SHORT_READING: Final = "short_reading"
FULL_VIEW: Final = "full_view"
COMMON_SENSE: Final = "common_sense"
QUESTION_GENERATOR: Final = "question_generator"
"""Of curation (`udfs.agents.curation`), so none of `AGENTS`, which are those of synthesis."""
AGENTS: Final = (
    QUALITY, TOPIC, QA, QA_REVIEW, REFERENCE, ENTITY_SUBSTITUTION, IMPOSSIBLE_CONDITION, FALSE_ASSUMPTION,
    SHORT_READING, FULL_VIEW, COMMON_SENSE,
)  # fmt: skip


def purpose(agent: str) -> str:
    """`Prompt.purpose` of an agent's prompts."""
    return f"agent.{agent}"


class AgentGold(TypedDict, total=False):
    """What an agent works on, for the scripted engine. Keys that do not apply are left out."""

    language: str
    fragment: str
    topic: str
    question: str  # the question at hand: a rewritten one in the review of a misleading candidate
    answer: str  # the gold answer (the twin's)
    evidence: list[str]
    text: str  # what a reader reads: the passages, or the view
    count: int  # questions that the generator is asked for


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one agent (or rule) thinks of a candidate.

    Args:
        agent: one of `AGENTS`, or the name of a rule.
        step: where it was asked.
        against: the fate that it proposes; None speaks for the candidate.
        detail: why, in words.
        reply: what the agent replied, as far as it was read.
    """

    agent: str
    step: Step
    against: Fate | None = None
    detail: str = ""
    reply: Mapping[str, Any] = field(default_factory=dict)
