"""The classifier in process, run by plain `transformers` and torch."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from udfs.engines.base import EngineDead, EngineError
from udfs.engines.classifier import Batch
from udfs.engines.classifier_config import TransformersClassifier
from udfs.engines.classifier_input import Window, WindowMaker
from udfs.engines.classifier_weights import Described

PAIRS_AT_ONCE = 64
"""Pairs whose windows are held at once."""


class InProcessClassifier:
    """Classifies in a thread of its own, windows of like length together. Make it with `create`."""

    def __init__(self, config: TransformersClassifier, described: Described, tokenizer: Any, model: Any) -> None:
        self._config = config
        self._revision = described.revision()
        self._maker = WindowMaker(tokenizer, described.form, described.window, described.stride)
        self._label = described.label
        self._model = model
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="classify")

    @classmethod
    async def create(cls, config: TransformersClassifier, described: Described) -> InProcessClassifier:
        """Load the weights. `threads` holds for the whole process, as torch has it."""
        return await asyncio.to_thread(cls._load, config, described)

    @classmethod
    def _load(cls, config: TransformersClassifier, described: Described) -> InProcessClassifier:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # its thread pool would not outlive a fork
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        if config.threads is not None:
            torch.set_num_threads(config.threads)
        tokenizer = AutoTokenizer.from_pretrained(described.folder, local_files_only=True)
        model = AutoModelForSequenceClassification.from_pretrained(
            described.folder, dtype=torch.float32, local_files_only=True
        )
        return cls(config, described, tokenizer, model.eval())

    @property
    def name(self) -> str:
        return self._config.name

    @property
    def revision(self) -> str:
        return self._revision

    async def answerable(self, pairs: Sequence[tuple[str, str]]) -> list[float | EngineError]:
        """See `udfs.engines.base.Classifier.answerable`."""
        if self._model is None:
            raise EngineDead(f"the classifier {self.name} is closed")
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._classify, list(pairs))

    async def close(self) -> None:
        self._model = None
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _classify(self, pairs: list[tuple[str, str]]) -> list[float | EngineError]:
        found: list[float | EngineError] = []
        for start in range(0, len(pairs), PAIRS_AT_ONCE):
            batch = Batch(self._maker, pairs[start : start + PAIRS_AT_ONCE])
            found += batch.outcomes(self._probabilities(batch.windows))
        return found

    def _probabilities(self, windows: list[Window]) -> list[float]:
        order = sorted(range(len(windows)), key=lambda index: len(windows[index].ids))
        found = [0.0] * len(windows)
        for start in range(0, len(order), self._config.batch_size):
            part = order[start : start + self._config.batch_size]
            for index, probability in zip(part, self._run([windows[index] for index in part]), strict=True):
                found[index] = probability
        return found

    def _run(self, windows: list[Window]) -> list[float]:
        import torch

        inputs = model_inputs(self._maker.tokenizer, windows)
        with torch.inference_mode():
            logits = self._model(**inputs).logits
        probabilities: list[float] = logits.softmax(-1)[:, self._label].tolist()
        return probabilities


def model_inputs(tokenizer: Any, windows: Sequence[Window]) -> dict[str, Any]:
    """The windows as tensors, padded on the right: input_ids, attention_mask and, where the model has token types,
    token_type_ids, each of shape (windows, longest).
    """
    import torch

    width = max(len(window.ids) for window in windows)
    padding = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
    columns: dict[str, list[list[int]]] = {"input_ids": [], "attention_mask": [], "token_type_ids": []}
    for window in windows:
        length = len(window.ids)
        first = length if window.second_from is None else window.second_from
        columns["input_ids"].append(window.ids + [padding] * (width - length))
        columns["attention_mask"].append([1] * length + [0] * (width - length))
        columns["token_type_ids"].append([0] * first + [1] * (length - first) + [0] * (width - length))
    if "token_type_ids" not in tokenizer.model_input_names:
        del columns["token_type_ids"]
    return {name: torch.tensor(rows) for name, rows in columns.items()}
