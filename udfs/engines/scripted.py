"""`model=scripted`: replies by rule from the gold, with faults on demand.

It is for logic, faults and plumbing: nothing that it says is a claim about a model. What it replies depends on its
seed and on the request, never on the order of the requests, so a run that is killed and started again gets the
same replies.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from udfs.engines import schema_instance, scripted_agents, scripted_judging
from udfs.engines.base import Completion, EngineDead, Message, OverLength, Prompt, ProviderError, Sampling
from udfs.engines.config import ScriptedModel
from udfs.engines.estimate import estimate_tokens
from udfs.identity import content_hash

GARBAGE: Final = ("}{", '{"verdict": ', "%%% 0x1f 0x00 ???", "la la la la la la la la", "<<<EOT>>>\n\n\n", "嗯嗯嗯嗯")
REFUSALS: Final = {
    "en": "The document does not contain enough information to answer this question.",
    "zh": "文档中没有提供足够的信息，无法回答这个问题。",
}
REASONS: Final = {
    "en": " It covers the subject, but what the question takes for granted is not stated there.",
    "zh": "文档虽然谈到了这一主题，但问题所依据的前提在文中并未出现。",
}
WRONG: Final = {"en": "It was forty-two green elephants.", "zh": "是四十二头绿色的大象。"}
REFUSAL_MARKS: Final = (
    "does not contain", "does not say", "does not mention", "does not provide", "not enough information",
    "cannot be answered", "unanswerable", "无法回答", "没有提供", "没有提到", "未提及", "并未提到",
)  # fmt: skip
REASON_MARKS: Final = ("because", "but ", "however", "since ", "因为", "但", "然而")


class ScriptedEngine:
    """An engine that answers from `Prompt.gold`; see `ScriptedModel` for its knobs."""

    def __init__(self, config: ScriptedModel) -> None:
        self._config = config
        self._revision = revision(config)
        self._log: int | None = None
        self._calls = 0
        if config.call_log is not None:
            os.makedirs(os.path.dirname(os.path.abspath(config.call_log)), exist_ok=True)
            self._log = os.open(config.call_log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    @property
    def name(self) -> str:
        return self._config.name

    @property
    def revision(self) -> str:
        return self._revision

    @property
    def kv_tokens(self) -> int | None:
        return self._config.kv_tokens

    @property
    def block_size(self) -> int:
        return self._config.block_size

    async def complete(
        self,
        prompt: Prompt,
        sampling: Sampling,
        schema: Mapping[str, Any] | None = None,
        on_prefill: Callable[[], None] | None = None,
    ) -> Completion:
        """Reply by rule.

        Raises:
            OverLength: by the estimate of `count_tokens`, where `model.window` is set.
            ProviderError: for the share `error_rate` of the requests.
        """
        started = time.perf_counter()
        tokens = estimate_tokens(prompt.messages)
        if self._config.window is not None and tokens + sampling.max_tokens > self._config.window:
            raise OverLength(
                f"prompt of about {tokens} tokens + {sampling.max_tokens} for the reply > {self._config.window}"
            )
        if self._log is not None:
            os.write(self._log, f"{prompt.request_id}\t{prompt.purpose}\n".encode())
        self._die_when_due()
        await asyncio.sleep(self._config.delay_s)
        if self._draw(prompt, "error") < self._config.error_rate:
            raise ProviderError(f"scripted error (model.error_rate={self._config.error_rate})")
        text = self._reply(prompt, schema)
        words = len(text.encode()) // 4 + 1
        if on_prefill is not None:
            on_prefill()
        return Completion(
            text=text,
            prompt_tokens=tokens,
            cached_tokens=0,
            output_tokens=min(words, sampling.max_tokens),
            finish_reason="stop",
            seconds=time.perf_counter() - started,
        )

    async def count_tokens(self, messages: Sequence[Message]) -> int | None:
        """The estimate that `complete` goes by."""
        return estimate_tokens(messages)

    async def close(self) -> None:
        if self._log is not None:
            os.close(self._log)
            self._log = None

    def _die_when_due(self) -> None:
        """Raise EngineDead at call `die_after` of this process, as long as fewer than `deaths` have been counted."""
        self._calls += 1
        config = self._config
        if config.die_after is None or config.call_log is None or self._calls < config.die_after:
            return
        with Path(f"{config.call_log}.deaths").open("ab+") as count:
            if count.tell() < config.deaths:
                count.write(b"x")
                raise EngineDead(f"scripted death at call {self._calls}")

    def _draw(self, prompt: Prompt, what: str) -> float:
        """A number in [0, 1) that depends on the seed, the request and what it is drawn for."""
        request = prompt.request_id or prompt.messages[-1]["content"]
        payload = f"{self._config.seed}\0{request}\0{prompt.purpose}\0{what}".encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.blake2b(payload, digest_size=8).digest(), "big") / 2**64

    def _reply(self, prompt: Prompt, schema: Mapping[str, Any] | None) -> str:
        if self._draw(prompt, "garbage") < self._config.garbage_rate:
            return GARBAGE[int(self._draw(prompt, "which") * len(GARBAGE))]
        if prompt.purpose == "answer":
            return self._answer(prompt)
        if prompt.purpose == "reformulate":
            return self._reformulate(prompt)
        if prompt.purpose == "refusal":
            return _as_json(schema, {"verdict": "refused" if _is_refusal(_response(prompt)) else "answered"})
        if prompt.purpose == "judge.response":
            return _as_json(schema, self._judge(prompt))
        accurate = self._draw(prompt, "judge") < self._config.judge_accuracy
        judged = scripted_judging.reply(prompt.purpose, prompt.gold, accurate)
        if judged is not None:
            return _as_json(schema, judged)
        agent = self._agent(prompt)
        if agent is not None:
            return _as_json(schema, agent)
        return json.dumps(schema_instance.instance(schema), ensure_ascii=False) if schema else "OK."

    def _answer(self, prompt: Prompt) -> str:
        question, language = _question(prompt)
        answerable = bool(question.get("answerable"))
        answers = list(question.get("answers") or ())
        if answerable:
            refuse = self._draw(prompt, "refuse") < self._config.false_refusal
        else:
            refuse = self._draw(prompt, "refuse") < self._config.detection
        if refuse:
            reasoned = self._draw(prompt, "reason") < 0.5
            text = REFUSALS[language] + (REASONS[language] if reasoned else "")
        elif answerable and answers and self._draw(prompt, "right") < self._config.accuracy:
            text = str(answers[0])
        else:
            text = WRONG[language]
        return _answer_line(prompt, text, language)

    def _reformulate(self, prompt: Prompt) -> str:
        question, language = _question(prompt)
        good = self._draw(prompt, "reformulate") < self._config.reformulation
        new = question.get("gold_reformulation") if good else question.get("question")
        mark = "新问题：" if language == "zh" else "New question: "
        return f"{mark}{new or question.get('question') or '?'}"

    def _agent(self, prompt: Prompt) -> dict[str, Any] | None:
        kind, _, agent = prompt.purpose.partition(".")
        gold = prompt.gold.get("agent")
        if kind != "agent" or gold is None:
            return None
        return scripted_agents.reply(agent, gold, partial(self._draw, prompt), self._config.common_sense)

    def _judge(self, prompt: Prompt) -> dict[str, str]:
        question, _ = _question(prompt)
        response = _response(prompt)
        refused = _is_refusal(response)
        if question.get("answerable"):
            held = any(str(answer).casefold() in response.casefold() for answer in question.get("answers") or ())
            verdicts = ("refused", "correct", "incorrect")
            verdict = "refused" if refused else "correct" if held else "incorrect"
        else:
            reasoned = any(mark in response.casefold() for mark in REASON_MARKS)
            verdicts = ("incorrect", "direct_refusal", "reasoned_answer")
            verdict = "incorrect" if not refused else "reasoned_answer" if reasoned else "direct_refusal"
        if self._draw(prompt, "judge") >= self._config.judge_accuracy:
            verdict = next(other for other in verdicts if other != verdict)
        return {"rationale": "Decided by rule from the gold.", "verdict": verdict}


def revision(config: ScriptedModel) -> str:
    """What decides its replies; the faults and the log do not, so a run can go on without them."""
    return content_hash(
        "scripted", 1, config.seed, config.garbage_rate, config.accuracy, config.detection, config.false_refusal,
        config.reformulation, config.judge_accuracy, scripted_agents.AGENTS_VERSION, config.common_sense,
        scripted_judging.JUDGING_VERSION,
    )[:12]  # fmt: skip


def _question(prompt: Prompt) -> tuple[Mapping[str, Any], str]:
    question: Mapping[str, Any] = prompt.gold.get("question") or {}
    return question, "zh" if question.get("language") == "zh" else "en"


def _response(prompt: Prompt) -> str:
    return str(prompt.gold.get("response") or "")


def _is_refusal(text: str) -> bool:
    folded = text.casefold()
    return any(mark in folded for mark in REFUSAL_MARKS)


def _answer_line(prompt: Prompt, text: str, language: str) -> str:
    """With the closing line that chain-of-thought methods ask for, where the prompt asks for it."""
    asked = prompt.messages[-1]["content"][-2000:] if prompt.messages else ""
    if language == "zh" and "答案：" in asked:
        return f"先看文档中与问题有关的部分。\n答案：{text}"
    if "Answer:" in asked:
        return f"First, what the document says about it.\nAnswer: {text}"
    return text


def _as_json(schema: Mapping[str, Any] | None, reply: Mapping[str, Any]) -> str:
    """`reply` as JSON, with whatever else the schema wants."""
    base = schema_instance.instance(schema) if schema else {}
    merged = {**base, **{key: value for key, value in reply.items() if not schema or key in base}}
    return json.dumps(merged, ensure_ascii=False)
