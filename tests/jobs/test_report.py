from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from jobs.config import StorageConfig
from jobs.report import ReportConfig, report
from jobs.support.made_with import RECORD
from tests.factories import WHEN, make_document, make_judgement, make_question, make_response, make_run, write_rows
from tests.udfs.report.bench import cells_of, small_run
from tests.udfs.report.synthesis_bench import COPY, Made, make_annotations, small_synthesis
from udfs.errors import UserError
from udfs.records import Judgement, Response
from udfs.schema import Kind, Status
from udfs.tables.selection import SPEC_RECORD
from udfs.tables.store import Store

ROOT = Path(__file__).resolve().parents[2]


def config_for(root: Path, **given: object) -> ReportConfig:
    values: dict[str, object] = {
        "storage": StorageConfig(str(root)),
        "run": None,
        "datasets": (),
        "models": (),
        "published": False,
        "resamples": 1000,
        "seed": 0,
        "viewer_responses": 5000,
        "excerpt_chars": 300,
    }
    return ReportConfig(**(values | given))  # type: ignore[arg-type]


def test_report_writes_metrics_pages_and_comparisons(tmp_path: Path) -> None:
    small_run().write(str(tmp_path))
    text = report(config_for(tmp_path))
    folder = tmp_path / "reports" / "main"
    for name in ("report.md", "index.html", "responses.html", "comparisons.csv", "data/index.js"):
        assert (folder / name).stat().st_size > 100
        assert name.startswith(("data/", "comparisons")) or str(folder / name) in text
    stored = Store(str(tmp_path)).read("metrics", part="main")
    assert stored.filter(pl.col("metric") == "detection.f1").height > 0


def test_report_twice_gives_the_same_metrics_once(tmp_path: Path) -> None:
    small_run().write(str(tmp_path))
    report(config_for(tmp_path, viewer_responses=0))
    first = Store(str(tmp_path)).read("metrics", part="main")
    report(config_for(tmp_path, viewer_responses=0))
    assert Store(str(tmp_path)).read("metrics", part="main").equals(first)
    assert not (tmp_path / "reports" / "main" / "responses.html").exists()


def test_report_without_a_name_takes_the_run_started_last(tmp_path: Path) -> None:
    small_run().write(str(tmp_path))
    later = small_run(run="later")
    later.runs = [make_run("later", 7)]
    later.write(str(tmp_path))
    assert "- run: later" in report(config_for(tmp_path, viewer_responses=0))
    assert "- run: main" in report(config_for(tmp_path, run="main", viewer_responses=0))


def test_report_of_one_dataset_holds_only_that(tmp_path: Path) -> None:
    small_run().write(str(tmp_path))
    text = report(config_for(tmp_path, datasets=("long",), viewer_responses=0))
    assert "- datasets: long" in text
    assert "| short |" not in text


def test_report_counts_responses_that_a_later_template_replaced(tmp_path: Path) -> None:
    run = small_run()
    old = make_response(run.questions[0], "smollm2-135m", "zs", response_id="old", created_at=WHEN.replace(year=2025))
    write_rows(str(tmp_path), "responses", "main", [old], name="older")
    run.write(str(tmp_path))
    assert "1 older responses" in report(config_for(tmp_path, viewer_responses=0))


def test_report_counts_older_judgements_and_shows_the_kept_ones_alone(tmp_path: Path) -> None:
    run = small_run()
    run.write(str(tmp_path))
    judged = next(j for j in run.judgements if j.measure == "answer_consistency" and j.verdict == "correct")
    older = replace(
        judged, judgement_id="older", verdict="incorrect", rationale="older words", created_at=WHEN.replace(year=2025)
    )
    before = report(config_for(tmp_path))
    measured = Store(str(tmp_path)).read("metrics", part="main")
    write_rows(str(tmp_path), "judgements", "main", [older], name="older")
    text = report(config_for(tmp_path))
    assert "1 older judgements" in text
    assert "older judgements" not in before
    assert Store(str(tmp_path)).read("metrics", part="main").equals(measured)
    data = tmp_path / "reports" / "main" / "data"
    assert not any("older words" in file.read_text(encoding="utf-8") for file in data.glob("*.js"))


def test_report_of_one_model_warns_of_that_model_alone(tmp_path: Path) -> None:
    run = small_run()
    cells = cells_of(run, more=1)
    run.runs += [make_run(number=n, model=name, status="failed", cells=cells) for n, name in ((1, "b"), (2, "c"))]
    run.write(str(tmp_path))
    everything = report(config_for(tmp_path, viewer_responses=0))
    assert "start of model b" in everything
    assert "56 of 80 expected" in everything
    alone = report(config_for(tmp_path, models=("smollm2-135m",), viewer_responses=0))
    assert "start of model" not in alone
    assert "not recorded (" not in alone


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"run": "nosuch"}, "nosuch"),
        ({"datasets": ("nosuch",)}, "short"),
        ({"models": ("nosuch",)}, "smollm2-135m"),
    ],
)
def test_report_of_something_that_is_not_there_says_what_is(
    tmp_path: Path, given: dict[str, object], says: str
) -> None:
    small_run().write(str(tmp_path))
    with pytest.raises(UserError, match=says):
        report(config_for(tmp_path, **given))


def test_report_of_an_empty_root_says_which_job_to_run(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"jobs\.evaluate"):
        report(config_for(tmp_path))


def test_report_without_questions_says_which_job_to_run(tmp_path: Path) -> None:
    run = small_run()
    run.questions = []
    run.write(str(tmp_path))
    with pytest.raises(UserError, match=r"jobs\.ingest"):
        report(config_for(tmp_path))


def test_report_config_out_of_range_raises_user_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="resamples"):
        config_for(tmp_path, resamples=10)


def asked(made: Made, root: Path, run: str = "main", hours: int = 1) -> tuple[list[Response], list[Judgement]]:
    """Responses and judgements of a run that asked every question of a synthesised dataset."""
    responses = [make_response(q, run=run, refused=q.kind == Kind.LACK_OF_EVIDENCE) for q in made.questions]
    judgements = [make_judgement(one, "answer_consistency", "correct") for one in responses]
    write_rows(str(root), "responses", run, responses)
    write_rows(str(root), "judgements", run, judgements)
    write_rows(str(root), "runs", run, [make_run(run, hours)], name=f"{run}-1")
    return responses, judgements


def test_report_of_a_synthesis_shows_it_on_terminal_and_in_both_files(tmp_path: Path) -> None:
    small_synthesis().write(str(tmp_path))
    text = report(config_for(tmp_path, run="synthetic"))
    folder = tmp_path / "reports" / "synthetic"
    files = [(folder / name).read_text(encoding="utf-8") for name in ("report.md", "index.html")]
    for shown in (text, *files):
        assert "80 proposed = 54 accepted + 26 over all reasons" in shown
        assert "Questions by topic" in shown
        assert "1.50 USD" in shown
        assert "Statuses" not in shown
    assert sorted(file.name for file in folder.iterdir()) == ["index.html", "report.md"]
    assert Store(str(tmp_path)).parts("metrics") == []


def test_report_without_a_name_takes_what_was_started_last_evaluation_or_synthesis(tmp_path: Path) -> None:
    made = small_synthesis(documents=2)
    made.runs = [make_run("synthetic", 7, job="synthesize")]
    made.write(str(tmp_path))
    question = make_question(make_document())
    write_rows(str(tmp_path), "documents", "bench", [make_document()])
    write_rows(str(tmp_path), "questions", "bench", [question])
    write_rows(str(tmp_path), "responses", "main", [make_response(question)])
    write_rows(str(tmp_path), "runs", "main", [make_run("main", 6)], name="before")
    assert "- run: synthetic" in report(config_for(tmp_path))
    write_rows(str(tmp_path), "runs", "main", [make_run("main", 9)], name="after")
    text = report(config_for(tmp_path, viewer_responses=0))
    assert "- run: main" in text
    assert "From candidates" not in text


def test_report_without_runs_rows_takes_a_synthesis_that_is_newest(tmp_path: Path) -> None:
    made = small_synthesis(documents=2)
    made.runs = []
    made.write(str(tmp_path))
    assert "- run: synthetic" in report(config_for(tmp_path))


def test_report_of_an_evaluation_of_a_synthesised_dataset_has_both_and_strikes_what_was_cut(tmp_path: Path) -> None:
    made = small_synthesis()
    made.write(str(tmp_path))
    asked(made, tmp_path)
    text = report(config_for(tmp_path))
    titles = ["## Answering", "## Run facts", "## From candidates to questions: synthetic", "## What the dataset holds"]
    places = [text.index(title) for title in titles]
    assert places == sorted(places)
    assert "- made: synthetic: 54 of 80 candidates (67.5 %)" in text
    assert "What making the questions cost" in text
    assert "| making questions |" in text.split("What making the questions cost")[1]
    assert "making questions" not in text.split("## Run facts")[1].split("## From candidates")[0]
    data = tmp_path / "reports" / "main" / "data"
    shown = "".join(file.read_text(encoding="utf-8") for file in data.glob("responses-*.js"))
    assert shown.count(f'["er","{COPY[0].upper()}{COPY[1:]}"]') == shown.count(f'["r","{COPY}"]') > 0
    assert '"cut":["1902"]' in shown


def test_report_of_a_run_with_the_name_of_a_synthesised_dataset_has_both(tmp_path: Path) -> None:
    question = make_question(make_document())
    write_rows(str(tmp_path), "documents", "bench", [make_document()])
    write_rows(str(tmp_path), "questions", "bench", [question])
    write_rows(str(tmp_path), "responses", "synthetic", [make_response(question, run="synthetic")])
    small_synthesis(documents=2).write(str(tmp_path))
    text = report(config_for(tmp_path, run="synthetic", viewer_responses=0))
    assert "- responses: 1 to 1 questions" in text
    assert "## From candidates to questions: synthetic" in text
    assert "From candidates" not in report(
        config_for(tmp_path, run="synthetic", datasets=("bench",), viewer_responses=0)
    )


def test_report_shows_reviews_of_questions_and_of_verdicts_of_its_run(tmp_path: Path) -> None:
    made = small_synthesis()
    made.annotations = make_annotations([(q.question_id, q.kind) for q in made.questions[:8]])
    made.write(str(tmp_path))
    responses, judgements = asked(made, tmp_path)
    kinds = {q.question_id: q.kind for q in made.questions}
    reviewed = [(one.judgement_id, f"{kinds[one.question_id]}/{one.verdict}") for one in judgements[:12]]
    other = make_judgement(make_response(make_question(make_document()), run="other"), "answer_consistency", "correct")
    rows = make_annotations([*reviewed, (other.judgement_id, "answerable/correct")], "judgements", "r2")
    write_rows(str(tmp_path), "annotations", "r2", rows)
    text = report(config_for(tmp_path, viewer_responses=0))
    section = text.split("## Manual review")[1]
    assert "| r1 | all | 75.0°" in section
    verdicts = section.split("### Verdicts on answer consistency")[1]
    assert "| r2 | all | 75.0° (46.8 to 91.1) n 12 |" in verdicts
    assert "### Agreement on verdicts" in section
    assert len(responses) == 54


@pytest.mark.parametrize(
    ("given", "says"), [({"datasets": ("sample",)}, "it has synthetic"), ({"models": ("m2",)}, "it has maker")]
)
def test_report_of_what_a_synthesis_has_not_says_what_it_has(
    tmp_path: Path, given: dict[str, object], says: str
) -> None:
    small_synthesis(documents=2).write(str(tmp_path))
    with pytest.raises(UserError, match=says):
        report(config_for(tmp_path, **given))


def test_report_reads_the_record_that_synthesis_writes() -> None:
    assert SPEC_RECORD == RECORD


def test_report_command_prints_plain_markdown_into_a_pipe(tmp_path: Path) -> None:
    small_run().write(str(tmp_path))
    command = [sys.executable, "-m", "jobs.report", f"storage.root={tmp_path}", "datasets=[short,long]"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("# Questions that the document cannot answer")
    assert "\x1b" not in done.stdout


def curated_store(root: Path, labelled: bool) -> None:
    """A curation of dataset `bench` as `jobs.curate` leaves it: two questions on sheets, perhaps with labels."""
    write_rows(str(root), "proposals", "curated", [])
    folder = root / "reviews" / "curated"
    folder.mkdir(parents=True)
    rows = [
        {"proposal_id": f"p{n}", "doc_id": "d1", "source_dataset": "bench", "fate": "awaiting_annotation"}
        for n in (1, 2)
    ]
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    said = [
        {
            "review": "curated",
            "annotator": name,
            "item_id": f"p{number}",
            "target": "curation",
            "group": "bench",
            "check": "label",
            "passed": number == 1,
            "created_at": WHEN,
            "note": None,
        }
        for name in ("Ada", "Bo", "Cy")
        for number in (1, 2)
    ]
    if labelled:
        Store(str(root)).write("annotations", "curated", said, name="annotations")


@pytest.mark.parametrize("labelled", [True, False])
def test_report_of_a_curation_alone_has_its_funnel_and_labels(tmp_path: Path, labelled: bool) -> None:
    curated_store(tmp_path, labelled)
    text = report(config_for(tmp_path, run="curated", published=True))
    assert "## From generated to labelled" in text
    assert ("| bench | 3 | 100.0° n 2 | 1.00° n 2 |" in text) == labelled
    assert ("Yelp (published) | 3 | – | 0.59 n 165 |" in text) == labelled
    assert (tmp_path / "reports" / "curated" / "index.html").is_file()


def test_report_of_a_run_on_curated_documents_tells_of_the_curation(tmp_path: Path) -> None:
    small_run().write(str(tmp_path))
    dataset = Store(str(tmp_path)).dataset_names()[0]
    curated_store(tmp_path, labelled=True)
    questions = tmp_path / "reviews" / "curated" / "questions.jsonl"
    assert "From generated to labelled" not in report(config_for(tmp_path, run="main", viewer_responses=0))
    questions.write_text(questions.read_text("utf-8").replace('"bench"', f'"{dataset}"'), "utf-8")
    text = report(config_for(tmp_path, run="main", viewer_responses=0))
    assert "## From generated to labelled: curated" in text


def test_report_shows_what_people_preferred_and_tagged(tmp_path: Path) -> None:
    root, store = str(tmp_path), Store(str(tmp_path))
    document = make_document("The bridge at Lower Hasp was opened in 1902.", "bench")
    question = make_question(document, 0, False, question="When was the bridge at Upper Hasp opened?")
    offers = [make_response(question, model=name, refused=True, reformulation=f"{name}?") for name in ("one", "two")]
    write_rows(root, "documents", "bench", [document])
    write_rows(root, "questions", "bench", [question])
    write_rows(root, "responses", "main", offers)
    scored = [
        make_judgement(offer, "entity_overlap", None, status=Status.OK, score=n / 2) for n, offer in enumerate(offers)
    ]
    write_rows(root, "judgements", "main", scored)
    write_rows(root, "runs", "main", [make_run()])
    about = {"item_id": question.question_id, "doc_id": document.doc_id, "dataset": "bench", "language": "en"}
    said = {"review": "r", "annotator": "Ada", "created_at": WHEN, "note": None} | about
    sides = {"first_run": "main", "first": offers[0].response_id, "first_text": "one?", "second_run": "main",
             "second": offers[1].response_id, "second_text": "two?", "preferred": "second"}  # fmt: skip
    store.write("preferences", "r", [said | sides | {"question_id": question.question_id}])
    store.write("tags", "r", [said | {"question": question.question, "entities": ["bridge", "Upper Hasp"]}])
    text = report(config_for(tmp_path, viewer_responses=0))
    assert "| r | entity overlap | rules | 100.0° n 1 |" in text
    assert "| r | rules | exact | all |" in text
