"""The engine that runs vLLM in process: one `AsyncLLM`, whose prefix cache makes a document cheap to ask again."""

from __future__ import annotations

import asyncio
import atexit
import gc
import os
import time
import uuid
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from udfs.engines.base import Completion, EngineDead, Message, OverLength, Prompt, ProviderError, Sampling
from udfs.engines.chat import ChatTokenizer, first_line
from udfs.engines.config import VllmModel
from udfs.engines.orphans import ChildWatch
from udfs.engines.room import check_room, no_room
from udfs.engines.stderr_tail import root_cause, watched_stderr
from udfs.engines.weights import Resolved
from udfs.errors import UserError

QUIET: Final = {
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "TORCH_CPP_LOG_LEVEL": "ERROR",
    "PYTHONWARNINGS": "ignore::FutureWarning,ignore::DeprecationWarning",
}
"""Environment of the engine's processes, where the user has not set it: no usage statistics, errors only."""
SHUTDOWN_S: Final = 15.0
"""How long the engine's processes get to end by themselves; they hold nothing that would be lost then."""
NO_ROOM_SIGNS: Final = ("KV cache", "max_model_len", "max seq len", "maximum number of tokens", "cache blocks")


class VllmEngine:
    """An engine over vLLM. Make it with `create`, in the event loop that will use it."""

    def __init__(self, config: VllmModel, resolved: Resolved, llm: Any, chat: ChatTokenizer, watch: ChildWatch) -> None:
        self._config = config
        self._resolved = resolved
        self._llm = llm
        self._chat = chat
        self._watch = watch
        cache = llm.vllm_config.cache_config
        self._window = int(llm.vllm_config.model_config.max_model_len)
        self._block_size = int(cache.block_size)
        # One block is vLLM's own (the null block).
        held = int(cache.kv_cache_size_tokens or cache.num_gpu_blocks * cache.block_size)
        self._kv_tokens = max(0, held - self._block_size)
        # Python's exit takes modules down before vLLM's own clean-up runs, which then fails with a stack trace.
        self._at_exit = shutdown_later(llm, watch)
        atexit.register(self._at_exit)

    @classmethod
    async def create(cls, config: VllmModel, resolved: Resolved, tensor_parallel_size: int = 1) -> VllmEngine:
        """Load the weights and start vLLM.

        Raises:
            UserError: the window does not fit the KV cache, vLLM does not take an argument, no chat template.
            EngineDead: vLLM did not start for another reason (it has said why on stderr).
        """
        check_room(resolved, config, tensor_parallel_size=tensor_parallel_size)
        watch = ChildWatch()
        try:
            with quiet_environment(config):
                llm = start_llm(config, resolved, tensor_parallel_size)
        except BaseException:
            watch.close()
            raise
        watch.started()
        try:
            chat = ChatTokenizer(llm.get_tokenizer(), config.chat_template, config.name)
            return cls(config, resolved, llm, chat, watch)
        except UserError:
            shutdown_later(llm, watch)()
            raise
        finally:
            # vLLM keeps exceptions whose tracebacks hold this frame: its engine must not live on through it, for its
            # finaliser fails with a stack trace when the interpreter ends.
            del llm

    @property
    def name(self) -> str:
        return self._config.name

    @property
    def revision(self) -> str:
        return self._resolved.revision

    @property
    def kv_tokens(self) -> int | None:
        return self._kv_tokens

    @property
    def block_size(self) -> int:
        return self._block_size

    @property
    def window(self) -> int:
        """Tokens of prompt and reply together."""
        return self._window

    async def count_tokens(self, messages: Sequence[Message]) -> int | None:
        """Tokens of the rendered prompt."""
        return len(await self._chat.ids(messages))

    async def complete(
        self,
        prompt: Prompt,
        sampling: Sampling,
        schema: Mapping[str, Any] | None = None,
        on_prefill: Callable[[], None] | None = None,
    ) -> Completion:
        """Complete `prompt`; see `udfs.engines.base.Engine.complete`. `on_prefill` is called at the first token."""
        from vllm.inputs import tokens_input
        from vllm.v1.engine.exceptions import EngineDeadError, EngineGenerateError

        llm = self._alive()
        ids = await self._chat.ids(prompt.messages)
        if len(ids) + sampling.max_tokens > self._window:
            raise OverLength(
                f"prompt of {len(ids)} tokens + {sampling.max_tokens} for the reply > the window of {self._window}"
            )
        started = time.perf_counter()
        output = None
        try:
            params = _sampling_params(sampling, schema, stream=on_prefill is not None)
            request_id = f"{prompt.request_id}-{uuid.uuid4().hex}"
            async for part in llm.generate(tokens_input(ids.tolist()), params, request_id):
                if output is None and on_prefill is not None:
                    on_prefill()
                output = part
        except EngineDeadError as error:
            raise EngineDead(f"vLLM's engine process for {self.name} has died") from error
        except EngineGenerateError as error:
            cause = first_line(error.__cause__ or error)
            raise ProviderError(f"vLLM could not complete the request: {cause}") from error
        except ValueError as error:  # vLLM's checks of a request derive from it
            raise ProviderError(f"vLLM did not take the request: {first_line(error)}") from error
        if output is None or not output.outputs:
            raise ProviderError("vLLM gave no output")
        reply = output.outputs[0]
        if reply.finish_reason in (None, "abort", "error"):
            raise ProviderError(f"vLLM ended the request with {reply.finish_reason!r}")
        return Completion(
            text=reply.text,
            prompt_tokens=len(ids),
            cached_tokens=int(output.num_cached_tokens or 0),
            output_tokens=len(reply.token_ids),
            finish_reason=reply.finish_reason,
            seconds=time.perf_counter() - started,
            prompt_ids=ids,
        )

    async def close(self) -> None:
        """Stop vLLM's processes and wait for them. Calling it twice is allowed."""
        llm, self._llm = self._llm, None
        if llm is None:
            return
        atexit.unregister(self._at_exit)
        self._chat.close()
        await stop_llm(llm, self._watch)
        del llm
        gc.collect()

    def _alive(self) -> Any:
        if self._llm is None:
            raise EngineDead(f"the engine of {self.name} is closed")
        return self._llm


def shutdown_later(llm: Any, watch: ChildWatch) -> Callable[[], None]:
    """A function that shuts `llm` down if it still exists, and does not keep it alive."""
    reference = weakref.ref(llm)

    def shutdown() -> None:
        alive = reference()
        if alive is not None:
            alive.shutdown(timeout=SHUTDOWN_S)
            watch.close()

    return shutdown


async def stop_llm(llm: Any, watch: ChildWatch) -> None:
    """Stop vLLM's processes and wait for them."""
    handler = llm.output_handler
    if handler is not None:  # before the processes go, or it takes their end for a crash
        handler.cancel()
        await asyncio.gather(handler, return_exceptions=True)
        llm.output_handler = None
    await asyncio.to_thread(llm.shutdown, SHUTDOWN_S)
    watch.close()


def start_llm(
    config: VllmModel, resolved: Resolved, tensor_parallel_size: int, own: Mapping[str, Any] | None = None
) -> Any:
    """An `AsyncLLM`. `own` replaces arguments that are set here, `model.engine_args` replaces both.

    Raises:
        UserError, EngineDead: as `VllmEngine.create`.
    """
    with watched_stderr() as said:
        # The environment has to be set before this import: vLLM sets its logging up on import.
        from vllm import AsyncEngineArgs
        from vllm.v1.engine.async_llm import AsyncLLM

    known = set(AsyncEngineArgs.__dataclass_fields__)
    for key in config.engine_args:
        if key not in known:
            raise UserError(f"model.engine_args.{key}: vLLM's AsyncEngineArgs has no such argument")
    arguments: dict[str, Any] = {
        "model": resolved.path,
        "revision": resolved.commit,
        "tokenizer_revision": resolved.commit,
        "max_model_len": resolved.window,
        "dtype": config.dtype,
        "hf_overrides": dict(config.hf_overrides),
        "max_num_seqs": config.max_num_seqs,
        "max_num_batched_tokens": config.max_num_batched_tokens,
        "enforce_eager": config.enforce_eager,
        "gpu_memory_utilization": config.gpu_memory_utilization,
        "trust_remote_code": config.trust_remote_code,
        "tensor_parallel_size": tensor_parallel_size,
        "enable_prefix_caching": True,
        "enable_chunked_prefill": True,
        "disable_log_stats": True,
        "use_tqdm_on_load": False,
        # The provider's defaults (temperature, top_p …) must not slip in: sampling is ours and part of the identity.
        "generation_config": "vllm",
    }
    if tensor_parallel_size > 1:
        # The actor holds all its GPUs: vLLM must not go looking for more through Ray.
        arguments["distributed_executor_backend"] = "mp"
    if config.kv_cache_gib is not None:
        arguments["kv_cache_memory_bytes"] = int(config.kv_cache_gib * 2**30)
    if config.block_size is not None:
        arguments["block_size"] = config.block_size
    with watched_stderr() as said:
        try:
            return AsyncLLM.from_engine_args(
                AsyncEngineArgs(**(arguments | dict(own or {}) | dict(config.engine_args)))
            )
        except (ValueError, RuntimeError) as error:
            failure = error
    cause = root_cause(said) if isinstance(failure, RuntimeError) else None
    cause = cause or first_line(failure)
    if any(sign in cause for sign in NO_ROOM_SIGNS):
        detail = no_room(resolved, config, None, tensor_parallel_size=tensor_parallel_size)
        raise UserError(f"{detail} (vLLM: {cause})") from failure
    if isinstance(failure, ValueError):
        raise UserError(f"vLLM does not start {config.name}: {cause}") from failure
    raise EngineDead(f"vLLM did not start {config.name}: {cause}") from failure


def _sampling_params(sampling: Sampling, schema: Mapping[str, Any] | None, stream: bool) -> Any:
    from vllm import SamplingParams
    from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

    return SamplingParams(
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        max_tokens=sampling.max_tokens,
        # A greedy request needs none, and a seed of its own takes a request out of the fast sampler.
        seed=sampling.seed if sampling.temperature > 0 else None,
        output_kind=RequestOutputKind.CUMULATIVE if stream else RequestOutputKind.FINAL_ONLY,
        structured_outputs=StructuredOutputsParams(json=dict(schema)) if schema is not None else None,
    )


@contextmanager
def quiet_environment(config: VllmModel) -> Iterator[None]:
    """The environment in which vLLM's processes start: quiet, and on a CPU with every core bound to a thread.

    vLLM's own choice leaves one core idle for its scheduler: half the machine where there are two. Ray sets
    OMP_NUM_THREADS to the actor's logical CPUs, which say nothing about cores here, so the binding is given outright.
    """
    values = {key: value for key, value in QUIET.items() if key not in os.environ}
    if "VLLM_CPU_OMP_THREADS_BIND" not in os.environ:
        affinity = getattr(os, "sched_getaffinity", None)  # Linux alone has it
        cores = sorted(affinity(0)) if affinity is not None else list(range(os.cpu_count() or 1))
        chosen = cores[: config.cpu_threads] if config.cpu_threads is not None else cores
        values["VLLM_CPU_OMP_THREADS_BIND"] = ",".join(str(core) for core in chosen)
    os.environ.update(values)
    warnings.filterwarnings("ignore", category=FutureWarning, module="vllm")
    try:
        yield
    finally:
        for key in values:
            os.environ.pop(key, None)
