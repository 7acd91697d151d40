from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from jobs.config import StorageConfig
from jobs.report import ReportConfig, report
from tests.factories import WHEN, make_response, make_run, write_rows
from tests.udfs.report.bench import cells_of, small_run
from udfs.errors import UserError
from udfs.tables.store import Store

ROOT = Path(__file__).resolve().parents[2]


def config_for(root: Path, **given: object) -> ReportConfig:
    values: dict[str, object] = {
        "storage": StorageConfig(str(root)),
        "run": None,
        "datasets": (),
        "models": (),
        "published": False,
        "resamples": 1000,
        "seed": 0,
        "viewer_responses": 5000,
        "excerpt_chars": 300,
    }
    return ReportConfig(**(values | given))  # type: ignore[arg-type]


def test_report_writes_metrics_pages_and_comparisons(tmp_path: Path) -> None:
    small_run().write(str(tmp_path))
    text = report(config_for(tmp_path))
    folder = tmp_path / "reports" / "main"
    for name in ("report.md", "index.html", "responses.html", "comparisons.csv", "data/index.js"):
        assert (folder / name).stat().st_size > 100
        assert name.startswith(("data/", "comparisons")) or str(folder / name) in text
    stored = Store(str(tmp_path)).read("metrics", part="main")
    assert stored.filter(pl.col("metric") == "detection.f1").height > 0


def test_report_twice_gives_the_same_metrics_once(tmp_path: Path) -> None:
    small_run().write(str(tmp_path))
    report(config_for(tmp_path, viewer_responses=0))
    first = Store(str(tmp_path)).read("metrics", part="main")
    report(config_for(tmp_path, viewer_responses=0))
    assert Store(str(tmp_path)).read("metrics", part="main").equals(first)
    assert not (tmp_path / "reports" / "main" / "responses.html").exists()


def test_report_without_a_name_takes_the_run_started_last(tmp_path: Path) -> None:
    small_run().write(str(tmp_path))
    later = small_run(run="later")
    later.runs = [make_run("later", 7)]
    later.write(str(tmp_path))
    assert "- run: later" in report(config_for(tmp_path, viewer_responses=0))
    assert "- run: main" in report(config_for(tmp_path, run="main", viewer_responses=0))


def test_report_of_one_dataset_holds_only_that(tmp_path: Path) -> None:
    small_run().write(str(tmp_path))
    text = report(config_for(tmp_path, datasets=("long",), viewer_responses=0))
    assert "- datasets: long" in text
    assert "| short |" not in text


def test_report_counts_responses_that_a_later_template_replaced(tmp_path: Path) -> None:
    run = small_run()
    old = make_response(run.questions[0], "smollm2-135m", "zs", response_id="old", created_at=WHEN.replace(year=2025))
    write_rows(str(tmp_path), "responses", "main", [old], name="older")
    run.write(str(tmp_path))
    assert "1 older responses" in report(config_for(tmp_path, viewer_responses=0))


def test_report_counts_older_judgements_and_shows_the_kept_ones_alone(tmp_path: Path) -> None:
    run = small_run()
    run.write(str(tmp_path))
    judged = next(j for j in run.judgements if j.measure == "answer_consistency" and j.verdict == "correct")
    older = replace(
        judged, judgement_id="older", verdict="incorrect", rationale="older words", created_at=WHEN.replace(year=2025)
    )
    before = report(config_for(tmp_path))
    measured = Store(str(tmp_path)).read("metrics", part="main")
    write_rows(str(tmp_path), "judgements", "main", [older], name="older")
    text = report(config_for(tmp_path))
    assert "1 older judgements" in text
    assert "older judgements" not in before
    assert Store(str(tmp_path)).read("metrics", part="main").equals(measured)
    data = tmp_path / "reports" / "main" / "data"
    assert not any("older words" in file.read_text(encoding="utf-8") for file in data.glob("*.js"))


def test_report_of_one_model_warns_of_that_model_alone(tmp_path: Path) -> None:
    run = small_run()
    cells = cells_of(run, more=1)
    run.runs += [make_run(number=n, model=name, status="failed", cells=cells) for n, name in ((1, "b"), (2, "c"))]
    run.write(str(tmp_path))
    everything = report(config_for(tmp_path, viewer_responses=0))
    assert "start of model b" in everything
    assert "56 of 80 expected" in everything
    alone = report(config_for(tmp_path, models=("smollm2-135m",), viewer_responses=0))
    assert "start of model" not in alone
    assert "not recorded (" not in alone


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"run": "nosuch"}, "nosuch"),
        ({"datasets": ("nosuch",)}, "short"),
        ({"models": ("nosuch",)}, "smollm2-135m"),
    ],
)
def test_report_of_something_that_is_not_there_says_what_is(
    tmp_path: Path, given: dict[str, object], says: str
) -> None:
    small_run().write(str(tmp_path))
    with pytest.raises(UserError, match=says):
        report(config_for(tmp_path, **given))


def test_report_of_an_empty_root_says_which_job_to_run(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"jobs\.evaluate"):
        report(config_for(tmp_path))


def test_report_without_questions_says_which_job_to_run(tmp_path: Path) -> None:
    run = small_run()
    run.questions = []
    run.write(str(tmp_path))
    with pytest.raises(UserError, match=r"jobs\.ingest"):
        report(config_for(tmp_path))


def test_report_config_out_of_range_raises_user_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="resamples"):
        config_for(tmp_path, resamples=10)


def test_report_command_prints_plain_markdown_into_a_pipe(tmp_path: Path) -> None:
    small_run().write(str(tmp_path))
    command = [sys.executable, "-m", "jobs.report", f"storage.root={tmp_path}", "datasets=[short,long]"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("# Questions that the document cannot answer")
    assert "\x1b" not in done.stdout
