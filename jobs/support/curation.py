"""The parts of `jobs.curate` that ask models: what is checked before one loads, what is owed, the stages."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from jobs.config import load_model
from jobs.support.curation_config import CurateConfig
from jobs.support.fragments import in_order
from jobs.support.recording import Recording
from jobs.support.runs import RunLedger
from jobs.support.runtime import ActorStage, Cluster
from jobs.support.sink import Totals
from udfs.agents.curation import Curating, CurationSpec, checker_hash, generator_hash, proposal_id
from udfs.bundles import Item, locate_documents, plan_slots
from udfs.engines.config import ModelConfig, VllmModel, model_config
from udfs.engines.factory import check_ready, check_room, describe
from udfs.errors import UserError
from udfs.schema import PERMANENT, ProposalFate
from udfs.sources.writer import read_marker
from udfs.stages.curate import CurateStage
from udfs.stages.engine_stage import EnginePlacement
from udfs.tables.curation import fates
from udfs.tables.store import Store

JOB = "curate"
Slots = dict[str, list[Item]]


@dataclass(frozen=True)
class Role:
    """A model at work: its config as given, and whether it writes questions, checks them, or does both."""

    given: dict[str, Any]
    model: ModelConfig
    name: str
    writes: bool
    checks: bool


@dataclass(frozen=True)
class Curation:
    """One checked curation: who asks and answers what, what it is called, where it is recorded."""

    config: CurateConfig
    store: Store
    spec: CurationSpec
    curating: Curating
    roles: tuple[Role, ...]
    start_id: str = field(default_factory=lambda: uuid.uuid4().hex)

    def check(self, documents: pl.DataFrame) -> bool:
        """Whether anything is owed; if so, whether its models are ready: before Ray starts and anything loads.

        Raises:
            UserError: the name is another dataset's or was curated otherwise, or a model is not ready.
        """
        name, root = self.config.name, self.store.root
        marker = read_marker(self.store, name)
        if (marker is None and self.store.files("documents", name)) or (marker and marker.get("job") != JOB):
            raise UserError(f"dataset {name!r} under {root} was not curated: give another name=")
        specs = set(self.store.read("proposals", ["spec"], part=name)["spec"])
        if specs - {self.curating.spec}:
            raise UserError(
                f"{name!r} under {root} has questions that were written by another model or with other settings "
                "(model, generator_temperature, questions_per_call, excerpt_words, seed): give another name=, or "
                f"remove {self.store.address('proposals', name)} and {self.store.address('checks', name)}"
            )
        owing = [role for role in self.roles if self._slots(documents, True, role.checks)]
        for role in owing:
            asyncio.run(check_ready(role.model))
            check_room(role.model, self.config.cluster.tensor_parallel_size)
        return bool(owing)

    def ask(self, documents: pl.DataFrame, cluster: Cluster) -> list[tuple[str, Totals]]:
        """What each model is owed, one stage a model; gives who was asked and what it cost."""
        return [(role.name, self._stage(role, documents, cluster)) for role in self.roles]

    def _stage(self, role: Role, documents: pl.DataFrame, cluster: Cluster) -> Totals:
        config = self.config
        slots = self._slots(documents, role.writes, role.checks)
        places = locate_documents(self.store, config.datasets) if slots else {}
        wanted = [document for document in documents.to_dicts() if document["doc_id"] in slots]
        plan = plan_slots(places, in_order(wanted, places, interleave=False), slots)
        items = [item for of_document in slots.values() for item in of_document]
        new, samples = sum(item["question"] is None for item in items), sum(len(item["samples"]) for item in items)
        table, owed = ("proposals", new) if new or not role.checks else ("checks", samples)
        done = self._recorded(table).height
        gpus = config.cluster.actor_gpus * config.cluster.tensor_parallel_size * isinstance(role.model, VllmModel)
        ledger = RunLedger(
            self.store, self.start_id, JOB, config.name, role.name, config, table, done + owed, done, None,
            gpus * min(config.cluster.actors, len(plan)), config.cluster.gpu_price,
        )  # fmt: skip
        if not plan:
            ledger.close("ok", Totals())
            return Totals()
        arguments = {
            "model": role.given,
            "placement": EnginePlacement(config.cluster.tensor_parallel_size, config.kv_share),
            "spec": self.spec,
            "curating": self.curating,
        }
        recording = Recording(
            self.store, config.name, f"{JOB} {role.name}", table, sum(block.num_rows for block in plan), owed,
            config.flush_rows, config.flush_seconds,
        )  # fmt: skip
        results = cluster.stream_actors(plan, ActorStage(CurateStage, arguments, gpus))
        return recording.take(results, ledger, cluster.in_flight)

    def _recorded(self, table: str) -> pl.DataFrame:
        """The decided rows of this way of writing or checking."""
        spec = self.curating.spec if table == "proposals" else self.curating.check_spec
        columns = {"proposals": ["proposal_id", "question", "fate"], "checks": ["proposal_id", "sample"]}[table]
        rows = self.store.read(table, [*columns, "spec", "status"], part=self.config.name)
        return rows.filter((pl.col("spec") == spec) & pl.col("status").is_in([str(status) for status in PERMANENT]))

    def _slots(self, documents: pl.DataFrame, writes: bool, checks: bool) -> Slots:
        """The slots of every document of which something is owed: questions to write, samples to take, and with them
        the questions that are known. All by ids, before any text is read.
        """
        proposals = self._recorded("proposals").select("proposal_id", "fate", "question")
        known = {name: (fate, question) for name, fate, question in proposals.iter_rows()}
        asked: dict[str, set[int]] = {}
        for name, sample in self._recorded("checks").select("proposal_id", "sample").iter_rows():
            asked.setdefault(name, set()).add(sample)
        samples = range(self.config.samples) if checks else range(0)
        found: Slots = {}
        for doc_id in documents["doc_id"]:
            items: list[Item] = []
            for number, name in enumerate(self._ids(doc_id)):
                fate, question = known.get(name, (None, None))
                if fate == ProposalFate.PROPOSED or (fate is None and writes):
                    owed = [sample for sample in samples if sample not in asked.get(name, ())]
                    items.append({"number": number, "question": question, "samples": owed})
            if any(item["question"] is None or item["samples"] for item in items):
                found[doc_id] = items
        return found

    def _ids(self, doc_id: str) -> list[str]:
        numbers = range(self.config.questions_per_document)
        return [proposal_id(self.config.name, self.curating.spec, doc_id, number) for number in numbers]

    def fates(self, documents: pl.DataFrame) -> pl.DataFrame:
        """What became of every question of these documents (`udfs.tables.curation.fates`)."""
        name, scope = self.config.name, [pid for doc_id in documents["doc_id"] for pid in self._ids(doc_id)]
        proposals = self.store.read("proposals", part=name).filter(pl.col("proposal_id").is_in(scope))
        checks = self.store.read("checks", part=name).filter(pl.col("spec") == self.curating.check_spec)
        return fates(proposals, checks, self.config.samples)


def prepare(config: CurateConfig) -> Curation:
    """Compose who writes and who checks, and their identities. Loads nothing."""
    generator, name, revision = _described(config.model)
    given = dict(config.model) if config.checker == "same" else load_model(config.checker)
    given |= config.checker_overrides or {}
    checker, checker_name, checker_revision = _described(given)
    spec = CurationSpec(
        generator=replace(generator.sampling, temperature=config.generator_temperature, seed=None),
        checker=replace(checker.sampling, temperature=config.temperature, seed=None),
        questions_per_call=config.questions_per_call,
        excerpt_words=config.excerpt_words,
        seed=config.seed,
    )
    curating = Curating(
        config.name, generator_hash(spec, name, revision), name, revision,
        checker_hash(spec, checker_name, checker_revision), checker_name, checker_revision,
    )  # fmt: skip
    if given == dict(config.model):
        roles: tuple[Role, ...] = (Role(given, generator, name, writes=True, checks=True),)
    else:
        writer = Role(dict(config.model), generator, name, writes=True, checks=False)
        roles = (writer, Role(given, checker, checker_name, writes=False, checks=True))
    return Curation(config, Store(config.storage.root), spec, curating, roles)


def _described(given: Mapping[str, Any]) -> tuple[ModelConfig, str, str]:
    model = model_config(dict(given))
    return model, *describe(model)
