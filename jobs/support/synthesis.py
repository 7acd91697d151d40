"""The parts of `jobs.synthesize`: what is checked before a model loads, its stage and its publication as calls."""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import polars as pl
import pyarrow as pa

from jobs.support.budget import over, spent_before
from jobs.support.fragments import OwedFragments, in_order
from jobs.support.gate import Accepted, Outcome, RayGate, TargetCount
from jobs.support.made_with import MadeWith, check_name, made_with, write_record
from jobs.support.publishing import Published, publish
from jobs.support.recording import Recording
from jobs.support.runs import RunLedger
from jobs.support.runtime import ActorStage, Cluster
from jobs.support.sink import Totals
from jobs.support.synthesis_config import SynthesizeConfig
from udfs.agents.program import Making, template_hashes
from udfs.agents.spec import SynthesisSpec, spec_hash
from udfs.agents.web import HttpSearcher
from udfs.bundles import locate_documents, plan_fragments
from udfs.engines.config import ModelConfig, VllmModel, model_config
from udfs.engines.factory import check_ready, check_room, describe
from udfs.errors import UserError, warn
from udfs.schema import Fate
from udfs.stages.engine_stage import EnginePlacement
from udfs.stages.synthesize import SynthesizeStage
from udfs.tables.store import Store

JOB = "synthesize"
MIN_TOKENS_PER_WORD = 0.5
"""Fewer than any tokenizer takes: what does not fit by this estimate never fits."""


@dataclass(frozen=True)
class Made:
    """What a start did."""

    totals: Totals = field(default_factory=Totals)
    outcome: Outcome = field(default_factory=Outcome)


@dataclass(frozen=True)
class Synthesis:
    """One checked synthesis: what is asked of whom, what it is called, where it is recorded."""

    config: SynthesizeConfig
    store: Store
    model: ModelConfig
    name: str  # of the model, in tables
    revision: str
    spec: SynthesisSpec
    made_with: MadeWith
    start_id: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def gpus(self) -> float:
        """GPUs that one actor takes: only vLLM in process needs any."""
        cluster = self.config.cluster
        return cluster.actor_gpus * cluster.tensor_parallel_size if isinstance(self.model, VllmModel) else 0.0

    def check(self, owed: OwedFragments) -> None:
        """Hold the settings against the model, its window and the storage: before Ray starts and anything loads. Then
        record them: from here on the dataset's name stands for them.

        Raises:
            UserError: what is missing or cannot work, and what to do.
        """
        check_name(self.store, self.config.name, self.made_with, self.config.overwrite)
        budget = self.config.budget
        if self.gpus == 0 and (budget.max_gpu_hours is not None or budget.max_usd is not None):
            key = "max_gpu_hours" if budget.max_gpu_hours is not None else "max_usd"
            raise UserError(f"budget.{key} never ends a run whose engines take no GPU here; give budget.max_tokens")
        if owed.fragments:
            asyncio.run(check_ready(self.model))
            check_room(self.model, self.config.cluster.tensor_parallel_size)
            self._check_window(owed)
        write_record(self.store, self.config.name, self.made_with)

    def _check_window(self, owed: OwedFragments) -> None:
        window = _window(self.model)
        if window is None:
            return
        spec, reply = self.spec, self.spec.sampling.max_tokens
        if spec.fragment_min_words * MIN_TOKENS_PER_WORD + reply >= window:
            raise UserError(
                f"model.window={window} holds no fragment of synthesis.fragment_min_words={spec.fragment_min_words} "
                f"and a reply of model.sampling.max_tokens={reply}: lower these, or enlarge the window"
            )
        too_long = sum(document["n_tokens"] + reply > window for document in owed.documents)
        if spec.full_view and too_long:
            warn(
                f"{too_long:,} of {len(owed.documents):,} documents are longer than the model's window of {window:,} "
                "tokens: what comes to their full view ends as over_length (synthesis.full_view=false leaves it out)"
            )

    def make(self, owed: OwedFragments, cluster: Cluster) -> Made:
        """The agents' stage over the owed fragments that a target still wants, until the gate closes."""
        config, counted = self.config, TargetCount(self.config.targets, self._accepted())
        plan = self._plan(owed, counted)
        gpus = self.gpus * min(config.cluster.actors, len(plan))
        price = config.cluster.gpu_price
        ledger = RunLedger(
            self.store, self.start_id, JOB, config.name, self.name, config, "candidates", owed.expected, owed.recorded,
            None, gpus, price,
        )  # fmt: skip
        if not plan:
            ledger.close("ok", Totals())
            return Made()
        before = spent_before(self.store, config.name, [JOB])
        cap = over(config.budget, before)
        if cap is not None:  # no engine is loaded to be told so
            reason = f"{cap} is spent"
            ledger.close("stopped", Totals(), reason)
            return Made(Totals(), Outcome(reason, Counter({reason: sum(block.num_rows for block in plan)})))
        cluster.start()
        gate = RayGate(counted, config.budget, gpus, price, before)
        arguments = {
            "model": config.model,
            "placement": EnginePlacement(config.cluster.tensor_parallel_size, config.kv_share),
            "spec": self.spec,
            "making": Making(config.name, self.made_with.spec, self.name, self.revision),
            "gate": gate,
        }
        results = cluster.stream_actors(plan, ActorStage(SynthesizeStage, arguments, self.gpus))
        return self._record(plan, results, ledger, cluster, gate)

    def _record(
        self, plan: list[pa.Table], results: Iterable[pa.Table], ledger: RunLedger, cluster: Cluster, gate: RayGate
    ) -> Made:
        config = self.config
        bundles = sum(block.num_rows for block in plan)
        rows = sum(len(items) for block in plan for items in block["items"].to_pylist()) * len(self.spec.kinds)
        recording = Recording(
            self.store, config.name, f"{JOB} {self.name}", "candidates", bundles, rows, config.flush_rows,
            config.flush_seconds,
        )  # fmt: skip

        def end() -> tuple[str, str | None]:
            budget = gate.read().budget
            return ("ok", None) if budget is None else ("stopped", budget)

        totals = recording.take(results, ledger, cluster.in_flight, end)
        return Made(totals, gate.read())

    def _plan(self, owed: OwedFragments, counted: TargetCount) -> list[pa.Table]:
        wanted = [
            document
            for document in owed.documents
            if document["doc_id"] in owed.fragments and counted.wants(document["language"], document["length_bucket"])
        ]
        places = locate_documents(self.store, self.config.datasets) if wanted else {}
        ordered = in_order(wanted, places, interleave=bool(self.config.targets))
        return plan_fragments(places, ordered, owed.fragments, owed.kinds, self.config.max_candidates)

    def candidates(self) -> pl.DataFrame:
        """What became of every candidate of these settings, whichever start made it."""
        columns = ["candidate_id", "kind", "language", "length_bucket", "step", "fate", "spec"]
        recorded = self.store.read("candidates", columns, part=self.config.name)
        return recorded.filter(pl.col("spec") == self.made_with.spec).drop("spec")

    def _accepted(self) -> list[Accepted]:
        if not self.config.targets:
            return []
        accepted = self.candidates().filter(pl.col("fate") == Fate.ACCEPTED)
        return [Accepted(*row) for row in accepted.select(Accepted._fields).iter_rows()]

    def publish(self) -> Published:
        """All accepted candidates of these settings as a dataset."""
        config = self.config
        return publish(
            self.store, config.name, self.made_with, config.splits.ratios, config.synthesis.seed, config.overwrite
        )

    def targets(self) -> TargetCount:
        """How far the targets are, by what is recorded."""
        return TargetCount(self.config.targets, self._accepted())


def prepare(config: SynthesizeConfig) -> Synthesis:
    """Check names, compose the settings and their identity. Loads nothing."""
    model = model_config(dict(config.model))
    name, revision = describe(model)
    spec = config.synthesis.spec(model.sampling, config.web)
    if config.web is not None:
        HttpSearcher(config.web)  # raises where its settings cannot work or its key is not set
    prompts = template_hashes()
    made = made_with(spec_hash(spec, name, revision, prompts), spec, name, revision, prompts)
    return Synthesis(config, Store(config.storage.root), model, name, revision, spec, made)


def _window(model: ModelConfig) -> int | None:
    if isinstance(model, VllmModel) and model.window is None:
        from udfs.engines.weights import resolve

        return resolve(model).window
    return model.window
