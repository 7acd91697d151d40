from __future__ import annotations

import dataclasses
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from rich.console import Console

from jobs.cli import CONF, to_dataclass
from jobs.ingest import IngestConfig, ingest, print_summary, require_something
from tests.udfs.sources.helpers import real_data
from udfs.errors import RunFailed, UserError
from udfs.tables.store import Store

TEXT = "The bridge opened in 1902."


def config(root: Path, *overrides: str) -> IngestConfig:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        composed = compose("ingest", [f"storage.root={root}/store", *overrides])
    return to_dataclass(composed, IngestConfig)


def rows_file(root: Path, *rows: dict[str, Any]) -> Path:
    path = root / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def row(question: str = "When?", answerable: object = 1) -> dict[str, Any]:
    return {"context": TEXT, "question": question, "answerable": answerable, "entities": []}


def test_ingest_writes_tables_and_counts_every_row(tmp_path: Path) -> None:
    path = rows_file(tmp_path, row(), row("Who?", 0), row(" "), row("Why?", "perhaps"))
    asked = config(tmp_path, "source=couldask", f"path={path}", "name=bench", "split=test", "license=CC0-1.0")
    counts, written = ingest(asked)
    assert written
    assert (counts.rows, counts.documents, counts.answerable, counts.unanswerable) == (4, 1, 1, 1)
    assert counts.rejects == {"no_question": 1, "bad_label": 1}
    store = Store(asked.storage.root)
    document = store.read("documents").to_dicts()[0]
    assert (document["text"], document["split"], document["license"], document["tokenizer"]) == (
        *(TEXT, "test", "CC0-1.0", "estimate"),
    )
    rejects = store.read("rejects").sort("row").to_dicts()
    assert [(r["file"], r["row"], r["reason"]) for r in rejects] == [
        (str(path), 3, "no_question"),
        (str(path), 4, "bad_label"),
    ]


def test_ingest_again_is_the_same_and_from_elsewhere_too(tmp_path: Path) -> None:
    path = rows_file(tmp_path, row(), row("Who?", 0), row(" "))
    arguments = ["source=couldask", "name=bench"]
    ingest(config(tmp_path, *arguments, f"path={path}"))
    store = Store(f"{tmp_path}/store")
    before = [store.read(table).drop("file", strict=False) for table in ("documents", "questions", "rejects")]
    (tmp_path / "moved").mkdir()
    moved = path.rename(tmp_path / "moved" / "a.jsonl")
    assert ingest(config(tmp_path, *arguments, f"path={moved}"))[1] is False
    assert ingest(config(tmp_path, *arguments, f"path={moved}", "overwrite=true"))[1] is True
    after = [store.read(table).drop("file", strict=False) for table in ("documents", "questions", "rejects")]
    for old, new in zip(before, after, strict=True):
        assert old.drop("provenance", strict=False).equals(new.drop("provenance", strict=False))
    assert [len(store.files(table, "bench")) for table in ("documents", "questions", "rejects")] == [1, 1, 1]


def test_ingest_again_after_a_file_was_lost_brings_it_back(tmp_path: Path) -> None:
    given = config(tmp_path, "source=sample", "name=sample")
    ingest(given)
    (lost,) = tmp_path.rglob("documents/sample/*.parquet")
    before = lost.read_bytes()
    lost.unlink()
    ingest(given)
    assert lost.read_bytes() == before


def test_ingest_other_content_under_a_taken_name_needs_overwrite(tmp_path: Path) -> None:
    ingest(config(tmp_path, "source=couldask", f"path={rows_file(tmp_path, row())}", "name=bench"))
    other = config(tmp_path, "source=couldask", f"path={rows_file(tmp_path, row('Who?', 0))}", "name=bench")
    with pytest.raises(UserError, match="overwrite=true"):
        ingest(other)
    ingest(dataclasses.replace(other, overwrite=True))
    assert Store(other.storage.root).read("questions", ["question"])["question"].to_list() == ["Who?"]


def test_ingest_raise_stops_at_the_first_bad_row_and_leaves_nothing(tmp_path: Path) -> None:
    path = rows_file(tmp_path, row(), row("Who?", 7), row(" "))
    asked = config(tmp_path, "source=couldask", f"path={path}", "name=bench", "on_error=raise")
    with pytest.raises(UserError, match=rf"{path}, row 2: bad_label: .*'7'"):
        ingest(asked)
    assert Store(asked.storage.root).dataset_names() == []


def test_ingest_table_takes_columns_and_labels_from_the_command(tmp_path: Path) -> None:
    rows = [{"q": f"When ({n})?", "body": TEXT, "ok": value} for n, value in enumerate([True, "yes", 1.0, False, "no"])]
    mapping = ["columns.question=q", "columns.text=body", "columns.answerable=ok"]
    labels = ["labels.answerable=[1,true,yes]", "labels.unanswerable=[false,no]"]
    asked = config(
        tmp_path,
        "source=table",
        f"path={rows_file(tmp_path, *rows)}",
        "name=t",
        *mapping,
        *labels,
    )
    counts, _ = ingest(asked)
    assert (counts.answerable, counts.unanswerable, counts.rejects.total()) == (3, 2, 0)


@pytest.mark.parametrize(
    ("overrides", "wrong"),
    [
        (["source=squad", "name=x"], "squad_v2"),
        (["source=sample"], "name"),
        (["source=sample", "name=a/b"], "name"),
        (["source=sample", "name=x", "language=fr"], "language"),
        (["source=sample", "name=x", "on_error=ignore"], "on_error"),
        (["source=text", "name=x"], "path="),
        (["source=sample", "name=x", "columns.text=t"], "columns"),
        (["source=sample", "name=x", "documents=pages/"], "documents"),
        (["source=qa2", "name=x", "path=a.csv"], "documents="),
        (["source=table", "name=x", "path=a.csv", "columns.text=[1]"], "columns.text"),
        (["source=sample", "name=x", "tokenizer=/no/such/tokenizer.json"], "tokenizer"),
    ],
)
def test_ingest_bad_config_names_the_key(tmp_path: Path, overrides: list[str], wrong: str) -> None:
    with pytest.raises(UserError, match=wrong):
        ingest(config(tmp_path, *overrides))


@pytest.mark.parametrize("preset", sorted(path.stem for path in (CONF / "dataset").glob("*.yaml")))
def test_dataset_preset_composes_and_the_command_wins(tmp_path: Path, preset: str) -> None:
    assert config(tmp_path, f"dataset={preset}").name == preset
    assert config(tmp_path, f"dataset={preset}", "name=mine", "split=dev").name == "mine"


def test_summary_off_a_terminal_is_plain_and_complete(tmp_path: Path) -> None:
    asked = config(tmp_path, "source=couldask", f"path={rows_file(tmp_path, row(), row(' '))}", "name=bench")
    counts, written = ingest(asked)
    stream = io.StringIO()
    print_summary(asked, counts, written, 1.0, Console(file=stream, width=240))
    text = stream.getvalue()
    assert not set(text) & set("─│┃━\x1b")
    assert [line.split() for line in text.splitlines() if line.strip().startswith("no_question")] == [
        ["no_question", "1"]
    ]
    assert f"{tmp_path}/store/rejects/bench" in text
    assert text.splitlines()[-1] == "warning: 1 of 2 rows were rejected: 1 no_question"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "jobs.ingest", *arguments]
    return subprocess.run(command, cwd=CONF.parent, capture_output=True, text=True, check=False)


def test_command_exits_0_with_rejects_and_2_with_one_line_on_a_user_error(tmp_path: Path) -> None:
    path = rows_file(tmp_path, row(), row(" "))
    good = run("source=couldask", f"path={path}", "name=bench", f"storage.root={tmp_path}/store")
    assert (good.returncode, good.stderr) == (0, "")
    bad = run("source=couldask", f"path={tmp_path}/none", "name=bench", f"storage.root={tmp_path}/store")
    assert bad.returncode == 2
    assert len(bad.stderr.strip().splitlines()) == 1
    assert "none" in bad.stderr


@pytest.mark.parametrize(("rows", "why"), [([row(" ")], "none of 1 rows"), ([], "the input holds no rows")])
def test_ingest_that_takes_nothing_has_failed(tmp_path: Path, rows: list[dict[str, Any]], why: str) -> None:
    asked = config(tmp_path, "source=couldask", f"path={rows_file(tmp_path, *rows)}", "name=bench")
    counts, _ = ingest(asked)
    with pytest.raises(RunFailed, match=why):
        require_something(asked, counts)


@pytest.mark.parametrize(
    ("source", "name", "questions"),
    [
        ("banditqa", "banditqa_dev.jsonl.gz", 402),
        ("banditqa", "banditqa_static_test.jsonl.gz", 316),
        ("squad_v2", "squad_v2_dev_part.json.gz", 4020),
    ],
)
def test_ingest_real_files_write_every_question(tmp_path: Path, source: str, name: str, questions: int) -> None:
    asked = config(tmp_path, f"source={source}", f"path={real_data('qa', name)}", "name=real")
    counts, _ = ingest(asked)
    assert counts.rejects.total() == counts.duplicates == 0
    assert Store(asked.storage.root).read("questions", ["question_id"]).height == questions
