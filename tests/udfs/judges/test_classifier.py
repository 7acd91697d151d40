"""The judge `classifier:<name>`, with a classifier that knows its texts by heart."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from tests.factories import WHEN, make_document, make_question, make_response
from udfs.engines.base import EngineError, OverLength, ProviderError, Unreadable
from udfs.judges.classifier import ANSWERABLE, ClassifierJudge
from udfs.records import Question, Response, Span, Turn
from udfs.schema import Status

DOCUMENT = make_document()
QUESTION = make_question(DOCUMENT, answerable=False)
JUDGE = ClassifierJudge("small", "r1", clock=lambda: WHEN)


class ByHeart:
    """Gives what it was told, by question; 0.2 for any other."""

    name, revision = "small", "r1"

    def __init__(self, told: dict[str, float | EngineError] | EngineError) -> None:
        self.told = told
        self.asked: list[tuple[str, str]] = []

    async def answerable(self, pairs: Sequence[tuple[str, str]]) -> list[float | EngineError]:
        self.asked += pairs
        if isinstance(self.told, EngineError):
            raise self.told
        return [self.told.get(question, 0.2) for _, question in pairs]

    async def close(self) -> None:
        pass


def response(reformulation: str | None, question: Question = QUESTION, asked: bool = True) -> Response:
    purposes = ("answer", "reformulate") if asked else ("answer",)
    turns = tuple(Turn(purpose, "said", 1, 0, 1, "stop", 0.1) for purpose in purposes)
    made = make_response(question)
    return dataclasses.replace(made, turns=turns, refused=asked, reformulation=reformulation)


async def test_judge_gives_the_probability_and_the_likelier_class() -> None:
    classifier = ByHeart({"Yes?": 0.5, "No?": 0.49})
    for text, verdict in (("Yes?", "answerable"), ("No?", "unanswerable")):
        ((made,),) = await JUDGE.judge([(QUESTION, response(text), "view")], classifier)
        assert (made.measure, made.judge, made.verdict) == (ANSWERABLE, "classifier:small", verdict)
        assert made.score == classifier.told[text]  # type: ignore[index]
        assert [made.judgement_id] == JUDGE.expected_judgement_ids(QUESTION, response(text))


async def test_judge_asks_each_question_of_a_view_once_and_no_empty_one() -> None:
    classifier = ByHeart({"Yes?": 0.9})
    asked = [
        (QUESTION, response("Yes?"), "view"),
        (QUESTION, response("Yes?"), "view"),
        (QUESTION, response(" "), "view"),
    ]
    made = await JUDGE.judge(asked, classifier)
    assert classifier.asked == [("view", "Yes?")]
    assert [(one.verdict, one.score) for (one,) in made] == [("answerable", 0.9)] * 2 + [("unanswerable", 0.0)]


async def test_judge_judges_neither_answerable_questions_nor_responses_without_turn_two() -> None:
    gold = make_question(DOCUMENT, answerable=True)
    asked = [(gold, response("Yes?", gold), "view"), (QUESTION, response(None, asked=False), "view")]
    assert await JUDGE.judge(asked, ByHeart({})) == [[], []]


async def test_judge_says_what_could_not_be_asked() -> None:
    told: dict[str, float | EngineError] = {"Long?": OverLength("no room"), "Strange?": Unreadable("unknown words")}
    asked = [(QUESTION, response(text), "view") for text in ("Long?", "Strange?", "Yes?")]
    (long,), (strange,), (fine,) = await JUDGE.judge(asked, ByHeart(told))
    assert (long.status, long.verdict, long.error) == (Status.OVER_LENGTH, None, "no room")
    assert (strange.status, strange.verdict, strange.rationale) == (Status.OK, None, "unknown words")
    assert fine.verdict == "unanswerable"


async def test_judge_whose_classifier_fails_owes_everything_again() -> None:
    ((made,),) = await JUDGE.judge([(QUESTION, response("Yes?"), "view")], ByHeart(ProviderError("broken")))
    assert (made.status, made.verdict) == (Status.PROVIDER_ERROR, None)


def test_judgement_ids_depend_on_revision_view_and_new_question() -> None:
    redacted = dataclasses.replace(QUESTION, redactions=(Span(0, 3),))
    ids = [
        JUDGE.expected_judgement_ids(QUESTION, response("Yes?")),
        JUDGE.expected_judgement_ids(QUESTION, response("No?")),
        JUDGE.expected_judgement_ids(redacted, response("Yes?")),
        dataclasses.replace(JUDGE, revision="r2").expected_judgement_ids(QUESTION, response("Yes?")),
    ]
    assert len({name for (name,) in ids}) == 4
