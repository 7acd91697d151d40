"""The door of every job: composed config → checked dataclass, errors → one line."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.cli import CONF, UNREAD, compose, to_dataclass
from jobs.config import EvaluateConfig
from jobs.evaluate import main as evaluate_command
from jobs.support.runs import without_secrets
from tests.udfs.report.bench import small_run
from udfs.errors import UserError
from udfs.tables.store import Store


@dataclass(frozen=True)
class Inner:
    size: int
    share: float = 0.5


@dataclass(frozen=True)
class Outer:
    inner: Inner
    names: tuple[str, ...]
    mode: Literal["a", "b"] = "a"
    note: str | None = None
    extra: dict[str, Any] | None = None


GOOD: dict[str, Any] = {"inner": {"size": 1}, "names": ["x"]}


def test_to_dataclass_fills_defaults_and_nests() -> None:
    built = to_dataclass(GOOD | {"extra": {"k": [1]}, "inner": {"size": 2, "share": 1}}, Outer)
    assert built == Outer(Inner(2, 1.0), ("x",), extra={"k": [1]})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": 1}, "unknown config key 'colour'; allowed here: inner, names"),
        ({"inner": {"size": 1, "sise": 2}}, r"unknown config key 'inner\.sise'"),
        ({"inner": {}}, r"'inner\.size' is missing"),
        ({"inner": 3}, "inner must be a group of keys"),
        ({"inner": {"size": "many"}}, r"inner\.size='many' must be of type int"),
        ({"inner": {"size": True}}, r"inner\.size=True must be of type int"),
        ({"names": "x"}, r"names must be a list such as '\[a,b\]'"),
        ({"names": [None]}, r"names\[0\]=None must be of type str"),
        ({"mode": "c"}, "mode='c' is not allowed; choose one of a, b"),
        ({"names": "???"}, "'names' must be given: add names=…"),
    ],
)
def test_to_dataclass_of_a_mistake_names_key_and_what_is_allowed(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        to_dataclass(GOOD | change, Outer)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["inner", "names", "mode", "note", "extra", "other"]), json_values))
def test_to_dataclass_of_anything_builds_or_says_why(values: dict[str, Any]) -> None:
    try:
        built = to_dataclass(values, Outer)
    except UserError:
        return  # said why; anything else is a defect
    assert isinstance(built.inner.size, int)
    assert all(isinstance(name, str) for name in built.names)


def test_compose_evaluate_knows_its_keys() -> None:
    config = compose("evaluate", EvaluateConfig, ["datasets=[sample]", "model=scripted"])
    assert config.methods == ("zs", "zs_cot", "fs", "fs_cot")
    assert set(EvaluateConfig.__dataclass_fields__) == {
        "model", "datasets", "methods", "layout", "detector", "judge", "storage", "cluster", "split", "limit", "run",
        "resume", "retry", "kv_share", "max_dialogues", "flush_rows", "flush_seconds", "embedding", "budget",
        "classifier",
    }  # fmt: skip


def test_without_secrets_hides_keys_and_keeps_names_of_variables() -> None:
    config = {"model": {"api_key_env": "MY_KEY", "api_key": "sk-1", "max_tokens": 5}, "list": [{"password": "p"}]}
    assert without_secrets(config) == {
        "model": {"api_key_env": "MY_KEY", "api_key": "(not stored)", "max_tokens": 5},
        "list": [{"password": "(not stored)"}],
    }


@pytest.mark.parametrize(
    ("argument", "words"),
    [("storge.root=x", "storge.root"), ("model=nope", "smollm2-135m"), ("datasets=[a", r"\[a"), ("colour=1", "colour")],
)
def test_command_that_hydra_cannot_compose_is_one_line_and_exit_2(
    argument: str, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["jobs.evaluate", argument])
    with pytest.raises(SystemExit) as left:
        evaluate_command()
    assert left.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    assert re.search(words, said)


def test_storage_root_that_is_a_file_says_so(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(UserError, match="is a file; give a folder"):
        Store(str(file))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_command_interrupted_while_it_imports_is_one_line_and_exit_130(number: signal.Signals) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "jobs.stats"]
    with subprocess.Popen(command, cwd=CONF.parent, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.split("|")[-1].strip() == "jobs":  # the package is there; what the job needs takes seconds more
                process.send_signal(number)
                break
        said = [line for line in process.stderr if not line.startswith("import time:")]
    assert (process.returncode, said) == (130, ["interrupted before anything was started\n"])


@pytest.mark.parametrize(
    ("arguments", "says"), [(["--help"], ""), (["datasets=[short,long]", "storage.root=ROOT"], f"{UNREAD}\n")]
)
def test_command_whose_output_nobody_reads_leaves_without_a_fuss(
    arguments: list[str], says: str, tmp_path: Path
) -> None:
    small_run().write(str(tmp_path))
    given = [argument.replace("ROOT", str(tmp_path)) for argument in arguments]
    command = [sys.executable, "-m", "jobs.report", *given]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command, cwd=CONF.parent, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, says)
