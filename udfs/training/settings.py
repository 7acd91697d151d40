"""What a training's result depends on, and nothing else: part of its identity."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Fitting:
    """How a sequence classifier is fine-tuned.

    Args:
        base: folder or hub id of the model to start from.
        input: see `udfs.engines.classifier_input`; None: as the tokenizer suggests.
        window, stride: tokens.
        warmup: share of the steps over which the learning rate rises.
        head_rate: learning rate of the new heads, times that of the base.
        evidence_weight: weight of the loss that points at the evidence; 0 for none.
        lexical_head: whether encoder and words answer together (`udfs.training.lexical`).
        freeze_layers: the lowest layers, and the embeddings, that are not trained.
        save_steps: steps between two checkpoints; like `threads`, no part of the identity.
        max_minutes: training ends after so long, with what it has learnt; then the result depends on the machine.
    """

    base: str
    input: Literal["pair", "couldask"] | None
    window: int
    stride: int
    epochs: int
    batch_size: int
    learning_rate: float
    head_rate: float
    warmup: float
    weight_decay: float
    evidence_weight: float
    lexical_head: bool
    freeze_layers: int
    bf16: bool
    seed: int
    threads: int | None
    save_steps: int
    max_minutes: float | None

    def identity(self) -> dict[str, Any]:
        """Everything that changes the result; the base is identified by whoever found it."""
        return {k: v for k, v in dataclasses.asdict(self).items() if k not in ("base", "threads", "save_steps")}
