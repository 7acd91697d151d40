from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.agents.base import Opinion
from udfs.agents.console import STEPS, Decision, decide, first_against
from udfs.schema import Fate, Kind, Status, Step

KINDS = (Kind.ANSWERABLE, Kind.LACK_OF_EVIDENCE, Kind.FALSE_ASSUMPTION)
NOTHING: dict[Kind, frozenset[Step]] = dict.fromkeys(KINDS, frozenset())
OPINIONS = st.builds(
    Opinion,
    agent=st.sampled_from(["quality", "rules"]),
    step=st.sampled_from(Step),
    against=st.none() | st.sampled_from([fate for fate in Fate if fate is not Fate.ACCEPTED]),
    detail=st.text(max_size=5),
)


@given(st.fixed_dictionaries({kind: st.lists(OPINIONS, max_size=6) for kind in KINDS}))
def test_console_gives_every_candidate_one_decision_that_follows_from_opinions(said: dict[Kind, list[Opinion]]) -> None:
    decisions = decide(said, NOTHING)
    assert set(decisions) == set(KINDS)
    every = [opinion.against for opinions in said.values() for opinion in opinions]
    if Fate.PROVIDER_ERROR in every:
        assert {decision.fate for decision in decisions.values()} == {Fate.PROVIDER_ERROR}
        return
    for kind, decision in decisions.items():
        against = [opinion for opinion in said[kind] if opinion.against is not None]
        if against:
            first = min(STEPS.index(opinion.step) for opinion in against)
            assert STEPS.index(decision.step) == first
            assert decision.fate in {o.against for o in against if STEPS.index(o.step) == first}
        elif kind is not Kind.ANSWERABLE and decisions[Kind.ANSWERABLE].fate is not Fate.ACCEPTED:
            assert decision.fate is Fate.TWIN_REJECTED
        else:
            assert decision == Decision(Step.CONSOLE, Fate.ACCEPTED)


def test_console_earlier_step_wins_and_in_a_step_the_earlier_opinion() -> None:
    late = Opinion("full_view", Step.FULL_VIEW, Fate.NOT_ANSWERED)
    first = Opinion("rules", Step.QA, Fate.WRONG_LANGUAGE)
    second = Opinion("rules", Step.QA, Fate.TOO_LONG)
    assert first_against([late, first, second]) is first
    assert first_against([Opinion("qa", Step.QA)]) is None


def test_console_for_is_no_answer_to_against() -> None:
    said = [Opinion("a", Step.QA), Opinion("b", Step.QA_REVIEW, Fate.INCOMPLETE_ANSWER, "why"), Opinion("c", Step.QA)]
    assert decide({Kind.ANSWERABLE: said}, NOTHING)[Kind.ANSWERABLE] == Decision(
        Step.QA_REVIEW, Fate.INCOMPLETE_ANSWER, "why"
    )


def test_console_acceptance_without_a_required_opinion_is_a_bug() -> None:
    said = {Kind.ANSWERABLE: [Opinion("qa", Step.QA)]}
    with pytest.raises(RuntimeError, match="retrieval"):
        decide(said, {Kind.ANSWERABLE: frozenset({Step.QA, Step.RETRIEVAL})})


@pytest.mark.parametrize("fate", Fate)
def test_console_status_is_ok_unless_nothing_could_be_decided(fate: Fate) -> None:
    own = {Fate.PARSE_FAILURE, Fate.OVER_LENGTH, Fate.FILTERED, Fate.PROVIDER_ERROR}
    status = Decision(Step.CONSOLE, fate).status
    assert status == (Status(fate.value) if fate in own else Status.OK)
