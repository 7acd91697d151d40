"""The judge protocol, and the contract between judges, dialogues and whoever completes their prompts.

What a prompt asks for (`Prompt.purpose`) and what the reply has to look like:

| purpose | asked by | reply |
| --- | --- | --- |
| `answer` | dialogue, turn 1 | free text; CoT methods end with a line `Answer: …` / `答案：…` |
| `reformulate` | dialogue, turn 2 | free text; ends with a line `New question: …` / `新问题：…` |
| `refusal` | dialogue, detector `llm` | JSON `{"verdict": "refused" \\| "answered"}` |
| `judge.response` | judge `llm:<model>` | JSON `{"rationale": "…", "verdict": "…"}` |
| `judge.answerable` | the same, of new questions | JSON `{"quote": "…", "answerable": true \\| false}` |
| `judge.entities` | the same, once for each of the two questions | JSON `{"entities": ["…"]}` |
| `judge.error_category` | the same, of a failed one | JSON `{"rationale": "…", "verdict": "…"}` |
| `judge.strategy` | the same, of a successful one | JSON `{"rationale": "…", "verdict": "…"}` |
| `judge.minimum_span` | the same, of an unanswerable question | JSON `{"reason": "…", "span": "…"}` |

`judge.response` is one call for all measures. Its verdicts are `correct | incorrect | refused` where the gold says
answerable, and `incorrect | direct_refusal | reasoned_answer` where it says unanswerable; the measures `refusal`,
`answer_consistency` and `response_class` follow from the one verdict (`udfs.judges.verdicts`).

New questions (`udfs.judges.llm_reformulation`) are judged where the question is unanswerable by its gold and turn 2 was
asked, and so are minimum spans (`udfs.judges.minimum_span`). A prompt that shows the view starts with it.

`Prompt.gold` (for scripted engines alone, never sent) is `{"question": row_of(question)}`, and for `refusal` and
`judge.response` also `"response"`: the text that is judged; for the five below it `"new_question"`, `"view"` and, for
`judge.entities`, `"tagged"`: the question whose entities are wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, Protocol

from udfs.engines.base import Completion, Engine
from udfs.records import Judgement, Question, Response

Observe = Callable[[Completion], None]
OnPrefill = Callable[[], None]

PURPOSE_REFUSAL: Final = "refusal"
PURPOSE_RESPONSE: Final = "judge.response"
PURPOSE_ANSWERABLE: Final = "judge.answerable"
PURPOSE_ENTITIES: Final = "judge.entities"
PURPOSE_ERROR_CATEGORY: Final = "judge.error_category"
PURPOSE_STRATEGY: Final = "judge.strategy"
PURPOSE_MINIMUM_SPAN: Final = "judge.minimum_span"

REFUSAL: Final = "refusal"
"""Measure: refused | answered, score 1 | 0 (CouldAsk, Table 4: detection of the unanswerable).

Refused means, for every judge but `couldask`: the reply signals that the question cannot be answered as asked. It says
so, or that it does not know, or it denies what the question takes for granted ("in 2018, not in 2017"). So of replies
to unanswerable questions those are refused whose response class is not `incorrect`. This is not the detector of turn 2
(`Response.refused`), which asks for a new question only after a refusal in so many words.
"""
ANSWER_CONSISTENCY: Final = "answer_consistency"
"""Measure: correct | incorrect, score 1 | 0 (FactGuard, section 5.2, Task 1)."""
RESPONSE_CLASS: Final = "response_class"
"""Measure: incorrect | direct_refusal | reasoned_answer, gold-unanswerable questions only (section 5.2, Task 2)."""


class Judge(Protocol):
    """A model that gives verdicts on one response. The rules need no engine: `udfs.judges.rules.RulesJudge`."""

    @property
    def name(self) -> str:
        """The judge's name: llm:<model>."""
        ...

    @property
    def reads_document(self) -> bool:
        """Whether the judge's prompt holds the document (else at most its evidence)."""
        ...

    def expected_judgement_ids(self, question: Question, response: Response) -> list[str]:
        """Ids of what `judge` gives for a `judgeable` response, in its order; needs no engine.

        The text that is judged enters them: a response that was asked again is judged again.
        """
        ...

    async def judge(
        self,
        response: Response,
        question: Question,
        document: str,
        engine: Engine,
        *,
        observe: Observe | None = None,
        on_prefill: OnPrefill | None = None,
    ) -> list[Judgement]:
        """One judgement per measure; nothing for a response that is not `judgeable`.

        Args:
            response: what is judged: by its turn 1, or by the new question that came of its turn 2.
            question: the question with its gold.
            document: the whole text of the document, not the view: gold evidence is cut out of it.
            engine: what completes the judge's prompt.
            observe: called with every completion, for accounting.
            on_prefill: handed to the first call (`Engine.complete`).

        Raises:
            EngineDead: nothing more will come from this engine.
        """
        ...


def judgeable(response: Response) -> bool:
    """Whether the response has a turn 1 to judge (its turn 2 may have failed); the others owe no judgement."""
    return any(turn.purpose == "answer" for turn in response.turns)


def is_reformulated(question: Question, response: Response) -> bool:
    """Whether the response has a turn 2 that is judged: of an unanswerable question, whatever it came to."""
    return not question.answerable and any(turn.purpose == "reformulate" for turn in response.turns)


def answer_text(response: Response) -> str:
    """The whole text of turn 1, reasoning included."""
    return next(turn.text for turn in response.turns if turn.purpose == "answer")


def utc_now() -> datetime:
    """The default clock of dialogues and judges."""
    return datetime.now(UTC)
