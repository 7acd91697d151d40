"""`jobs.synthesize` over the shipped sample with the scripted engine: every candidate once, whatever happens."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from jobs.cli import compose
from jobs.config import EvaluateConfig
from jobs.evaluate import evaluate
from jobs.ingest import IngestConfig, ingest
from jobs.report import ReportConfig, report
from jobs.stats import load
from jobs.support.synthesis_config import SynthesizeConfig
from jobs.synthesize import synthesize
from udfs.agents.spec import KINDS
from udfs.errors import RunFailed, UserError
from udfs.records import Question
from udfs.schema import Fate, Kind
from udfs.tables.store import Store
from udfs.views import view_text

REPOSITORY = Path(__file__).resolve().parents[2]
DOCUMENTS = 16
FEW = ("limit=6", "synthesis.kinds=[answerable,lack_of_evidence]")
"""A small synthesis, for tests that are about something else."""
BLOCK_BY_BLOCK = "cluster.blocks_per_actor=1"
"""The bundles of a block are in flight together: about a third of the sample's."""


pytestmark = pytest.mark.usefixtures("ray_cluster")


@pytest.fixture
def root(tmp_path: Path) -> str:
    """A storage root with the sample in it."""
    where = str(tmp_path / "root")
    ingest(compose("ingest", IngestConfig, ["source=sample", "name=sample", f"storage.root={where}"]))
    return where


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A root with the sample and all kinds of questions made from it, and what the job said; only to read from."""
    where = str(tmp_path_factory.mktemp("whole") / "root")
    ingest(compose("ingest", IngestConfig, ["source=sample", "name=sample", f"storage.root={where}"]))
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        synthesize(config(where, "splits={train: 0.5, dev: 0.25, test: 0.25}"))
    return where, said.getvalue()


def arguments(root: str, *overrides: str) -> list[str]:
    return ["model=scripted", "datasets=[sample]", f"storage.root={root}", *overrides]


def config(root: str, *overrides: str) -> SynthesizeConfig:
    return compose("synthesize", SynthesizeConfig, arguments(root, *overrides))


def calls(log: Path) -> Counter[str]:
    """How often each request was made."""
    return Counter(log.read_text().splitlines() if log.exists() else [])


def requests(counted: Counter[str]) -> set[str]:
    """The ids that requests were made for: of candidates."""
    return {line.split("\t")[0] for line in counted}


def candidates(root: str, name: str = "synthetic") -> pl.DataFrame:
    return Store(root).read("candidates", part=name)


def written(root: str) -> int:
    """Rows of the candidates table as they lie in the files."""
    return sum(len(pl.read_parquet(file.path)) for file in Store(root).files("candidates"))


def test_synthesize_gives_every_candidate_one_fate_and_publishes_the_accepted(whole: tuple[str, str]) -> None:
    root, said = whole
    made = candidates(root)
    assert made.height == DOCUMENTS * len(KINDS)
    assert written(root) == made.height, "no row was written twice"
    assert (
        made.group_by("doc_id", "fragment_index").agg(pl.col("kind").sort())["kind"].to_list()
        == [sorted(KINDS)] * DOCUMENTS
    )
    accepted = made.filter(pl.col("fate") == Fate.ACCEPTED)
    assert set(accepted["kind"]) == set(KINDS), "every kind was made at least once"
    store = Store(root)
    questions = store.read("questions", part="synthetic")
    assert questions.height == accepted.height
    assert sorted(questions["kind"]) == sorted(accepted["kind"])
    ended = made.height - accepted.height
    assert f"proposed {made.height} = accepted {accepted.height} + ended {ended}" in said
    assert sum(int(line.split(":")[0].split()[-1]) for line in said.splitlines() if "ended at" in line) == ended
    run = store.read("runs").row(0, named=True)
    assert (run["job"], run["run"], run["status"]) == ("synthesize", "synthetic", "ok")
    assert (run["expected"], run["recorded"]) == (made.height, made.height)
    assert run["prompt_tokens"] > 0


def test_synthesize_publishes_what_its_documents_say(whole: tuple[str, str]) -> None:
    root, _ = whole
    store = Store(root)
    texts = dict(store.read("documents", ["doc_id", "text"], part="synthetic").iter_rows())
    languages = dict(store.read("documents", ["doc_id", "language"], part="synthetic").iter_rows())
    questions = {
        row["question_id"]: Question.from_row(row) for row in store.read("questions", part="synthetic").to_dicts()
    }
    assert questions
    for question in questions.values():
        text = texts[question.doc_id]
        assert question.language == languages[question.doc_id]
        assert question.evidence
        assert all(text[span.start : span.end].strip() for span in question.evidence)
        if question.kind == Kind.ANSWERABLE:
            assert question.answers
            assert question.twin_id is None
            continue
        twin = questions[question.twin_id or ""]
        assert twin.answerable
        assert twin.doc_id == question.doc_id
        if question.kind == Kind.LACK_OF_EVIDENCE:
            view = view_text(text, question.redactions)
            assert len(view) < len(text)
            assert not any(text[span.start : span.end] in view for span in question.evidence)


def test_synthesize_again_asks_nothing_and_changes_nothing(root: str, tmp_path: Path) -> None:
    log = tmp_path / "calls"
    synthesize(config(root, *FEW, f"model.call_log={log}"))
    first = calls(log)
    published = {file: file.stat().st_mtime_ns for file in Path(root).rglob("*/synthetic/*")}
    assert first
    synthesize(config(root, *FEW, f"model.call_log={log}"))
    assert calls(log) == first
    after = {file: file.stat().st_mtime_ns for file in Path(root).rglob("*/synthetic/*")}
    assert {file: after[file] for file in published} == published
    assert all("/runs/" in str(file) for file in after.keys() - published.keys())


def test_synthesize_killed_before_it_published_does_so_at_the_next_start(root: str, tmp_path: Path) -> None:
    synthesize(config(root, *FEW))
    questions = Store(root).read("questions", part="synthetic")
    for table in ("documents", "questions"):
        shutil.rmtree(Path(root, table, "synthetic"))
    log = tmp_path / "calls"
    synthesize(config(root, *FEW, f"model.call_log={log}"))
    assert not calls(log)
    assert Store(root).read("questions", part="synthetic").equals(questions)


def test_synthesize_with_a_larger_alpha_asks_only_for_the_new_fragments(root: str, tmp_path: Path) -> None:
    synthesize(config(root, *FEW))
    before = candidates(root)
    log = tmp_path / "calls"
    synthesize(config(root, *FEW, "synthesis.alpha=2", f"model.call_log={log}"))
    after = candidates(root)
    assert after.height == 2 * before.height == written(root)
    old = after.filter(pl.col("fragment_index") == 0)
    assert old.sort("candidate_id").equals(before.sort("candidate_id"))
    assert calls(log)
    assert not requests(calls(log)) & set(before["candidate_id"])


def test_synthesize_with_provider_errors_records_them_and_asks_them_again(root: str, tmp_path: Path) -> None:
    synthesize(config(root, *FEW, "model.error_rate=0.1"))
    failed = candidates(root).filter(pl.col("status") == "provider_error")
    assert 0 < failed.height < candidates(root).height
    log = tmp_path / "calls"
    synthesize(config(root, *FEW, f"model.call_log={log}"))
    made = candidates(root)
    assert made.filter(pl.col("status") == "provider_error").is_empty()
    assert made.height == 12
    assert requests(calls(log)) <= set(failed["candidate_id"])


def test_synthesize_with_garbage_ends_every_candidate_and_publishes_nothing(
    root: str, capsys: pytest.CaptureFixture[str]
) -> None:
    synthesize(config(root, "model.garbage_rate=1"))
    made = candidates(root)
    assert made.height == DOCUMENTS * len(KINDS)
    assert set(made["fate"]) == {"parse_failure"}
    store = Store(root)
    assert store.dataset_names() == ["sample"]
    assert store.files("questions", "synthetic") == []
    said = capsys.readouterr().out
    assert "proposed 80 = accepted 0 + ended 80" in said
    assert "nothing was accepted" in said


def test_synthesize_until_targets_are_met_leaves_the_rest_owed(root: str, capsys: pytest.CaptureFixture[str]) -> None:
    targets = "targets=[{kind: lack_of_evidence, language: zh, count: 1}, {language: en, count: 2}]"
    synthesize(config(root, targets, BLOCK_BY_BLOCK))
    first = candidates(root)
    assert 0 < first.height < DOCUMENTS * len(KINDS)
    accepted = first.filter(pl.col("fate") == Fate.ACCEPTED)
    assert accepted.filter((pl.col("kind") == "lack_of_evidence") & (pl.col("language") == "zh")).height >= 1
    assert accepted.filter(pl.col("language") == "en").height >= 2
    said = capsys.readouterr().out
    assert "all targets are met" in said
    synthesize(config(root, targets, BLOCK_BY_BLOCK))
    assert candidates(root).height == first.height, "what is met asks for nothing more"
    synthesize(config(root))
    assert candidates(root).height == DOCUMENTS * len(KINDS)


def test_synthesize_with_targets_beyond_its_documents_says_that_they_ran_out(
    root: str, capsys: pytest.CaptureFixture[str]
) -> None:
    synthesize(config(root, *FEW, "targets=[{kind: lack_of_evidence, count: 500}]"))
    assert candidates(root).height == 12
    said = capsys.readouterr().out
    assert "of 500" in said
    assert "documents ran out" in said


def test_synthesize_stops_at_its_budget_and_goes_on_with_a_higher_one(
    root: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    synthesize(config(root, BLOCK_BY_BLOCK, "budget.max_tokens=20000"))
    first = candidates(root)
    assert 0 < first.height < DOCUMENTS * len(KINDS)
    assert "budget.max_tokens=20,000 is spent" in capsys.readouterr().out
    run = Store(root).read("runs").row(0, named=True)
    assert run["status"] == "stopped"
    assert "budget.max_tokens" in run["error"]
    log = tmp_path / "calls"
    synthesize(config(root, "budget.max_tokens=100000000", f"model.call_log={log}"))
    assert candidates(root).height == DOCUMENTS * len(KINDS) == written(root)
    assert not requests(calls(log)) & set(first["candidate_id"])


def test_synthesize_dataset_goes_straight_into_evaluate_stats_and_report(whole: tuple[str, str]) -> None:
    root, _ = whole
    evaluate(
        compose(
            "evaluate",
            EvaluateConfig,
            ["model=scripted", "datasets=[synthetic]", "methods=[zs]", "judge=rules", f"storage.root={root}"],
        )
    )
    store = Store(root)
    questions = store.read("questions", part="synthetic")
    responses = store.read("responses")
    assert set(responses["question_id"]) == set(questions["question_id"])
    assert responses["status"].unique().to_list() == ["ok"]
    assert questions.filter(pl.col("redactions").list.len() > 0).height > 0, "views are among them"
    assert "synthetic" in report(compose("report", ReportConfig, [f"storage.root={root}"]))
    documents, asked = load(store, ("synthetic",))
    assert (documents.height, asked.height) == (questions["doc_id"].n_unique(), questions.height)


def test_synthesize_puts_each_document_in_one_split(whole: tuple[str, str]) -> None:
    root, _ = whole
    store = Store(root)
    questions = store.read("questions", part="synthetic")
    assert questions.group_by("doc_id").agg(pl.col("split").n_unique())["split"].unique().to_list() == [1]
    documents = dict(store.read("documents", ["doc_id", "split"], part="synthetic").iter_rows())
    assert dict(questions.select("doc_id", "split").iter_rows()) == documents
    assert set(documents.values()) == {"train", "dev", "test"}


def test_synthesize_with_other_settings_under_the_same_name_asks_nothing(root: str, tmp_path: Path) -> None:
    synthesize(config(root, *FEW))
    log = tmp_path / "calls"
    other = config(root, *FEW, "synthesis.seed=1", f"model.call_log={log}")
    with pytest.raises(UserError, match=r"synthesis\.seed was 0, is 1.*name=.*overwrite=true"):
        synthesize(other)
    assert not log.exists()
    synthesize(dataclasses.replace(other, overwrite=True))
    assert candidates(root)["spec"].n_unique() == 2
    published = Store(root).read("questions", part="synthetic")["provenance"]
    newest = candidates(root).sort("created_at")["spec"][-1]
    assert published.str.contains(newest).all()


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["datasets=[nope]"], "unknown dataset 'nope'.*ingested: sample"),
        (["name=sample"], "name='sample'.*another name"),
        (["name='../x'"], "name='../x'"),
        (["synthesis.alpha=0"], r"synthesis\.alpha=0.*at least 1"),
        (["synthesis.alpha=1000000000"], r"synthesis\.alpha=1000000000.*at most 10000"),
        (["synthesis.kinds=[lack_of_evidence]"], r"synthesis\.kinds.*answerable must be among them"),
        (["synthesis.kinds=[answerable,magic]"], r"synthesis\.kinds='magic'.*lack_of_evidence"),
        (["synthesis.fragment_max_words=50"], r"fragment_max_words=50.*fragment_min_words=120"),
        (["synthesis.quality_threshold=6"], "quality_threshold=6.*1 to 5"),
        (["synthesis.max_redacted_share=0"], "max_redacted_share=0"),
        (["splits={train: 0.9, dev: 0.9, test: 0.1}"], "splits must sum to 1"),
        (["targets=[{count: 0}]"], r"targets\.count=0"),
        (["targets=[{count: 1, kind: unanswerable}]"], r"targets\.kind='unanswerable'"),
        (["targets=[{count: 1, length_bucket: long}]"], "length_bucket='long'.*128K"),
        (["targets=[{count: 1, colour: red}]"], r"unknown config key 'targets\[0\]\.colour'"),
        (["language=en", "targets=[{count: 1, language: zh}]"], r"targets\.language='zh'"),
        (["budget.max_tokens=0"], r"budget\.max_tokens=0"),
        (["budget.max_usd=1"], r"budget\.max_usd=1.*usd_per_gpu_hour"),
        (["budget.max_gpu_hours=1"], r"budget\.max_gpu_hours.*no GPU.*max_tokens"),
        (["web={url: 'ftp://x'}"], r"web\.url='ftp://x'"),
        (["web={url: 'http://127.0.0.1/s', api_key_env: NO_SUCH_KEY}"], "NO_SUCH_KEY"),
        (["split=dev"], "no document of split 'dev'"),
        (["limit=0"], "limit=0"),
        (["max_candidates=0"], "max_candidates=0"),
        (["model.window=300"], r"model\.window=300.*fragment_min_words=120"),
        (["model=endpoint", "model.base_url=http://127.0.0.1:9/v1", "model.model=m", "model.max_retries=0"], ":9/v1"),
    ],
)  # fmt: skip
def test_synthesize_with_a_mistake_says_what_is_allowed_before_it_starts(
    root: str, overrides: list[str], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        synthesize(config(root, *overrides))
    store = Store(root)
    assert store.files("candidates") == []
    assert store.files("runs") == []
    assert not Path(root, "candidates").exists()


def test_synthesize_config_has_these_keys() -> None:
    given = config("x")
    keys = {
        key: sorted(value) if isinstance(value, dict) and key not in ("model", "cluster") else None
        for key, value in dataclasses.asdict(given).items()
    }
    assert keys == {
        "model": None, "datasets": None, "name": None, "web": None, "targets": None, "cluster": None,
        "synthesis": ["alpha", "common_sense", "fragment_max_words", "fragment_min_words", "full_view", "kinds",
                      "max_redacted_share", "passage_words", "passages", "quality_threshold", "seed"],
        "splits": ["dev", "test", "train"], "budget": ["max_gpu_hours", "max_tokens", "max_usd"],
        "storage": ["root"], "language": None, "split": None, "limit": None, "overwrite": None, "kv_share": None,
        "max_candidates": None, "flush_rows": None, "flush_seconds": None,
    }  # fmt: skip


def wait_for_rows(store: Store, process: subprocess.Popen[bytes]) -> None:
    """Until the running job has recorded some candidates."""
    deadline = time.monotonic() + 120
    while not store.files("candidates"):
        assert process.poll() is None, "the job ended before it could be killed"
        assert time.monotonic() < deadline, "the job recorded nothing"
        time.sleep(0.05)


def test_synthesize_killed_in_the_middle_goes_on_where_it_was(root: str, tmp_path: Path) -> None:
    log = tmp_path / "calls"
    slow = ("model.delay_s=0.1", "flush_seconds=0.1", "cluster.blocks_per_actor=1", f"model.call_log={log}")
    process = subprocess.Popen(
        [sys.executable, "-m", "jobs.synthesize", *arguments(root, *slow)],
        cwd=REPOSITORY,
        env={**os.environ, "RAY_ADDRESS": ""},
        stderr=subprocess.DEVNULL,
    )
    wait_for_rows(Store(root), process)
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=60)
    recorded = candidates(root)
    assert 0 < recorded.height < DOCUMENTS * len(KINDS)
    before = calls(log)
    synthesize(config(root, f"model.call_log={log}"))
    again = calls(log) - before
    assert not requests(again) & set(recorded["candidate_id"]), "a recorded candidate was asked for again"
    made = candidates(root)
    assert made.height == DOCUMENTS * len(KINDS) == written(root)
    done = made.join(recorded.select("candidate_id"), on="candidate_id", how="semi")
    assert done.sort("candidate_id").equals(recorded.sort("candidate_id")), "what was recorded stays as it was"
    assert Store(root).read("questions", part="synthetic").height == made.filter(pl.col("fate") == "accepted").height


def test_synthesize_goes_on_after_an_engine_died(root: str, tmp_path: Path) -> None:
    synthesize(config(root, f"model.call_log={tmp_path / 'calls'}", "model.die_after=60", "model.deaths=2"))
    assert candidates(root).height == DOCUMENTS * len(KINDS)
    assert candidates(root)["status"].unique().to_list() == ["ok"]
    assert len((tmp_path / "calls.deaths").read_bytes()) == 2


def test_synthesize_with_a_failing_stage_ends_with_its_cause_and_publishes_nothing(root: str, tmp_path: Path) -> None:
    with pytest.raises(RunFailed, match="Is a directory"):
        synthesize(config(root, *FEW, f"model.call_log={tmp_path}"))
    assert Store(root).read("runs").row(0, named=True)["status"] == "failed"
    assert Store(root).dataset_names() == ["sample"]
