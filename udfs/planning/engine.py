"""An engine that answers nothing: it counts what would be sent to a model, and replies what keeps a dialogue going.

Dialogues and judges run on it as they are, so what is counted is what they would ask. Nothing that it says is read by
anyone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from udfs.engines.base import Completion, Message, OverLength, Prompt, Sampling, TokenIds
from udfs.engines.chat import ChatTokenizer
from udfs.engines.config import EndpointModel, ModelConfig, ScriptedModel, VllmModel
from udfs.engines.estimate import estimate_tokens
from udfs.engines.scripted import ScriptedEngine
from udfs.planning.assumptions import Assumptions
from udfs.planning.ranges import Quota, Range

CERTAIN: Final = ("answer", "refusal", "judge.response")
"""Purposes that every dialogue has; the others hang on a refusal."""
OF_NEW_QUESTIONS: Final = ("judge.answerable", "judge.entities", "judge.error_category", "judge.strategy")
UNREADABLE: Final = "%%% 0x1f"
Happens = tuple[bool, bool, bool]
"""In the low, the expected and the high scenario."""
NEW_QUESTION: Final = "New question: "
NEW_QUESTION_TOKENS: Final = 16
"""Of a new question that judges are shown."""
GPU_BLOCK, CPU_BLOCK = 16, 128
"""vLLM's own cache blocks, where the config names none."""


@dataclass(frozen=True)
class Call:
    """What one request would be.

    Args:
        ids: the prompt's tokens, shape (prompt_tokens,); None where no tokenizer is known.
        output: tokens of the reply.
        happens: in the low, the expected and the high scenario.
    """

    purpose: str
    ids: TokenIds | None
    prompt: Range
    output: Range
    happens: Happens


class Tokenizer(Protocol):
    """Messages to the exact tokens that are sent (`udfs.engines.chat.ChatTokenizer`)."""

    async def ids(self, messages: Sequence[Message]) -> TokenIds: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Target:
    """What is known of a model without loading it.

    Args:
        tokenizer: None where none is known: tokens are then estimated by length.
        window: tokens of prompt and reply together; None where nobody checks it.
        caches: whether prefixes are shared, and the bound says what is computed.
    """

    name: str
    revision: str
    tokenizer: Tokenizer | None
    window: int | None
    block_size: int
    caches: bool

    @property
    def counted_by(self) -> str:
        """In words."""
        return "the model's own tokenizer" if self.tokenizer is not None else "text length (no tokenizer is known)"


def target_of(config: ModelConfig, name: str, revision: str, on_gpu: bool) -> Target:
    """Find the tokenizer and the window of a model.

    Raises:
        UserError: its weights or its tokenizer cannot be found.
    """
    if isinstance(config, VllmModel):
        from udfs.engines.weights import resolve

        found = resolve(config)
        tokenizer = ChatTokenizer.load(found.path, name, config.chat_template)
        block = config.block_size or (GPU_BLOCK if on_gpu else CPU_BLOCK)
        return Target(name, revision, tokenizer, found.window, block, True)
    if isinstance(config, EndpointModel) and config.tokenizer:
        tokenizer = ChatTokenizer.load(config.tokenizer, name)
        return Target(name, revision, tokenizer, config.window, config.block_size, config.kv_tokens is not None)
    window = config.window if isinstance(config, ScriptedModel) else None
    return Target(name, revision, None, window, config.block_size, False)


@dataclass
class PlanningEngine:
    """Counts the calls of one dialogue and its judges after the other: `begin`, then `calls`.

    Args:
        counts_refusal: whether the detector asks a model: its calls are then counted.
    """

    target: Target
    assumptions: Assumptions
    counts_refusal: bool = False
    calls: list[Call] = field(default_factory=list)
    method: str = ""
    _refused: Happens = (False, False, False)
    _renewed: Happens = (True, True, True)
    _answer: Range = field(default_factory=Range)
    _unread: bool = False
    _named: bool = False
    _again: Happens = (False, False, False)
    _quota: Quota = field(default_factory=Quota)
    _scripted: ScriptedEngine = field(default_factory=lambda: ScriptedEngine(ScriptedModel()))

    @property
    def name(self) -> str:
        return self.target.name

    @property
    def revision(self) -> str:
        return self.target.revision

    @property
    def kv_tokens(self) -> int | None:
        return None

    @property
    def block_size(self) -> int:
        return self.target.block_size

    def begin(self, method: str, refused: Happens, renewed: Happens) -> None:
        """A new dialogue, refused in these scenarios, its second turn a new question in those."""
        self.calls = []
        self.method, self._refused, self._unread = method, refused, False
        self._renewed, self._named = renewed, False
        self._answer = self.assumptions.output("answer", method).value

    async def complete(
        self,
        prompt: Prompt,
        sampling: Sampling,
        schema: Mapping[str, Any] | None = None,
        on_prefill: Callable[[], None] | None = None,
    ) -> Completion:
        """Count the prompt.

        Raises:
            OverLength: as the model's engine would.
        """
        ids = await self.target.tokenizer.ids(prompt.messages) if self.target.tokenizer is not None else None
        tokens = estimate_tokens(prompt.messages) if ids is None else len(ids)
        window, most = self.target.window, sampling.max_tokens
        if window is not None and tokens + most > window:
            raise OverLength(f"prompt of {tokens} tokens + {most} for the reply > the window of {window}")
        if prompt.purpose == "refusal" and not self.counts_refusal:
            return Completion('{"verdict": "refused"}', tokens, 0, 0, "stop", 0.0)
        output = self.assumptions.output(prompt.purpose, self.method).value
        again = self._count(prompt, ids, tokens, output)
        text = await self._text(prompt, sampling, schema, output, again)
        return Completion(text, tokens, 0, round(output.mean), "stop", 0.0, ids)

    async def count_tokens(self, messages: Sequence[Message]) -> int | None:
        return None

    async def close(self) -> None:
        if self.target.tokenizer is not None:
            self.target.tokenizer.close()

    def _count(self, prompt: Prompt, ids: TokenIds | None, tokens: int, output: Range) -> bool:
        """Add the call; whether its reply is to be unreadable, so that it is asked once more."""
        happens = (True, True, True) if prompt.purpose in CERTAIN else self._refused
        if prompt.purpose in OF_NEW_QUESTIONS and (self._named or prompt.purpose != "judge.entities"):
            happens = both(happens, self._renewed)
        self._named = self._named or prompt.purpose == "judge.entities"  # those of the original are always asked for
        size = Range.exactly(tokens)
        if prompt.purpose in ("reformulate", "refusal", "judge.response"):  # these show the reply of turn 1
            shown = self._answer
            size = Range(max(0.0, tokens - shown.mean + shown.low), tokens, tokens - shown.mean + shown.high)
        again = False
        if self._unread:  # this is the second try
            happens, self._unread = self._again, False
        elif prompt.purpose not in ("answer", "reformulate"):
            drawn = self._quota.draw(prompt.purpose, self.assumptions.retried(prompt.purpose).value)
            self._again = both(drawn, happens)
            again = self._unread = any(self._again)
        self.calls.append(Call(prompt.purpose, ids, size, output, happens))
        return again

    async def _text(
        self, prompt: Prompt, sampling: Sampling, schema: Mapping[str, Any] | None, output: Range, again: bool
    ) -> str:
        if prompt.purpose == "refusal":
            return UNREADABLE if again else '{"verdict": "refused"}'
        if prompt.purpose == "answer":
            return filler(prompt.request_id, output.mean)
        if prompt.purpose == "reformulate":
            return f"{NEW_QUESTION}{filler(prompt.request_id, NEW_QUESTION_TOKENS)}?"
        if again:
            return f"{UNREADABLE} {filler(prompt.request_id, output.mean)}"
        return (await self._scripted.complete(prompt, sampling, schema)).text


def both(one: Happens, other: Happens) -> Happens:
    """What happens where both do, in each scenario."""
    return one[0] and other[0], one[1] and other[1], one[2] and other[2]


def filler(key: str, tokens: float) -> str:
    """A text of about so many tokens that begins like no other."""
    words = max(0, round(tokens) - 4)
    return " ".join([key[:6], *["word"] * words])
