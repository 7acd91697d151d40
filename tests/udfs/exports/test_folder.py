from __future__ import annotations

import json
from pathlib import Path

import pytest

from udfs.errors import UserError
from udfs.exports.files import ROW_GROUP_ROWS, RowFiles
from udfs.exports.folder import CARD, MANIFEST, ExportFolder, WrittenFile
from udfs.tables.store import Store

VIEW = {"question_id": "q", "doc_id": "d", "start": [1], "end": [2]}


def export(root: Path, *splits: str, overwrite: bool = False) -> None:
    folder = ExportFolder(str(root), overwrite)
    folder.begin([f"views/{split}.jsonl" for split in splits])
    with RowFiles(folder, ["jsonl"]) as files:
        for split in splits:
            files.add("views", split, VIEW, 0)
    folder.finish(files.written(), {}, "card")


def break_off(folder: ExportFolder) -> None:
    with RowFiles(folder, ["jsonl", "parquet"]) as files:
        for split in ("train", "test"):
            files.add("views", split, VIEW | {"start": [9]}, 0)
        raise KeyboardInterrupt


def names(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def test_folder_of_an_earlier_export_is_replaced_without_asking(tmp_path: Path) -> None:
    export(tmp_path, "train", "test")
    (tmp_path / "mine.txt").write_text("mine")
    export(tmp_path, "test", "dev")
    assert names(tmp_path) == {"views/test.jsonl", "views/dev.jsonl", MANIFEST, CARD, "mine.txt"}


def test_folder_with_files_of_somebody_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UserError, match="overwrite=true"):
        export(tmp_path, "test")
    assert names(tmp_path) == {"mine.txt"}
    export(tmp_path, "test", overwrite=True)
    assert names(tmp_path) == {"mine.txt", "views/test.jsonl", MANIFEST, CARD}


@pytest.mark.parametrize("content", ["", "[]", "{", '{"made_by": "somebody"}', "\udcff"])
def test_folder_with_another_manifest_is_somebodys(tmp_path: Path, content: str) -> None:
    (tmp_path / MANIFEST).write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(UserError, match="not made by"):
        ExportFolder(str(tmp_path), overwrite=False)


def test_folder_doctored_manifest_deletes_nothing_else(tmp_path: Path) -> None:
    root = tmp_path / "export"
    export(root, "test")
    (tmp_path / "precious.txt").write_text("mine")
    (root / "notes").mkdir()
    (root / "notes" / "a.txt").write_text("mine")
    manifest = json.loads((root / MANIFEST).read_text())
    manifest["files"] = [{"name": name} for name in ("../precious.txt", "notes/a.txt", "views/../../x", 7)] + [3]
    (root / MANIFEST).write_text(json.dumps(manifest))
    export(root, "test")
    assert (tmp_path / "precious.txt").exists()
    assert (root / "notes" / "a.txt").exists()


def test_folder_broken_off_has_no_card_and_no_half_file_and_can_be_written_again(tmp_path: Path) -> None:
    export(tmp_path, "train")
    before = (tmp_path / "views" / "train.jsonl").read_bytes()
    folder = ExportFolder(str(tmp_path), overwrite=False)
    folder.begin(["views/train.jsonl", "views/test.jsonl"])
    with pytest.raises(KeyboardInterrupt):
        break_off(folder)
    assert names(tmp_path) == {"views/train.jsonl", MANIFEST}
    assert (tmp_path / "views" / "train.jsonl").read_bytes() == before
    (tmp_path / "views" / "_test.jsonl.tmp").write_text("of a killed start")
    export(tmp_path, "dev")
    assert names(tmp_path) == {"views/dev.jsonl", MANIFEST, CARD}
    assert json.loads((tmp_path / MANIFEST).read_text())["complete"] is True


def test_folder_that_is_a_file_or_unknown_address_is_a_user_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError, match="is a file"):
        ExportFolder(str(tmp_path / "file"), overwrite=True)
    with pytest.raises(UserError, match="no known scheme"):
        ExportFolder("nosuch://bucket/x", overwrite=True)


@pytest.mark.parametrize("inside", ["", "questions", "documents/x", "./runs/y"])
def test_folder_among_the_tables_is_refused(tmp_path: Path, inside: str) -> None:
    folder = ExportFolder(str(tmp_path / inside), overwrite=True)
    with pytest.raises(UserError, match="where the tables are"):
        folder.require_outside_tables(Store(str(tmp_path)))


@pytest.mark.parametrize("inside", ["exports/x", "questions_of_mine", "../elsewhere"])
def test_folder_beside_the_tables_is_allowed(tmp_path: Path, inside: str) -> None:
    ExportFolder(str(tmp_path / "root" / inside), overwrite=False).require_outside_tables(Store(str(tmp_path / "root")))


def test_row_files_say_what_was_written_in_order(tmp_path: Path) -> None:
    folder = ExportFolder(str(tmp_path), overwrite=False)
    with RowFiles(folder, ["jsonl", "parquet"]) as files:
        for _ in range(ROW_GROUP_ROWS + 1):
            files.add("views", "test", VIEW, 0)
    parquet, jsonl = files.written()
    assert (parquet.name, jsonl.name) == ("views/test.parquet", "views/test.jsonl")
    assert parquet.rows == jsonl.rows == ROW_GROUP_ROWS + 1
    assert jsonl == WrittenFile(jsonl.name, jsonl.rows, (tmp_path / "views" / "test.jsonl").stat().st_size)
