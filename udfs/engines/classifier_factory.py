"""The classifier for a classifier configuration. Nothing heavy is imported before it is needed."""

from __future__ import annotations

import importlib.util

from udfs.engines.base import Classifier
from udfs.engines.classifier_config import ClassifierConfig, TransformersClassifier
from udfs.engines.classifier_weights import described
from udfs.engines.lexical_head import HeadedClassifier, read_head
from udfs.errors import UserError


async def create_classifier(config: ClassifierConfig) -> Classifier:
    """Start the classifier that `config` describes, in the running event loop. The caller closes it.

    Raises:
        UserError: weights that cannot be found or are no classifier's.
        EngineDead: it did not start for another reason.
    """
    head = read_head(described(config).folder)
    encoder = await create_encoder(config)
    return encoder if head is None else HeadedClassifier(encoder, head)


async def create_encoder(config: ClassifierConfig) -> Classifier:
    """As `create_classifier`, without the head that may lie beside the weights."""
    if isinstance(config, TransformersClassifier):
        from udfs.engines.classifier_transformers import InProcessClassifier

        return await InProcessClassifier.create(config, described(config))
    from udfs.engines.classifier_vllm import VllmClassifierEngine

    return await VllmClassifierEngine.create(config, described(config))


def describe_classifier(config: ClassifierConfig) -> tuple[str, str]:
    """The classifier's name and revision as they stand in tables and ids; loads nothing.

    Raises:
        UserError: the weights cannot be found.
    """
    return config.name, described(config).revision()


def check_classifier_ready(config: ClassifierConfig) -> None:
    """Find the weights and the library: what can be known before anything is loaded.

    Raises:
        UserError: what is missing, and what to do.
    """
    describe_classifier(config)
    library = "torch" if isinstance(config, TransformersClassifier) else "vllm"
    if importlib.util.find_spec(library) is None:
        raise UserError(f"classifier {config.name} needs {library}, which is not installed; run `make setup`")
