"""The embedder over vLLM's pooling runner, in process."""

from __future__ import annotations

import asyncio
import atexit
import gc
import uuid
from collections.abc import Sequence
from typing import Any

from udfs.engines.base import EngineDead, ProviderError, Vectors
from udfs.engines.chat import first_line
from udfs.engines.embedding import token_ids, unit_vectors
from udfs.engines.embedding_config import VllmEmbedding
from udfs.engines.embedding_weights import located
from udfs.engines.orphans import ChildWatch
from udfs.engines.pooling import RUNNER_ARGUMENTS, naming_keys
from udfs.engines.vllm_engine import quiet_environment, shutdown_later, start_llm, stop_llm
from udfs.engines.weights import identify, resolve
from udfs.identity import content_hash


def revision(config: VllmEmbedding) -> str:
    """What the embedding's name stands for: weights, and the settings that change its vectors."""
    with naming_keys("embedding", VllmEmbedding):
        weights = identify(config.model(located(config.weights)))
    settings = content_hash(config.prefix, config.window)
    return f"{weights}-{settings[:8]}"


class VllmEmbedder:
    """An embedder over vLLM. Make it with `create`, in the event loop that will use it."""

    def __init__(self, config: VllmEmbedding, llm: Any, watch: ChildWatch) -> None:
        self._config = config
        self._revision = revision(config)
        self._llm = llm
        self._watch = watch
        self._tokenizer = llm.get_tokenizer()
        self._window = int(llm.vllm_config.model_config.max_model_len)
        self._at_exit = shutdown_later(llm, watch)
        atexit.register(self._at_exit)

    @classmethod
    async def create(cls, config: VllmEmbedding) -> VllmEmbedder:
        """Load the weights and start vLLM.

        Raises:
            UserError: weights that cannot be found, an argument that vLLM does not take.
            EngineDead: vLLM did not start for another reason (it has said why on stderr).
        """
        model = config.model(located(config.weights))
        # A sentence-transformers model may take fewer tokens than it has positions: vLLM reads how many.
        own = {**RUNNER_ARGUMENTS, "max_model_len": config.window}
        watch = ChildWatch()
        try:
            with naming_keys("embedding", VllmEmbedding), quiet_environment(model):
                llm = start_llm(model, resolve(model), 1, own)
        except BaseException:
            watch.close()
            raise
        watch.started()
        try:
            return cls(config, llm, watch)
        finally:
            del llm  # see VllmEngine.create

    @property
    def name(self) -> str:
        return self._config.name

    @property
    def revision(self) -> str:
        return self._revision

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """See `udfs.engines.base.Embedder.embed`."""
        if self._llm is None:
            raise EngineDead(f"the embedder {self.name} is closed")
        prefixed = [self._config.prefix + text for text in texts]
        ids = await asyncio.to_thread(token_ids, self._tokenizer, prefixed, self._window)
        found: list[Any] = await asyncio.gather(*(self._one(self._llm, row) for row in ids), return_exceptions=True)
        for error in found:
            if isinstance(error, BaseException):
                raise error
        return unit_vectors(found, len(texts))

    async def _one(self, llm: Any, ids: list[int]) -> Any:
        from vllm import PoolingParams
        from vllm.inputs import tokens_input
        from vllm.v1.engine.exceptions import EngineDeadError, EngineGenerateError

        output = None
        try:
            async for part in llm.encode(tokens_input(ids), PoolingParams(task="embed"), uuid.uuid4().hex):
                output = part
        except EngineDeadError as error:
            raise EngineDead(f"vLLM's engine process for {self.name} has died") from error
        except EngineGenerateError as error:
            raise ProviderError(f"vLLM could not embed: {first_line(error.__cause__ or error)}") from error
        except ValueError as error:  # vLLM's checks of a request derive from it
            raise ProviderError(f"vLLM did not take the request: {first_line(error)}") from error
        if output is None:
            raise ProviderError("vLLM gave no output")
        return output.outputs.data.float().cpu().numpy()

    async def close(self) -> None:
        """Stop vLLM's processes and wait for them. Calling it twice is allowed."""
        llm, self._llm = self._llm, None
        if llm is None:
            return
        atexit.unregister(self._at_exit)
        await stop_llm(llm, self._watch)
        del llm
        gc.collect()
