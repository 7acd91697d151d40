"""Whether the window fits the KV cache: said before a model loads where it can be known."""

from __future__ import annotations

from typing import Final

from udfs.engines.config import VllmModel
from udfs.engines.weights import Resolved
from udfs.errors import UserError

GIB: Final = 2**30


def kv_capacity(resolved: Resolved, config: VllmModel, tensor_parallel_size: int = 1) -> int | None:
    """Tokens that `model.kv_cache_gib` holds; None where that, or the size of a token, is not known."""
    if config.kv_cache_gib is None or resolved.kv_bytes_per_token is None:
        return None
    # The heads are spread over the ranks, and copied where there are fewer heads than ranks.
    ranks = min(tensor_parallel_size, resolved.kv_heads)
    tokens = int(config.kv_cache_gib * GIB * ranks / resolved.kv_bytes_per_token)
    return tokens - tokens % (config.block_size or 1)


def check_room(resolved: Resolved, config: VllmModel, tensor_parallel_size: int = 1) -> None:
    """Raise `UserError` where the KV cache, as far as it is known, cannot hold one whole window (vLLM would not start).

    Args:
        resolved: the weights.
        config: the model's configuration.
        tensor_parallel_size: ranks that share the heads.
    """
    capacity = kv_capacity(resolved, config, tensor_parallel_size)
    if capacity is not None and capacity < resolved.window:
        raise UserError(no_room(resolved, config, capacity, tensor_parallel_size))


def no_room(
    resolved: Resolved,
    config: VllmModel,
    capacity: int | None,
    tensor_parallel_size: int = 1,
) -> str:
    """The message for a window that does not fit, with the numbers that would."""
    held = f"{capacity} tokens" if capacity is not None else "less"
    size = "" if config.kv_cache_gib is None else f" (model.kv_cache_gib={config.kv_cache_gib:g})"
    advice = []
    if resolved.kv_bytes_per_token is not None:
        ranks = min(tensor_parallel_size, resolved.kv_heads)
        # Two blocks to spare: vLLM keeps one for itself and rounds down.
        tokens = resolved.window + 2 * (config.block_size or 128)
        gib = tokens * resolved.kv_bytes_per_token / ranks / GIB
        advice.append(f"set model.kv_cache_gib to {gib + 0.005:.2f} or more")
    if capacity is not None:
        advice.append(f"lower model.window to at most {capacity}")
    if resolved.kv_heads > tensor_parallel_size:
        advice.append("or spread the model over more GPUs")
    what = f"no room: the KV cache of {config.name} holds {held}{size}, its window is {resolved.window}"
    return "; ".join([what, *advice])
