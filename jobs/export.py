"""Export datasets: the benchmark as files that Hugging Face loads, SFT records and DPO pairs, a card.

python -m jobs.export 'datasets=[synthetic]' storage.root=runs/x

questions, documents ──▶ plan (splits, references) ──▶ one pass over the texts ──▶ files ──▶ card
responses, judgements ──▶ wrong answers ──▶ pairs ──┘
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import polars as pl
from rich.console import Console
from rich.table import Table
from rich.text import Text

from jobs.cli import job
from jobs.config import StorageConfig, require
from jobs.support.runs import versions
from jobs.support.storage import refuse_temporary
from udfs.errors import UserError
from udfs.exports.card import Card, render
from udfs.exports.facts import CANDIDATE_COLUMNS, Origin, origin, question_frame
from udfs.exports.files import RowFiles, file_name
from udfs.exports.folder import ExportFolder, WrittenFile
from udfs.exports.notices import benchmark_notices, training_notices
from udfs.exports.pairs import JUDGEMENT_COLUMNS, RESPONSE_COLUMNS, Pairs, choose
from udfs.exports.plan import HELD_OUT, Plan, load, make_plan, references
from udfs.exports.rows import LeftOut
from udfs.exports.schemas import FOLDERS
from udfs.exports.stream import Training, write_rows
from udfs.sources.writer import read_marker
from udfs.tables.store import Store


@dataclass(frozen=True)
class ExportConfig:
    """`jobs.export`: which datasets, what of them, where to."""

    datasets: tuple[str, ...]
    name: str | None
    path: str | None
    overwrite: bool
    formats: tuple[Literal["parquet", "jsonl"], ...]
    parts: tuple[Literal["benchmark", "sft", "dpo"], ...]
    split: str
    run: str | None
    models: tuple[str, ...]
    judge_name: str
    max_pairs_per_question: int
    complete_only: bool
    storage: StorageConfig

    def __post_init__(self) -> None:
        require(len(self.datasets) > 0, "datasets", list(self.datasets), "name at least one dataset with questions")
        require(len(self.formats) > 0, "formats", list(self.formats), "parquet, jsonl or both")
        require(len(self.parts) > 0, "parts", list(self.parts), "one or more of benchmark, sft, dpo")
        allowed = f"training records are never made of {', '.join(HELD_OUT)}"
        require(self.split.strip().casefold() not in HELD_OUT, "split", self.split, allowed)
        require(self.max_pairs_per_question >= 1, "max_pairs_per_question", self.max_pairs_per_question, "at least 1")
        require(self.path is None or bool(self.path.strip()), "path", self.path, "a folder or an address")
        safe = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", self.title) is not None
        require(safe, "name", self.title, "letters, digits, '-', '_' and '.', with a letter or digit first")

    @property
    def names(self) -> tuple[str, ...]:
        """The datasets, each once."""
        return tuple(dict.fromkeys(self.datasets))

    @property
    def title(self) -> str:
        return self.name or "-".join(self.names)

    def address(self, store: Store) -> str:
        if self.path:
            refuse_temporary(self.path, "path")
        return self.path or store.address("exports", self.title)


@dataclass(frozen=True)
class Exported:
    """What an export wrote, and what whoever started it has to know."""

    address: str
    local: bool
    files: tuple[WrittenFile, ...]
    left_out: Mapping[LeftOut, int]
    pairs: Pairs | None
    warnings: tuple[str, ...]


def export(config: ExportConfig) -> Exported:
    """Write the export.

    Raises:
        UserError: a dataset cannot be exported, the folder is somebody else's, or there is nothing to write.
    """
    store = Store(config.storage.root)
    plan = make_plan(*load(store, config.names), config.names)
    folder = ExportFolder(config.address(store), config.overwrite)
    folder.require_outside_tables(store)

    good, without = references(plan.of_split(config.split))
    sft, left_out = (good, without) if "sft" in config.parts else ({}, {})
    pairs = recorded_pairs(store, config, plan, good) if "dpo" in config.parts else None
    rejected = {} if pairs is None else pairs.by_question
    benchmark = "benchmark" in config.parts
    doubts, lacks = benchmark_notices(plan), lacking(config, plan, len(good), pairs)
    if not (benchmark or sft or rejected):
        raise UserError("; ".join(["nothing to export", *lacks]))

    made, said = origins(store, config, plan), annotated(store, plan)
    folder.begin(planned_files(config, plan, bool(sft), bool(rejected)))
    with RowFiles(folder, config.formats) as files:
        write_rows(store, plan, benchmark, Training(sft, good, rejected), files)
    written = files.written()
    card = Card(
        name=config.title,
        folder=folder.name,
        plan=plan,
        questions=question_frame(plan),
        files=written,
        parts=config.parts,
        split=config.split,
        sft_left_out=left_out,
        pairs=pairs,
        origins=made,
        annotated=said,
        warnings=doubts,
        versions=versions(),
        made_at=datetime.now(UTC),
    )
    readme = folder.finish(written, {"name": config.title, "datasets": list(config.names)}, render(card))
    return Exported(folder.shown(), folder.local, (*written, readme), left_out, pairs, (*doubts, *lacks))


def lacking(config: ExportConfig, plan: Plan, n_good: int, pairs: Pairs | None) -> list[str]:
    """Why there are no or few training records; nothing where none were asked for."""
    if not {"sft", "dpo"} & set(config.parts):
        return []
    command = (
        f"python -m jobs.evaluate model=… 'datasets=[{','.join(config.names)}]' split={config.split} "
        f"storage.root={config.storage.root}"
    )
    return training_notices(config.split, list(plan.names), n_good, pairs, config.judge_name, command)


def planned_files(config: ExportConfig, plan: Plan, sft: bool, dpo: bool) -> list[str]:
    """Names of the row files that the export will have."""
    folders = {what: plan.names.values() for what in FOLDERS["benchmark"] if "benchmark" in config.parts}
    trained = [plan.names[config.split]] if config.split in plan.names else []
    folders |= {what: trained for what, wanted in (("sft", sft), ("dpo", dpo)) if wanted}  # type: ignore[misc]
    return [
        file_name(what, split, kind) for what, splits in folders.items() for split in splits for kind in config.formats
    ]


def recorded_pairs(store: Store, config: ExportConfig, plan: Plan, good: Mapping[str, str]) -> Pairs:
    """The wrong answers that models gave to questions of the training split.

    Raises:
        UserError: the run or a model that was named has no responses.
    """
    recorded = store.parts("responses")
    if config.run is not None and config.run not in recorded:
        raise UserError(f"run={config.run!r} has no responses; runs: {', '.join(recorded) or 'none'}")
    asked = pl.DataFrame(
        {"question_id": [question.question_id for question in plan.of_split(config.split)]},
        schema={"question_id": pl.String},
    )
    found: dict[str, list[pl.DataFrame]] = {"responses": [], "judgements": []}
    models: set[str] = set()
    for run in recorded if config.run is None else [config.run]:
        responses = store.read("responses", RESPONSE_COLUMNS, part=run)
        models |= set(responses["model"])
        if config.models:
            responses = responses.filter(pl.col("model").is_in(list(config.models)))
        responses = responses.join(asked, on="question_id", how="semi")
        judgements = store.read("judgements", JUDGEMENT_COLUMNS, part=run)
        found["responses"].append(responses)
        found["judgements"].append(judgements.join(responses, on="response_id", how="semi"))
    if unknown := [model for model in config.models if recorded and model not in models]:
        raise UserError(f"models=[{unknown[0]}]: no responses of it; there are some of {', '.join(sorted(models))}")
    if not found["responses"]:
        return Pairs()
    return choose(
        pl.concat(found["responses"]), pl.concat(found["judgements"]), good, config.judge_name,
        config.max_pairs_per_question, config.complete_only,
    )  # fmt: skip


def origins(store: Store, config: ExportConfig, plan: Plan) -> list[Origin]:
    """Where each dataset comes from, by what is recorded of it."""
    runs = store.read("runs", ["run", "job", "versions"])
    return [
        origin(
            name,
            [question for question in plan.questions if question.dataset == name],
            read_marker(store, name),
            runs,
            store.read("candidates", CANDIDATE_COLUMNS, part=name),
        )
        for name in config.names
    ]


def annotated(store: Store, plan: Plan) -> list[tuple[str, int, int]]:
    """(check, passed, total) of what people said of the exported questions."""
    ids = [question.question_id for question in plan.questions]
    said = store.read("annotations", ["item_id", "target", "check", "passed"])
    mine = said.filter((pl.col("target") == "questions") & pl.col("item_id").is_in(ids))
    counts = mine.group_by("check").agg(pl.col("passed").sum().cast(pl.Int64), total=pl.len().cast(pl.Int64))
    return [(str(check), int(passed), int(total)) for check, passed, total in counts.sort("check").iter_rows()]


def print_summary(done: Exported, console: Console) -> None:
    """The files as a table, what was left out, warnings, and how to load it."""
    table = Table(title=Text(f"export {done.address}"), title_justify="left")
    if not console.is_terminal:
        table.box = None
    table.add_column("file", no_wrap=True)
    table.add_column("rows", justify="right")
    table.add_column("bytes", justify="right")
    for file in done.files:
        table.add_row(file.name, "" if file.rows is None else f"{file.rows:,}", f"{file.bytes:,}")
    console.print(table)
    for reason, number in done.left_out.items():
        console.print(f"{number:,} questions give no SFT record: {reason}", markup=False)
    if done.pairs is not None and done.pairs.responses:
        why = "".join(f", {reason} {number:,}" for reason, number in sorted(done.pairs.passed.items()))
        console.print(f"DPO: {done.pairs.responses:,} responses: {done.pairs.total:,} pairs{why}", markup=False)
    for warning in done.warnings:
        console.print(f"warning: {warning}", markup=False, style="yellow")
    console.print(load_command(done), markup=False, soft_wrap=True)


def load_command(done: Exported) -> str:
    """One line of Python that loads the first config."""
    what = done.files[0].name.partition("/")[0]
    if done.local:
        return f"load it with: from datasets import load_dataset; load_dataset({done.address!r}, {what!r})"
    file = done.files[0].name
    loader = "parquet" if file.endswith(".parquet") else "json"
    split = file.partition("/")[2].rsplit(".", 1)[0]
    return (
        "load it with: from datasets import load_dataset; "
        f"load_dataset({loader!r}, data_files={{{split!r}: {done.address + '/' + file!r}}})"
    )


@job("export", ExportConfig)
def main(config: ExportConfig) -> None:
    done = export(config)
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=240)
    print_summary(done, console)


if __name__ == "__main__":
    main()
