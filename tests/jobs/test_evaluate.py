"""`jobs.evaluate` over the shipped sample with the scripted engine: every row once, whatever happens."""

from __future__ import annotations

import os
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
from tests.jobs.vectors_server import serving_vectors
from udfs.errors import RunFailed, UserError
from udfs.judges.llm_reformulation import GIVES as NEW_QUESTION_MEASURES
from udfs.judges.reformulation import GIVES
from udfs.tables.store import Store

REPOSITORY = Path(__file__).resolve().parents[2]
QUESTIONS = 144


pytestmark = pytest.mark.usefixtures("ray_cluster")


@pytest.fixture
def root(tmp_path: Path) -> str:
    """A storage root with the sample in it."""
    where = str(tmp_path / "root")
    ingest(compose("ingest", IngestConfig, ["source=sample", "name=sample", f"storage.root={where}"]))
    return where


def config(root: str, *overrides: str) -> EvaluateConfig:
    given = ["model=scripted", "datasets=[sample]", "methods=[zs,fs]", f"storage.root={root}", *overrides]
    return compose("evaluate", EvaluateConfig, given)


def calls(log: Path) -> Counter[str]:
    """How often each request was made."""
    lines = log.read_text().splitlines() if log.exists() else []
    return Counter(lines)


def test_evaluate_records_and_judges_every_cell_once(root: str) -> None:
    evaluate(config(root))
    store = Store(root)
    responses = store.read("responses")
    assert responses.height == QUESTIONS * 2
    assert responses["status"].unique().to_list() == ["ok"]
    raw = sum(len(pl.read_parquet(file.path)) for file in store.files("responses"))
    assert raw == responses.height, "no row was written twice"
    judged = store.read("judgements").group_by("measure", "judge").len().sort("measure", "judge")
    unanswerable = store.read("questions").filter(~pl.col("answerable"))
    reformulated = responses.filter(pl.col("turns").list.len() == 2)
    new_questions = reformulated.join(unanswerable, on="question_id", how="semi").height
    assert 0 < new_questions < reformulated.height
    assert judged.rows() == sorted(
        [
            ("answer_consistency", "rules", QUESTIONS * 2),
            ("refusal", "couldask", QUESTIONS * 2),
            ("refusal", "rules", QUESTIONS * 2),
            ("response_class", "rules", unanswerable.height * 2),
            *((measure, judge, new_questions) for judge, measure in GIVES),
        ]
    )
    assert reformulated["refused"].all()
    assert responses.filter(pl.col("turns").list.len() == 1)["refused"].any() is False


def test_evaluate_again_asks_nothing_and_judges_what_was_not_judged(root: str, tmp_path: Path) -> None:
    log = tmp_path / "calls"
    evaluate(config(root, f"model.call_log={log}"))
    first = calls(log)
    assert len(first) > QUESTIONS * 2
    assert set(first.values()) == {1}
    store = Store(root)
    judged = set(store.read("judgements")["judgement_id"])
    for file in store.files("judgements"):
        Path(file.path).unlink()
    evaluate(config(root, f"model.call_log={log}"))
    assert calls(log) == first
    assert set(store.read("judgements")["judgement_id"]) == judged


def test_evaluate_with_an_embedding_measures_the_cosine_once(root: str) -> None:
    with serving_vectors() as server:
        given = (
            "methods=[zs]",
            "limit=60",
            "embedding=endpoint",
            f"embedding.base_url={server.base_url}",
            "embedding.model=letters",
        )
        evaluate(config(root, *given))
        store = Store(root)
        judged = store.read("judgements").filter(pl.col("measure") == "cosine")
        wanted = store.read("judgements").filter(pl.col("measure") == "edit_similarity")
        assert set(judged["response_id"]) == set(wanted["response_id"])
        assert judged.height == wanted.height > 0
        assert judged["judge"].unique().to_list() == ["embedding:letters"]
        assert judged["score"].is_between(0, 1).all()
        assert judged["score"].n_unique() > 5
        languages = store.read("questions").select("question_id", "language")
        assert judged.join(languages, on="question_id")["language"].n_unique() == 2
        before = server.texts.copy()
        evaluate(config(root, *given))
        assert server.texts == before, "a start that owes nothing asks for nothing"
        evaluate(config(root, *given, "embedding.dimensions=50"))
        assert server.texts.total() > before.total()
    again = store.read("judgements").filter(pl.col("measure") == "cosine")
    assert again.height == 2 * judged.height, "another revision is owed anew"
    runs = store.read("runs").filter(pl.col("model") == "embedding:letters").sort("started_at")
    assert runs["recorded"].to_list() == [judged.height, judged.height]


def test_evaluate_another_method_asks_only_for_it(root: str, tmp_path: Path) -> None:
    evaluate(config(root, "methods=[zs]"))
    log = tmp_path / "calls"
    evaluate(config(root, "methods=[zs,zs_cot]", f"model.call_log={log}"))
    assert sum(1 for line in calls(log) if line.endswith("\tanswer")) == QUESTIONS
    assert Store(root).read("responses")["method"].value_counts().sort("method").rows() == [
        ("zs", QUESTIONS), ("zs_cot", QUESTIONS),
    ]  # fmt: skip


def test_evaluate_with_provider_errors_counts_them_and_asks_them_again(root: str, tmp_path: Path) -> None:
    evaluate(config(root, "model.error_rate=0.3"))
    store = Store(root)
    failed = set(store.read("responses").filter(pl.col("status") == "provider_error")["response_id"])
    assert 0 < len(failed) < QUESTIONS * 2
    log = tmp_path / "calls"
    evaluate(config(root, f"model.call_log={log}"))
    assert store.read("responses")["status"].unique().to_list() == ["ok"]
    assert {line.split("\t")[0] for line in calls(log)} == failed


def test_evaluate_with_garbage_never_scores_what_it_could_not_read(root: str) -> None:
    evaluate(config(root, "judge=llm", "model.garbage_rate=0.5"))
    judged = Store(root).read("judgements").filter(pl.col("judge") == "llm:scripted")
    unread = judged.filter(pl.col("status") == "parse_failure")
    assert unread.height > 0
    assert unread["verdict"].is_null().all()
    assert unread["score"].is_null().all()


def test_evaluate_over_length_is_counted_and_not_asked_again(root: str, tmp_path: Path) -> None:
    log = tmp_path / "calls"
    given = ("model.window=2500", "model.sampling.max_tokens=64", f"model.call_log={log}")
    evaluate(config(root, *given))
    responses = Store(root).read("responses")
    assert responses.height == QUESTIONS * 2
    over = responses.filter(pl.col("status") == "over_length")
    assert 0 < over.height < responses.height
    assert over["error"].str.contains("2500|2,500").all()
    before = calls(log)
    evaluate(config(root, *given))
    assert calls(log) == before
    evaluate(config(root, "retry=[over_length]", "model.sampling.max_tokens=64"))
    assert Store(root).read("responses")["status"].unique().to_list() == ["ok"]


def test_evaluate_judge_of_another_model_is_a_stage_of_its_own(root: str) -> None:
    evaluate(config(root, "judge=llm", "judge.model=scripted", "judge.overrides={name: other}", "methods=[zs]"))
    store = Store(root)
    judged = store.read("judgements").filter(pl.col("judge") == "llm:other")
    assert judged["response_id"].n_unique() == QUESTIONS
    runs = store.read("runs").select("job", "model")
    assert sorted(runs.rows()) == [
        ("evaluate", "scripted"), ("judge", "llm:other"), ("judge", "reformulation"), ("judge", "rules"),
    ]  # fmt: skip


def test_evaluate_judge_added_later_judges_recorded_responses(root: str, tmp_path: Path) -> None:
    evaluate(config(root, "methods=[zs]"))
    log = tmp_path / "calls"
    evaluate(config(root, "methods=[zs]", "judge=llm", "judge.reformulations=false", f"model.call_log={log}"))
    assert {line.split("\t")[1] for line in calls(log)} == {"judge.response"}
    by_model = pl.col("judge") == "llm:scripted"
    assert Store(root).read("judgements").filter(by_model)["response_id"].n_unique() == QUESTIONS
    before = Store(root).read("judgements").filter(by_model)["judgement_id"]
    for _ in (1, 2):  # the second time nothing is owed
        evaluate(config(root, "methods=[zs]", "judge=llm", "judge.spans=true", f"model.call_log={tmp_path / 'later'}"))
    asked = calls(tmp_path / "later")
    assert {line.split("\t")[1] for line in asked} == {
        "judge.answerable", "judge.entities", "judge.error_category", "judge.strategy", "judge.minimum_span",
    }  # fmt: skip
    assert set(asked.values()) == {1}
    added = Store(root).read("judgements").filter(by_model, ~pl.col("judgement_id").is_in(before.to_list()))
    rules = Store(root).read("judgements").filter(measure="reformulation_answerable", judge="rules")
    assert set(added["response_id"]) == set(rules["response_id"])
    assert added.height == rules.height * (len(NEW_QUESTION_MEASURES) + 1)
    assert added["status"].unique().to_list() == ["ok"]


def test_evaluate_resume_false_leaves_the_old_run_alone(root: str) -> None:
    evaluate(config(root, "methods=[zs]", "limit=10"))
    evaluate(config(root, "methods=[zs]", "limit=10", "resume=false"))
    store = Store(root)
    assert len(store.parts("responses")) == 2
    assert store.read("responses").height == 20
    assert store.read("responses", part="main").height == 10


def test_evaluate_limit_takes_the_same_questions_every_time(root: str) -> None:
    evaluate(config(root, "methods=[zs]", "limit=9"))
    evaluate(config(root, "methods=[zs]", "limit=20"))
    assert Store(root).read("responses").height == 20


def test_evaluate_splits_a_document_with_many_dialogues(root: str) -> None:
    evaluate(config(root, "max_dialogues=5"))
    assert Store(root).read("responses").height == QUESTIONS * 2


def test_evaluate_within_a_small_kv_budget_still_asks_everything(root: str) -> None:
    evaluate(config(root, "model.kv_tokens=3000"))
    assert Store(root).read("responses").height == QUESTIONS * 2


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["datasets=[nope]"], "unknown dataset 'nope'.*ingested: sample"),
        (["methods=[zs,magic]"], "magic.*allowed.*fs_cot"),
        (["layout=sideways"], "sideways.*document_first"),
        (["split=train"], "no split 'train'"),
        (["limit=0"], "limit=0.*at least 1"),
        (["model.sampling.temperature=9"], r"temperature=9.*0.*2"),
        (["+model.tempature=1"], "tempature"),
        (["judge=llm", "judge.model=nobody"], "unknown model 'nobody'.*smollm2-135m"),
        (["judge=rules", "judge.spans=true"], "judge.spans=True.*judge=llm"),
        (["detector=magic"], "detector='magic'.*rules, couldask, llm"),
        (["cluster.num_cpus=1"], "cluster.num_cpus=1"),
        (["embedding=minilm", "embedding.weights=/no/such/folder"], "embedding.weights='/no/such/folder'"),
        (["embedding=endpoint", "embedding.base_url=http://127.0.0.1:9/v1", "embedding.model=m",
          "embedding.max_retries=0"], "of embedding m does not answer.*:9/v1"),
        (["model=smollm2-135m", "model.weights=/no/such/folder"], "/no/such/folder"),
        (["model=smollm2-135m", "model.kv_cache_gib=0.05"], "no room.*8192"),
        (["model=endpoint", "model.base_url=http://127.0.0.1:9/v1", "model.model=m", "model.max_retries=0"], ":9/v1"),
    ],
)  # fmt: skip
def test_evaluate_with_a_mistake_says_what_is_allowed_before_it_starts(
    root: str, overrides: list[str], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        evaluate(config(root, *overrides))
    assert Store(root).files("responses") == []
    assert Store(root).files("runs") == []


def test_evaluate_of_an_empty_root_says_how_to_ingest(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"jobs\.ingest source=sample"):
        evaluate(config(str(tmp_path)))


def command(root: str, *overrides: str) -> list[str]:
    given = ["model=scripted", "datasets=[sample]", "methods=[zs,fs]", f"storage.root={root}", *overrides]
    return [sys.executable, "-m", "jobs.evaluate", *given]


def test_evaluate_command_with_a_mistake_prints_one_line_and_exits_2(root: str) -> None:
    done = subprocess.run(command(root, "limit=0"), cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "error: limit=0 is not allowed: at least 1, or null for all\n"


def wait_for_rows(store: Store, at_least: int, process: subprocess.Popen[bytes]) -> None:
    """Until the running job has recorded some responses."""
    deadline = time.monotonic() + 120
    while sum(1 for _ in store.files("responses")) < at_least:
        assert process.poll() is None, "the job ended before it could be killed"
        assert time.monotonic() < deadline, "the job recorded nothing"
        time.sleep(0.05)


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGTERM])
def test_evaluate_stopped_in_the_middle_goes_on_where_it_was(root: str, tmp_path: Path, stop: signal.Signals) -> None:
    log = tmp_path / "calls"
    slow = ("model.delay_s=0.4", "flush_seconds=0.1", "cluster.blocks_per_actor=1", f"model.call_log={log}")
    environment = {**os.environ, "RAY_ADDRESS": ""}
    store = Store(root)
    process = subprocess.Popen(command(root, *slow), cwd=REPOSITORY, env=environment, stderr=subprocess.DEVNULL)
    wait_for_rows(store, 2, process)
    process.send_signal(stop)
    process.wait(timeout=60)
    assert process.returncode == (-signal.SIGKILL if stop is signal.SIGKILL else 130)
    recorded = set(store.read("responses")["response_id"])
    assert 0 < len(recorded) < QUESTIONS * 2
    before = calls(log)
    evaluate(config(root, f"model.call_log={log}"))
    again = calls(log) - before
    assert not {line.split("\t")[0] for line in again} & recorded, "a recorded response was asked for again"
    responses = store.read("responses")
    assert responses.height == QUESTIONS * 2
    assert responses["response_id"].n_unique() == QUESTIONS * 2
    assert responses["status"].unique().to_list() == ["ok"]


def test_evaluate_goes_on_after_an_engine_died(root: str, tmp_path: Path) -> None:
    evaluate(config(root, f"model.call_log={tmp_path / 'calls'}", "model.die_after=60", "model.deaths=2"))
    responses = Store(root).read("responses")
    assert responses.height == QUESTIONS * 2
    assert responses["status"].unique().to_list() == ["ok"]
    assert len((tmp_path / "calls.deaths").read_bytes()) == 2


def test_evaluate_ends_when_the_engine_dies_again_and_again(root: str, tmp_path: Path) -> None:
    mortal = ("model.die_after=5", "model.deaths=1000", "cluster.max_restarts=2")
    with pytest.raises(RunFailed, match=r"the engine died 3 times \(cluster\.max_restarts=2\).*scripted death"):
        evaluate(config(root, f"model.call_log={tmp_path / 'calls'}", *mortal))


def test_evaluate_with_a_failing_stage_ends_with_its_cause(root: str, tmp_path: Path) -> None:
    with pytest.raises(RunFailed, match="Is a directory"):
        evaluate(config(root, f"model.call_log={tmp_path}"))
    run = Store(root).read("runs").row(0, named=True)
    assert run["status"] == "failed"
    assert "Is a directory" in run["error"]
