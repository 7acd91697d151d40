"""Fine-tune a sequence classifier with Hugging Face Trainer. The one module here that imports torch: import it late."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import numpy as np
import torch
import transformers
from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainerCallback, TrainingArguments

from udfs.engines.base import OverLength, Unreadable
from udfs.engines.classifier_input import WindowMaker, form_for
from udfs.engines.classifier_transformers import model_inputs
from udfs.errors import UserError
from udfs.training.examples import Example
from udfs.training.settings import Fitting
from udfs.training.windows import training_window

transformers.utils.logging.set_verbosity_error()  # its load reports and progress bars are not ours to print
transformers.utils.logging.disable_progress_bar()

LABELS: Final = ("unanswerable", "answerable")


@dataclass(frozen=True)
class Learnt:
    """One window to learn from: what the collator takes."""

    window: Any
    evidence: tuple[int, ...]
    label: int

    @property
    def length(self) -> int:
        return len(self.window.ids)


@dataclass(frozen=True)
class Prepared:
    """The windows of the training examples, and what was left out."""

    rows: list[Learnt]
    over_length: int
    unreadable: int


class Evidence(torch.nn.Module):  # type: ignore[misc]  # torch and transformers have no types here
    """A score for every token: trained to be highest on the evidence, or on the first token where there is none."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.score = torch.nn.Linear(width, 1)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.score(hidden).squeeze(-1)
        return scores


def load_tokenizer(base: str) -> Any:
    """The base model's tokenizer.

    Raises:
        UserError: it cannot be loaded.
    """
    try:
        tokenizer = AutoTokenizer.from_pretrained(base)
    except (OSError, ValueError) as error:
        raise UserError(f"base={base!r} cannot be loaded: {' '.join(str(error).split())[:300]}") from error
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def window_maker(tokenizer: Any, fitting: Fitting) -> WindowMaker:
    """How examples become windows, in training and in whoever uses the classifier later."""
    return WindowMaker(tokenizer, fitting.input or form_for(tokenizer), fitting.window, fitting.stride)


def prepared(maker: WindowMaker, examples: Sequence[Example]) -> Prepared:
    """One window an example (`udfs.training.windows`)."""
    rows, over_length, unreadable = [], 0, 0
    for example in examples:
        try:
            windows = maker.windows(example.text, example.question)
        except OverLength:
            over_length += 1
            continue
        except Unreadable:
            unreadable += 1
            continue
        evidence = example.evidence if example.answerable else ()
        window = windows[training_window([w.shown for w in windows], example.text, example.question, evidence)]
        at = tuple(
            place for span in evidence for place, start, end in window.at if start < span.end and end > span.start
        )
        rows.append(Learnt(window, at, int(example.answerable)))
    return Prepared(rows, over_length, unreadable)


def fit(
    rows: Sequence[Learnt],
    tokenizer: Any,
    fitting: Fitting,
    work: Path,
    checkpoint: Path | None,
    on_save: Callable[[Path], None],
    on_log: Callable[[str], None],
    adapt: Callable[[Trainer], Trainer] = lambda trainer: trainer,
) -> Trainer:
    """Fine-tune `fitting.base` on `rows`; the trainer with the trained model, its evidence head taken off.

    Args:
        work: a folder of this process for checkpoints.
        checkpoint: where to go on from.
        on_save: called with each checkpoint's folder, in the process that writes it.
        on_log: called with lines on how it goes.
        adapt: for a trainer among several (Ray Train).
    """
    _seed(fitting)
    model = build(fitting, tokenizer)
    arguments = _arguments(fitting, work, len(rows))
    trainer = EvidenceTrainer(
        model=model,
        args=arguments,
        train_dataset=_Rows(rows),
        data_collator=_Collator(tokenizer),
        optimizers=(_optimizer(model, fitting), None),
        callbacks=[_Told(on_save, on_log), _TimeLimit(fitting.max_minutes)],
    )
    trainer.evidence_weight = fitting.evidence_weight
    trainer.remove_callback(transformers.PrinterCallback)
    adapt(trainer).train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    if hasattr(model, "evidence"):
        del model.evidence
    return trainer


def build(fitting: Fitting, tokenizer: Any) -> Any:
    """The base model with a fresh head for two classes, and one for the evidence.

    Raises:
        UserError: the base cannot be loaded as a sequence classifier.
    """
    try:
        model = AutoModelForSequenceClassification.from_pretrained(
            fitting.base,
            num_labels=len(LABELS),
            id2label=dict(enumerate(LABELS)),
            label2id={name: number for number, name in enumerate(LABELS)},
            dtype=torch.float32,
        )
    except (OSError, ValueError) as error:
        raise UserError(f"base={fitting.base!r} cannot be loaded: {' '.join(str(error).split())[:300]}") from error
    model.config.pad_token_id = tokenizer.pad_token_id
    positions = getattr(model.config, "max_position_embeddings", None)
    if positions is not None and fitting.window > positions:
        raise UserError(f"window={fitting.window} is more than the {positions} positions of {fitting.base}")
    _freeze(model, fitting.freeze_layers)
    if fitting.evidence_weight:
        model.evidence = Evidence(model.config.hidden_size)
    return model


def _freeze(model: Any, count: int) -> None:
    if not count:
        return
    body = model.base_model
    layers = getattr(getattr(body, "encoder", body), "layer", None) or getattr(body, "layers", None)
    if layers is None or count > len(layers):
        raise UserError(
            f"freeze_layers={count}: the base has {len(layers) if layers is not None else 'no known'} layers"
        )
    for module in (model.get_input_embeddings(), *layers[:count]):
        module.requires_grad_(False)


def _optimizer(model: Any, fitting: Fitting) -> torch.optim.Optimizer:
    """AdamW; weight decay on matrices alone, a larger rate for what starts from nothing."""
    body = {id(parameter) for parameter in model.base_model.parameters()}
    groups: dict[tuple[bool, bool], list[Any]] = {}
    for parameter in model.parameters():
        if parameter.requires_grad:
            groups.setdefault((id(parameter) in body, parameter.ndim > 1), []).append(parameter)
    return torch.optim.AdamW(
        [
            {
                "params": parameters,
                "lr": fitting.learning_rate * (1.0 if inside else fitting.head_rate),
                "weight_decay": fitting.weight_decay if decays else 0.0,
            }
            for (inside, decays), parameters in sorted(groups.items(), key=lambda item: item[0])
        ],
        lr=fitting.learning_rate,
    )


def _arguments(fitting: Fitting, work: Path, n_rows: int) -> TrainingArguments:
    steps = -(-n_rows // fitting.batch_size) * fitting.epochs
    return TrainingArguments(
        output_dir=str(work),
        per_device_train_batch_size=fitting.batch_size,
        num_train_epochs=fitting.epochs,
        learning_rate=fitting.learning_rate,
        lr_scheduler_type="linear",
        warmup_steps=int(steps * fitting.warmup),
        max_grad_norm=1.0,
        seed=fitting.seed,
        data_seed=fitting.seed,
        bf16=fitting.bf16,
        use_cpu=not torch.cuda.is_available(),
        train_sampling_strategy="group_by_length",
        length_column_name="length",
        remove_unused_columns=False,
        dataloader_pin_memory=False,
        save_strategy="steps",
        save_steps=fitting.save_steps,
        save_total_limit=1,
        logging_strategy="steps",
        logging_steps=max(1, steps // 20),
        report_to="none",
        disable_tqdm=True,
    )


def _seed(fitting: Fitting) -> None:
    if fitting.threads is not None:
        torch.set_num_threads(fitting.threads)
    random.seed(fitting.seed)
    np.random.seed(fitting.seed)
    torch.manual_seed(fitting.seed)


class _Rows(torch.utils.data.Dataset[Any]):  # type: ignore[misc]  # torch and transformers have no types here
    """The Trainer asks for each row's `length` to batch like with like."""

    def __init__(self, rows: Sequence[Learnt]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> dict[str, Any]:
        return {"row": self.rows[index], "input_ids": self.rows[index].window.ids}


class _Collator:
    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer

    def __call__(self, items: Sequence[dict[str, Any]]) -> dict[str, Any]:
        rows = [item["row"] for item in items]
        inputs = model_inputs(self.tokenizer, [row.window for row in rows])
        marks = torch.zeros(inputs["input_ids"].shape, dtype=torch.bool)
        for mark, row in zip(marks, rows, strict=True):
            mark[list(row.evidence)] = True
        return {**inputs, "labels": torch.tensor([row.label for row in rows]), "evidence": marks}


class EvidenceTrainer(Trainer):  # type: ignore[misc]  # torch and transformers have no types here
    """Cross entropy of the class and, beside it, of where the evidence is: the mass that a softmax over the tokens'
    scores puts on the evidence, or on the classifying token for an unanswerable question.
    """

    evidence_weight: float = 0.0

    def compute_loss(
        self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        inputs = dict(inputs)
        marks, labels = inputs.pop("evidence"), inputs.pop("labels")
        outputs = model(**inputs, output_hidden_states=bool(self.evidence_weight))
        loss = torch.nn.functional.cross_entropy(outputs.logits.float(), labels)
        if self.evidence_weight:
            head = getattr(model, "module", model).evidence
            scores = head(outputs.hidden_states[-1].to(head.score.weight.dtype)).float()
            scores = scores.masked_fill(inputs["attention_mask"] == 0, -1e9)
            told = marks.any(-1)  # an answerable question may come without evidence
            on = scores[told].masked_fill(~marks[told], -1e9).logsumexp(-1) - scores[told].logsumexp(-1)
            # A sum, so that the head has a gradient in every process even where nothing was told.
            loss = loss - self.evidence_weight * on.sum() / max(1, int(told.sum()))
        return (loss, outputs) if return_outputs else loss


class _TimeLimit(TrainerCallback):  # type: ignore[misc]
    """Ends the training cleanly when its time is up."""

    def __init__(self, minutes: float | None) -> None:
        self._end = None if minutes is None else time.monotonic() + 60 * minutes

    def on_step_end(self, args: TrainingArguments, state: Any, control: Any, **_: Any) -> None:
        if self._end is not None and time.monotonic() >= self._end:
            control.should_training_stop = True


class _Told(TrainerCallback):  # type: ignore[misc]  # torch and transformers have no types here
    """Tells of checkpoints and losses, in the first process alone."""

    def __init__(self, on_save: Callable[[Path], None], on_log: Callable[[str], None]) -> None:
        self._on_save, self._on_log = on_save, on_log

    def on_save(self, args: TrainingArguments, state: Any, control: Any, **_: Any) -> None:
        if state.is_world_process_zero:
            self._on_save(Path(args.output_dir) / f"checkpoint-{state.global_step}")

    def on_log(self, args: TrainingArguments, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        if state.is_world_process_zero and logs and "loss" in logs:
            self._on_log(f"step {state.global_step:,} of {state.max_steps:,}: loss {float(logs['loss']):.3f}")
