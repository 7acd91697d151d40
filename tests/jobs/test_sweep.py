"""Sweeps: one command, several jobs one after another, whatever becomes of each."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from jobs.cli import CONF, compose, job, to_dataclass
from jobs.config import EvaluateConfig
from jobs.evaluate import main as evaluate_command
from jobs.ingest import IngestConfig, ingest
from jobs.ingest import main as ingest_command
from jobs.report import ReportConfig, report
from jobs.stats import StatsConfig
from jobs.support.command_line import Composed, compose_jobs, parse
from tests.jobs.conftest import local_ray
from udfs.errors import RunFailed, UserError
from udfs.tables.store import Store

ROOT = CONF.parent


def asked(*arguments: str) -> tuple[list[Composed], bool]:
    return compose_jobs(parse(arguments, "evaluate"))


def configs(*arguments: str) -> list[EvaluateConfig]:
    return [to_dataclass(one.config, EvaluateConfig) for one in asked(*arguments)[0]]


def exit_code(command: Callable[[], None], *arguments: str) -> int:
    """How `command` ends when it is started with these arguments, in the test's own process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["job", *arguments])
        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            command()
        except SystemExit as left:
            return int(left.code or 0)
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
    return 0


def test_compose_jobs_without_a_sweep_is_one_job() -> None:
    jobs, is_sweep = asked("model=scripted", "datasets=[sample]")
    assert not is_sweep
    assert [one.overrides for one in jobs] == [("model=scripted", "datasets=[sample]")]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_compose_jobs_of_a_sweep_is_every_combination_wherever_the_flag_stands(place: int) -> None:
    arguments = ["model=scripted,endpoint", "limit=1,2"]
    arguments.insert(place, "-m")
    jobs, is_sweep = asked(*arguments, "datasets=[sample]")
    assert is_sweep
    built = [to_dataclass(one.config, EvaluateConfig) for one in jobs]
    assert [(config.model["engine"], config.limit) for config in built] == [
        ("scripted", 1), ("scripted", 2), ("openai", 1), ("openai", 2),
    ]  # fmt: skip
    assert {config.run for config in built} == {"main"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-m", "model=scripted,nope"], "of the 2 jobs, model=nope: .*smollm2-135m"),
        (["-m", "model=scripted", "limit=1,[a"], "limit=1"),
        (["model=scripted,endpoint"], "--multirun"),
        (["-m", "--cfg", "job"], "--cfg and --multirun exclude each other"),
        (["--resolve"], "--resolve goes with --cfg"),
        (["--colour"], "unrecognized arguments: --colour"),
        (["--config-dir", "/no/such/folder", "model=scripted"], "no such folder"),
    ],
)
def test_compose_jobs_of_what_cannot_be_composed_says_which(arguments: list[str], words: str) -> None:
    with pytest.raises(UserError, match=words):
        asked(*arguments)


def test_compose_jobs_takes_configs_out_of_a_folder_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "mine.yaml").write_text("engine: scripted\nname: mine\n")
    (tmp_path / "night.yaml").write_text("defaults: [evaluate, _self_]\nrun: night\ndatasets: [sample]\n")
    flags = ["--config-dir", str(tmp_path), "--config-name", "night"]
    (config,) = configs("model=mine", *flags)
    assert (config.model["name"], config.run) == ("mine", "night")


def test_sweep_goes_on_after_a_job_that_failed_and_ends_with_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "c"):
        (tmp_path / f"{name}.txt").write_text(f"A text about {name}, long enough to be one.")
    paths = "path=a.txt,none.txt,c.txt"
    code = exit_code(ingest_command, "-m", "source=text", paths, "name=x", "overwrite=true", "storage.root=r")
    said = capsys.readouterr()
    assert code == 1
    assert [line for line in said.out.splitlines() if line.startswith("===")] == [
        "=== job 1 of 3: path=a.txt source=text name=x overwrite=True storage.root=r",
        "=== job 2 of 3: path=none.txt source=text name=x overwrite=True storage.root=r",
        "=== job 3 of 3: path=c.txt source=text name=x overwrite=True storage.root=r",
        "=== sweep of 3: 2 ok, 1 failed",
    ]
    assert said.out.splitlines()[-1].startswith("job 2, path=none.txt: error: ")
    assert said.err.splitlines()[-1].startswith("failed: 1 of 3 jobs")
    assert Store("r").read("documents")["text"].to_list() == ["A text about c, long enough to be one."]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "c.txt", "r"], "nothing of Hydra's is left"


def recording_job(seen: list[str], do: Callable[[str], None]) -> Callable[[], None]:
    """A job that notes which `datasets` it got, then does `do` with it."""

    def main(config: StatsConfig) -> None:
        seen.append(config.datasets[0])
        do(config.datasets[0])

    return job("stats", StatsConfig)(main)


def test_sweep_goes_on_after_a_run_that_failed_and_after_a_defect(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[str] = []

    def do(name: str) -> None:
        if name == "a":
            raise RunFailed("the engine died")
        if name == "b":
            raise ZeroDivisionError("division by zero")

    code = exit_code(recording_job(seen, do), "-m", "datasets=[a],[b],[c]")
    said = capsys.readouterr()
    assert (code, seen) == (1, ["a", "b", "c"])
    assert "Traceback" in said.err, "a defect is shown whole"
    summary = said.out[said.out.index("=== sweep") :].splitlines()
    assert summary[0] == "=== sweep of 3: 1 ok, 2 failed"
    assert summary[1] == "job 1, datasets=[a]: failed: the engine died"
    assert summary[2].startswith("job 2, datasets=[b]: failed: ZeroDivisionError: division by zero (unexpected")


def test_sweep_gives_each_config_its_number() -> None:
    roots: list[str] = []
    command = job("stats", StatsConfig)(lambda config: roots.append(config.storage.root))
    assert exit_code(command, "-m", "datasets=[a],[b]", "storage.root=r-${hydra:job.num}") == 0
    assert roots == ["r-0", "r-1"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_sweep_ends_at_once_at_a_signal(number: signal.Signals, capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[str] = []
    code = exit_code(
        recording_job(seen, lambda name: os.kill(os.getpid(), number)),
        "-m",
        "datasets=[a],[b]",
    )
    assert (code, seen) == (130, ["a"])
    assert capsys.readouterr().err.startswith("interrupted")


@pytest.mark.parametrize("arguments", [["-m", "datasets=[a],[b]", "storage.rot=x"], ["-m", "datasets=[a],b"]])
def test_sweep_with_a_bad_override_starts_no_job(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[str] = []
    assert exit_code(recording_job(seen, lambda name: None), *arguments) == 2
    assert seen == []
    assert capsys.readouterr().err.count("\n") == 1


def test_sweep_that_would_change_the_folder_starts_no_job(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[str] = []
    assert exit_code(recording_job(seen, lambda name: None), "datasets=[a]", "hydra.job.chdir=true") == 2
    assert (seen, "storage.root" in capsys.readouterr().err) == ([], True)


def test_job_with_a_defect_shows_it_and_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    def do(name: str) -> None:
        raise KeyError(name)

    assert exit_code(recording_job([], do), "datasets=[a]") == 1
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("Traceback")
    assert said[-1].startswith("failed: KeyError: 'a' (unexpected: please report it")


def test_evaluate_names_every_missing_dataset_and_how_to_ingest_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = f"{tmp_path}/r"
    ingest(compose("ingest", IngestConfig, ["dataset=sample", f"storage.root={root}"]))
    datasets = "datasets=[sample,couldask_bbc,mine]"
    assert exit_code(evaluate_command, "-m", "model=scripted,endpoint", datasets, f"storage.root={root}") == 2
    said = capsys.readouterr()
    assert said.out == "", "no job was started"
    assert said.err.count("\n") == 1
    for words in ("couldask_bbc by `python -m jobs.ingest dataset=couldask_bbc ", "mine by", "ingested there: sample"):
        assert words in said.err


def test_evaluate_over_models_shares_a_run_and_a_failed_one_leaves_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Real jobs on one Ray: the second model dies at every call; the report joins the two others."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "mine" / "model"
    folder.mkdir(parents=True)
    scripted = (CONF / "model" / "scripted.yaml").read_text()
    for name in ("first", "dying", "last"):
        made = scripted.replace("name: scripted", f"name: {name}")
        if name == "dying":
            made = made.replace("die_after: null", "die_after: 1").replace("deaths: 1", "deaths: 1000")
            made = made.replace("call_log: null", f"call_log: {tmp_path}/calls")
        (folder / f"{name}.yaml").write_text(made)
    ingest(compose("ingest", IngestConfig, ["dataset=sample", "storage.root=r"]))
    given = ["datasets=[sample]", "methods=[zs]", "limit=6", "cluster.max_restarts=0", "storage.root=r"]
    with local_ray():
        code = exit_code(
            evaluate_command, "-m", "model=first,dying,last", "--config-dir", str(tmp_path / "mine"), *given
        )
    assert code == 1
    assert "=== sweep of 3: 2 ok, 1 failed" in capsys.readouterr().out
    responses = Store("r").read("responses", part="main").filter(pl.col("status") == "ok")
    assert responses["model"].value_counts().sort("model").rows() == [("first", 6), ("last", 6)]
    joined = report(compose("report", ReportConfig, ["storage.root=r", "run=main", "viewer_responses=0"]))
    assert "| first | zs |" in joined
    assert "| last | zs |" in joined
    assert not {"multirun.yaml", "outputs", "multirun"} & {path.name for path in tmp_path.iterdir()}
