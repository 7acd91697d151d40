"""The classifier over vLLM's pooling runner, in process."""

from __future__ import annotations

import asyncio
import atexit
import gc
import uuid
from collections.abc import Sequence
from typing import Any

from udfs.engines.base import EngineDead, EngineError, ProviderError
from udfs.engines.chat import first_line
from udfs.engines.classifier import Batch
from udfs.engines.classifier_config import VllmClassifier
from udfs.engines.classifier_input import Window, WindowMaker
from udfs.engines.classifier_weights import Described
from udfs.engines.orphans import ChildWatch
from udfs.engines.pooling import RUNNER_ARGUMENTS, naming_keys
from udfs.engines.vllm_engine import quiet_environment, shutdown_later, start_llm, stop_llm
from udfs.engines.weights import resolve
from udfs.errors import UserError


class VllmClassifierEngine:
    """A classifier over vLLM. Make it with `create`, in the event loop that will use it."""

    def __init__(self, config: VllmClassifier, described: Described, llm: Any, watch: ChildWatch) -> None:
        self._config = config
        self._revision = described.revision()
        self._label = described.label
        self._llm = llm
        self._watch = watch
        self._maker = WindowMaker(llm.get_tokenizer(), described.form, described.window, described.stride)
        self._at_exit = shutdown_later(llm, watch)
        atexit.register(self._at_exit)

    @classmethod
    async def create(cls, config: VllmClassifier, described: Described) -> VllmClassifierEngine:
        """Load the weights and start vLLM.

        Raises:
            UserError: an argument that vLLM does not take, a model that it cannot serve.
            EngineDead: vLLM did not start for another reason (it has said why on stderr).
        """
        model = config.model(str(described.folder), described.window)
        watch = ChildWatch()
        try:
            with naming_keys("classifier", VllmClassifier), quiet_environment(model):
                llm = start_llm(model, resolve(model), 1, RUNNER_ARGUMENTS)
        except BaseException:
            watch.close()
            raise
        watch.started()
        try:
            return cls(config, described, llm, watch)
        except UserError:
            shutdown_later(llm, watch)()
            raise
        finally:
            del llm  # see VllmEngine.create

    @property
    def name(self) -> str:
        return self._config.name

    @property
    def revision(self) -> str:
        return self._revision

    async def answerable(self, pairs: Sequence[tuple[str, str]]) -> list[float | EngineError]:
        """See `udfs.engines.base.Classifier.answerable`."""
        if self._llm is None:
            raise EngineDead(f"the classifier {self.name} is closed")
        batch = await asyncio.to_thread(Batch, self._maker, list(pairs))
        found: list[Any] = await asyncio.gather(
            *(self._one(self._llm, window) for window in batch.windows), return_exceptions=True
        )
        for error in found:
            if isinstance(error, BaseException):
                raise error
        return batch.outcomes(found)

    async def _one(self, llm: Any, window: Window) -> float:
        from vllm import PoolingParams
        from vllm.inputs import tokens_input
        from vllm.v1.engine.exceptions import EngineDeadError, EngineGenerateError

        # BERT's token types travel beside the tokens, as the place where they become 1.
        types = None if window.second_from is None else {"compressed_token_type_ids": window.second_from}
        params = PoolingParams(task="classify", use_activation=True, extra_kwargs=types)
        output = None
        try:
            async for part in llm.encode(tokens_input(window.ids), params, uuid.uuid4().hex):
                output = part
        except EngineDeadError as error:
            raise EngineDead(f"vLLM's engine process for {self.name} has died") from error
        except EngineGenerateError as error:
            raise ProviderError(f"vLLM could not classify: {first_line(error.__cause__ or error)}") from error
        except ValueError as error:  # vLLM's checks of a request derive from it
            raise ProviderError(f"vLLM did not take the request: {first_line(error)}") from error
        if output is None:
            raise ProviderError("vLLM gave no output")
        probabilities = output.outputs.data.float().cpu().flatten().tolist()
        if len(probabilities) != 2:
            raise ProviderError(f"vLLM gave {len(probabilities)} classes in place of 2")
        return float(probabilities[self._label])

    async def close(self) -> None:
        """Stop vLLM's processes and wait for them. Calling it twice is allowed."""
        llm, self._llm = self._llm, None
        if llm is None:
            return
        atexit.unregister(self._at_exit)
        await stop_llm(llm, self._watch)
        del llm
        gc.collect()
