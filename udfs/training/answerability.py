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
from udfs.engines.classifier_factory import create_classifier
from udfs.engines.classifier_weights import RECORD
from udfs.tables.store import Store
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
    """

    root: str
    name: str
    spec: str
    fitting: Fitting
    rows: Sequence[Any]
    input: str
    over_length: int
    unreadable: int


def task_of(root: str, name: str, spec: str, fitting: Fitting, examples: Sequence[Example]) -> FitTask:
    """Tokenise the examples.

    Raises:
        UserError: the base's tokenizer cannot be loaded or used.
    """
    from udfs.training.fitting import load_tokenizer, prepared, window_maker

    maker = window_maker(load_tokenizer(fitting.base), fitting)
    made = prepared(maker, examples)
    return FitTask(root, name, spec, fitting, made.rows, maker.form, made.over_length, made.unreadable)


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
            folder.put(work / "model")


def predictions(
    address: str, name: str, form: str, fitting: Fitting, examples: Sequence[Example]
) -> tuple[pl.DataFrame, int]:
    """The probability of every example by the model at `address` (`udfs.tables.classification.COLUMNS`), and how many
    are over_length. A document's probability is the greatest of its windows'.
    """
    config = TransformersClassifier(
        name=name,
        weights=address,
        input=form,  # type: ignore[arg-type]
        window=fitting.window,
        stride=fitting.stride,
        threads=fitting.threads,
    )

    async def classify() -> list[float | EngineError]:
        classifier = await create_classifier(config)
        try:
            return await classifier.answerable([(example.text, example.question) for example in examples])
        finally:
            await classifier.close()

    outcomes = asyncio.run(classify())
    frame = pl.DataFrame(
        {
            "dataset": [example.dataset for example in examples],
            "doc_id": [example.doc_id for example in examples],
            "answerable": [example.answerable for example in examples],
            "probability": [None if isinstance(one, EngineError) else one for one in outcomes],
        },
        schema={"dataset": pl.String, "doc_id": pl.String, "answerable": pl.Boolean, "probability": pl.Float64},
    )
    return frame, sum(isinstance(one, OverLength) for one in outcomes)
