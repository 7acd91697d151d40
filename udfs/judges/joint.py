"""Several judges that ask one engine, as one: under one name, in one stage, while a document is in its cache."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from udfs.engines.base import Engine
from udfs.judges.base import Judge, Observe, OnPrefill
from udfs.records import Judgement, Question, Response


@dataclass(frozen=True)
class JointJudge:
    """Judges that judge a response one after the other.

    Raises:
        ValueError: there are none, or they have different names.
    """

    judges: tuple[Judge, ...]

    def __post_init__(self) -> None:
        if len({judge.name for judge in self.judges}) != 1:
            raise ValueError(f"joint judges must have one name, got {[judge.name for judge in self.judges]}")

    @property
    def name(self) -> str:
        return self.judges[0].name

    @property
    def reads_document(self) -> bool:
        return any(judge.reads_document for judge in self.judges)

    def expected_judgement_ids(self, question: Question, response: Response) -> list[str]:
        """See `Judge`."""
        return [one for judge in self.judges for one in judge.expected_judgement_ids(question, response)]

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
        """See `Judge`. `on_prefill` goes to a judge that reads the document, where there is one."""
        made: list[Judgement] = []
        for judge in self.judges:
            leads = judge.reads_document == self.reads_document
            made += await judge.judge(
                response, question, document, engine, observe=observe, on_prefill=on_prefill if leads else None
            )
        return made


def judge_of(judge: Judge, question: Question, response: Response, owed: Collection[str]) -> Judge:
    """`judge` without those of its judges that owe none of the judgements `owed`."""
    if not isinstance(judge, JointJudge):
        return judge
    due = [one for one in judge.judges if not set(owed).isdisjoint(one.expected_judgement_ids(question, response))]
    return JointJudge(tuple(due)) if due else judge
