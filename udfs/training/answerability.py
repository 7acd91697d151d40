"""The target `answerability`: a sequence classifier of (document, question). Torch is imported when it is fitted."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from udfs.engines.base import EngineError, OverLength
from udfs.engines.classifier_config import TransformersClassifier
from udfs.engines.classifier_factory import create_encoder
from udfs.engines.classifier_weights import RECORD, described
from udfs.engines.lexical_head import pair_features, read_head
from udfs.errors import UserError
from udfs.tables.store import Store
from udfs.training import lexical
from udfs.training.examples import Example
from udfs.training.folder import ModelFolder
from udfs.training.settings import Fitting

STEPS = "steps.json"
"""Beside the weights: steps that were taken, and planned."""

__all__ = ["RECORD", "STEPS", "FitTask", "fit_model", "predictions", "task_of"]


@dataclass(frozen=True)
class FitTask:
    """Everything that a process needs to take part in one fine-tuning.

    Args:
        rows: `udfs.training.fitting.Learnt`, one window an example.
        input: the form that the windows have.
        stacking: for a head over encoder and words; None: the encoder alone.
    """

    root: str
    name: str
    spec: str
    fitting: Fitting
    rows: Sequence[Any]
    input: str
    over_length: int
    unreadable: int
    stacking: lexical.Stacking | None = None


def task_of(root: str, name: str, spec: str, fitting: Fitting, examples: Sequence[Example]) -> FitTask:
    """Tokenise the examples, and fit the words' part of the head.

    Raises:
        UserError: the base's tokenizer cannot be loaded or used, or there is too little for a head.
    """
    from udfs.training.fitting import load_tokenizer, prepared, window_maker

    maker = window_maker(load_tokenizer(fitting.base), fitting)
    stacking = None
    if fitting.lexical_head:
        examples, kept = lexical.part(examples, fitting.seed)
        if not (lexical.enough(kept) and lexical.enough(examples)):
            raise UserError(
                f"lexical_head=true needs at least {lexical.LEAST_QUESTIONS} questions of both classes among those "
                f"kept back to weigh encoder and words, here {len(kept):,} of {len(kept) + len(examples):,}: give more "
                "datasets, or lexical_head=false"
            )
        stacking = lexical.fit_words(examples, kept)
    made = prepared(maker, examples)
    return FitTask(root, name, spec, fitting, made.rows, maker.form, made.over_length, made.unreadable, stacking)


def fit_model(
    task: FitTask, on_log: Callable[[str], None], adapt: Callable[[Any], Any] | None = None, first: bool = True
) -> None:
    """Fine-tune, from the last checkpoint where there is one, and leave the model's files in its folder.

    Args:
        adapt: for a trainer among several (Ray Train).
        first: whether this process writes.
    """
    from udfs.training.fitting import fit, load_tokenizer

    folder = ModelFolder(Store(task.root), task.name, RECORD)
    tokenizer = load_tokenizer(task.fitting.base)
    with tempfile.TemporaryDirectory(prefix="askable-train-") as place:
        work = Path(place)
        checkpoint = folder.take_checkpoint(task.spec, work / "before")
        if checkpoint is not None and first:
            on_log(f"goes on from {checkpoint.name}")
        trainer = fit(
            task.rows,
            tokenizer,
            task.fitting,
            work,
            checkpoint,
            lambda saved: folder.put_checkpoint(saved, task.spec),
            on_log,
            *([adapt] if adapt else []),
        )
        if first:
            model: Any = trainer.model
            model.save_pretrained(work / "model", safe_serialization=True)
            tokenizer.save_pretrained(work / "model")
            steps = {"steps": trainer.state.global_step, "planned": trainer.state.max_steps}
            (work / "model" / STEPS).write_text(json.dumps(steps), encoding="utf-8")
            if task.stacking is not None:
                kept = task.stacking.calibration
                asked = asyncio.run(_encoder(_config(str(work / "model"), task.name, task.input, task.fitting), kept))
                probabilities = [None if isinstance(one, EngineError) else one for one in asked]
                lexical.fit_head(task.stacking, probabilities).write(work / "model")
            folder.put(work / "model")


def predictions(
    address: str, name: str, form: str, fitting: Fitting, examples: Sequence[Example]
) -> tuple[pl.DataFrame, int]:
    """The probability of every example by the model at `address` (`udfs.tables.classification.COLUMNS`, and `encoder`,
    its encoder's alone), and how many are over_length. For the encoder a document is as its best window.
    """
    config = _config(address, name, form, fitting)
    outcomes = asyncio.run(_encoder(config, examples))
    encoder = [None if isinstance(one, EngineError) else one for one in outcomes]
    head = read_head(described(config).folder)
    probability = encoder
    if head is not None:
        probability = [
            None if one is None else head.probability(one, pair_features(example.text, example.question))
            for one, example in zip(encoder, examples, strict=True)
        ]
    frame = pl.DataFrame(
        {
            "dataset": [example.dataset for example in examples],
            "doc_id": [example.doc_id for example in examples],
            "answerable": [example.answerable for example in examples],
            "probability": probability,
            "encoder": encoder,
        },
        schema={
            "dataset": pl.String,
            "doc_id": pl.String,
            "answerable": pl.Boolean,
            "probability": pl.Float64,
            "encoder": pl.Float64,
        },
    )
    return frame, sum(isinstance(one, OverLength) for one in outcomes)


def _config(address: str, name: str, form: str, fitting: Fitting) -> TransformersClassifier:
    return TransformersClassifier(
        name=name,
        weights=address,
        input=form,  # type: ignore[arg-type]
        window=fitting.window,
        stride=fitting.stride,
        threads=fitting.threads,
    )


async def _encoder(config: TransformersClassifier, examples: Sequence[Example]) -> list[float | EngineError]:
    """The encoder's probability of each example."""
    classifier = await create_encoder(config)
    try:
        return await classifier.answerable([(example.text, example.question) for example in examples])
    finally:
        await classifier.close()
