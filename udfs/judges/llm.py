"""The judge `llm:<model>`: a model's verdict on a response (FactGuard, section 5.2).

One call gives all measures. The verdict is about what the response says; the kind of the question plays no part.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from udfs.dialogues.failures import ROW_ERRORS, status_of
from udfs.engines.base import Completion, Engine, Sampling
from udfs.errors import UserError
from udfs.identity import content_hash, judgement_id
from udfs.judges.asking import ask_for_verdict
from udfs.judges.base import PURPOSE_RESPONSE, Observe, OnPrefill, answer_text, judgeable, utc_now
from udfs.judges.verdicts import (
    AnswerableVerdict,
    Judged,
    UnanswerableVerdict,
    allowed_verdicts,
    measure_values,
    measures_of,
)
from udfs.prompts.judging import build_response, response_template_hash
from udfs.records import Judgement, Question, Response, row_of
from udfs.schema import Status
from udfs.views import View

CONTEXTS: Final = ("gold", "document")


@dataclass(frozen=True)
class LlmJudge:
    """A model as judge.

    Args:
        model: the judging model's name in tables.
        context: `gold`: it sees question, gold and evidence (a short prompt); `document`: it sees the document too, at
            the start of its prompt, so the same engine finds it in its cache.
        revision: the judging model's revision, part of its judgements' identity.

    Raises:
        UserError: an unknown context.
    """

    model: str
    sampling: Sampling = field(default_factory=Sampling)
    context: str = "gold"
    revision: str = ""
    clock: Callable[[], datetime] = utc_now

    def __post_init__(self) -> None:
        if self.context not in CONTEXTS:
            raise UserError(f"unknown judge context {self.context!r}; allowed: {', '.join(CONTEXTS)}")

    @property
    def name(self) -> str:
        return f"llm:{self.model}"

    @property
    def reads_document(self) -> bool:
        return self.context == "document"

    def expected_judgement_ids(self, question: Question, response: Response) -> list[str]:
        """See `Judge`."""
        gold = content_hash(
            "llm_gold",
            answer_text(response),
            question.answerable,
            question.answers,
            question.reference_response,
            question.original_question,
            [list(span) for span in question.evidence],
            response_template_hash(question.language),
            dataclasses.asdict(self.sampling),
            self.context,
            self.revision,
        )
        measures = measures_of(question.answerable)
        return [judgement_id(response.response_id, measure, self.name, gold) for measure in measures]

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
        """See `Judge`. The calls' tokens are on the first judgement alone, so that sums over judgements are right."""
        if not judgeable(response):
            return []
        calls: list[Completion] = []

        def count(completion: Completion) -> None:
            calls.append(completion)
            if observe is not None:
                observe(completion)

        reply = answer_text(response)
        form: type[Judged] = AnswerableVerdict if question.answerable else UnanswerableVerdict
        view = View(len(document), question.redactions)
        shown = [span for span in question.evidence if view.to_view(span) is not None]
        messages = build_response(
            question,
            reply,
            [document[span.start : span.end] for span in shown],
            allowed_verdicts(form),
            view.text(document) if self.reads_document else None,
            cut=[document[span.start : span.end] for span in question.evidence if span not in shown],
        )
        try:
            asked = await ask_for_verdict(
                engine,
                messages,
                form,
                self.sampling,
                language=question.language,
                purpose=PURPOSE_RESPONSE,
                request_id=response.response_id,
                gold={"question": row_of(question), "response": reply},
                observe=count,
                on_prefill=on_prefill,
            )
        except ROW_ERRORS as error:
            return self._judgements(response, question, calls, status_of(error), error=str(error))
        if asked.verdict is None:
            return self._judgements(
                response, question, calls, Status.PARSE_FAILURE, error=f"no verdict in {calls[-1].text[:200]!r}"
            )
        return self._judgements(response, question, calls, Status.OK, asked.verdict)

    def _judgements(
        self,
        response: Response,
        question: Question,
        calls: list[Completion],
        status: Status,
        verdict: Judged | None = None,
        error: str | None = None,
    ) -> list[Judgement]:
        values = measure_values(question.answerable, verdict.verdict) if verdict else {}
        made: list[Judgement] = []
        ids = self.expected_judgement_ids(question, response)
        for measure, identity in zip(measures_of(question.answerable), ids, strict=True):
            value, score = values.get(measure, (None, None))
            counted = calls if not made else []
            made.append(
                Judgement(
                    judgement_id=identity,
                    response_id=response.response_id,
                    question_id=response.question_id,
                    run=response.run,
                    measure=measure,
                    judge=self.name,
                    status=status,
                    created_at=self.clock(),
                    verdict=value,
                    score=score,
                    rationale=verdict.rationale if verdict else None,
                    error=error,
                    prompt_tokens=sum(call.prompt_tokens for call in counted),
                    cached_tokens=sum(call.cached_tokens for call in counted),
                    output_tokens=sum(call.output_tokens for call in counted),
                    seconds=sum(call.seconds for call in counted),
                )
            )
        return made
