"""The parts of `jobs.evaluate`: what is checked before a model loads, and its stages as calls."""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from jobs.config import EvaluateConfig, load_model
from jobs.support.budget import BudgetKeeper
from jobs.support.owed import Owed
from jobs.support.recording import Recording
from jobs.support.runs import RunLedger
from jobs.support.runtime import ActorStage, Cluster
from jobs.support.sink import Totals
from udfs.bundles import locate_documents, plan_blocks
from udfs.dialogues.dialogue import DialogueSpec
from udfs.engines.classifier_config import ClassifierConfig, VllmClassifier, classifier_config
from udfs.engines.classifier_factory import check_classifier_ready, describe_classifier
from udfs.engines.config import ModelConfig, VllmModel, model_config
from udfs.engines.embedding_config import EmbeddingConfig, VllmEmbedding, embedding_config
from udfs.engines.embedding_factory import check_embedding_ready, describe_embedding
from udfs.engines.factory import check_ready, check_room, describe
from udfs.judges.base import Judge
from udfs.judges.classifier import ClassifierJudge
from udfs.judges.cosine import CosineJudge
from udfs.judges.joint import JointJudge
from udfs.judges.llm import LlmJudge
from udfs.judges.llm_reformulation import LlmReformulationJudge
from udfs.judges.minimum_span import MinimumSpanJudge
from udfs.judges.reformulation import ReformulationJudge
from udfs.judges.rules import RulesJudge
from udfs.stages.classify import ClassifyStage
from udfs.stages.embed import CosineStage
from udfs.stages.engine_stage import EnginePlacement
from udfs.stages.evaluate import EvaluateStage
from udfs.stages.judge import JudgeStage, ReformulationStage, RulesStage
from udfs.tables.store import Store

RunJudge = RulesJudge | ReformulationJudge | JointJudge | CosineJudge | ClassifierJudge


@dataclass
class Evaluation:
    """One checked run: what is asked of whom, how it is judged, where it is recorded."""

    config: EvaluateConfig
    store: Store
    run: str
    model: ModelConfig
    name: str  # of the model, in tables
    revision: str
    specs: Mapping[str, DialogueSpec]
    judge_model: Mapping[str, Any] | None  # None: no model judges, or the evaluated one does
    llm_judge: JointJudge | None
    embedding: EmbeddingConfig | None
    cosine_judge: CosineJudge | None  # None, as `embedding`: nothing measures the cosine
    classifier: ClassifierConfig | None
    classifier_judge: ClassifierJudge | None  # None, as `classifier`: none judges answerability
    start_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    budget: BudgetKeeper = field(init=False)

    def __post_init__(self) -> None:
        self.budget = BudgetKeeper(
            self.config.budget, self.store, self.run, self.start_id, self.config.cluster.gpu_price
        )

    @property
    def judges(self) -> list[RunJudge]:
        """The rules always judge, since they cost no call; models beside them where they are asked for."""
        found: list[RunJudge] = [RulesJudge(), ReformulationJudge()]
        if self.llm_judge is not None:
            found.append(self.llm_judge)
        if self.cosine_judge is not None:
            found.append(self.cosine_judge)
        if self.classifier_judge is not None:
            found.append(self.classifier_judge)
        return found

    @property
    def placement(self) -> EnginePlacement:
        """What engine actors know of the cluster."""
        return EnginePlacement(self.config.cluster.tensor_parallel_size, self.config.kv_share)

    def check(self, owed: Owed) -> None:
        """Find the weights, ask the endpoint, compare window and KV cache: before Ray starts and anything loads.

        Raises:
            UserError: what is missing, and what to do.
        """
        if owed.rows:
            self._check_model(self.model)
            if self.judge_model is not None:
                self._check_model(model_config(dict(self.judge_model)))
            if self.embedding is not None:
                asyncio.run(check_embedding_ready(self.embedding))
            if self.classifier is not None:
                check_classifier_ready(self.classifier)

    def _check_model(self, model: ModelConfig) -> None:
        asyncio.run(check_ready(model))
        check_room(model, self.config.cluster.tensor_parallel_size)

    def ask(self, owed: Owed, cluster: Cluster) -> Totals:
        """The dialogue stage; with `judge.model=same` each response is judged while its document is warm."""
        arguments = {
            "model": self.config.model,
            "placement": self.placement,
            "specs": dict(self.specs),
            "run": self.run,
            "judge": self.llm_judge if self.judge_model is None else None,
        }
        plan = self.plan_of(owed)
        gpus = self.gpus(self.model)
        if owed.rows and self.budget.capped:
            cluster.start()
            arguments["gate"] = self.budget.gate("evaluate", self._held(gpus, plan))
        results = cluster.stream_actors(plan, ActorStage(EvaluateStage, arguments, gpus))
        return self._record("evaluate", self.name, "responses", owed, plan, results, cluster, gpus)

    def judge(self, judge: RunJudge, owed: Owed, cluster: Cluster) -> Totals:
        """A judging stage: the rules as plain tasks; a model on actors of its own, the evaluated one released."""
        if not owed.rows:
            return Totals()
        gpus = 0.0
        self.budget.leave()
        if not isinstance(judge, RulesJudge | ReformulationJudge) and self.budget.skips():
            return self._record("judge", judge.name, "judgements", owed, [], (), cluster, gpus)
        if isinstance(judge, RulesJudge):
            plan = self.plan_of(owed, reads_text=False)
            results = cluster.stream_tasks(plan, RulesStage(judge))
        elif isinstance(judge, ReformulationJudge):
            plan = self.plan_of(owed)
            results = cluster.stream_tasks(plan, ReformulationStage(judge), reads_text=True)
        elif isinstance(judge, CosineJudge):
            assert self.embedding is not None
            asyncio.run(check_embedding_ready(self.embedding))
            plan = self.plan_of(owed, reads_text=False)
            gpus = self.gpus(self.embedding)
            stage = ActorStage(CosineStage, {"embedding": self.config.embedding, "judge": judge}, gpus)
            results = cluster.stream_actors(plan, stage, reads_text=False)
        elif isinstance(judge, ClassifierJudge):
            assert self.classifier is not None
            check_classifier_ready(self.classifier)
            plan = self.plan_of(owed)
            gpus = self.gpus(self.classifier)
            stage = ActorStage(ClassifyStage, {"classifier": self.config.classifier, "judge": judge}, gpus)
            results = cluster.stream_actors(plan, stage)
        else:
            given = dict(self.judge_model or self.config.model)
            model = model_config(given)
            plan = self.plan_of(owed)
            self._check_model(model)
            gpus = self.gpus(model)
            arguments = {"model": given, "placement": self.placement, "judge": judge}
            if self.budget.capped:
                arguments["gate"] = self.budget.gate(f"judge {judge.name}", self._held(gpus, plan))
            results = cluster.stream_actors(plan, ActorStage(JudgeStage, arguments, gpus))
        return self._record("judge", judge.name, "judgements", owed, plan, results, cluster, gpus)

    def plan_of(self, owed: Owed, reads_text: bool = True) -> list[pa.Table]:
        """The owed work as blocks of bundles."""
        places = locate_documents(self.store, self.config.datasets)
        return plan_blocks(places, owed.items, self.config.max_dialogues, reads_text)

    def _held(self, gpus: float, plan: list[pa.Table]) -> float:
        """GPUs that a stage's actors hold together."""
        return gpus * min(self.config.cluster.actors, len(plan))

    def gpus(self, model: ModelConfig | EmbeddingConfig | ClassifierConfig) -> float:
        """GPUs that one actor takes: only vLLM in process needs any; an embedding model or a classifier lies on one."""
        cluster = self.config.cluster
        if isinstance(model, VllmEmbedding | VllmClassifier):
            return cluster.actor_gpus
        return cluster.actor_gpus * cluster.tensor_parallel_size if isinstance(model, VllmModel) else 0.0

    def _record(
        self,
        job: str,
        model: str,
        table: str,
        owed: Owed,
        plan: list[pa.Table],
        results: Iterable[pa.Table],
        cluster: Cluster,
        gpus: float,
    ) -> Totals:
        """Stream results into their tables with progress, and leave a row in `runs` however it ends."""
        settings = self.config.cluster
        ledger = RunLedger(
            self.store,
            self.start_id,
            job,
            self.run,
            model,
            self.config,
            table,
            owed.expected,
            owed.recorded,
            owed.cells if job == "evaluate" else None,
            self._held(gpus, plan),
            settings.gpu_price,
        )
        if not owed.rows:
            ledger.close("ok", Totals())  # so that an earlier start that was killed is not the newest word
            return Totals()
        recording = Recording(
            self.store,
            self.run,
            f"{job} {model}",
            table,
            sum(block.num_rows for block in plan),
            owed.rows,
            self.config.flush_rows,
            self.config.flush_seconds,
        )
        totals = recording.take(results, ledger, cluster.in_flight, self.budget.end)
        self.budget.spend(ledger.spent(totals))
        return totals

    def summary(self, asked: Totals, judged: Sequence[Totals], owed: Owed) -> str:
        """What a person wants to know at the end: rows, tokens, the next command, and what was stopped or failed."""
        not_asked = asked.statuses["responses"]["budget_stopped"]
        recorded = asked.rows("responses") - not_asked
        rows = f"{recorded:,} responses recorded now, {owed.recorded:,} before, {owed.expected:,} expected"
        lines = [f"run {self.run}: {rows}"]
        if asked.prompt_tokens:
            tokens = (
                f"prompt tokens {asked.prompt_tokens:,}, computed {asked.computed_tokens:,} "
                f"({asked.cached_tokens / asked.prompt_tokens:.0%} from cache)"
            )
            if asked.computed_over_bound is not None:
                tokens += f"; computed ÷ bound {asked.computed_over_bound:.3f}"
            lines.append(tokens)
        lines.append(f"report: python -m jobs.report storage.root={self.store.root} run={self.run}")
        lines += self.budget.told(not_asked)
        lines += _warnings(asked, judged)
        return "\n".join(lines)


def _warnings(asked: Totals, judged: Sequence[Totals]) -> Iterator[str]:
    """A line for each table in which rows of this start failed; what a budget stopped is said apart."""
    for table, parts in (("responses", [asked]), ("judgements", [asked, *judged])):
        counts = Counter[str]()
        for part in parts:
            counts.update(part.statuses[table])
        failed = {status: n for status, n in sorted(counts.items()) if status not in ("ok", "budget_stopped")}
        if failed:
            named = ", ".join(f"{n:,} {status}" for status, n in failed.items())
            again = "; the same command asks again for those of the provider" if "provider_error" in failed else ""
            yield f"warning: {sum(failed.values()):,} of {counts.total():,} {table} failed: {named}{again}"


def prepare(config: EvaluateConfig) -> Evaluation:
    """Check names, compose the dialogues and the judge. Loads nothing."""
    model = model_config(dict(config.model))
    name, revision = describe(model)
    specs = {
        method: DialogueSpec(method=method, layout=config.layout, detector=config.detector, sampling=model.sampling)
        for method in config.methods
    }
    judge_model, llm_judge = _llm_judge(config)
    embedding = embedding_config(config.embedding)
    classifier = classifier_config(config.classifier)
    run = config.run if config.resume else f"{config.run}-{datetime.now(UTC):%Y%m%dT%H%M%S}"
    return Evaluation(
        config,
        Store(config.storage.root),
        run,
        model,
        name,
        revision,
        specs,
        judge_model,
        llm_judge,
        embedding,
        None if embedding is None else CosineJudge(*describe_embedding(embedding)),
        classifier,
        None if classifier is None else ClassifierJudge(*describe_classifier(classifier)),
    )


def _llm_judge(config: EvaluateConfig) -> tuple[dict[str, Any] | None, JointJudge | None]:
    """The judging model's config (None when the evaluated model judges) and its judges (None for the rules alone)."""
    if config.judge.kind == "rules":
        return None, None
    same = config.judge.model == "same"
    given = dict(config.model) if same else load_model(str(config.judge.model))
    given |= config.judge.overrides or {}
    model = model_config(given)
    name, revision = describe(model)
    sampling = model.sampling
    judges: list[Judge] = [LlmJudge(name, sampling=sampling, context=config.judge.context, revision=revision)]
    if config.judge.reformulations:
        judges.append(LlmReformulationJudge(name, sampling=sampling, revision=revision))
    if config.judge.spans:
        judges.append(MinimumSpanJudge(name, sampling=sampling, revision=revision))
    return (None if given == dict(config.model) else given), JointJudge(tuple(judges))
