"""The engine for a model configuration. Nothing heavy is imported before it is needed."""

from __future__ import annotations

from udfs.engines.base import Engine
from udfs.engines.config import EndpointModel, ModelConfig, ScriptedModel, VllmModel


async def create_engine(config: ModelConfig, *, tensor_parallel_size: int = 1) -> Engine:
    """Start the engine that `config` describes, in the running event loop. The caller closes it.

    Raises:
        UserError: weights that cannot be found, no room in the KV cache, a missing key.
        EngineDead: it did not start for another reason.
    """
    if isinstance(config, ScriptedModel):
        from udfs.engines.scripted import ScriptedEngine

        return ScriptedEngine(config)
    if isinstance(config, EndpointModel):
        from udfs.engines.openai_engine import OpenAIEngine

        return OpenAIEngine(config)
    from udfs.engines.vllm_engine import VllmEngine
    from udfs.engines.weights import resolve

    return await VllmEngine.create(config, resolve(config), tensor_parallel_size)


def describe(config: ModelConfig) -> tuple[str, str]:
    """The model's name and revision as they stand in tables and ids; loads nothing.

    Raises:
        UserError: the weights cannot be found.
    """
    if isinstance(config, ScriptedModel):
        from udfs.engines.scripted import revision

        return config.name, revision(config)
    if isinstance(config, EndpointModel):
        from udfs.engines.endpoint import revision as endpoint_revision

        return config.name, endpoint_revision(config)
    from udfs.engines.weights import identify

    return config.name, identify(config)


async def check_ready(config: ModelConfig) -> None:
    """Find the weights, or ask the endpoint for a few tokens: what can be known before anything is loaded.

    Weights that come as a package are dequantised here, once.

    Raises:
        UserError: what is missing or refused, and what to do.
    """
    if isinstance(config, VllmModel):
        from udfs.engines.weights import resolve

        resolve(config)
    elif isinstance(config, EndpointModel):
        from udfs.engines.openai_engine import OpenAIEngine

        engine = OpenAIEngine(config)
        try:
            await engine.probe()
        finally:
            await engine.close()


def check_room(config: ModelConfig, tensor_parallel_size: int = 1) -> None:
    """Hold the model's window against its KV cache, where both are known before loading (`model.kv_cache_gib`).

    Args:
        config: the model.
        tensor_parallel_size: GPUs that share one model.

    Raises:
        UserError: the window does not fit, with the numbers that would.
    """
    if isinstance(config, VllmModel):
        from udfs.engines import room
        from udfs.engines.weights import resolve

        room.check_room(resolve(config), config, tensor_parallel_size)
