from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from rich.console import Console

from jobs.cli import compose
from jobs.export import ExportConfig, Exported, export, print_summary
from tests.factories import make_document, make_question, write_rows
from tests.udfs.exports.bench import HOSTILE, NAME, Bench, small_bench, without_reference
from udfs.errors import UserError
from udfs.prompts.render import build_answer
from udfs.tables.store import Store
from udfs.views import view_text

os.environ["HF_HUB_OFFLINE"] = "1"
ROOT = Path(__file__).resolve().parents[2]


def run(root: Path, *overrides: str) -> Exported:
    return export(compose("export", ExportConfig, [f"datasets=[{NAME}]", f"storage.root={root}", *overrides]))


def exported(root: Path, bench: Bench, *overrides: str) -> Path:
    bench.write(str(root))
    return Path(run(root, *overrides).address)


def lines(path: Path) -> list[dict[str, Any]]:
    """The rows of a JSONL file, as the most careless reader takes its lines."""
    return [json.loads(line) for line in path.read_bytes().decode("utf-8").splitlines()]


@pytest.fixture
def load_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Hugging Face's `load_dataset`, offline, with its cache in the test's folder."""
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    datasets.disable_progress_bars()
    return datasets.load_dataset


def snippets(folder: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("formats", ["parquet", "jsonl"])
def test_export_loads_in_hugging_face_datasets(tmp_path: Path, load_dataset: Any, formats: str) -> None:
    bench = small_bench()
    bench.respond(bench.questions[0], "In 1850.")
    folder = exported(tmp_path, bench, f"formats=[{formats}]")
    asked = load_dataset(str(folder), "questions")
    assert {split: rows.num_rows for split, rows in asked.items()} == {"train": 4, "test": 2}
    by_id = {row["question_id"]: row for rows in asked.values() for row in rows}
    for question in bench.questions:
        document = next(document for document in bench.documents if document.doc_id == question.doc_id)
        row = by_id[question.question_id]
        assert row["evidence"] == [document.text[span.start : span.end] for span in question.evidence]
        assert (row["kind"], row["answers"], row["split"]) == (question.kind, list(question.answers), document.split)
        assert (row["twin_id"], row["license"]) == (question.twin_id, document.license)
    texts = {row["doc_id"]: row["text"] for rows in load_dataset(str(folder), "documents").values() for row in rows}
    assert texts == {document.doc_id: document.text for document in bench.documents}
    assert load_dataset(str(folder), "views").num_rows == {"train": 4, "test": 2}
    assert load_dataset(str(folder), "sft").num_rows == {"train": 4}
    (pair,) = load_dataset(str(folder), "dpo", split="train")
    assert pair["rejected"] == [{"role": "assistant", "content": "In 1850."}]


def test_export_code_of_the_card_rebuilds_every_view(
    tmp_path: Path, load_dataset: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = small_bench()
    folder = exported(tmp_path, bench)
    monkeypatch.chdir(folder.parent)
    load, rebuild = snippets(folder)
    found: dict[str, Any] = {}
    exec(load, found)
    assert found["questions"].num_rows == {"train": 4, "test": 2}
    texts = {document.doc_id: document.text for document in bench.documents}
    for split in ("test", "train"):
        code = rebuild.replace('"test"', f'"{split}"')
        assert len(code.splitlines()) <= 10
        exec(code, found)
        expected = {
            question.question_id: view_text(texts[question.doc_id], question.redactions)
            for question in bench.questions
            if question.split == split
        }
        assert found["views"] == expected
        assert any(expected[q.question_id] != texts[q.doc_id] for q in bench.questions if q.split == split)


def test_export_jsonl_and_parquet_hold_the_same_rows(tmp_path: Path) -> None:
    bench = small_bench()
    bench.respond(bench.questions[0], HOSTILE)
    folder = exported(tmp_path, bench)
    files = sorted(folder.rglob("*.jsonl"))
    assert {str(file.relative_to(folder)) for file in files} == {
        *(f"{what}/{split}.jsonl" for what in ("questions", "documents", "views") for split in ("train", "test")),
        *("sft/train.jsonl", "dpo/train.jsonl"),
    }
    for file in files:
        assert lines(file) == pq.read_table(file.with_suffix(".parquet")).to_pylist()
    assert HOSTILE in [row["text"] for row in lines(folder / "documents" / "train.jsonl")]


def test_export_sft_shows_the_view_and_never_a_held_out_question(tmp_path: Path) -> None:
    bench = small_bench()
    left = without_reference(bench)
    bench.write(str(tmp_path))
    done = run(tmp_path)
    rows = {row["question_id"]: row for row in lines(Path(done.address) / "sft" / "train.jsonl")}
    trained = [question for question in bench.questions if question.split == "train" and question is not left]
    assert set(rows) == {question.question_id for question in trained}
    assert done.left_out == {"no_reference": 1}
    assert "Left out, `no_reference`: 1" in (Path(done.address) / "README.md").read_text(encoding="utf-8")
    texts = {document.doc_id: document.text for document in bench.documents}
    for question in trained:
        user, assistant = rows[question.question_id]["messages"]
        view = view_text(texts[question.doc_id], question.redactions)
        (asked,) = build_answer("zs", "document_first", question.language, view, question.question)
        assert user == {"role": "user", "content": asked["content"]}
        assert assistant == {"role": "assistant", "content": question.reference_response or question.answers[0]}


def test_export_dpo_pairs_reference_with_recorded_wrong_answers_of_train(tmp_path: Path) -> None:
    bench = small_bench()
    answerable, view, *_, tested, _ = bench.questions
    bench.respond(answerable, "In 1850.", model="weak")
    bench.respond(answerable, "In 1911.", "correct", model="strong")
    bench.respond(view, "It was in 1911.", model="strong")
    bench.respond(tested, "In 1850.", model="weak")
    folder = exported(tmp_path, bench)
    pairs = lines(folder / "dpo" / "train.jsonl")
    sft = {row["question_id"]: row["messages"] for row in lines(folder / "sft" / "train.jsonl")}
    assert sorted((row["question_id"], row["response_id"], row["model"]) for row in pairs) == sorted(
        [(answerable.question_id, "r0", "weak"), (view.question_id, "r2", "strong")]
    )
    for row in pairs:
        assert [*row["prompt"], *row["chosen"]] == sft[row["question_id"]]
        assert (row["judge"], row["rejected"][0]["role"]) == ("rules", "assistant")
    only = run(tmp_path, "models=[weak]", "run=main")
    assert only.pairs is not None
    assert (only.pairs.total, only.pairs.responses) == (1, 1)


def test_export_without_responses_says_which_command_to_run(tmp_path: Path) -> None:
    small_bench().write(str(tmp_path))
    done = run(tmp_path)
    (warning,) = done.warnings
    assert "jobs.evaluate" in warning
    assert "split=train" in warning
    assert not (Path(done.address) / "dpo").exists()
    assert str(tmp_path) not in (Path(done.address) / "README.md").read_text(encoding="utf-8")


def test_export_of_other_splits_keeps_their_names_and_has_no_training_records(tmp_path: Path) -> None:
    document = make_document(split="validation", dataset=NAME, license="unknown")
    whole = make_document("The tower fell.", split="all", title="A tower", dataset=NAME)
    Bench([document, whole], [make_question(document), make_question(whole)]).write(str(tmp_path))
    done = run(tmp_path)
    names = {file.name for file in done.files}
    assert {"questions/validation.parquet", "questions/full.parquet"} <= names
    assert not any(name.startswith(("sft", "dpo")) for name in names)
    assert [("licence" in warning, "split" in warning) for warning in done.warnings] == [(True, False), (False, True)]
    card = (Path(done.address) / "README.md").read_text(encoding="utf-8")
    assert done.warnings[0] in card
    with pytest.raises(UserError, match=r"nothing to export.*'train'"):
        run(tmp_path, "parts=[sft,dpo]")
    assert [row["split"] for row in lines(Path(run(tmp_path, "split=all").address) / "questions/full.jsonl")] == ["all"]
    assert (Path(done.address) / "sft" / "full.jsonl").exists()


def test_export_again_with_fewer_parts_removes_the_others(tmp_path: Path) -> None:
    folder = exported(tmp_path, small_bench())
    assert (folder / "sft" / "train.jsonl").exists()
    run(tmp_path, "parts=[benchmark]", "formats=[jsonl]")
    left = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert left == {
        *(f"{what}/{split}.jsonl" for what in ("questions", "documents", "views") for split in ("train", "test")),
        *("README.md", "export.json"),
    }
    head = yaml.safe_load((folder / "README.md").read_text(encoding="utf-8").split("---\n")[1])
    assert [config["config_name"] for config in head["configs"]] == ["questions", "documents", "views"]


def test_export_data_are_the_same_every_time(tmp_path: Path) -> None:
    bench = small_bench()
    bench.respond(bench.questions[0], "In 1850.")
    folder = exported(tmp_path, bench)
    before = {path: path.read_bytes() for path in folder.rglob("*/*") if path.is_file()}
    run(tmp_path)
    assert len(before) == 16
    assert before == {path: path.read_bytes() for path in folder.rglob("*/*") if path.is_file()}


def test_export_into_a_folder_of_somebody_is_refused(tmp_path: Path) -> None:
    small_bench().write(str(tmp_path / "store"))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "README.md").write_text("mine")
    with pytest.raises(UserError, match="overwrite=true"):
        run(tmp_path / "store", f"path={tmp_path / 'mine'}")
    assert (tmp_path / "mine" / "README.md").read_text() == "mine"
    with pytest.raises(UserError, match="where the tables are"):
        run(tmp_path / "store", f"path={tmp_path / 'store'}", "overwrite=true")
    done = run(tmp_path / "store", f"path={tmp_path / 'mine'}", "overwrite=true", "name=bench")
    assert (tmp_path / "mine" / "README.md").read_text(encoding="utf-8").count("# bench") == 1
    assert done.files[-1].name == "README.md"


def test_export_document_in_two_splits_writes_nothing(tmp_path: Path) -> None:
    bench = small_bench()
    bench.questions.append(make_question(bench.documents[0], 50, split="test"))
    bench.write(str(tmp_path))
    with pytest.raises(UserError, match="more than one split"):
        run(tmp_path)
    assert not (tmp_path / "exports").exists()


@pytest.mark.parametrize(
    ("overrides", "says"),
    [
        (["datasets=[nosuch]"], "ingested: books, synthetic"),
        (["datasets=[books]"], r"no questions.*jobs\.synthesize"),
        (["datasets=[]"], "at least one dataset"),
        (["formats=[csv]"], "parquet, jsonl"),
        (["formats=[]"], "parquet, jsonl"),
        (["parts=[all]"], "benchmark, sft, dpo"),
        (["split=test"], "never made of"),
        (["split=Dev"], "never made of"),
        (["name=../x"], "letters, digits"),
        (["max_pairs_per_question=0"], "at least 1"),
        (["run=nosuch"], "runs: main"),
        (["models=[nosuch]"], "there are some of m"),
    ],
)
def test_export_asked_for_what_is_not_there_says_what_is(tmp_path: Path, overrides: list[str], says: str) -> None:
    bench = small_bench()
    bench.respond(bench.questions[0], "In 1850.")
    bench.write(str(tmp_path))
    write_rows(str(tmp_path), "documents", "books", [make_document(dataset="books")])
    with pytest.raises(UserError, match=says):
        run(tmp_path, *overrides)


def test_export_takes_the_verdicts_of_the_judge_that_is_named(tmp_path: Path) -> None:
    bench = small_bench()
    bench.respond(bench.questions[0], "In 1850.", judge="llm:m")
    bench.write(str(tmp_path))
    unnamed = run(tmp_path, "name=rules").pairs
    assert unnamed is not None
    assert unnamed.total == 0
    made = run(tmp_path, "name=model", "judge_name='llm:m'").pairs
    assert made is not None
    assert made.total == 1


def test_export_of_a_broken_off_ingest_is_refused(tmp_path: Path) -> None:
    small_bench().write(str(tmp_path))
    (tmp_path / "documents" / NAME / "_dataset.json").write_text('{"complete": false}')
    with pytest.raises(UserError, match="broke off"):
        run(tmp_path)


def test_export_of_two_datasets_holds_both(tmp_path: Path) -> None:
    small_bench().write(str(tmp_path))
    other = make_document("Another bridge.", dataset="more", split="train")
    Bench([other], [make_question(other, 99)]).write(str(tmp_path), "more")
    done = run(tmp_path, f"datasets=[{NAME},more,{NAME}]")
    assert Path(done.address) == tmp_path / "exports" / f"{NAME}-more"
    assert len(lines(Path(done.address) / "questions" / "train.jsonl")) == 5
    assert len(Store(str(tmp_path)).read("questions")) == 7


def test_export_summary_lists_every_file_and_how_to_load(tmp_path: Path) -> None:
    bench = small_bench()
    without_reference(bench)
    bench.respond(bench.questions[0], "In 1850.")
    bench.write(str(tmp_path))
    done = run(tmp_path)
    out = io.StringIO()
    print_summary(done, Console(file=out, width=200))
    said = out.getvalue()
    for file in done.files:
        assert re.search(rf"{re.escape(file.name)} .*{file.bytes:,}", said)
    assert "1 questions give no SFT record: no_reference" in said
    assert f"load_dataset('{done.address}', 'questions')" in said


def test_export_command_prints_a_plain_table_into_a_pipe(tmp_path: Path) -> None:
    small_bench().write(str(tmp_path))
    command = [sys.executable, "-m", "jobs.export", f"storage.root={tmp_path}", f"datasets=[{NAME}]"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr
    assert "questions/test.parquet" in done.stdout
    assert "\x1b" not in done.stdout
