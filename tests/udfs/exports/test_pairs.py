from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from tests.factories import WHEN, frame, make_document, make_question
from tests.udfs.exports.bench import Bench
from udfs.exports.pairs import JUDGEMENT_COLUMNS, RESPONSE_COLUMNS, Pairs, Passed, choose

QUESTION = make_question(make_document(), 0)
OTHER = make_question(make_document(), 1)
GOOD = {QUESTION.question_id: "It opened in 1902.", OTHER.question_id: "The text does not say."}


def chosen(bench: Bench, judge: str = "rules", per_question: int = 2, complete_only: bool = True) -> Pairs:
    responses = frame("responses", bench.responses).select(RESPONSE_COLUMNS)
    judgements = frame("judgements", bench.judgements).select(JUDGEMENT_COLUMNS)
    return choose(responses, judgements, GOOD, judge, per_question, complete_only)


def test_choose_takes_wrong_answers_alone() -> None:
    bench = Bench()
    bench.respond(QUESTION, "In 1850.")
    bench.respond(QUESTION, "In 1902.", "correct")
    bench.respond(QUESTION, "In 1851.", None)
    found = chosen(bench)
    assert [(bad.response_id, bad.text) for bad in found.by_question[QUESTION.question_id]] == [("r0", "In 1850.")]
    assert found.passed == {Passed.NOT_WRONG: 1, Passed.NO_VERDICT: 1}


def test_choose_accounts_for_every_response() -> None:
    bench = Bench()
    bench.respond(QUESTION, "In 1850.")
    bench.respond(QUESTION, "it opened in 1902")
    bench.respond(QUESTION, "  ")
    bench.respond(QUESTION, "In 1851 the", finish_reason="length")
    bench.respond(QUESTION, "IN 1850")
    bench.respond(QUESTION, "In 1860.")
    bench.respond(QUESTION, "In 1870.")
    bench.respond(make_question(make_document(), 7), "In 1850.")
    bench.respond(OTHER, "In 1850.", judge="llm:m")
    found = chosen(bench)
    assert found.total == 2
    assert found.passed == {
        Passed.EQUALS_REFERENCE: 1,
        Passed.EMPTY: 1,
        Passed.CUT: 1,
        Passed.REPEATED: 1,
        Passed.BEYOND_LIMIT: 1,
        Passed.NO_REFERENCE: 1,
        Passed.NOT_JUDGED: 1,
    }
    assert found.responses == found.total + found.passed.total()
    assert found.judges == ("llm:m", "rules")


def test_choose_in_any_order_takes_the_same() -> None:
    bench = Bench()
    for number in (3, 1, 4, 2):
        bench.respond(QUESTION, f"In 185{number}.", response_id=f"id{number}")
    forward = chosen(bench)
    bench.responses.reverse()
    bench.judgements.reverse()
    assert chosen(bench).by_question == forward.by_question
    assert [bad.response_id for bad in forward.by_question[QUESTION.question_id]] == ["id1", "id2"]


def test_choose_another_judge_takes_its_verdicts() -> None:
    bench = Bench()
    response = bench.respond(QUESTION, "In 1850.", "correct")
    other = replace(bench.judgements[0], judgement_id="j2", judge="llm:m", verdict="incorrect")
    bench.judgements.append(other)
    assert chosen(bench).total == 0
    (bad,) = chosen(bench, judge="llm:m").by_question[response.question_id]
    assert bad.judge == "llm:m"


def test_choose_cut_answers_are_taken_when_allowed() -> None:
    bench = Bench()
    bench.respond(QUESTION, "In 1851 the", finish_reason="length")
    assert chosen(bench).total == 0
    assert chosen(bench, complete_only=False).total == 1


def test_choose_verdict_on_words_that_were_replaced_is_none() -> None:
    bench = Bench()
    bench.respond(QUESTION, "In 1850.", created_at=WHEN + timedelta(hours=1))
    assert chosen(bench).passed == {Passed.NOT_JUDGED: 1}


def test_choose_newest_verdict_counts() -> None:
    bench = Bench()
    bench.respond(QUESTION, "In 1850.")
    newer = replace(bench.judgements[0], judgement_id="j2", verdict="correct", created_at=WHEN + timedelta(hours=1))
    bench.judgements.append(newer)
    assert chosen(bench).passed == {Passed.NOT_WRONG: 1}


def test_choose_same_id_in_two_runs_is_judged_in_each() -> None:
    bench = Bench()
    bench.respond(QUESTION, "In 1850.", "incorrect", response_id="same", run="a")
    bench.respond(QUESTION, "In 1902.", "correct", response_id="same", run="b")
    assert [bad.text for bad in chosen(bench).by_question[QUESTION.question_id]] == ["In 1850."]


def test_choose_other_measures_are_not_looked_at() -> None:
    bench = Bench()
    bench.respond(QUESTION, "In 1850.", "correct")
    other = replace(bench.judgements[0], judgement_id="j2", measure="response_class", verdict="incorrect")
    bench.judgements.append(other)
    assert chosen(bench).total == 0


def test_choose_takes_the_answer_without_its_reasoning() -> None:
    bench = Bench()
    bench.respond(QUESTION, "It says 1850. Answer: In 1850.", answer="In 1850.")
    assert chosen(bench).by_question[QUESTION.question_id][0].text == "In 1850."


def test_choose_nothing_recorded_is_no_pair() -> None:
    found = chosen(Bench())
    assert (found.responses, found.total, found.passed.total()) == (0, 0, 0)
