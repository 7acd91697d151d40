"""The embedder in process: a small sentence-transformers model, run by plain `transformers` and torch on the CPU."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from udfs.engines.base import EngineDead, Vectors
from udfs.engines.embedding import token_ids, unit_vectors
from udfs.engines.embedding_config import TransformersEmbedding
from udfs.engines.embedding_weights import SentenceModel


class TransformersEmbedder:
    """Embeds in a thread of its own, one batch at a time, texts of like length together. Make it with `create`."""

    def __init__(self, config: TransformersEmbedding, described: SentenceModel, tokenizer: Any, model: Any) -> None:
        self._config = config
        self._described = described
        self._revision = described.revision(config.prefix)
        self._tokenizer = tokenizer
        self._model = model
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embed")

    @classmethod
    async def create(cls, config: TransformersEmbedding, described: SentenceModel) -> TransformersEmbedder:
        """Load the weights. `threads` holds for the whole process, as torch has it."""
        return await asyncio.to_thread(cls._load, config, described)

    @classmethod
    def _load(cls, config: TransformersEmbedding, described: SentenceModel) -> TransformersEmbedder:
        # Its thread pool would not outlive a fork, and short texts have no use for it.
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        import torch
        from transformers import AutoModel, AutoTokenizer

        if config.threads is not None:
            torch.set_num_threads(config.threads)
        tokenizer = AutoTokenizer.from_pretrained(described.folder, local_files_only=True)
        model = AutoModel.from_pretrained(described.folder, dtype=torch.float32, local_files_only=True)
        return cls(config, described, tokenizer, model.eval())

    @property
    def name(self) -> str:
        return self._config.name

    @property
    def revision(self) -> str:
        return self._revision

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """See `udfs.engines.base.Embedder.embed`."""
        if self._model is None:
            raise EngineDead(f"the embedder {self.name} is closed")
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._embed, list(texts))

    async def close(self) -> None:
        self._model = None
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _embed(self, texts: list[str]) -> Vectors:
        import torch

        ids = token_ids(self._tokenizer, [self._config.prefix + text for text in texts], self._described.window)
        order = sorted(range(len(ids)), key=lambda index: len(ids[index]))
        rows = torch.empty(len(ids), self._model.config.hidden_size)
        for start in range(0, len(order), self._config.batch_size):
            part = order[start : start + self._config.batch_size]
            rows[part] = self._pooled([ids[index] for index in part])
        return unit_vectors(rows.numpy(), len(texts))

    def _pooled(self, ids: list[list[int]]) -> Any:
        import torch

        width = max(len(row) for row in ids)
        mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in ids])
        padded = torch.tensor([row + [self._tokenizer.pad_token_id] * (width - len(row)) for row in ids])
        with torch.inference_mode():
            hidden = self._model(input_ids=padded, attention_mask=mask).last_hidden_state
        if self._described.pooling == "cls":
            return hidden[:, 0]
        weights = mask.unsqueeze(-1).to(hidden.dtype)
        return (hidden * weights).sum(1) / weights.sum(1)
