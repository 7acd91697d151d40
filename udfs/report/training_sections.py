"""The report's part about models that were trained here: how good they are on documents that they have not seen."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import polars as pl

from udfs.report.explanations import says
from udfs.report.grid import FEW, Cell, Grid, Report, Row, Section
from udfs.tables.classification import ALL, BINS, CLASSES

_COLUMNS: Final = (
    ("accuracy", "accuracy"),
    ("majority", "majority class"),
    ("gain", "accuracy − majority"),
    ("f1", "F1 unanswerable"),
    ("f1_macro", "F1 macro"),
    ("auc", "AUC"),
)
_CALIBRATION: Final = (("ece", "ECE"), ("brier", "Brier"))
_SETS: Final = {ALL: "all"}


def training_section(models: pl.DataFrame) -> Section:
    """Every trained model whose metrics are given; without grids where there are none.

    Args:
        models: rows of the models table.
    """
    grids = (_quality(models), _calibration(models), _confusion(models)) if models.height else ()
    return Section("classifier", "Classifiers of answerability that were trained here", says("classifier"), grids)


def build_training_report(models: pl.DataFrame, record: dict[str, Any], now: datetime) -> Report:
    """The report of one model.

    Args:
        models: its rows of the models table.
        record: what `jobs.train` wrote beside its weights.
        now: when the report is made.
    """
    section = training_section(models)
    bins = _reliability(record)
    section = Section(section.anchor, section.title, section.says, (*section.grids, *([bins] if bins.rows else [])))
    return Report(
        run=str(record["name"]),
        title="A classifier of answerability",
        made_at=now.strftime("%Y-%m-%d %H:%M UTC"),
        summary=_summary(record),
        warnings=_warnings(models),
        sections=(section,),
        legend=LEGEND,
    )


def _ordered(models: pl.DataFrame) -> list[tuple[str, str]]:
    """(model, dataset), all datasets together last."""
    pairs = models.select("model", "dataset").unique().iter_rows()
    return sorted(((str(m), str(d)) for m, d in pairs), key=lambda pair: (pair[0], pair[1] == ALL, pair[1]))


def _found(models: pl.DataFrame) -> dict[tuple[str, str, str], dict[str, Any]]:
    return {(row["model"], row["dataset"], row["metric"]): row for row in models.iter_rows(named=True)}


def _cell(row: dict[str, Any] | None, unit: Any = "percent") -> Cell:
    if row is None:
        return Cell()
    whole = row["ci_low"] is None
    return Cell(row["value"], row["ci_low"], row["ci_high"], row["n"], row["coverage"], unit=unit, whole=whole)


def _grid(models: pl.DataFrame, title: str, columns: Sequence[tuple[str, str]], note: str, unit: str = "") -> Grid:
    found = _found(models)
    rows = []
    for model, dataset in _ordered(models):
        cells = tuple(
            _cell(found.get((model, dataset, metric)), unit or ("points" if metric == "gain" else "percent"))
            for metric, _ in columns
        )
        rows.append(Row((model, _SETS.get(dataset, dataset)), cells))
    return Grid(title, ("classifier", "dataset"), tuple(("", name) for _, name in columns), tuple(rows), note=note)


def _quality(models: pl.DataFrame) -> Grid:
    note = "The majority class is that of these very held-out questions: what one answer to all of them would give."
    return _grid(models, "Held-out documents: is the question answerable?", _COLUMNS, note)


def _calibration(models: pl.DataFrame) -> Grid:
    note = f"ECE is over {BINS} equal bins of the probability of being answerable. Both are from 0, the best, to 1."
    return _grid(models, "Held-out documents: what the probabilities are worth", _CALIBRATION, note, "number")


def _confusion(models: pl.DataFrame) -> Grid:
    found = _found(models)
    columns = tuple((f"gold {gold}", f"said {said}") for gold in CLASSES for said in CLASSES)
    rows = []
    for model, dataset in _ordered(models):
        counts = [found.get((model, dataset, f"confusion.{gold}.{said}")) for gold in CLASSES for said in CLASSES]
        cells = tuple(Cell(row["value"] if row else None, unit="integer", whole=True) for row in counts)
        documents = next((row["documents"] for row in counts if row), None)
        rows.append(Row((model, _SETS.get(dataset, dataset)), (*cells, Cell(documents, unit="integer", whole=True))))
    title = "Held-out documents: confusion table, in questions"
    return Grid(title, ("classifier", "dataset"), (*columns, ("", "documents")), tuple(rows))


def _reliability(record: dict[str, Any]) -> Grid:
    rows = tuple(
        Row(
            (f"{row['bin'] / BINS:.1f} to {(row['bin'] + 1) / BINS:.1f}",),
            (Cell(row["probability"], n=row["n"], whole=True), Cell(row["answerable"], n=row["n"], whole=True)),
        )
        for row in record.get("reliability", [])
    )
    columns = (("", "mean probability"), ("", "share answerable"))
    return Grid("Calibration by probability of being answerable, all datasets", ("probability",), columns, rows)


def _summary(record: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    def counted(part: str) -> str:
        documents = record["documents"].get(part, {})
        named = ", ".join(f"{name} {count:,}" for name, count in documents.items())
        return f"{record['questions'][part]:,} questions; documents: {named}"

    licences = [f"{name}: {', '.join(said)}" for name, said in record["licences"]["datasets"].items()]
    left_out = [f"{reason}: {count:,}" for reason, count in record["left_out"].items()]
    return (
        ("model", str(record["name"])),
        ("base", f"{record['base']} ({record['licences']['base']})"),
        ("trained on", counted("train")),
        ("held out", counted("test")),
        ("parts", ", ".join(f"{name}: {how}" for name, how in record["parted"].items())),
        ("input", f"{record['input']}, window {record['window']}, stride {record['stride']}, seed {record['seed']}"),
        ("licences of the documents", "; ".join(licences)),
        *((("questions left out", "; ".join(left_out)),) if left_out else ()),
        *(_head(record)),
        *(_steps(record)),
        ("seconds of training", _seconds(record)),
    )


def _head(record: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    if not record.get("lexical_head"):
        return ()
    alone = record["encoder_alone"]
    if alone["accuracy"] is None or alone["auc"] is None:
        return ()
    weighed = f"weighed on {record['head_questions']:,} of the questions trained on, which the encoder has not seen"
    told = f"its accuracy alone, all datasets, is {100 * alone['accuracy']:.1f} %, its AUC {100 * alone['auc']:.1f} %"
    return (("encoder and word overlap together", f"{weighed}; {told}"),)


def _steps(record: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    taken, planned = record.get("steps"), record.get("planned")
    if taken is None or planned is None:
        return ()
    early = ": it ended at max_minutes, so its numbers depend on the machine" if taken < planned else ""
    return (("steps", f"{taken:,} of {planned:,}{early}"),)


def _seconds(record: dict[str, Any]) -> str:
    computed = record.get("cpu_seconds")
    return f"{record['seconds']:,.0f}" + ("" if computed is None else f", {computed:,.0f} of CPU")


def _warnings(models: pl.DataFrame) -> tuple[str, ...]:
    gains = models.filter((pl.col("metric") == "gain") & (pl.col("ci_low").fill_null(-1.0) <= 0))
    return tuple(
        f"on {row['dataset']} the classifier is not surely better than giving the larger class every time: "
        "do not lean on its verdicts"
        for row in gains.sort("dataset").iter_rows(named=True)
    )


LEGEND: Final = (
    "Each number is a percentage with its 95 % interval (documents drawn anew), n questions, and coverage (cov) where "
    f"some could not be asked. Numbers from fewer than {FEW} questions are marked with °."
)
