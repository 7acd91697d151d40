"""`jobs.evaluate` with a classifier as a judge: its verdicts have success tables of their own, and are made once."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from jobs.cli import compose
from jobs.config import EvaluateConfig
from jobs.evaluate import evaluate
from jobs.ingest import IngestConfig, ingest
from jobs.report import ReportConfig, report
from tests.udfs.engines.made_classifier import made_classifier
from udfs.tables.store import Store

pytestmark = pytest.mark.usefixtures("ray_cluster")


def test_evaluate_with_a_classifier_judges_every_new_question_once(tmp_path: Path) -> None:
    root = str(tmp_path / "root")
    made_classifier(tmp_path / "root" / "models" / "mine")
    ingest(compose("ingest", IngestConfig, ["source=sample", "name=sample", f"storage.root={root}"]))
    given = ["model=scripted", "datasets=[sample]", "methods=[zs]", "limit=40", f"storage.root={root}"]
    config = compose("evaluate", EvaluateConfig, [*given, "classifier=transformers", "classifier.name=mine"])
    evaluate(config)
    judged = Store(root).read("judgements").filter(pl.col("measure") == "reformulation_answerable")
    mine, rules = (judged.filter(pl.col("judge") == name) for name in ("classifier:mine", "rules"))
    assert mine.height > 0
    assert set(mine["response_id"]) == set(rules["response_id"])
    assert mine["score"].is_between(0, 1).all()
    assert mine.filter((pl.col("score") >= 0.5) != (pl.col("verdict") == "answerable")).is_empty()

    evaluate(config)
    raw = sum(len(pl.read_parquet(file.path)) for file in Store(root).files("judgements"))
    assert raw == Store(root).read("judgements").height, "a start that owes nothing judges nothing"

    text = report(compose("report", ReportConfig, [f"storage.root={root}"]))
    metrics = Store(root).read("metrics").filter(pl.col("judge") == "classifier:mine")
    success = metrics.filter(pl.col("metric").is_in(["reformulation.success", "reformulation.answerable"]))
    assert set(success["metric"]) == {"reformulation.success", "reformulation.answerable"}
    assert success["value"].null_count() == 0
    assert "classifier:mine" in text
