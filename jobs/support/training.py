"""The parts of `jobs.train`: what is checked before anything loads, and its steps as calls."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import polars as pl

from jobs.support.runs import versions
from jobs.support.runtime import Cluster
from jobs.support.training_config import TrainConfig
from jobs.support.training_workers import fit_on_workers
from udfs.errors import UserError
from udfs.identity import content_hash
from udfs.report.files import ReportFolder
from udfs.report.markdown import to_markdown
from udfs.report.page import metrics_page
from udfs.report.training_sections import build_training_report
from udfs.schema import MODELS
from udfs.tables.classification import accuracy_and_auc, reliability, scores
from udfs.tables.store import Store
from udfs.training import answerability
from udfs.training.bases import Base, found_base
from udfs.training.examples import Example, Gathered, gather
from udfs.training.folder import TABLE, ModelFolder
from udfs.training.settings import Fitting
from udfs.training.splits import Parts, split

TARGETS = {"answerability": answerability}
"""What can be trained: a module with RECORD, `task_of`, `fit_model` and `predictions` a target."""


@dataclass
class Predicted:
    """What the trained model says of the held-out questions."""

    frame: pl.DataFrame
    over_length: int


@dataclass
class Training:
    """One checked training: what is learnt from what, where it is recorded."""

    config: TrainConfig
    store: Store
    base: Base
    gathered: Gathered
    parts: Parts
    also: Gathered
    spec: str
    task: answerability.FitTask | None = None
    seconds: float = 0.0
    cpu_seconds: float | None = None

    @property
    def target(self) -> Any:
        return TARGETS[self.config.target]

    @cached_property
    def folder(self) -> ModelFolder:
        return ModelFolder(self.store, self.config.name, self.target.RECORD)

    @property
    def fitting(self) -> Fitting:
        return self.config.fitting(self.base.path)

    @property
    def finished(self) -> bool:
        """Whether this very model was trained before.

        Raises:
            UserError: another one of that name was.
        """
        record = self.folder.record()
        if record is None:
            return False
        if record.get("spec") == self.spec:
            return True
        if self.config.overwrite:
            return False
        raise UserError(
            f"a model {self.config.name!r} lies at {self.folder.address} already, trained with other settings or on "
            "other questions: give another name=, or overwrite=true to replace it"
        )

    def fit(self, cluster: Cluster) -> None:
        """Fine-tune here, or on workers of Ray Train."""
        if self.folder.record() is not None:
            self.folder.empty()
        started, computed = time.monotonic(), time.process_time()
        root, config = self.store.root, self.config
        self.task = self.target.task_of(root, config.name, self.spec, self.fitting, self.parts.train)
        kept = f"{self._n_calibration:,} kept back to weigh encoder and words, " if self._n_calibration else ""
        self._say(
            f"training {config.name} on {len(self.task.rows):,} questions, {len(self.parts.test):,} held out, {kept}"
            f"from {config.base}"
        )
        if config.workers == 1:
            self.target.fit_model(self.task, self._say)
            self.cpu_seconds = time.process_time() - computed  # of the workers it is not known
        else:
            fit_on_workers(self.target.__name__, self.task, config.workers, cluster, self._say)
        self.seconds = time.monotonic() - started

    @property
    def _n_calibration(self) -> int:
        stacking = self.task.stacking if self.task else None
        return len(stacking.calibration) if stacking else 0

    def predict(self) -> Predicted:
        """Ask the trained model about the held-out questions."""
        assert self.task is not None
        examples: list[Example] = [*self.parts.test, *self._unseen()]
        self._say(f"measuring on {len(examples):,} questions")
        frame, over_length = self.target.predictions(
            self.folder.address, self.config.name, self.task.input, self.fitting, examples
        )
        return Predicted(frame, over_length)

    def record(self, predicted: Predicted) -> None:
        """Write the metrics and, last, the model's record."""
        config, now = self.config, datetime.now(UTC)
        trained_on = pl.col("dataset").is_in(list(config.datasets))
        parts = [predicted.frame.filter(trained_on), predicted.frame.filter(~trained_on)]
        measured = [scores(part, config.resamples, config.seed) for part in parts if part.height]
        rows = pl.concat([measured[0], *(m.filter(pl.col("dataset") != "all") for m in measured[1:])])
        common = {"model": config.name, "target": config.target, "base": config.base, "spec": self.spec}
        table = rows.with_columns(created_at=pl.lit(now), **{name: pl.lit(value) for name, value in common.items()})
        self.store.write(TABLE, config.name, table.select(MODELS.names).to_arrow(), name="scores")
        self.folder.write_record(self._record(predicted, now) | {"metrics": rows.to_dicts()})

    def summary(self) -> str:
        """The report of this model as Markdown; writes it beside the other reports."""
        record = self.folder.record()
        assert record is not None
        table = self.store.read(TABLE, part=self.config.name)
        made = build_training_report(table, record, datetime.now(UTC))
        folder = ReportFolder(self.store, f"model-{self.config.name}")
        folder.write("report.md", to_markdown(made))
        folder.write("index.html", metrics_page(made, None))
        pages = (
            ("model", self.folder.address),
            ("tables as Markdown", folder.address("report.md")),
            ("page", folder.address("index.html")),
        )
        use = f"judge with it: python -m jobs.evaluate … classifier=trained classifier.name={self.config.name}"
        return f"{to_markdown(made, pages)}\n{use}"

    def _unseen(self) -> list[Example]:
        """The questions of `also_test` whose documents were not trained on."""
        seen = {example.doc_id for example in self.parts.train}
        return [example for example in self.also.examples if example.doc_id not in seen]

    def _record(self, predicted: Predicted, now: datetime) -> dict[str, Any]:
        assert self.task is not None
        config, fitting = self.config, self.fitting
        held = predicted.frame.filter(pl.col("dataset").is_in(list(config.datasets)))
        return {
            "format": 1,
            "target": config.target,
            "name": config.name,
            "spec": self.spec,
            "base": config.base,
            "base_revision": self.base.revision,
            "datasets": list(config.datasets),
            "input": self.task.input,
            "window": fitting.window,
            "stride": fitting.stride,
            "seed": fitting.seed,
            "settings": fitting.identity(),
            "workers": config.workers,
            "documents": self.parts.documents(),
            "questions": {"train": len(self.parts.train), "test": len(self.parts.test)},
            "parted": dict(self.parts.how),
            "left_out": self._left_out(predicted.over_length),
            "licences": {"base": self.base.licence, "datasets": self.gathered.licences},
            "reliability": reliability(held).to_dicts(),
            "lexical_head": fitting.lexical_head,
            "head_questions": self._n_calibration,
            "encoder_alone": accuracy_and_auc(held, "encoder"),
            **(self.folder.read(self.target.STEPS) or {}),
            "seconds": round(self.seconds, 1),
            "cpu_seconds": None if self.cpu_seconds is None else round(self.cpu_seconds, 1),
            "trained_at": now.isoformat(timespec="seconds"),
            "versions": versions(),
        }

    def _left_out(self, over_length: int) -> dict[str, int]:
        """What was not learnt from or not measured on, by reason."""
        assert self.task is not None
        reasons: dict[str, int] = {}
        for counted in self.gathered.left_out.values():
            for reason, count in counted.items():
                reasons[reason] = reasons.get(reason, 0) + count
        reasons["its document is held out in another dataset"] = sum(self.parts.overlapping.values())
        reasons["its split is neither train nor test"] = sum(self.parts.unused.values())
        reasons["over_length, not learnt from"] = self.task.over_length
        reasons["its words are unknown to the tokenizer, not learnt from"] = self.task.unreadable
        reasons["over_length, not measured"] = over_length
        return {reason: count for reason, count in reasons.items() if count}

    def _say(self, line: str) -> None:
        print(line, flush=True)


def prepare(config: TrainConfig) -> Training:
    """Find the base, read the questions, part them by document. Trains nothing.

    Raises:
        UserError: what is missing or not allowed, and what to do.
    """
    store = Store(config.storage.root)
    base = found_base(config.base)
    gathered = gather(store, config.datasets)
    parts = split(gathered.examples, config.test_share, config.seed)
    also = gather(store, config.also_test)
    spec = content_hash(
        "training",
        config.target,
        base.revision,
        config.fitting(base.path).identity(),
        [_identity(example) for part in (parts.train, parts.test, also.examples) for example in part],
    )
    return Training(config, store, base, gathered, parts, also, spec)


def _identity(example: Example) -> list[Any]:
    text = content_hash(example.text)
    return [example.question_id, text, example.question, example.answerable, [list(span) for span in example.evidence]]
