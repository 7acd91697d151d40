"""What a bundle will cost, counted with one character for a token."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.factories import make_document, make_question
from udfs.bundles import question_of
from udfs.dialogues.dialogue import DialogueSpec
from udfs.engines.base import Message, TokenIds
from udfs.engines.prices import GivenPrices
from udfs.engines.trie import bound
from udfs.judges.base import Judge
from udfs.judges.joint import JointJudge
from udfs.judges.llm import LlmJudge
from udfs.judges.llm_reformulation import LlmReformulationJudge
from udfs.planning.assumptions import Assumptions
from udfs.planning.bundles import BundlePlan, Counter, plan_dialogues
from udfs.planning.engine import PlanningEngine, Target, filler
from udfs.planning.ranges import Assumed, Quota, Range
from udfs.prompts import build_answer
from udfs.records import row_of

TEXT = "The Orla bridge opened in 1801. It cost 300 crowns, which the town paid. " * 20
METHODS = ("fs", "zs")
QUESTIONS = ("When did the bridge open?", "What did it cost?", "Who paid for the tunnel?", "Who built the railway?")


class Characters:
    """A tokenizer for which each character is a token."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def ids(self, messages: Sequence[Message]) -> TokenIds:
        text = "\0".join(message["content"] for message in messages)
        self.asked.append(text)
        return np.array([ord(character) for character in text], dtype=np.uint32)

    def close(self) -> None:
        return None


def as_ids(text: str) -> TokenIds:
    return np.array([ord(character) for character in text], dtype=np.uint32)


def bundle() -> dict[str, Any]:
    document = make_document(text=TEXT)
    items = []
    for number, text in enumerate(QUESTIONS):
        question = make_question(document, question=text, answerable=number < 2)
        asks = [{"method": method, "response_id": f"{method}{number}"} for method in METHODS]
        items.append({**row_of(question), "asks": asks, "responses": []})
    return {"bundle_id": "b", "doc_id": document.doc_id, "text": TEXT, "n_tokens": len(TEXT), "items": items}


class Fixed(Assumptions):
    """Assumptions with these shares."""

    def __init__(self, refused: Range, again: float = 0.0, renewed: float = 1.0) -> None:
        nothing = pl.DataFrame()
        super().__init__(nothing, nothing, nothing, 64, _told(1.0), _told(0.0))
        self.shares = refused, Range.exactly(again), Range.exactly(20), Range.exactly(renewed)

    def output(self, purpose: str, method: str) -> Assumed:
        return Assumed(self.shares[2], "test")

    def refused(self, method: str, answerable: bool) -> Assumed:
        return Assumed(self.shares[0], "test")

    def renewed(self) -> Assumed:
        return Assumed(self.shares[3], "test")

    def retried(self, purpose: str) -> Assumed:
        return Assumed(self.shares[1], "test")


def _told(value: float) -> Assumed:
    return Assumed(Range.exactly(value), "test")


def counted(
    assumptions: Fixed, judge: Judge | None = None, window: int | None = None, detector: str = "rules", block: int = 1
) -> tuple[BundlePlan, Characters]:
    tokenizer = Characters()
    target = Target("m", "r", tokenizer, window, block, True)
    engine = PlanningEngine(target, assumptions, detector == "llm")
    counter = Counter(engine, GivenPrices(prompt=1e6, cached=1e6, output=0.0))
    specs = {method: DialogueSpec(method, detector=detector) for method in METHODS}
    asyncio.run(plan_dialogues(bundle(), specs, counter, judge, counter, Quota()))
    return counter.close(), tokenizer


def first_prompts() -> list[str]:
    questions = [question_of(item) for item in bundle()["items"]]
    return [
        build_answer(method, "document_first", "en", TEXT, question.question)[0]["content"]
        for question in questions
        for method in METHODS
    ]


def test_plan_without_refusals_counts_every_first_prompt_and_their_bound() -> None:
    plan, _ = counted(Fixed(Range()))
    prompts = first_prompts()
    assert plan.usage.prompt == Range.exactly(sum(map(len, prompts)))
    assert plan.bound == Range.exactly(bound(map(as_ids, prompts)).tokens)
    assert plan.usage.output == Range.exactly(20 * len(prompts))
    assert plan.usage.dialogues == len(prompts)
    assert plan.usage.second_turns == Range()
    assert plan.usage.usd.mean == pytest.approx(plan.usage.prompt.mean), "a dollar a token"


def test_plan_counts_whole_cache_blocks_and_never_more_than_the_prompts() -> None:
    plan, _ = counted(Fixed(Range()), block=64)
    assert plan.usage.computed == Range.exactly(bound(map(as_ids, first_prompts()), 64).block_tokens)
    assert plan.usage.computed.mean > plan.bound.mean


def test_plan_counts_second_turns_by_the_refused_share() -> None:
    plan, _ = counted(Fixed(Range(0.0, 0.5, 1.0)))
    assert plan.usage.second_turns == Range(0.0, 4.0, 8.0)
    assert plan.usage.prompt.low == sum(map(len, first_prompts()))
    assert plan.usage.prompt.low < plan.usage.prompt.mean < plan.usage.prompt.high
    assert plan.bound.low < plan.bound.mean < plan.bound.high < plan.usage.prompt.high


def test_plan_shares_the_document_out_among_the_cells_that_read_it() -> None:
    plan, _ = counted(Fixed(Range()))
    cells = {method: usage for (method, _), usage in plan.cells.items()}
    assert sum(usage.computed.mean for usage in cells.values()) == pytest.approx(plan.usage.computed.mean)
    assert cells["zs"].computed.mean > len(TEXT) / 4, "the method that comes second pays its part"
    assert cells["fs"].computed.mean > cells["zs"].computed.mean


def test_plan_counts_the_judge_on_the_same_engine_and_new_questions_only_after_a_refusal() -> None:
    judge = JointJudge((LlmJudge("m"), LlmReformulationJudge("m")))
    none, _ = counted(Fixed(Range()), judge)
    every, _ = counted(Fixed(Range.exactly(1.0)), judge)
    dialogues, unanswerable = 8, 4
    assert none.usage.calls.mean == dialogues * 2
    assert every.usage.calls.mean == dialogues * 3 + unanswerable * 4
    assert every.usage.dialogues == dialogues
    half, _ = counted(Fixed(Range.exactly(1.0), renewed=0.5), judge)
    assert half.usage.calls.mean == dialogues * 3 + unanswerable + unanswerable / 2 * 3, "three of four if it is new"


def test_plan_counts_calls_that_are_asked_again() -> None:
    once, _ = counted(Fixed(Range()), LlmJudge("m"))
    half, _ = counted(Fixed(Range(), again=0.5), LlmJudge("m"))
    assert half.usage.calls.mean == once.usage.calls.mean + 4


def test_plan_with_the_models_own_detector_counts_its_calls() -> None:
    rules, _ = counted(Fixed(Range()))
    asked, _ = counted(Fixed(Range()), detector="llm")
    assert asked.usage.calls.mean == 2 * rules.usage.calls.mean


def test_plan_of_a_prompt_that_does_not_fit_costs_nothing_and_is_counted() -> None:
    plan, _ = counted(Fixed(Range.exactly(1.0)), LlmJudge("m"), window=600)
    assert plan.usage.over_length == plan.usage.dialogues == 8
    assert plan.usage.calls == Range()


def test_filler_has_about_as_many_words_as_tokens_are_wanted() -> None:
    assert len(filler("abcdefgh", 40).split()) == 37
    assert filler("one", 10) != filler("two", 10)
