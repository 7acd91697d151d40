"""`jobs.curate` with the scripted engine: generate → sheets → three files → collect → a dataset that evaluates."""

from __future__ import annotations

import contextlib
import io
import json
import re
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from jobs.cli import compose
from jobs.config import EvaluateConfig
from jobs.curate import arguments_of, collect, generate
from jobs.evaluate import evaluate
from jobs.ingest import IngestConfig, ingest
from jobs.support.curation_config import CurateConfig
from tests.udfs.review.bench import saved_file
from udfs.errors import UserError
from udfs.records import Question
from udfs.review.collecting import Sample
from udfs.tables.store import Store
from udfs.views import view_text

FEW = ("limit=4", "questions_per_document=6", "questions_per_call=3", "excerpt_words=300", "model.detection=0.2")
WRITTEN = 24


pytestmark = pytest.mark.usefixtures("ray_cluster")


def ingested(where: Path) -> str:
    ingest(compose("ingest", IngestConfig, ["source=sample", "name=sample", f"storage.root={where}"]))
    return str(where)


@pytest.fixture
def root(tmp_path: Path) -> str:
    """A storage root with the sample in it."""
    with contextlib.redirect_stdout(io.StringIO()):
        return ingested(tmp_path / "root")


def config(root: str, *overrides: str) -> CurateConfig:
    given = ["model=scripted", "datasets=[sample]", f"storage.root={root}", *FEW, *overrides]
    return compose("curate", CurateConfig, given)


def collecting(root: str, files: list[str], *overrides: str) -> CurateConfig:
    given = [f"storage.root={root}", "action=collect", f"files={json.dumps(files)}", *overrides]
    return compose("curate", CurateConfig, given)


def calls(log: Path) -> Counter[str]:
    """How often each request was made."""
    return Counter(log.read_text().splitlines() if log.exists() else [])


def drawn(root: str) -> Sample:
    return Sample.from_json(Path(root, "reviews", "curated", "sample.json").read_text("utf-8"), "sample.json")


def recorded(root: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    store = Store(root)
    return store.read("proposals", part="curated"), store.read("checks", part="curated")


def written(root: str, table: str) -> int:
    """Rows of a table as they lie in the files."""
    return sum(len(pl.read_parquet(file.path)) for file in Store(root).files(table))


def annotate(root: str, folder: Path) -> list[str]:
    """Three files: the first half unanswerable for all, one item disputed, the others answerable for all."""
    sample = drawn(root)
    half = len(sample.items) // 2
    paths = []
    for number, name in enumerate(("Ada", "Bo", "陈")):
        said = ["unanswerable" if place < half else "answerable" for place in range(len(sample.items))]
        if number == 2:
            said[0] = "answerable"
        answers = {item.id: {"checks": {"label": said[place]}, "note": ""} for place, item in enumerate(sample.items)}
        path = folder / f"{number}.json"
        path.write_text(saved_file(sample, name, answers), "utf-8")
        paths.append(str(path))
    return paths


def test_curate_from_documents_to_a_dataset_that_evaluates(root: str, tmp_path: Path) -> None:
    said = generate(config(root))
    proposals, checks = recorded(root)
    assert proposals.height == WRITTEN == written(root, "proposals")
    assert set(proposals["language"]) == {"en", "zh"}
    sound = proposals.filter(pl.col("fate") == "proposed")
    assert checks.height == 5 * sound.height == written(root, "checks")
    confusing = set(checks.filter("refused")["proposal_id"])
    items = {item.id for item in drawn(root).items}
    assert items == confusing
    assert 0 < len(items) < sound.height
    assert f"| confused the checker | {len(items)} |" in said
    page = Path(root, "reviews", "curated", "sheet-3.html").read_text("utf-8")
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])  # type: ignore[index]
    assert {item["id"] for item in data["items"]} == items
    assert "refus" not in json.dumps([item["sections"][0] for item in data["items"]]), "the checker persuades nobody"

    files = annotate(root, tmp_path)
    said = collect(collecting(root, files))
    half = len(items) // 2
    questions = [Question.from_row(row) for row in Store(root).read("questions", part="curated").to_dicts()]
    assert len(questions) == len(items)
    assert sum(not question.answerable for question in questions) == half
    assert f"| of these unanswerable | {half} ({100 * half / len(items):.2f} %) |" in said
    assert f"- unanimous: {len(items) - 1} labelled, {half - 1} of them unanswerable" in said
    assert f"| {len(items)} | {len(items) - 1} (" in said
    assert (Path(root) / "reviews" / "curated" / "report.md").read_text("utf-8") in said
    texts = dict(Store(root).read("documents", ["doc_id", "text"], part="curated").iter_rows())
    assert {question.doc_id for question in questions} == set(texts)
    assert any(question.redactions for question in questions)
    for question in questions:
        shown = view_text(texts[question.doc_id], question.redactions)
        assert shown.strip() in json.loads(json.dumps(shown_on_sheet(data, json.loads(question.provenance))))
    before = {file: file.stat().st_mtime_ns for table in ("questions", "documents") for file in parts(root, table)}
    assert "published before, unchanged" in collect(collecting(root, files))
    assert {file: file.stat().st_mtime_ns for file in before} == before

    with pytest.raises(UserError, match="overwrite=true"):
        collect(collecting(root, files, "label=unanimous"))
    collect(collecting(root, files, "label=unanimous", "overwrite=true"))
    assert Store(root).read("questions", part="curated").height == len(items) - 1

    given = ["model=scripted", "datasets=[curated]", "methods=[zs]", f"storage.root={root}"]
    evaluate(compose("evaluate", EvaluateConfig, given))
    responses = Store(root).read("responses", part="main")
    assert responses.height == len(items) - 1
    assert set(responses["status"]) == {"ok"}


def parts(root: str, table: str) -> list[Path]:
    return sorted(Path(root, table, "curated").iterdir())


def shown_on_sheet(data: dict[str, list[dict[str, object]]], provenance: dict[str, str]) -> str:
    item = next(item for item in data["items"] if item["id"] == provenance["proposal_id"])
    sections: list[dict[str, list[dict[str, str]]]] = item["sections"]  # type: ignore[assignment]
    return "".join(run["text"] for run in sections[1]["runs"])


def test_curate_again_asks_only_what_is_not_recorded(root: str, tmp_path: Path) -> None:
    log = tmp_path / "calls"
    given = ("flush_rows=1", "cluster.blocks_per_actor=1", f"model.call_log={log}")
    said = generate(config(root, *given))
    first = calls(log)
    assert max(first.values()) == 1
    whole = [frame.sort(frame.columns[0]).drop("created_at") for frame in recorded(root)]
    sheet = Path(root, "reviews", "curated", "sheet-1.html").read_bytes()
    again = generate(config(root, *given))
    assert calls(log) == first
    assert Path(root, "reviews", "curated", "sheet-1.html").read_bytes() == sheet
    assert again == re.sub(r"- scripted: prompt tokens.*\n", "", said)
    with pytest.raises(UserError, match="of other questions"):
        generate(config(root, *given, "samples=7"))
    assert calls(log) == first, "before anything is asked"

    # As a kill leaves it: bundles that are not recorded, and one whose proposals were written and its checks not yet.
    files = {table: [file.path for file in Store(root).files(table)] for table in ("proposals", "checks")}
    assert min(map(len, files.values())) > 1, "several files, so that some can be lost"
    Path(files["proposals"][0]).unlink()
    for file in files["checks"][1:]:
        Path(file).unlink()
    Path(root, "reviews", "curated", "sample.json").unlink()
    done = {name for frame in recorded(root) for name in frame[:, 0]}
    log.unlink()
    generate(config(root, *given))
    now = [frame.sort(frame.columns[0]).drop("created_at") for frame in recorded(root)]
    assert all(one.equals(before) for one, before in zip(now, whole, strict=True))
    assert calls(log)
    assert max(calls(log).values()) == 1
    assert not {line.split("\t")[0] for line in calls(log)} & done
    assert Path(root, "reviews", "curated", "sheet-1.html").read_bytes() == sheet

    Path(root, "reviews", "curated", "sample.json").unlink()
    done |= {line.split("\t")[0] for line in calls(log)}
    log.unlink()
    generate(config(root, *given, "samples=6", "questions_per_document=9"))
    proposals, checks = recorded(root)
    assert not {line.split("\t")[0] for line in calls(log)} & done, "more questions and samples: only those"
    assert proposals.height == 4 * 9 == written(root, "proposals")
    assert checks.height == 6 * proposals.filter(pl.col("fate") == "proposed").height == written(root, "checks")


def test_curate_with_another_checker_that_fails_makes_its_sheets_when_nothing_is_owed(
    root: str, tmp_path: Path
) -> None:
    log, writing = tmp_path / "calls", tmp_path / "writing"
    checker = f"name: other, engine: scripted, detection: 0.3, call_log: {log}"
    given = ("checker=scripted", f"model.call_log={writing}")
    said = generate(config(root, *given, f"checker_overrides={{{checker}, error_rate: 0.2}}"))
    proposals, checks = recorded(root)
    assert set(proposals["model"]) == {"scripted"}
    assert set(checks["checker"]) == {"other"}
    assert checks.height == 5 * proposals.filter(pl.col("fate") == "proposed").height == calls(log).total()
    assert {line.split("\t")[1] for line in calls(log)} == {"answer"}
    assert {line.split("\t")[1] for line in calls(writing)} == {"agent.question_generator"}
    runs = Store(root).read("runs", part="curated").sort("started_at")
    assert runs.select("job", "model", "status").rows() == [("curate", "scripted", "ok"), ("curate", "other", "ok")]
    failed = set(checks.filter(pl.col("status") == "provider_error")["check_id"])
    assert failed
    assert "failed at the provider" in said
    assert not Path(root, "reviews", "curated", "sample.json").exists()
    log.unlink()
    written_by = calls(writing)
    generate(config(root, *given, f"checker_overrides={{{checker}}}"))
    assert calls(writing) == written_by
    assert {line.split("\t")[0] for line in calls(log)} == failed
    assert set(recorded(root)[1]["status"]) == {"ok"}
    assert drawn(root).items


def test_curate_of_garbage_hands_out_nothing_and_its_name_stands_for_how_it_was_made(root: str) -> None:
    with pytest.raises(UserError, match="another name than the datasets"):
        config(root, "name=sample")
    ingest(compose("ingest", IngestConfig, ["source=sample", "name=other", f"storage.root={root}"]))
    with pytest.raises(UserError, match="was not curated"):
        generate(config(root, "name=other"))
    said = generate(config(root, "limit=1", "model.garbage_rate=1"))
    assert set(recorded(root)[0]["fate"]) == {"parse_failure"}
    assert recorded(root)[1].is_empty()
    assert "nothing to annotate" in said
    assert not list(Path(root, "reviews", "curated").glob("*.html"))
    with pytest.raises(UserError, match="written by another model or with other settings"):
        generate(config(root, "limit=1", "generator_temperature=0.5"))
    with pytest.raises(UserError, match="nothing was curated"):
        collect(collecting(root, ["a.json", "b.json", "c.json"], "name=unknown"))
    with pytest.raises(UserError, match="name 3 files"):
        collecting(root, ["a.json"])
    with pytest.raises(UserError, match="all samples would be the same"):
        config(root, "temperature=0")


def test_command_line_takes_a_bare_action_and_bare_files() -> None:
    assert arguments_of(["model=m", "name=x"]) == ["model=m", "name=x"]
    assert arguments_of(["generate", "model=m"]) == ["action=generate", "model=m"]
    assert arguments_of(["collect", "a.json", "陈.json", "name=x"]) == [
        "action=collect",
        "name=x",
        "files=['a.json','陈.json']",
    ]
    assert arguments_of([]) == []
