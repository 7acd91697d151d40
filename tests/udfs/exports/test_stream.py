from __future__ import annotations

from pathlib import Path

import pytest

from tests.factories import frame
from tests.udfs.exports.bench import NAME, small_bench
from udfs.errors import RunFailed
from udfs.exports.files import RowFiles
from udfs.exports.folder import ExportFolder
from udfs.exports.plan import FACTS, make_plan
from udfs.exports.stream import Training, write_rows
from udfs.tables.store import Store


def test_stream_document_that_went_away_leaves_no_file(tmp_path: Path) -> None:
    bench = small_bench()
    plan = make_plan(bench.questions, frame("documents", bench.documents).select(FACTS), [NAME])
    lost = bench.documents.pop()
    bench.write(str(tmp_path))
    folder = ExportFolder(str(tmp_path / "exports"), overwrite=False)
    with pytest.raises(RunFailed, match=lost.doc_id), RowFiles(folder, ["parquet"]) as files:
        write_rows(Store(str(tmp_path)), plan, True, Training({}, {}, {}), files)
    assert [path for path in Path(folder.shown()).rglob("*") if path.is_file()] == []


def test_stream_of_training_alone_reads_only_what_it_needs(tmp_path: Path) -> None:
    bench = small_bench()
    plan = make_plan(bench.questions, frame("documents", bench.documents).select(FACTS), [NAME])
    del bench.documents[1:]
    bench.write(str(tmp_path))
    folder = ExportFolder(str(tmp_path / "exports"), overwrite=False)
    good = {bench.questions[0].question_id: "In 1911."}
    with RowFiles(folder, ["jsonl"]) as files:
        write_rows(Store(str(tmp_path)), plan, False, Training(good, good, {}), files)
    assert [(file.name, file.rows) for file in files.written()] == [("sft/train.jsonl", 1)]
