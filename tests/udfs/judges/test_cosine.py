"""The cosine judge with an embedder of words: which responses it judges, by what, and what becomes of odd texts."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.dialogues.fake_engine import a_question
from tests.udfs.judges.factories import a_response
from tests.udfs.judges.letter_embedder import LetterEmbedder
from udfs.engines.base import (
    Embedder,
    EngineDead,
    EngineError,
    Filtered,
    OverLength,
    ProviderError,
    Unreadable,
)
from udfs.judges.cosine import TEXTS_AT_ONCE, CosineJudge, Pair, embedded
from udfs.records import Judgement, Question, Response, Turn, row_of
from udfs.schema import JUDGEMENTS, Status

JUDGE = CosineJudge("letters", "r1")
ORIGINAL = "Who is the cox of the Marlow crew?"


def reformulated(new: str | None, response_id: str = "r1") -> Response:
    """A response that refused and was then asked for a new question."""
    refusal = a_response("The document does not say.")
    turns = (*refusal.turns, Turn("reformulate", new or "No idea.", 10, 0, 3, "stop", 0.1))
    return dataclasses.replace(refusal, response_id=response_id, turns=turns, reformulation=new)


def pair(new: str | None, question: str = ORIGINAL, language: str = "en", response_id: str = "r1") -> Pair:
    return a_question(question, language=language), reformulated(new, response_id)


async def judged(embedder: Embedder, *pairs: Pair) -> list[Judgement]:
    return [judgement for made in await JUDGE.judge(pairs, embedder) for judgement in made]


async def test_cosine_of_a_near_question_is_above_that_of_a_far_one() -> None:
    near, far, same = await judged(
        LetterEmbedder(), pair("Who is the cox of the crew?"), pair("zzz zzz qqq?"), pair(ORIGINAL)
    )
    assert near.score is not None
    assert far.score is not None
    assert near.score > 0.9 > 0.5 > far.score
    assert same.score == pytest.approx(1)
    assert (near.measure, near.judge, near.verdict, near.status) == ("cosine", "embedding:letters", None, Status.OK)
    pa.Table.from_pylist([row_of(near), row_of(far)], schema=JUDGEMENTS)


async def test_cosine_of_a_chinese_question_is_a_score_where_the_embedder_reads_it() -> None:
    near, far = await judged(
        LetterEmbedder(),
        pair("青石镇的龙舟队由谁掌舵？", "白水镇的龙舟队由谁掌舵？", "zh"),
        pair("灯笼卖了多少钱？", "白水镇的龙舟队由谁掌舵？", "zh"),
    )
    assert near.score is not None
    assert far.score is not None
    assert 0 <= far.score < near.score <= 1


@pytest.mark.parametrize("new", [None, "", "  \n"])
async def test_cosine_where_nothing_could_be_cut_out_is_zero_and_asks_nothing(new: str | None) -> None:
    embedder = LetterEmbedder()
    (made,) = await judged(embedder, pair(new))
    assert (made.score, made.status) == (0.0, Status.OK)
    assert embedder.calls == []


@pytest.mark.parametrize(
    "given_pair",
    [
        pytest.param((a_question("What?", answerable=True), reformulated("Which?")), id="answerable"),
        pytest.param((a_question("What?"), a_response("It opened in 1902.")), id="not-detected"),
        pytest.param((a_question("What?"), a_response(None)), id="turn-1-failed"),
    ],
)
async def test_cosine_of_what_is_not_to_be_judged_is_nothing(given_pair: tuple[Question, Response]) -> None:
    assert JUDGE.expected_judgement_ids(*given_pair) == []
    embedder = LetterEmbedder()
    assert await JUDGE.judge([given_pair], embedder) == [[]]
    assert embedder.calls == []


async def test_cosine_gives_the_ids_that_it_expects_pair_by_pair() -> None:
    pairs = [
        pair("Who rows?", response_id="a"),
        (a_question("What?", answerable=True), reformulated("Which?")),
        pair(None, response_id="b"),
        pair("Who steers?", response_id="c"),
    ]
    made = await JUDGE.judge(pairs, LetterEmbedder())
    assert [[judgement.judgement_id for judgement in of_one] for of_one in made] == [
        JUDGE.expected_judgement_ids(*one) for one in pairs
    ]
    assert [len(of_one) for of_one in made] == [1, 0, 1, 1]
    assert len({judgement.judgement_id for of_one in made for judgement in of_one}) == 3


def test_cosine_id_changes_with_the_words_the_embedding_and_its_revision() -> None:
    first = JUDGE.expected_judgement_ids(*pair("Who rows?"))
    assert first == JUDGE.expected_judgement_ids(*pair("Who rows?"))
    others = [
        JUDGE.expected_judgement_ids(*pair("Who steers?")),
        JUDGE.expected_judgement_ids(*pair("Who rows?", "Who is the cox?")),
        CosineJudge("letters", "r2").expected_judgement_ids(*pair("Who rows?")),
        CosineJudge("words", "r1").expected_judgement_ids(*pair("Who rows?")),
    ]
    assert len({tuple(ids) for ids in [first, *others]}) == 5


@pytest.mark.parametrize(
    ("error", "status", "verdict"),
    [
        (OverLength, Status.OVER_LENGTH, None),
        (Filtered, Status.FILTERED, None),
        (Unreadable, Status.OK, "unreadable"),
    ],
)
async def test_cosine_of_a_text_that_cannot_be_embedded_takes_no_other_with_it(
    error: type[EngineError], status: Status, verdict: str | None
) -> None:
    pairs = [pair(f"Who rows on day {number}?", response_id=str(number)) for number in range(20)]
    pairs[7] = pair("BAD question?", response_id="bad")
    made = await judged(LetterEmbedder(BAD=error), *pairs)
    bad = made.pop(7)
    assert (bad.status, bad.verdict, bad.score) == (status, verdict, None)
    assert "BAD in 1" in (bad.rationale or bad.error or "")
    assert all(judgement.status is Status.OK and judgement.score is not None for judgement in made)


async def test_cosine_of_a_failing_provider_is_asked_again_at_the_next_start() -> None:
    embedder = LetterEmbedder(row=ProviderError)
    made = await judged(embedder, pair("Who rows?"), pair(None))
    assert [judgement.status for judgement in made] == [Status.PROVIDER_ERROR, Status.OK]
    assert len(embedder.calls) == 1, "a failure that does not lie in the texts is not asked again text by text"


async def test_cosine_of_a_dead_embedder_ends_the_stage() -> None:
    with pytest.raises(EngineDead):
        await judged(LetterEmbedder(row=EngineDead), pair("Who rows?"))


async def test_embedded_asks_for_each_text_once_and_not_for_too_many_at_once() -> None:
    embedder = LetterEmbedder()
    pairs = [pair(f"Who rows on day {number % 500}?", response_id=str(number)) for number in range(1000)]
    assert len(await judged(embedder, *pairs)) == 1000
    assert sum(len(call) for call in embedder.calls) == 501
    assert max(len(call) for call in embedder.calls) <= TEXTS_AT_ONCE


@given(st.lists(st.sampled_from(["a", "bb", "LONG c", "WEIRD d", "e f", "LONG g"]), unique=True))
async def test_embedded_gives_every_text_a_vector_or_its_own_error(texts: list[str]) -> None:
    outcomes = await embedded(LetterEmbedder(LONG=OverLength, WEIRD=Unreadable), texts)
    assert set(outcomes) == set(texts)
    for text, outcome in outcomes.items():
        expected = OverLength if "LONG" in text else Unreadable if "WEIRD" in text else np.ndarray
        assert isinstance(outcome, expected)
