"""What a report is about: which run, which of its responses, which candidates of a synthesised dataset."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from udfs.errors import UserError
from udfs.schema import Fate
from udfs.tables import attrition
from udfs.tables.facts import RunFacts, newest_run, run_facts
from udfs.tables.stats import DOCUMENT_COLUMNS, QUESTION_COLUMNS
from udfs.tables.store import Store

SPEC_RECORD: Final = "_made_with.json"
"""Beside a dataset's candidates: which spec its name stands for (written by `jobs.synthesize`)."""
RUN_TABLES: Final = ("responses", "candidates", "proposals")
"""Tables by which a run is known: it asked questions, made them, or wrote them for people to label."""


def which_run(store: Store, wanted: str | None, tables: Sequence[str] = RUN_TABLES) -> str:
    """The run to report: one that has responses, or the dataset of a synthesis or a curation, which is the name that
    its starts have.

    Args:
        wanted: None: the one started last.
        tables: of which of these it must have rows.

    Raises:
        UserError: there are neither responses nor candidates nor proposals, or none of the run that was asked for.
    """
    recorded = sorted({part for table in tables for part in store.parts(table)})
    if not recorded:
        raise UserError(
            f"no responses under {store.root}: evaluate a model first, for example "
            f"`python -m jobs.evaluate 'datasets=[sample]' storage.root={store.root}`"
        )
    if wanted is not None:
        if wanted not in recorded:
            raise UserError(f"run={wanted!r} has no responses under {store.root}; runs: {', '.join(recorded)}")
        return wanted
    runs = store.read("runs", ["run", "started_at"])
    known = set(runs["run"]) & set(recorded)
    found = newest_run(runs, recorded, pl.DataFrame() if known else _created(store))
    if found is None:
        raise UserError(f"the responses table under {store.root} is empty: start jobs.evaluate again")
    return found


def _created(store: Store) -> pl.DataFrame:
    made = [
        store.read(table, ["dataset", "created_at"]).rename({"dataset": "run"}) for table in ("candidates", "proposals")
    ]
    return pl.concat([store.read("responses", ["run", "created_at"]), *made])


def chosen(
    responses: pl.DataFrame, datasets: Sequence[str], models: Sequence[str], methods: Sequence[str] = ()
) -> pl.DataFrame:
    """The responses of the datasets, models and methods that were asked for.

    Raises:
        UserError: the run has none of that name.
    """
    return _chosen(responses, "responses", {"dataset": datasets, "model": models, "method": methods})


def _chosen(rows: pl.DataFrame, what: str, wanted: dict[str, Sequence[str]]) -> pl.DataFrame:
    for column, names in wanted.items():
        have = sorted(set(rows[column]))
        for name in names:
            if name not in have:
                raise UserError(f"{column}s=[{name}]: this run has no {what} of it; it has {', '.join(have)}")
        if names:
            rows = rows.filter(pl.col(column).is_in(list(names)))
    return rows


@dataclass(frozen=True, slots=True)
class Synthesis:
    """How one synthesised dataset came to be, and what is in it.

    Args:
        candidates: of the spec that the dataset's name stands for now, with `attrition.COLUMNS`, checked.
        left_out: candidates of each other spec.
        documents, questions: of the dataset (`stats.DOCUMENT_COLUMNS`; `stats.QUESTION_COLUMNS` and topic); without
            rows where synthesis has not come to write them.
        facts: totals of its starts.
    """

    dataset: str
    candidates: pl.DataFrame
    left_out: dict[str, int]
    documents: pl.DataFrame
    questions: pl.DataFrame
    facts: RunFacts

    @property
    def models(self) -> list[str]:
        """The models that made the candidates; one, for a model is part of a spec."""
        return sorted(set(self.candidates["model"]))

    @property
    def accepted(self) -> int:
        return self.candidates.filter(pl.col("fate") == Fate.ACCEPTED).height


def synthesis_of(
    store: Store, dataset: str, datasets: Sequence[str] = (), models: Sequence[str] = ()
) -> Synthesis | None:
    """What there is of the synthesis of `dataset`; None where it was not synthesised.

    Args:
        datasets, models: only these, [] for all.

    Raises:
        UserError: there are candidates, but none of a dataset or model of that name.
    """
    every = store.read("candidates", ["dataset", *attrition.COLUMNS], part=dataset)
    if not every.height:
        return None
    every = _chosen(every, "candidates", {"dataset": datasets, "model": models})
    spec = _current_spec(store, dataset, every)
    others = every.filter(pl.col("spec") != spec).group_by("spec").len().sort("spec")
    runs = store.read("runs", part=dataset).filter(pl.col("job") == "synthesize")
    return Synthesis(
        dataset,
        attrition.checked(every.filter(pl.col("spec") == spec).drop("dataset")),
        dict(others.iter_rows()),
        store.read("documents", DOCUMENT_COLUMNS, part=dataset),
        store.read("questions", [*QUESTION_COLUMNS, "topic"], part=dataset),
        run_facts(runs, models),
    )


def _current_spec(store: Store, dataset: str, candidates: pl.DataFrame) -> str:
    """The spec that the newest start recorded, if there are candidates of it; else that of the newest candidate."""
    record = store.read_bytes("candidates", dataset, SPEC_RECORD)
    spec = None if record is None else json.loads(record).get("spec")
    found = candidates.sort(pl.col("spec") == pl.lit(spec, pl.String), "created_at", "candidate_id")
    return str(found["spec"][-1])


@dataclass(frozen=True, slots=True)
class Reviews:
    """What people said of questions and of judgements: rows of the annotations table, by target.

    Args:
        measures: the measure of each judgement_id that may be among the judgements.
    """

    questions: pl.DataFrame
    judgements: pl.DataFrame
    measures: dict[str, str]


def reviews_of(store: Store, datasets: Sequence[str], judgements: pl.DataFrame | None = None) -> Reviews:
    """The annotations of questions of `datasets` and of `judgements` (rows of the judgements table)."""
    annotations = store.read("annotations")
    asked = store.read("questions", ["question_id", "dataset"]).filter(pl.col("dataset").is_in(list(datasets)))
    measures = {} if judgements is None else dict(judgements.select("judgement_id", "measure").iter_rows())
    questions, verdicts = (annotations.filter(pl.col("target") == name) for name in ("questions", "judgements"))
    return Reviews(
        questions.join(asked, left_on="item_id", right_on="question_id", how="semi"),
        verdicts.filter(pl.col("item_id").is_in(list(measures))),
        measures,
    )


def classifiers_of(store: Store, judgements: pl.DataFrame) -> pl.DataFrame:
    """What is known of the trained classifiers that gave `judgements`: rows of the models table."""
    judges = judgements["judge"].unique()
    names = [judge.removeprefix("classifier:") for judge in judges if judge.startswith("classifier:")]
    return store.read("models").filter(pl.col("model").is_in(names))
