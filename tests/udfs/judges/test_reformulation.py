"""New questions judged by rule: on hand-made documents in both languages, and on whatever a reply may say."""

from __future__ import annotations

import dataclasses

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.udfs.dialogues.fake_engine import a_question
from tests.udfs.judges.factories import a_response
from udfs.dialogues.extraction import extract_question, extract_question_couldask
from udfs.judges.reformulation import GIVES, ReformulationJudge
from udfs.records import Judgement, Question, Response, Turn, row_of
from udfs.schema import JUDGEMENTS, Status

DOCUMENT = {
    "en": (
        "The Tannet crew rowed from the old slipway every Sunday morning. Its cox was Miriam Vane, a baker's daughter. "
        "In 1911 the crew bought a second boat from a widow at Harrow Lock for nineteen pounds.\n\n"
        "Nobody in the village ever learned why the lock keeper sold his lantern to the parson."
    ),
    "zh": (
        "青石镇的龙舟队每逢端午从旧码头出发。掌舵人是面馆老板的女儿周秀兰。"
        "一九一一年，龙舟队花了十九块银元从一位寡妇手里买下第二条船。\n\n镇上的人一直不知道守闸人为什么把灯笼卖给了教书先生。"
    ),
}
ORIGINAL = {"en": "Who is the cox of the Marlow crew?", "zh": "白水镇的龙舟队由谁掌舵？"}

Scores = dict[tuple[str, str], Judgement]


def reformulating(text: str, question: Question) -> Response:
    """A response that refused and then said `text`."""
    refusal = a_response("The document does not say.")
    return dataclasses.replace(
        refusal,
        turns=(*refusal.turns, Turn("reformulate", text, 10, 0, 3, "stop", 0.1)),
        reformulation=extract_question(text, question.language, question.question),
        reformulation_couldask=extract_question_couldask(text),
    )


def judged(text: str, language: str = "en", question: str | None = None, entities: tuple[str, ...] = ()) -> Scores:
    original = dataclasses.replace(a_question(question or ORIGINAL[language], language=language), entities=entities)
    made = ReformulationJudge().score(reformulating(text, original), original, DOCUMENT[language])
    return {(j.judge, j.measure): j for j in made}


@pytest.mark.parametrize(
    ("language", "text", "answerable", "relevant", "category", "strategy"),
    [
        ("en", "New question: Who is the cox of the Tannet crew?", True, True, "none", "undecided"),
        ("zh", "新问题：青石镇的龙舟队由谁掌舵？", True, True, "none", "undecided"),
        ("en", "New question: Who is the cox of the crew?", True, True, "none", "generalize"),
        ("en", "New question: Who is the cox of the Marlow crew?", False, True, "same_or_rephrased", "none"),
        ("zh", "新问题：白水镇的龙舟队由谁掌舵？", False, True, "same_or_rephrased", "none"),
        ("en", "New question: What is the capital of France?", False, False, "irrelevant", "none"),
        ("zh", "新问题：法国的首都是哪座城市？", False, False, "irrelevant", "none"),
        (
            "en",
            "New question: In 1911 the crew bought a second boat from a widow at Harrow Lock for how much?",
            True,
            False,
            "copied",
            "none",
        ),
        ("en", "I cannot think of any.", False, False, "other", "none"),
        ("zh", "我想不出来。", False, False, "other", "none"),
    ],
)  # fmt: skip
def test_reformulation_by_rules_gets_its_verdicts(
    language: str, text: str, answerable: bool, relevant: bool, category: str, strategy: str
) -> None:
    made = judged(text, language)
    supported = made["rules", "reformulation_answerable"]
    assert (supported.verdict, supported.score) == (("answerable", 1.0) if answerable else ("unanswerable", 0.0))
    assert (supported.rationale is not None) is answerable
    soft = made["rules", "entity_overlap_soft"].score
    assert soft is not None
    assert (soft >= 0.5) is relevant
    assert made["rules", "error_category"].verdict == category
    assert made["rules", "strategy"].verdict == strategy


@pytest.mark.parametrize(
    ("language", "text", "part"),
    [
        ("en", "New question: Who is the cox of the Tannet crew?", "Miriam Vane"),
        ("zh", "新问题：青石镇的龙舟队由谁掌舵？", "周秀兰"),
    ],
)
def test_reformulation_answerable_one_quotes_what_supports_it(language: str, text: str, part: str) -> None:
    rationale = judged(text, language)["rules", "reformulation_answerable"].rationale
    assert rationale is not None
    assert part in rationale
    assert rationale in DOCUMENT[language]


def test_reformulation_support_that_the_view_cuts_out_is_none() -> None:
    text, question = "New question: Who is the cox of the Tannet crew?", a_question(ORIGINAL["en"])
    view = DOCUMENT["en"].replace("Its cox was Miriam Vane, a baker's daughter. ", "")
    made = ReformulationJudge().score(reformulating(text, question), question, view)
    assert {j.verdict for j in made if j.measure == "reformulation_answerable"} == {"unanswerable"}


def test_reformulation_couldask_judges_its_own_cut() -> None:
    made = judged('Who is the cox of the crew? I mean: "Who is the cox of the Tannet crew?" Is this good?')
    assert made["couldask", "reformulation_answerable"].score == 1
    assert made["couldask", "edit_distance"].score == 4, "Tannet, and three words that stand behind the first mark"


def test_reformulation_without_question_mark_keeps_only_couldasks_distance() -> None:
    made = judged("Sure: who is the cox of the Tannet crew")
    assert made["couldask", "reformulation_answerable"].score == 0
    assert made["couldask", "entity_overlap"].score == 0
    assert made["couldask", "edit_distance"].score == 3, "who, Tannet, crew"


def test_reformulation_full_width_mark_is_none_to_couldask() -> None:
    made = judged("新问题：青石镇的龙舟队由谁掌舵？", "zh")
    assert made["rules", "reformulation_answerable"].score == 1
    assert made["couldask", "reformulation_answerable"].score == 0


def test_reformulation_of_a_dataset_with_entities_is_compared_with_these_by_couldask() -> None:
    text = "New question: Who is the cox of the Tannet crew?"
    assert judged(text, entities=("submarine", "volcano"))["couldask", "entity_overlap"].score == 0
    given = judged(text, entities=("submarine", "volcano"))["rules", "entity_overlap_soft"].score
    assert given == judged(text)["rules", "entity_overlap_soft"].score


def test_reformulation_of_a_question_without_entities_has_no_overlap() -> None:
    made = judged("New question: Who was the cox?", question="Why was it so?")
    for judge, measure in (
        ("rules", "entity_overlap"),
        ("couldask", "entity_overlap"),
        ("rules", "entity_overlap_soft"),
    ):
        assert (made[judge, measure].verdict, made[judge, measure].score) == ("undefined", None)
    assert made["rules", "reformulation_answerable"].score == 1
    assert (made["rules", "error_category"].verdict, made["rules", "strategy"].verdict) == ("undecided", "undecided")


def test_reformulation_of_the_answerable_or_never_asked_for_is_not_judged() -> None:
    judge, unanswerable = ReformulationJudge(), a_question(ORIGINAL["en"])
    answerable = a_question("Who is the cox?", answerable=True, answers=("Miriam Vane",))
    asked, never = reformulating("New question: Who rowed?", answerable), a_response("The document does not say.")
    for question, response in ((answerable, asked), (unanswerable, never), (unanswerable, a_response(None))):
        assert judge.score(response, question, DOCUMENT["en"]) == []
        assert judge.expected_judgement_ids(question, response) == []


def test_reformulation_ids_change_with_words_original_and_entities() -> None:
    judge, question = ReformulationJudge(), a_question(ORIGINAL["en"])
    response = reformulating("New question: Who rowed?", question)
    base = set(judge.expected_judgement_ids(question, response))
    assert len(base) == len(GIVES)
    others = [
        (dataclasses.replace(question, question="Who is the cox?"), response),
        (dataclasses.replace(question, entities=("cox",)), response),
        (question, reformulating("New question: Who rowed on Sunday?", question)),
        (question, dataclasses.replace(response, reformulation="Who sold?")),
        (question, dataclasses.replace(response, reformulation_couldask="Who sold?")),
    ]
    for asked, answered in others:
        assert not base & set(judge.expected_judgement_ids(asked, answered))


PIECES = st.sampled_from(
    [
        "New question: ",
        "新问题：",
        "who",
        " is ",
        "the cox",
        "?",
        "？",
        '"',
        ": ",
        "\n",
        "Tannet",
        "船",
        "谁",
        "买下",
        " 1911 ",
        "多少",
    ]
)
TEXTS = st.text(max_size=60) | st.lists(PIECES, max_size=12).map("".join)


@settings(deadline=None)
@given(TEXTS, TEXTS, TEXTS, st.sampled_from(["en", "zh"]))
def test_reformulation_any_reply_gets_every_measure_in_its_range(
    reply: str, original: str, document: str, language: str
) -> None:
    question = a_question(original, language=language)
    response = reformulating(reply, question)
    made = ReformulationJudge().score(response, question, document)
    assert [(j.judge, j.measure) for j in made] == list(GIVES)
    assert [j.judgement_id for j in made] == ReformulationJudge().expected_judgement_ids(question, response)
    assert pa.Table.from_pylist([row_of(j) for j in made], schema=JUDGEMENTS).num_rows == len(GIVES)
    for judgement in made:
        assert judgement.status is Status.OK
        assert judgement.verdict is not None or judgement.score is not None
        if judgement.measure != "edit_distance" and judgement.score is not None:
            assert 0 <= judgement.score <= 1
    values = {j.measure: j.verdict for j in made if j.judge == "rules"}
    category, strategy = values["error_category"], values["strategy"]
    assert (category == "none") != (strategy == "none") or category == strategy == "undecided"
