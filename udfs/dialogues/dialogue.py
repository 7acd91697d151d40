"""One dialogue: answer or refuse, then reformulate if refused. A plain coroutine over an engine.

Turn 2 is asked after a refusal alone (CouldAsk, section 5). What counts as one is the detector's word, which is part of
a response's identity.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from udfs.dialogues.extraction import extract_question, extract_question_couldask
from udfs.dialogues.failures import ROW_ERRORS, status_of
from udfs.dialogues.refusal import detect_refusal, detect_refusal_couldask
from udfs.dialogues.replies import final_answer
from udfs.engines.base import Completion, Engine, EngineError, Message, Prompt, Sampling
from udfs.errors import UserError
from udfs.identity import content_hash, response_id
from udfs.judges.asking import ask_for_verdict
from udfs.judges.base import PURPOSE_REFUSAL, Observe, OnPrefill, utc_now
from udfs.judges.verdicts import RefusalVerdict
from udfs.prompts.judging import build_refusal, refusal_template_hash
from udfs.prompts.render import LANGUAGES, build_answer, build_reformulate, require, template_hash
from udfs.records import Question, Response, Turn, row_of
from udfs.schema import Status

DETECTORS: Final = ("rules", "couldask", "llm")
READING_VERSION: Final = 2
"""Raise it when the rules change by which replies are read (refusal, final answer, extraction of the new question):
it is part of a response's identity, so responses that were read by other rules are owed anew."""


@dataclass(frozen=True)
class DialogueSpec:
    """How a dialogue goes.

    Raises:
        UserError: an unknown method, layout or detector.
    """

    method: str
    layout: str = "document_first"
    detector: str = "rules"  # rules | couldask | llm (asked of the same engine)
    sampling: Sampling = field(default_factory=Sampling)

    def __post_init__(self) -> None:
        require(self.method, self.layout, LANGUAGES[0])
        if self.detector not in DETECTORS:
            raise UserError(f"unknown detector {self.detector!r}; allowed: {', '.join(DETECTORS)}")

    def template(self, language: str) -> str:
        """Hash over every prompt file that the dialogue can use, in `language`."""
        dialogue = template_hash(self.method, self.layout, language)
        return (
            content_hash("templates", dialogue, refusal_template_hash(language)) if self.detector == "llm" else dialogue
        )


def expected_response_id(spec: DialogueSpec, question: Question, model: str, revision: str) -> str:
    """The id of the response that `spec` owes for `question`; needs no engine."""
    return response_id(
        question.question_id,
        content_hash("view", [list(span) for span in question.redactions]),
        spec.template(question.language),
        model,
        revision,
        dataclasses.asdict(spec.sampling),
        spec.layout,
        f"{spec.detector}:{READING_VERSION}",
    )


async def converse(
    engine: Engine,
    spec: DialogueSpec,
    document: str,
    question: Question,
    *,
    response_id: str,
    run: str,
    clock: Callable[[], datetime] = utc_now,
    observe: Observe | None = None,
    on_prefill: OnPrefill | None = None,
) -> Response:
    """Run one dialogue to its response.

    A turn that fails ends the dialogue with that failure's status; the turns before it are kept, and `error` says
    which turn failed.

    Args:
        document: the text as it is shown: `udfs.views.view_text` of the document's text.
        response_id: as `expected_response_id` gave it.
        observe: called with every completion (also the detector's), for accounting.
        on_prefill: handed to the first call (`Engine.complete`).

    Raises:
        EngineDead: nothing more will come from this engine.
    """
    dialogue = _Dialogue(engine, spec, document, question, response_id, observe)
    try:
        await dialogue.go(on_prefill)
    except ROW_ERRORS as error:
        dialogue.fail(error)
    return Response(
        response_id=response_id,
        run=run,
        question_id=question.question_id,
        doc_id=question.doc_id,
        dataset=question.dataset,
        model=engine.name,
        model_revision=engine.revision,
        method=spec.method,
        layout=spec.layout,
        template=spec.template(question.language),
        detector=spec.detector,
        turns=tuple(dialogue.turns),
        status=dialogue.status,
        created_at=clock(),
        answer=dialogue.answer,
        refused=dialogue.refused,
        reformulation=dialogue.reformulation,
        reformulation_couldask=dialogue.reformulation_couldask,
        error=dialogue.error,
    )


@dataclass
class _Dialogue:
    """A dialogue under way: what it has so far is what its response keeps."""

    engine: Engine
    spec: DialogueSpec
    document: str
    question: Question
    request_id: str
    observe: Observe | None
    turns: list[Turn] = field(default_factory=list)
    step: str = "answer"
    status: Status = Status.OK
    answer: str | None = None
    refused: bool | None = None
    reformulation: str | None = None
    reformulation_couldask: str | None = None
    error: str | None = None

    async def go(self, on_prefill: OnPrefill | None) -> None:
        spec, question = self.spec, self.question
        asked = build_answer(spec.method, spec.layout, question.language, self.document, question.question)
        reply = await self._turn("answer", asked, on_prefill)
        self.answer = final_answer(reply)
        self.step = "refusal"
        self.refused = await self._detect(reply)
        if not self.refused:
            return
        self.step = "reformulate"
        asked = build_reformulate(
            spec.method, spec.layout, question.language, asked, reply, question.question, self.document
        )
        text = await self._turn("reformulate", asked)
        self.reformulation = extract_question(text, question.language, question.question)
        self.reformulation_couldask = extract_question_couldask(text)

    def fail(self, error: EngineError) -> None:
        """End with the failure of the step that it happened in."""
        self.status = status_of(error)
        self.error = f"{self.step}: {error}"

    async def _turn(self, purpose: str, messages: tuple[Message, ...], on_prefill: OnPrefill | None = None) -> str:
        prompt = Prompt(messages, purpose, self.request_id, self._gold())
        completion = await self.engine.complete(prompt, self.spec.sampling, None, on_prefill)
        self._record(purpose, completion)
        if self.observe is not None:
            self.observe(completion)
        return completion.text

    async def _detect(self, reply: str) -> bool | None:
        """The detector's word on turn 1; None (and status parse_failure) when a model's word cannot be read."""
        if self.spec.detector == "rules":
            return detect_refusal(reply, self.question.language)
        if self.spec.detector == "couldask":
            return detect_refusal_couldask(reply)
        asked = await ask_for_verdict(
            self.engine,
            build_refusal(self.question.language, self.question.question, reply),
            RefusalVerdict,
            self.spec.sampling,
            language=self.question.language,
            purpose=PURPOSE_REFUSAL,
            request_id=self.request_id,
            gold=self._gold() | {"response": reply},
            observe=self.observe,
        )
        for completion in asked.completions:
            self._record(PURPOSE_REFUSAL, completion)
        if asked.verdict is None:
            self.status = Status.PARSE_FAILURE
            self.error = f"refusal: no verdict in {asked.completions[-1].text[:200]!r}"
            return None
        return asked.verdict.verdict == "refused"

    def _record(self, purpose: str, completion: Completion) -> None:
        self.turns.append(
            Turn(
                purpose=purpose,
                text=completion.text,
                prompt_tokens=completion.prompt_tokens,
                cached_tokens=completion.cached_tokens,
                output_tokens=completion.output_tokens,
                finish_reason=completion.finish_reason,
                seconds=completion.seconds,
            )
        )

    def _gold(self) -> dict[str, Any]:
        return {"question": row_of(self.question)}
