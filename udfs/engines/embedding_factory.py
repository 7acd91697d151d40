"""The embedder for an embedding configuration. Nothing heavy is imported before it is needed."""

from __future__ import annotations

import importlib.util

from udfs.engines.base import Embedder
from udfs.engines.embedding_config import EmbeddingConfig, EndpointEmbedding, TransformersEmbedding
from udfs.errors import UserError


async def create_embedder(config: EmbeddingConfig) -> Embedder:
    """Start the embedder that `config` describes, in the running event loop. The caller closes it.

    Raises:
        UserError: weights that cannot be found, a missing key.
        EngineDead: it did not start for another reason.
    """
    if isinstance(config, EndpointEmbedding):
        from udfs.engines.embedding_endpoint import EndpointEmbedder

        return EndpointEmbedder(config)
    if isinstance(config, TransformersEmbedding):
        from udfs.engines.embedding_transformers import TransformersEmbedder
        from udfs.engines.embedding_weights import sentence_model

        return await TransformersEmbedder.create(config, sentence_model(config.weights))
    from udfs.engines.embedding_vllm import VllmEmbedder

    return await VllmEmbedder.create(config)


def describe_embedding(config: EmbeddingConfig) -> tuple[str, str]:
    """The embedding's name and revision as they stand in tables and ids; loads nothing.

    Raises:
        UserError: the weights cannot be found.
    """
    if isinstance(config, EndpointEmbedding):
        from udfs.engines.embedding_endpoint import revision as endpoint_revision

        return config.name, endpoint_revision(config)
    if isinstance(config, TransformersEmbedding):
        from udfs.engines.embedding_weights import sentence_model

        return config.name, sentence_model(config.weights).revision(config.prefix)
    from udfs.engines.embedding_vllm import revision as vllm_revision

    return config.name, vllm_revision(config)


async def check_embedding_ready(config: EmbeddingConfig) -> None:
    """Find the weights, or ask the endpoint for one vector: what can be known before anything is loaded.

    Raises:
        UserError: what is missing or refused, and what to do.
    """
    if isinstance(config, EndpointEmbedding):
        from udfs.engines.embedding_endpoint import EndpointEmbedder

        embedder = EndpointEmbedder(config)
        try:
            await embedder.probe()
        finally:
            await embedder.close()
        return
    describe_embedding(config)
    library = "torch" if isinstance(config, TransformersEmbedding) else "vllm"
    if importlib.util.find_spec(library) is None:
        raise UserError(f"embedding {config.name} needs {library}, which is not installed; run `make setup`")
