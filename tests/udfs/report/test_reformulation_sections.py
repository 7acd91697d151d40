from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.factories import frame, make_document, make_judgement, make_question, make_response
from tests.udfs.report.bench import Run, small_run
from tests.udfs.report.reformulation_bench import (
    EN_ANSWER,
    EN_ASKED,
    EN_CUT,
    EN_NEW,
    ZH_ANSWER,
    ZH_ASKED,
    ZH_NEW,
    reformulation_run,
)
from tests.udfs.report.test_viewer import arguments, texts_of
from udfs.judges.reformulation import GIVES
from udfs.records import Span
from udfs.report.explorer import (
    Found,
    both_sides,
    explored,
    found_answers,
    judges_say,
    kept_entities,
    located,
)
from udfs.report.grid import Grid, Report
from udfs.report.markdown import to_markdown
from udfs.report.notices import Counts
from udfs.report.page import metrics_page
from udfs.report.sections import build_report
from udfs.report.viewer import Shelf, document_chunks, index_script, response_chunks, shown_responses
from udfs.schema import Status
from udfs.tables import reformulations
from udfs.tables.comparisons import comparisons
from udfs.tables.facts import run_facts
from udfs.tables.metrics import metrics
from udfs.tables.observations import response_rows
from udfs.tables.span_examples import EACH, span_examples

ANCHORS = {"success", "reformulation-parts", "reformulation-errors", "reformulation-spans"}
TEXTS = st.text(alphabet="abAB ?!,'’灯塔ßİ\t1", max_size=24)


def rows_of(run: Run) -> pl.DataFrame:
    return response_rows(
        frame("responses", run.responses), frame("questions", run.questions), frame("documents", run.documents)
    )


def report_of(run: Run) -> Report:
    rows, judgements = rows_of(run), frame("judgements", run.judgements)
    return build_report(
        "main",
        metrics(rows, judgements, "main", resamples=100),
        comparisons(rows, judgements, resamples=100),
        run_facts(frame("runs", run.runs)),
        Counts(rows.height, 8, 2),
        datetime(2026, 3, 1, tzinfo=UTC),
        examples=span_examples(rows, frame("questions", run.questions), judgements),
    )


@pytest.fixture(scope="module")
def run() -> Run:
    return reformulation_run(filler=3)


@pytest.fixture(scope="module")
def made(run: Run) -> Report:
    return report_of(run)


def grids_of(report: Report) -> dict[str, Grid]:
    return {grid.title: grid for section in report.sections if section.anchor in ANCHORS for grid in section.grids}


def values(grid: Grid, judge: str, method: str = "zs") -> dict[tuple[str, str], Any]:
    places = [grid.labels.index(name) for name in ("judge", "method")]
    (row,) = [row for row in grid.measured if [row.labels[place] for place in places] == [judge, method]]
    return {column: cell.value for column, cell in zip(grid.columns, row.cells, strict=True)}


def test_judges_and_tables_speak_of_the_same_measures() -> None:
    assert {measure for _, measure in GIVES} <= set(reformulations.MEASURES)


def test_run_judged_before_these_measures_reports_without_these_sections() -> None:
    report = report_of(small_run())
    assert not ANCHORS & {section.anchor for section in report.sections}
    assert "Table 5:" not in to_markdown(report).replace("FactGuard, Table 5:", "")


def test_success_table_has_both_thresholds_both_bases_and_every_judge(made: Report) -> None:
    grids = grids_of(made)
    everything, detected = (
        grids["Success rate over all unanswerable questions"],
        grids["Success rate over the detected ones"],
    )
    assert {row.labels[-1] for row in everything.measured} == {"rules", "couldask", "classifier:c"}
    at_least, more_than = (group for group, _ in everything.groups if group)
    assert ("0.5" in at_least, "≥" in at_least, ">" in more_than) == (True, True, True)
    rules, own = values(everything, "rules"), values(everything, "couldask")
    assert rules[at_least, "average"] == pytest.approx(1 / 3)
    assert (own[at_least, "en"], own[more_than, "en"]) == (pytest.approx(1 / 3), 0)  # just half of the entities
    assert values(detected, "rules")[at_least, "en"] == pytest.approx(1 / 2)
    assert [cell.n for cell in everything.measured[0].cells] == [3, 3, 6] * 2
    assert len(grids["Published success rates"].reference) == 20


def test_parts_cosine_and_edits_stand_beside_the_papers_tables(made: Report) -> None:
    grids = grids_of(made)
    parts = values(grids["Answerability and entity overlap over all unanswerable questions"], "rules")
    assert {group for group, _ in parts} == {"answerable", "entity overlap", "soft entity overlap"}
    cosine = values(grids["Cosine similarity of the two questions"], "minilm")
    assert cosine["detected ones", "en"] == pytest.approx(0.8125)
    edits = grids["Edit distance"]
    assert values(edits, "couldask", "fs_cot")["words, all (undetected: 0)", "en"] == pytest.approx(10 / 3)
    assert "lower is not better" in edits.note
    for title in ("Published parts of success", "Published cosine similarities", "Published edit distances"):
        assert len(grids[title].reference) == 20, title


def test_cosine_is_absent_without_such_judgements(run: Run) -> None:
    without = replace(run, judgements=[j for j in run.judgements if j.measure != "cosine"])
    assert not {title for title in grids_of(report_of(without)) if "osine" in title}


def test_errors_and_strategies_have_the_papers_row_below(made: Report) -> None:
    grids = grids_of(made)
    errors, how = grids["What failed new questions are"], grids["How successful new questions were made"]
    (paper,) = errors.reference
    assert [cell.value for cell in paper.cells][:4] == [0.62, 0.14, 0.17, 0.11]
    assert {row.labels[-1] for row in errors.measured} == {"llm:j", "rules"}
    assert all("success=failed" in row.link for row in errors.measured)
    (paper,) = how.reference
    assert [cell.value for cell in paper.cells][:4] == [0.17, 0.2, 0.44, 0.19]
    assert all("success=success" in row.link for row in how.measured)


def test_slips_of_the_paper_are_named_in_both_renderings(made: Report) -> None:
    page = metrics_page(made, "responses.html")
    for text in (to_markdown(made), page):
        assert "its average is printed as 11.00, its cells give 11.29" in text
        assert "its average is printed as 36.58, its cells give 38.87" in text
        assert "sum to 104" in text
        assert "no number is printed for BBC" in text


def test_every_rate_of_these_sections_has_n(made: Report) -> None:
    for grid in grids_of(made).values():
        cells = [cell for row in grid.measured for cell in row.cells if cell.value is not None]
        assert all(cell.n is not None and cell.coverage is not None for cell in cells), grid.title


def test_methods_made_to_hack_have_a_table_of_their_own(run: Run) -> None:
    hacked = [replace(r, method="explicit" if r.method == "fs_cot" else r.method) for r in run.responses]
    grids = grids_of(report_of(replace(run, responses=hacked)))
    grid = grids["Methods made to hack the success rate"]
    assert {row.labels[1] for row in grid.measured} == {"zs", "explicit"}
    assert "Methods made to hack the success rate" not in grids_of(report_of(run))


def test_missing_average_over_detected_ones_has_its_reason(run: Run) -> None:
    kept = [replace(r, refused=False) if (r.dataset, r.method) == ("zh", "zs") else r for r in run.responses]
    text = to_markdown(report_of(replace(run, responses=kept)))
    assert "smollm2-135m · zs: no average over the detected ones, for none was detected or judged on zh" in text


def test_verdicts_that_could_not_be_read_have_a_column_only_where_there_are_some(run: Run, made: Report) -> None:
    title, group = "Answerability and entity overlap over all unanswerable questions", "verdicts that could not be read"
    assert group not in dict(grids_of(made)[title].groups)
    asked = next(r for r in run.responses if r.reformulation)
    more = [*run.judgements, make_judgement(asked, "reformulation_answerable", None, judge="llm:k")]
    assert group in dict(grids_of(report_of(replace(run, judgements=more)))[title].groups)


@given(TEXTS, TEXTS, st.sampled_from(["en", "zh"]))
@example("  Who?", "who ", "en")
@example("Straße a", "strasse  b", "en")
def test_sides_are_the_two_questions_character_for_character(original: str, new: str, language: str) -> None:
    left, right = both_sides(original, new, language)
    assert "".join(text for _, text in left) == original
    assert "".join(text for _, text in right) == new
    assert {mark for mark, _ in left} <= {"", "removed"}
    assert {mark for mark, _ in right} <= {"", "added"}


@pytest.mark.parametrize(
    ("original", "new", "language", "removed", "added"),
    [
        (EN_ASKED, EN_NEW, "en", ["Upper"], ["Lower"]),
        (ZH_ASKED, ZH_NEW, "zh", ["拆除"], ["建成"]),
        ("A b?", "a  b?", "en", [], []),
    ],
)
def test_sides_mark_what_went_and_what_came(
    original: str, new: str, language: str, removed: list[str], added: list[str]
) -> None:
    left, right = both_sides(original, new, language)
    assert [text for mark, text in left if mark] == removed
    assert [text for mark, text in right if mark] == added


def test_entities_say_which_are_kept() -> None:
    question = make_question(make_document(), question=EN_ASKED, entities=("Upper Hasp", "bridge", "?"))
    assert kept_entities(question, EN_NEW) == [("Upper Hasp", False), ("bridge", True), ("?", None)]
    assert kept_entities(question, None) == [("Upper Hasp", None), ("bridge", None), ("?", None)]
    tagged = kept_entities(replace(question, entities=()), EN_NEW)
    assert tagged
    assert any(kept for _, kept in tagged)


def test_answer_is_located_across_a_cut_by_the_first_judge_whose_words_stand_there() -> None:
    document, cut = "It rained. The bridge (a toll bridge) opened in 1902. It closed.", "(a toll bridge) "
    at = document.index(cut)
    answers = [
        Found("r1", "llm:j", "Because the text says so."),
        Found("r1", "rules", "The bridge opened in 1902."),
        Found("r2", "rules", "It rained. The …"),
        Found("r3", "rules", "nowhere"),
    ]
    found = located(document, (Span(at, at + len(cut)),), answers)
    assert set(found) == {"r1", "r2"}
    answer, span = found["r1"]
    assert answer.judge == "rules"
    assert document[span.start : span.end] == "The bridge (a toll bridge) opened in 1902."
    assert found["r2"][1] == Span(0, len("It rained. The"))


def test_found_answers_are_those_of_answerable_verdicts_with_words(run: Run) -> None:
    responses, judgements = frame("responses", run.responses), frame("judgements", run.judgements)
    found = [answer for part in found_answers(responses, judgements).values() for answer in part]
    assert {answer.judge for answer in found} == {"rules", "couldask"}  # the classifier gives no words
    assert all(EN_ANSWER in answer.text or ZH_ANSWER in answer.text for answer in found)


def test_chips_say_what_each_judge_says(run: Run) -> None:
    response = next(r for r in run.responses if r.reformulation == EN_NEW)
    judgements = [j for j in run.judgements if j.response_id == response.response_id]
    judgements.append(make_judgement(response, "strategy", None, judge="llm:j"))
    table = frame("judgements", judgements)
    told = {one["judge"]: one for one in judges_say(table.to_dicts(), reformulations.successes(table).to_dicts())}
    assert list(told) == ["rules", "couldask", "classifier:c", "llm:j", "minilm"]
    assert told["rules"]["chips"][:2] == [("success", "yes"), ("answerable", "yes")]
    assert told["couldask"]["chips"][0] == ("success, with just half of the entities", "yes")
    assert told["llm:j"]["chips"] == [("error: irrelevant", "no"), (f"strategy: {Status.PARSE_FAILURE.value}", "error")]
    assert told["minilm"]["chips"] == [("cosine 0.81", "")]


def test_response_without_a_second_turn_has_no_explorer(run: Run) -> None:
    response = next(r for r in run.responses if not r.refused)
    asked = next(q for q in run.questions if q.question_id == response.question_id)
    assert explored(frame("responses", [response]).row(0, named=True), asked, [], []) is None


def test_second_turn_without_a_question_says_so(run: Run) -> None:
    response = next(r for r in run.responses if r.refused)
    asked = next(q for q in run.questions if q.question_id == response.question_id)
    bare = replace(response, reformulation=None, reformulation_couldask=None)
    told = explored(frame("responses", [bare]).row(0, named=True), asked, [], [])
    assert told is not None
    assert (told["original"], told["new"], told["couldask"]) == ([("", asked.question)], None, None)


def test_page_data_filter_by_outcome_and_mark_the_answer(run: Run) -> None:
    responses, judgements = frame("responses", run.responses), frame("judgements", run.judgements)
    shown = shown_responses(responses, rows_of(run), judgements, "rules", 5000)
    asked = {question.question_id: question for question in run.questions}
    (index,) = arguments(index_script(shown, asked, {}), "index")
    outcomes = [index["names"]["success"][place] for place in index["rows"]["success"]]
    assert sorted(set(outcomes)) == ["failed", "not detected", "not due", "success"]
    assert outcomes.count("success") == 2
    assert set(index["names"]["category"]) == {"irrelevant", "none"}  # of llm:j, the first that gives categories

    by_document = {(d.dataset, d.doc_id): [q for q in run.questions if q.doc_id == d.doc_id] for d in run.documents}
    shelf = Shelf()
    list(document_chunks(texts_of(run), by_document, 60, shelf, found_answers(shown, judgements)))
    rows = [
        row for _, part in response_chunks(shown, judgements, asked, shelf) for row in arguments(part, "responses")[1]
    ]
    answered = [row for row in rows if row["answering"]]
    assert len(answered) == 2
    for row in answered:
        marks = {mark: text for _, parts in row["answering"]["excerpts"] for mark, text in parts}
        assert marks["a"].endswith((EN_ANSWER, ZH_ANSWER))
        assert row["answering"]["judge"] == "rules"
        assert {verdict["measure"] for verdict in row["verdicts"]} == {"refusal"}
        assert row["error"] is None
    english = next(row for row in answered if EN_ANSWER in row["answering"]["text"])
    assert [text for _, parts in english["answering"]["excerpts"] for mark, text in parts if mark == "er"] == [EN_CUT]


def test_page_data_of_a_run_without_these_judgements_have_one_outcome_and_no_answers() -> None:
    old = small_run()
    responses, judgements = frame("responses", old.responses), frame("judgements", old.judgements)
    shown = shown_responses(responses, rows_of(old), judgements, "rules", 5000)
    assert set(shown["success"]) == {"not judged"}
    assert set(shown["category"]) == {"none"}
    assert found_answers(shown, judgements) == {}


def test_minimum_spans_show_rates_by_span_and_examples_beside_the_paper() -> None:
    run = reformulation_run(filler=3)
    offered = [response for response in run.responses if response.reformulation is not None]
    for number, response in enumerate(offered):
        span = "q_span" if number % 2 else "short_span"
        run.judgements += [
            make_judgement(response, "minimum_span", span, judge="llm:j", rationale="Upper <Hasp>"),
            make_judgement(response, "reformulation_answerable", "answerable", judge="llm:j", score=1.0),
        ]
    report = report_of(run)
    (section,) = [section for section in report.sections if section.anchor == "reformulation-spans"]
    rates, printed, shares, examples = section.grids
    assert {row.labels[-1] for row in rates.measured} == {"llm:j", "rules", "couldask", "classifier:c"}
    (mine,) = [row for row in rates.measured if row.labels == ("en", "smollm2-135m", "zs", "llm:j")]
    assert {cell.value for cell in mine.cells} - {None} == {1.0}
    assert {row.labels[-1] for row in shares.measured} == {"llm:j"}
    assert not printed.measured
    assert len(printed.reference) == 9
    assert {row.labels[0].split("(")[-1] for row in examples.measured} == {"q span)", "short span)"}
    assert [row.cells[0].text for row in examples.reference] == [
        "What medicine is made from Coca?",
        "When was USB-C developed?",
    ]
    page, text = metrics_page(report, "responses.html"), to_markdown(report)
    assert "Upper &lt;Hasp&gt;" in page
    assert "Upper \\<Hasp>" in text


def test_span_examples_are_few_of_each_span_and_language_and_no_question_twice() -> None:
    made, responses, judgements, document = [], [], [], make_document()
    for number in range(8):
        question = make_question(document, number, False)
        made.append(question)
        for model in ("m", "n"):
            response = make_response(question, model, refused=True)
            responses.append(response)
            judgements += [
                make_judgement(response, "minimum_span", ("q_span", "short_span")[number % 2], judge="llm:j"),
                make_judgement(
                    response, "reformulation_answerable", "answerable" if number < 7 else "unanswerable", judge="llm:j"
                ),
            ]
    rows = response_rows(frame("responses", responses), frame("questions", made), frame("documents", [document]))
    found = span_examples(rows, frame("questions", made), frame("judgements", judgements))
    assert found["span"].to_list() == ["q_span"] * EACH + ["short_span"] * EACH
    assert found["original"].n_unique() == found.height
    nothing = frame("judgements", judgements).filter(pl.col("measure") == "refusal")
    assert span_examples(rows, frame("questions", made), nothing).is_empty()


def test_explorer_names_what_is_to_blame_and_what_a_model_tagged() -> None:
    rationale = '{"original": ["Upper Hasp"], "new": []}'
    verdicts: list[dict[str, Any]] = [
        {
            "measure": "minimum_span",
            "judge": "llm:j",
            "verdict": "short_span",
            "score": None,
            "rationale": "Upper Hasp",
            "status": "ok",
        },
        {
            "measure": "entity_overlap",
            "judge": "llm:j",
            "verdict": None,
            "score": 0.0,
            "rationale": rationale,
            "status": "ok",
        },
        {
            "measure": "entity_overlap",
            "judge": "rules",
            "verdict": None,
            "score": 0.0,
            "rationale": "[]",
            "status": "ok",
        },
    ]
    by_judge = {told["judge"]: told for told in judges_say(verdicts, [])}
    assert ("to blame: Upper Hasp", "") in by_judge["llm:j"]["chips"]
    assert by_judge["llm:j"]["why"] == ["entities: Upper Hasp → none"]
    assert by_judge["rules"]["why"] == []
    whole = judges_say([verdicts[0] | {"verdict": "q_span"}], [])
    assert whole[0]["chips"] == [("to blame: the whole question", "")]


def test_explorer_shows_the_sentence_that_the_rule_based_method_showed(run: Run) -> None:
    judgements = frame("judgements", run.judgements)
    shown = shown_responses(frame("responses", run.responses), rows_of(run), judgements, "rules", 5000)
    shown = shown.filter(pl.col("method") == "zs").with_columns(method=pl.lit("rule_based"))
    asked = {question.question_id: question for question in run.questions}
    by_document = {(d.dataset, d.doc_id): [q for q in run.questions if q.doc_id == d.doc_id] for d in run.documents}
    shelf = Shelf()
    list(document_chunks(texts_of(run), by_document, 60, shelf, told=set(asked)))
    rows = [
        row for _, part in response_chunks(shown, judgements, asked, shelf) for row in arguments(part, "responses")[1]
    ]
    said = {row["explorer"]["sentence"] for row in rows if row["explorer"]}
    assert {sentence.removeprefix("𠮷 ").removeprefix("😀") for sentence in said} == {EN_ANSWER, ZH_ANSWER}
