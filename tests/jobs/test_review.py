"""Sample → sheets → files → annotations → report, without a browser."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import polars as pl
import pytest

from jobs.cli import compose
from jobs.config import StorageConfig
from jobs.review import ReviewConfig, collect, command, sample, with_action
from tests.factories import make_document, make_judgement, make_question, make_response, make_run, write_rows
from tests.udfs.review.bench import all_yes, benchmark, judged_run, saved_file
from udfs.errors import UserError
from udfs.review.collecting import Sample
from udfs.review.sheet import Tagging
from udfs.schema import Status
from udfs.tables.store import Store


@cache
def defaults() -> ReviewConfig:
    return compose("review", ReviewConfig, ["action=sample", "storage.root=unused"])


def config(root: Path, action: Literal["sample", "collect"], **given: Any) -> ReviewConfig:
    return replace(defaults(), action=action, storage=StorageConfig(str(root)), **given)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    benchmark(str(tmp_path / "root"))
    return tmp_path / "root"


def drawn(root: Path, review: str = "questions") -> Sample:
    return Sample.from_json((root / "reviews" / review / "sample.json").read_text("utf-8"), "sample.json")


def sheet(root: Path, number: int, review: str = "questions") -> dict[str, Any]:
    page = (root / "reviews" / review / f"sheet-{number}.html").read_text("utf-8")
    found = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    loaded = json.loads(found[1])
    assert isinstance(loaded, dict)
    return loaded


def files(folder: Path, texts: list[str]) -> tuple[str, ...]:
    paths = [folder / f"file-{number}.json" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, "utf-8")
    return tuple(map(str, paths))


def test_sample_draws_over_the_strata_and_writes_a_sheet_for_each(root: Path) -> None:
    said = sample(config(root, "sample", n=7, annotators=2))
    made = drawn(root)
    assert len(made.items) == 7
    assert len({stratum.name for stratum in made.strata if stratum.drawn}) == 6  # three kinds in two languages
    assert "| answerable · en · 0-16K | 2 |" in said
    first, second = (sheet(root, number) for number in (1, 2))
    ids = [[item["id"] for item in one["items"]] for one in (first, second)]
    assert ids[0] != ids[1]
    assert sorted(ids[0]) == sorted(ids[1]) == [item.id for item in made.items]
    assert first["sample"] == second["sample"] == made.sample
    assert not (root / "reviews" / "questions" / "sheet-3.html").exists()


def test_sample_of_more_than_there_are_takes_all_and_says_so(root: Path) -> None:
    assert "n=144 was asked for; these are all there are" in sample(config(root, "sample"))
    assert len(drawn(root).items) == 12


def test_sample_that_does_not_reach_every_stratum_says_so(root: Path) -> None:
    assert "4 of 6 strata have no item in it" in sample(config(root, "sample", n=2))


def test_sample_again_is_the_same_and_another_under_its_name_is_refused(root: Path) -> None:
    sample(config(root, "sample", n=7))
    before = drawn(root)
    sample(config(root, "sample", n=7, annotators=4))
    assert drawn(root) == before
    with pytest.raises(UserError, match="has another sample already"):
        sample(config(root, "sample", n=7, seed=1))
    sample(config(root, "sample", n=7, seed=1, name="second"))
    assert drawn(root) == before


def test_sample_of_question_without_document_is_a_user_error(tmp_path: Path) -> None:
    write_rows(str(tmp_path), "documents", "made", [make_document("Another text.", "made")])
    write_rows(str(tmp_path), "questions", "made", [make_question(make_document("A text that was lost.", "made"))])
    with pytest.raises(UserError, match="documents table does not hold"):
        sample(config(tmp_path, "sample"))


@pytest.mark.parametrize(
    ("measure", "groups"),
    [
        ("response_class", {"incorrect", "direct_refusal", "reasoned_answer"}),
        (
            "answer_consistency",
            {
                f"{kind}/{verdict}"
                for kind in ("answerable", "lack_of_evidence", "misleading.entity_substitution")
                for verdict in ("correct", "incorrect")
            },
        ),
    ],
)
def test_sample_of_judgements_covers_every_class_of_verdicts(tmp_path: Path, measure: str, groups: set[str]) -> None:
    judged_run(str(tmp_path), benchmark(str(tmp_path)))
    sample(config(tmp_path, "sample", what="judgements", measure=measure, n=6))
    made = drawn(tmp_path, measure)
    assert (made.target, made.measure) == ("judgements", measure)
    found = [item.group for item in made.items]
    assert set(found) == groups
    assert {found.count(group) for group in groups} == {6 // len(groups)}


def test_sample_of_judgements_asks_which_judge_where_there_are_several(tmp_path: Path) -> None:
    questions = benchmark(str(tmp_path))
    judged_run(str(tmp_path), questions)
    judged_run(str(tmp_path), questions, judge="llm:m")
    with pytest.raises(UserError, match="give judge_name= one of llm:m, rules"):
        sample(config(tmp_path, "sample", what="judgements"))
    with pytest.raises(UserError, match="judges: llm:m, rules"):
        sample(config(tmp_path, "sample", what="judgements", judge_name="couldask"))
    sample(config(tmp_path, "sample", what="judgements", judge_name="llm:m"))
    judgements = Store(str(tmp_path)).read("judgements").filter(judge="llm:m")
    assert {item.id for item in drawn(tmp_path, "answer_consistency").items} <= set(judgements["judgement_id"])


def test_collect_writes_annotations_and_reports(root: Path, tmp_path: Path) -> None:
    sample(config(root, "sample"))
    made = drawn(root)
    item = next(item for item in made.items if item.group == "lack_of_evidence")
    bad = all_yes(made, no={item.id: "answer"})
    bad[item.id]["note"] = "The reason | <b>is</b> wrong."
    texts = [
        saved_file(made, "Ada", all_yes(made)),
        saved_file(made, "Bo", all_yes(made)),
        saved_file(made, "陈", bad),
    ]
    report = collect(config(root, "collect", files=files(tmp_path, texts)))
    rows = Store(str(root)).read("annotations", part="questions")
    assert rows.height == 3 * 12 * 2
    assert rows.filter(~pl.col("passed")).select("annotator", "item_id", "check", "group").rows() == [
        ("陈", item.id, "answer", "lack_of_evidence")
    ]
    assert set(rows.filter(annotator="陈", item_id=item.id)["note"]) == {"The reason | <b>is</b> wrong."}
    unanimous = report[report.index("## Quality, unanimous") : report.index("## Quality, majority")]
    assert (
        "| lack_of_evidence | 4 | 100.00 (51.0 to 100.0) | 75.00 (30.1 to 95.4) | 75.00 (30.1 to 95.4) |" in unanimous
    )
    assert "| lack_of_evidence (FactGuard, Table 4) | 40 |  |  | 100.00 |" in unanimous
    assert "answer: passed by Ada, Bo; not by 陈" in report
    assert "The reason \\| \\<b>is\\</b> wrong." in report
    assert "| question | 3 | 12 | 12 (100.00 %) | undefined: every answer is the same |" in report
    assert (root / "reviews" / "questions" / "report.md").read_text("utf-8") == report


def test_collect_again_replaces_what_was_collected(root: Path, tmp_path: Path) -> None:
    sample(config(root, "sample", n=4))
    made = drawn(root)
    texts = [saved_file(made, name, all_yes(made)) for name in ("Ada", "Bo", "Cy")]
    assert "not computed: it takes two annotators" in collect(config(root, "collect", files=files(tmp_path, texts[:1])))
    collect(config(root, "collect", files=files(tmp_path, [saved_file(made, "Dee", all_yes(made)), *texts])))
    collect(config(root, "collect", files=files(tmp_path, texts)))
    assert set(Store(str(root)).read("annotations")["annotator"]) == {"Ada", "Bo", "Cy"}


def test_collect_of_verdicts_gives_precision_by_class_beside_the_papers(tmp_path: Path) -> None:
    judged_run(str(tmp_path), benchmark(str(tmp_path)))
    sample(config(tmp_path, "sample", what="judgements", measure="response_class"))
    made = drawn(tmp_path, "response_class")
    wrong = next(item.id for item in made.items if item.group == "direct_refusal")
    texts = [saved_file(made, name, all_yes(made, no={wrong: "verdict"})) for name in ("Ada", "Bo")]
    report = collect(config(tmp_path, "collect", name="response_class", files=files(tmp_path, texts)))
    n = sum(item.group == "direct_refusal" for item in made.items)
    assert f"| direct_refusal | {n} | {100 * (n - 1) / n:.2f} (" in report
    assert "| direct_refusal (FactGuard, Table 8) | 29 | 89.66 |" in report
    assert "| verdict | 2 | 8 | 8 (100.00 %) | 1.000 |" in report


def broken(made: Sample, case: str) -> list[str]:
    """Files with one thing wrong."""
    good = saved_file(made, "Ada", all_yes(made))
    some = dict(list(all_yes(made).items())[1:])
    first = made.items[0].id
    return {
        "damaged": [good[:-20]],
        "empty": [""],
        "no object": ["[1, 2]"],
        "deep": ["[" * 100_000],
        "foreign": [json.dumps({"answers": {}})],
        "no name": [saved_file(made, "  ", all_yes(made))],
        "other review": [saved_file(made, "Ada", {}, review="other")],
        "other sample": [saved_file(made, "Ada", {}, sample="0" * 32)],
        "unknown item": [saved_file(made, "Ada", all_yes(made) | {"x": {"checks": {}, "note": ""}})],
        "unknown value": [
            saved_file(made, "Ada", all_yes(made) | {first: {"checks": {"answer": "maybe"}, "note": ""}})
        ],
        "unknown check": [saved_file(made, "Ada", all_yes(made) | {first: {"checks": {"style": "yes"}, "note": ""}})],
        "incomplete": [saved_file(made, "Ada", some)],
        "same name": [good, saved_file(made, " ada ", all_yes(made))],
    }[case]


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("damaged", r"file-0\.json is damaged"),
        ("empty", r"file-0\.json is damaged"),
        ("no object", r"file-0\.json is not a file that a review sheet saved"),
        ("deep", r"file-0\.json is damaged"),
        ("foreign", r"file-0\.json is not a file that a review sheet saved: format"),
        ("no name", r"file-0\.json names no annotator"),
        ("other review", r"file-0\.json belongs to review 'other'"),
        ("other sample", r"file-0\.json was saved from sheets of another sample"),
        ("unknown item", r"file-0\.json answers item 'x'"),
        ("unknown value", r"answer='maybe' is not offered; allowed are yes or no"),
        ("unknown check", r"'style' is not asked; it asks question, answer"),
        ("incomplete", r"file-0\.json leaves 1 of 4 items open .* partial=true"),
        ("same name", r"file-0\.json and .*file-1\.json are both of annotator 'Ada'"),
    ],
)
def test_collect_of_a_bad_file_names_it_and_writes_nothing(root: Path, tmp_path: Path, case: str, message: str) -> None:
    sample(config(root, "sample", n=4))
    with pytest.raises(UserError, match=message):
        collect(config(root, "collect", files=files(tmp_path, broken(drawn(root), case))))
    assert Store(str(root)).read("annotations").is_empty()


def test_collect_keeps_a_note_with_half_an_emoji_as_far_as_it_can_be_stored(root: Path, tmp_path: Path) -> None:
    sample(config(root, "sample", n=4))
    made = drawn(root)
    first = made.items[0].id
    answers = all_yes(made)
    answers[first] = {**answers[first], "note": "cut HERE"}
    saved = saved_file(made, "Ada", answers).replace("HERE", r"\ud83d")
    collect(config(root, "collect", files=files(tmp_path, [saved])))
    notes = Store(str(root)).read("annotations", ["item_id", "note"]).filter(pl.col("item_id") == first)["note"]
    assert set(notes) == {"cut \ufffd"}


def test_collect_of_partial_files_counts_what_all_answered_and_says_so(root: Path, tmp_path: Path) -> None:
    sample(config(root, "sample", n=4))
    made = drawn(root)
    some = dict(list(all_yes(made).items())[1:])
    texts = [saved_file(made, "Ada", all_yes(made)), saved_file(made, "Bo", some)]
    report = collect(config(root, "collect", files=files(tmp_path, texts), partial=True))
    assert "items counted: 3 of 4" in report
    assert "1 items were not answered by every annotator and are left out" in report


def test_collect_of_unknown_review_or_file_says_what_there_is(root: Path, tmp_path: Path) -> None:
    sample(config(root, "sample", n=4))
    with pytest.raises(UserError, match=r"no review 'other' .* reviews: questions"):
        collect(config(root, "collect", files=files(tmp_path, ["{}"]), name="other"))
    with pytest.raises(UserError, match=r"gone\.json does not exist"):
        collect(config(root, "collect", files=(f"{tmp_path}/gone.json",)))
    (root / "reviews" / "questions" / "sample.json").write_text("{", "utf-8")
    with pytest.raises(UserError, match=r"sample\.json is damaged"):
        collect(config(root, "collect", files=files(tmp_path, ["{}"])))


@pytest.mark.parametrize(
    ("arguments", "made"),
    [
        (["sample", "n=3"], ["action=sample", "n=3"]),
        (["collect", "files=[a, 陈.json]", "name=x"], ["action=collect", "files=['a','陈.json']", "name=x"]),
        (["collect", "a b.json", "name=x", "c.json"], ["action=collect", "name=x", "files=['a b.json','c.json']"]),
        (["collect", "a,b's.json"], ["action=collect", r"files=['a,b\'s.json']"]),
        (["collect", "files=['a']"], ["action=collect", "files=['a']"]),
        (["n=3", "action=sample"], ["n=3", "action=sample"]),
        (["--help"], ["--help"]),
    ],
)
def test_action_is_the_first_word(arguments: list[str], made: list[str]) -> None:
    assert with_action(arguments) == made


@pytest.mark.parametrize("arguments", [[], ["smaple"], ["n=3"], ["n=3", "sample"], ["sample", "a.json"]])
def test_action_that_is_none_leaves_with_one_line(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["review", *arguments])
    with pytest.raises(SystemExit) as left:
        command()
    assert left.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert said.count("\n") == 1


@pytest.mark.parametrize("override", ["n=0", "annotators=0", "context_chars=1", "name=../x", "measure=refusal"])
def test_config_out_of_range_is_a_user_error(override: str) -> None:
    with pytest.raises(UserError, match=override.split("=")[0]):
        compose("review", ReviewConfig, ["action=sample", "storage.root=unused", override])


def test_config_to_collect_nothing_or_one_file_twice_is_a_user_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="files"):
        config(tmp_path, "collect")
    with pytest.raises(UserError, match="each file once"):
        config(tmp_path, "collect", files=("a.json", "a.json"))


def test_config_takes_names_of_files_that_hydras_grammar_does_not(tmp_path: Path) -> None:
    names = ("陈.json", "a b.json", "c,d's.json", "(e).json")
    words = with_action(["collect", *names, f"storage.root={tmp_path}"])
    assert compose("review", ReviewConfig, words).files == names


def offering_run(root: Path) -> None:
    """Run `main`: two models offer new questions for every unanswerable one, with an overlap by the rules."""
    asked = [question for question in benchmark(str(root)) if not question.answerable]
    responses = [
        make_response(question, model=model, refused=True, reformulation=f"{words} ({question.question})")
        for question in asked
        for model, words in (("m1", "What of it?"), ("m2", "And when?"))
    ]
    judged = [
        make_judgement(response, "entity_overlap", None, status=Status.OK, score=float(response.model == "m1"))
        for response in responses
    ]
    write_rows(str(root), "responses", "main", responses)
    write_rows(str(root), "judgements", "main", judged)
    write_rows(str(root), "runs", "main", [make_run()])


def test_preferences_are_collected_with_the_agreement_of_every_measure(tmp_path: Path) -> None:
    root = tmp_path / "root"
    offering_run(root)
    assert "m1 zs or m2 zs · zh" in sample(config(root, "sample", what="preferences"))
    made = drawn(root, "preferences")
    by_m1 = {
        item: "first" if facts["first_text"].startswith("What of it?") else "second"
        for item, facts in made.facts.items()
    }
    odd = min(by_m1)
    texts = []
    for name in ("Ada", "Bo", "陈"):
        answers = {item: {"checks": {"preferred": said}, "note": ""} for item, said in by_m1.items()}
        if name == "陈":
            answers[odd] = {"checks": {"preferred": "tie"}, "note": "Both | far off"}
        texts.append(saved_file(made, name, answers))
    report_text = collect(config(root, "collect", name="preferences", files=files(tmp_path, texts)))
    rows = Store(str(root)).read("preferences", part="preferences")
    assert rows.height == 3 * len(by_m1) == 24
    assert "| preferences | entity overlap | rules | 100.0° (" in report_text
    assert "| BanditQA | entity overlap | published | – | 0.94 n 200 |" in report_text
    assert "  - alike: 陈" in report_text
    assert "Both \\| far off" in report_text
    assert (root / "reviews" / "preferences" / "report.md").read_text("utf-8") == report_text


def test_entities_are_collected_from_sheets_and_from_a_file(tmp_path: Path) -> None:
    root = tmp_path / "root"
    benchmark(str(root))
    sample(config(root, "sample", what="entities", n=6))
    made = drawn(root, "entities")
    answers = {}
    for item in made.items:
        (check,) = item.checks
        assert isinstance(check, Tagging)
        answers[item.id] = {"checks": {"entities": list(check.proposals)}, "note": ""}
    wrong = answers | {made.items[0].id: {"checks": {"entities": ["nowhere"]}, "note": ""}}
    with pytest.raises(UserError, match="marks 'nowhere', which does not stand in"):
        collect(config(root, "collect", name="entities", files=files(tmp_path, [saved_file(made, "Ada", wrong)])))
    texts = [saved_file(made, "Ada", answers)]
    report_text = collect(config(root, "collect", name="entities", files=files(tmp_path, texts)))
    assert "| entities | rules | exact | all | 100.0" in report_text
    assert "| CouldAsk (published) | GPT-4 |  |  | 99.0 | 94.0 |" in report_text

    hand = tmp_path / "hand.jsonl"
    hand.write_text(json.dumps({"question": "Who was Sela Brook?", "entities": ["Sela Brook"]}), "utf-8")
    text = collect(config(root, "collect", what="entities", tags=str(hand)))
    assert "- questions: 1, of these 0 in a dataset" in text
    assert set(Store(str(root)).read("tags")["review"]) == {"entities", "hand_tags"}
    with pytest.raises(UserError, match="has sheets: collect the file under another name"):
        collect(config(root, "collect", what="entities", tags=str(hand), name="entities"))


def test_tags_are_for_collecting_entities_alone(root: Path) -> None:
    for given in ({"what": "questions"}, {"what": "entities", "files": ("a.json",)}):
        with pytest.raises(UserError, match=r"tags|files"):
            config(root, "collect", tags="hand.jsonl", **given)


def test_review_of_a_curation_is_collected_by_its_own_job(root: Path, tmp_path: Path) -> None:
    sample(config(root, "sample", n=4, name="curated"))
    file = root / "reviews" / "curated" / "sample.json"
    made = replace(drawn(root, "curated"), target="curation")
    file.write_text(made.to_json(), "utf-8")
    with pytest.raises(UserError, match=r"jobs\.curate collect"):
        collect(
            config(root, "collect", name="curated", files=files(tmp_path, [saved_file(made, "Ada", all_yes(made))]))
        )
