"""Every fate is reached, at its step, in both languages, by one bad reply among good ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.udfs.agents.fate_cases import ALL, CASES, ENDED_BY, STEP_OF, Case
from tests.udfs.agents.world import FIRST, SPEC, AgentsEngine, as_json, by_kind, fact_of, made, well
from udfs.agents.base import AGENTS
from udfs.engines.base import Prompt, ProviderError
from udfs.schema import PERMANENT, Fate, Kind, Status, Step

LANGUAGES = ("en", "zh")
PER_ROW = {Fate.PARSE_FAILURE, Fate.OVER_LENGTH, Fate.FILTERED, Fate.PROVIDER_ERROR}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("case", CASES, ids=str)
async def test_fates_one_bad_reply_ends_its_candidates_with_its_reason(case: Case, language: str) -> None:
    found = by_kind(await made(AgentsEngine({case.agent: case.reply(language)}), language))
    assert tuple(found) == ALL
    ended = {kind: (found[kind].step, found[kind].fate) for kind in case.kinds}
    assert ended == dict.fromkeys(case.kinds, (case.step, case.fate)), [found[kind].detail for kind in case.kinds]
    status = Status(case.fate.value) if case.fate in PER_ROW else Status.OK
    assert {found[kind].status for kind in case.kinds} == {status}
    others = {found[kind].fate for kind in ALL if kind not in case.kinds}
    twin_ended = Kind.ANSWERABLE in case.kinds
    assert others <= {Fate.TWIN_REJECTED if twin_ended else Fate.ACCEPTED}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_fates_cuts_beyond_the_allowed_share_end_the_candidate(language: str) -> None:
    spec = replace(SPEC[language], max_redacted_share=0.01)
    found = by_kind(await made(AgentsEngine(), language, spec=spec))
    lack = found.pop(Kind.LACK_OF_EVIDENCE)
    assert (lack.step, lack.fate) == (Step.NEGATIVE, Fate.TOO_MUCH_REDACTED)
    assert lack.redactions
    assert {one.fate for one in found.values()} == {Fate.ACCEPTED}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_fates_fragment_that_is_evidence_alone_is_too_much_redacted(language: str) -> None:
    fact = FIRST[language]
    reply = as_json({"evidence": [fact.paragraph], "question": fact.question, "answer": fact.answer})
    spec = replace(SPEC[language], max_redacted_share=0.9)
    lack = by_kind(await made(AgentsEngine({"qa": reply}), language, spec=spec))[Kind.LACK_OF_EVIDENCE]
    assert (lack.step, lack.fate) == (Step.NEGATIVE, Fate.TOO_MUCH_REDACTED)


async def test_fates_cover_all_there_are() -> None:
    beside = {Fate.ACCEPTED, Fate.NO_FRAGMENT, Fate.TOO_MUCH_REDACTED, Fate.TWIN_REJECTED}
    in_replies = {Fate.TOO_LONG, Fate.INSTRUCTIONS, Fate.PARSE_FAILURE}  # test_robustness
    assert {case.fate for case in CASES} | beside | in_replies == set(Fate)


@pytest.mark.parametrize("agent", AGENTS)
async def test_fates_provider_error_leaves_the_whole_fragment_owed_and_no_other(agent: str) -> None:
    def reply(prompt: Prompt) -> str | Exception:
        return ProviderError("gone") if fact_of(prompt) is FIRST["en"] else well(agent)(prompt)

    found = await made(AgentsEngine({agent: reply}), "en", (0, 1))
    first = [one for one in found if one.fragment_index == 0]
    assert {(one.fate, one.status) for one in first} == {(Fate.PROVIDER_ERROR, Status.PROVIDER_ERROR)}
    assert not PERMANENT & {one.status for one in first}
    assert {one.step for one in first} == {STEP_OF[agent]}
    assert {one.fate for one in found if one.fragment_index == 1} == {Fate.ACCEPTED}


def test_fates_every_agent_is_in_the_tables() -> None:
    assert set(STEP_OF) == set(ENDED_BY) == set(AGENTS)
