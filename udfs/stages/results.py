"""What an engine stage gives back: one row a bundle, holding the rows of every table it made and what they cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import pyarrow as pa

from udfs.engines.base import Completion
from udfs.engines.trie import PromptTrie
from udfs.records import Candidate, CheckSample, Judgement, Proposal, Response, row_of
from udfs.schema import CANDIDATES, CHECKS, JUDGEMENTS, PROPOSALS, RESPONSES
from udfs.stages.gate import Cost

ENGINE = pa.struct(
    [
        pa.field("engine", pa.string()),
        pa.field("started_at", pa.float64()),
        pa.field("loaded_at", pa.float64()),
        pa.field("first_at", pa.float64()),
        pa.field("last_at", pa.float64()),
        pa.field("busy_seconds", pa.float64()),
        pa.field("requests", pa.int64()),
    ]
)
"""`udfs.stages.busy.EngineTimes`: how the engine stood when the bundle's block had ended."""
RESULTS = pa.schema(
    [
        pa.field("bundle_id", pa.string(), False),
        pa.field("doc_id", pa.string(), False),
        pa.field("responses", pa.list_(pa.struct(list(RESPONSES))), False),
        pa.field("judgements", pa.list_(pa.struct(list(JUDGEMENTS))), False),
        pa.field("candidates", pa.list_(pa.struct(list(CANDIDATES))), False),
        pa.field("proposals", pa.list_(pa.struct(list(PROPOSALS))), False),
        pa.field("checks", pa.list_(pa.struct(list(CHECKS))), False),
        pa.field("calls", pa.int64(), False),
        pa.field("prompt_tokens", pa.int64(), False),
        pa.field("cached_tokens", pa.int64(), False),
        pa.field("output_tokens", pa.int64(), False),
        pa.field("bound_tokens", pa.int64()),  # null where the engine does not show its prompts' tokens
        pa.field("bound_block_tokens", pa.int64()),
        pa.field("usd", pa.float64()),  # what an endpoint charges; null for 0
        pa.field("engine", ENGINE),  # null where no engine is asked
    ]
)


@dataclass
class Tally:
    """Adds up a bundle's completions: tokens, and the trie of its prompts, whose size is the bound."""

    block_size: int = 1
    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0
    shown: int = 0
    """Calls whose engine showed the prompt's tokens; the bound is known only when all did."""
    trie: PromptTrie = field(init=False)

    def __post_init__(self) -> None:
        self.trie = PromptTrie(self.block_size)

    @property
    def cost(self) -> Cost:
        """What counts for a budget."""
        return Cost(self.prompt_tokens - self.cached_tokens + self.output_tokens, self.usd)

    def add(self, completion: Completion, usd: float = 0.0) -> None:
        """Add a call, and what an endpoint charges for it."""
        self.calls += 1
        self.usd += usd
        self.prompt_tokens += completion.prompt_tokens
        self.cached_tokens += completion.cached_tokens
        self.output_tokens += completion.output_tokens
        if completion.prompt_ids is not None:
            self.shown += 1
            self.trie.add(completion.prompt_ids)


def result_row(
    bundle_id: str,
    doc_id: str,
    responses: Iterable[Response],
    judgements: Iterable[Judgement],
    tally: Tally,
    candidates: Iterable[Candidate] = (),
    proposals: Iterable[Proposal] = (),
    checks: Iterable[CheckSample] = (),
) -> dict[str, object]:
    """One row of RESULTS."""
    bound = tally.trie.bound if tally.calls and tally.shown == tally.calls else None
    return {
        "bundle_id": bundle_id,
        "doc_id": doc_id,
        "responses": [row_of(response) for response in responses],
        "judgements": [row_of(judgement) for judgement in judgements],
        "candidates": [row_of(candidate) for candidate in candidates],
        "proposals": [row_of(proposal) for proposal in proposals],
        "checks": [row_of(check) for check in checks],
        "calls": tally.calls,
        "prompt_tokens": tally.prompt_tokens,
        "cached_tokens": tally.cached_tokens,
        "output_tokens": tally.output_tokens,
        "bound_tokens": bound.tokens if bound else None,
        "bound_block_tokens": bound.block_tokens if bound else None,
        "usd": tally.usd,
    }
