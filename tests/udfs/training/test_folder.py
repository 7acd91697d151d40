"""A model's folder: finished only with its record, the newest whole checkpoint, nothing left of an older model."""

from __future__ import annotations

from pathlib import Path

from udfs.tables.store import Store
from udfs.training.folder import CHECKPOINTS, WHOLE, ModelFolder


def checkpoint(at: Path, step: int) -> Path:
    folder = at / f"checkpoint-{step}"
    folder.mkdir(parents=True)
    (folder / "weights").write_text(str(step), encoding="utf-8")
    return folder


def test_folder_gives_back_the_newest_whole_checkpoint_of_the_same_settings(tmp_path: Path) -> None:
    folder = ModelFolder(Store(str(tmp_path / "store")), "m", "record.json")
    assert folder.take_checkpoint("s", tmp_path / "none") is None
    for step in (9, 10):
        folder.put_checkpoint(checkpoint(tmp_path / "work", step), "s")
    kept = tmp_path / "store" / "models" / "m" / CHECKPOINTS
    assert [path.name for path in kept.iterdir()] == ["checkpoint-10"]
    (checkpoint(kept, 11) / "weights").write_text("half", encoding="utf-8")  # killed while it was copied
    found = folder.take_checkpoint("s", tmp_path / "taken")
    assert found is not None
    assert (found / "weights").read_text(encoding="utf-8") == "10"
    assert (kept / "checkpoint-10" / WHOLE).is_file()
    assert folder.take_checkpoint("other settings", tmp_path / "other") is None


def test_folder_is_finished_by_its_record_and_then_has_no_checkpoints(tmp_path: Path) -> None:
    folder = ModelFolder(Store(str(tmp_path / "store")), "m", "record.json")
    folder.put(checkpoint(tmp_path / "work", 1))
    folder.put_checkpoint(tmp_path / "work" / "checkpoint-1", "s")
    assert folder.record() is None
    folder.write_record({"spec": "s"})
    assert folder.record() == {"spec": "s"}
    lies = tmp_path / "store" / "models" / "m"
    assert sorted(path.name for path in lies.iterdir()) == ["record.json", "weights"]
    folder.empty()
    assert folder.record() is None
