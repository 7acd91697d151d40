from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pyarrow as pa
import pytest

from tests.udfs.agents.world import (
    DOCUMENTS,
    FACTS,
    FIRST,
    MAKING,
    SPEC,
    UNANSWERABLE,
    WHEN,
    AgentsEngine,
    a_source,
    about,
    as_json,
    by_kind,
    changed,
    knowledge,
    made,
    when,
)
from udfs.agents.base import AGENTS, purpose
from udfs.agents.program import run_program, template_hashes
from udfs.agents.spec import SynthesisSpec
from udfs.engines.base import Completion, EngineDead, Prompt, ProviderError
from udfs.errors import UserError
from udfs.identity import candidate_id
from udfs.prompts import LANGUAGES, build_answer
from udfs.prompts.library import library
from udfs.records import Candidate, row_of
from udfs.schema import CANDIDATES, Fate, Kind, Status, Step
from udfs.text import detect_language
from udfs.views import view_text

ALL = (Kind.ANSWERABLE, *UNANSWERABLE)


@dataclass
class Web:
    """A searcher that finds what a test wrote."""

    found: list[str] | Exception
    queries: list[str] = field(default_factory=list)

    async def search(self, query: str) -> list[str]:
        self.queries.append(query)
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


def fates(found: list[Candidate]) -> Counter[Fate]:
    return Counter(one.fate for one in found)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_program_good_replies_make_one_accepted_candidate_per_fragment_and_kind(language: str) -> None:
    found = await made(AgentsEngine(), language, (0, 1, 2))
    text, source = DOCUMENTS[language], a_source(language)
    assert [(one.fragment_index, one.kind) for one in found] == [(i, kind.value) for i in (0, 1, 2) for kind in ALL]
    assert fates(found[:10]) == {Fate.ACCEPTED: 10}
    assert fates(found[10:]) == {Fate.NO_FRAGMENT: 5}
    for one in found:
        assert one.candidate_id == candidate_id("made", "spec", source.doc_id, one.fragment_index, one.kind)
        assert one.status is Status.OK
        assert one.created_at == WHEN
    for index in (0, 1):
        fact = FACTS[language][1 - index]
        kinds = by_kind(found, index)
        twin = kinds[Kind.ANSWERABLE]
        assert (twin.question, twin.answer, twin.reference_response) == (fact.question, fact.answer, None)
        assert [text[start:end] for start, end in twin.evidence] == [fact.evidence]
        assert (twin.twin_id, twin.original_question, twin.redactions) == (None, None, ())
        for kind in UNANSWERABLE:
            other = kinds[kind]
            assert (other.twin_id, other.answer, other.evidence) == (twin.candidate_id, twin.answer, twin.evidence)
            assert other.reference_response is not None
            assert detect_language(other.reference_response) == detect_language(other.question or "") == language
        lack = kinds[Kind.LACK_OF_EVIDENCE]
        assert (lack.question, lack.original_question) == (fact.question, None)
        assert fact.evidence not in view_text(text, lack.redactions)
        entity = kinds[Kind.ENTITY_SUBSTITUTION]
        assert (entity.original, entity.replacement) == (fact.entity["original"], fact.entity["replacement"])
        assert (entity.question, entity.original_question) == (fact.entity["question"], fact.question)
        assert kinds[Kind.IMPOSSIBLE_CONDITION].replacement == fact.condition["condition"]
        assert kinds[Kind.FALSE_ASSUMPTION].replacement == fact.assumption["assumption"]


async def test_program_candidates_are_rows_of_the_table() -> None:
    found = await made(AgentsEngine(), "en", (0, 2))
    table = pa.Table.from_pylist([row_of(one) for one in found], schema=CANDIDATES)
    assert [Candidate.from_row(row) for row in table.to_pylist()] == found


@pytest.mark.parametrize("language", LANGUAGES)
async def test_program_accepted_candidate_has_every_opinion_in_the_order_of_the_steps(language: str) -> None:
    for one in await made(AgentsEngine(), language):
        opinions = json.loads(one.opinions)
        steps = [opinion["step"] for opinion in opinions]
        assert steps == sorted(steps, key=[step.value for step in Step].index)
        expected = {step.value for step in Step} - {Step.SEGMENT, Step.CONSOLE}
        assert set(steps) == expected - ({Step.NEGATIVE} if one.kind == Kind.ANSWERABLE else set())
        assert {opinion["against"] for opinion in opinions} == {None}
        asked = {opinion["agent"] for opinion in opinions} & set(AGENTS)
        replies = {opinion["agent"]: opinion["reply"] for opinion in opinions}
        assert all(replies[agent] for agent in asked)


async def test_program_every_prompt_tells_the_scripted_engine_what_it_is_about() -> None:
    engine = AgentsEngine()
    await made(engine, "zh")
    for prompt in engine.prompts:
        gold = knowledge(prompt)
        assert gold["language"] == "zh"
        agent = prompt.purpose.removeprefix("agent.")
        assert ("fragment" in gold) == (agent != "common_sense")
        assert ("text" in gold) == (agent in ("short_reading", "full_view"))
        assert prompt.request_id
    lack = next(p for p in engine.asked("short_reading") if FIRST["zh"].evidence not in knowledge(p)["text"])
    assert knowledge(lack)["evidence"] == [FIRST["zh"].evidence]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_program_prompts_on_a_fragment_start_with_it(language: str) -> None:
    engine = AgentsEngine()
    await made(engine, language)
    whole = [
        prompt.messages[0]["content"]
        for agent in ("quality", "topic", "qa", "qa_review", "entity_substitution", "impossible_condition")
        for prompt in engine.asked(agent)
    ]
    paragraph = FIRST[language].paragraph
    block = whole[0][: whole[0].index(paragraph) + len(paragraph)]
    assert all(prompt.startswith(block) for prompt in whole)
    cut = engine.asked("reference")[0].messages[0]["content"]
    before = paragraph.index(FIRST[language].evidence)
    assert cut.startswith(block[: block.index(paragraph) + before])
    assert FIRST[language].evidence not in cut


@pytest.mark.parametrize("language", LANGUAGES)
async def test_program_full_view_starts_as_dialogues_do(language: str) -> None:
    engine = AgentsEngine()
    found = await made(engine, language)
    text = DOCUMENTS[language]
    lack = by_kind(found)[Kind.LACK_OF_EVIDENCE]
    views = [text] * 4 + [view_text(text, lack.redactions)]
    prompts = engine.asked("full_view")
    assert len(prompts) == 5
    for prompt, view in zip(prompts, views, strict=True):
        block = library().document_block(language, view)
        asked = build_answer("zs", "document_first", language, view, "q")[0]["content"]
        assert asked.startswith(f"{block}\n\n")
        assert prompt.messages[0]["content"].startswith(f"{block}\n\n")


@pytest.mark.parametrize("language", LANGUAGES)
async def test_program_full_views_come_last_the_whole_document_before_cuts_and_late_cuts_before_early(
    language: str,
) -> None:
    engine = AgentsEngine()
    found = await made(engine, language, (0, 1), replace(SPEC[language], common_sense=False))
    purposes = [prompt.purpose for prompt in engine.prompts]
    first = purposes.index(purpose("full_view"))
    assert set(purposes[first:]) == {purpose("full_view")}
    texts = [knowledge(prompt)["text"] for prompt in engine.asked("full_view")]
    assert texts[:8] == [DOCUMENTS[language]] * 8
    cuts = [one.redactions for one in found if one.kind == Kind.LACK_OF_EVIDENCE]
    late, early = sorted(cuts, key=lambda spans: -spans[0].start)
    assert texts[8:] == [view_text(DOCUMENTS[language], late), view_text(DOCUMENTS[language], early)]


async def test_program_ended_candidate_is_asked_nothing_more() -> None:
    fact = FIRST["en"]
    engine = AgentsEngine({"entity_substitution": changed("entity_substitution", question=fact.question)})
    await made(engine, "en")
    entity = candidate_id("made", "spec", a_source("en").doc_id, 0, Kind.ENTITY_SUBSTITUTION.value)
    assert [p.purpose for p in engine.prompts if p.request_id == entity] == [purpose("entity_substitution")]


@pytest.mark.parametrize("agent", ["quality", "topic", "qa", "qa_review"])
async def test_program_ended_fragment_is_asked_nothing_more(agent: str) -> None:
    engine = AgentsEngine({agent: "garbage"})
    found = await made(engine, "en")
    assert engine.prompts[-1].purpose == purpose(agent)
    assert len({one.opinions for one in found}) == 1


async def test_program_candidates_whose_twin_ended_are_rejected_and_asked_nothing_more() -> None:
    conflicting = as_json({"quote": "", "answerable": True, "answer": "the widow"})
    engine = AgentsEngine({"short_reading": conflicting})
    one = by_kind(await made(engine, "en"))
    assert one.pop(Kind.ANSWERABLE).fate is Fate.CONFLICTING_ANSWERS
    assert {(other.step, other.fate) for other in one.values()} == {(Step.CONSOLE, Fate.TWIN_REJECTED)}
    assert engine.prompts[-1].purpose == purpose("short_reading")


async def test_program_own_objection_counts_before_that_of_the_twin() -> None:
    """All are asked over the whole view at once; each that is objected to keeps its own reason."""
    found = as_json({"quote": "", "answerable": True, "answer": "the widow"})
    fact = FIRST["en"]
    engine = AgentsEngine({"full_view": when(lambda p: knowledge(p)["question"] == fact.question, "full_view", found)})
    one = by_kind(await made(engine, "en"))
    assert one[Kind.ANSWERABLE].fate is one[Kind.LACK_OF_EVIDENCE].fate is Fate.CONFLICTING_ANSWERS
    assert one[Kind.FALSE_ASSUMPTION].fate is Fate.TWIN_REJECTED


async def test_program_answer_in_other_words_is_the_same_answer() -> None:
    reply = as_json({"quote": "", "answerable": True, "answer": "It was in the year 1911, after the ice."})
    fact = FIRST["en"]

    def whole(prompt: Prompt) -> bool:
        gold = knowledge(prompt)
        return gold["question"] == fact.question and fact.evidence in gold["text"]

    readers = {agent: when(whole, agent, reply) for agent in ("short_reading", "full_view")}
    assert fates(await made(AgentsEngine(readers), "en")) == {Fate.ACCEPTED: 5}


async def test_program_short_reading_without_the_answer_is_no_objection_to_the_answerable() -> None:
    nothing = as_json({"quote": "", "answerable": False, "answer": ""})
    assert fates(await made(AgentsEngine({"short_reading": nothing}), "en")) == {Fate.ACCEPTED: 5}


async def test_program_short_reading_has_to_answer_the_answerable_where_nobody_reads_the_whole_view() -> None:
    nothing = as_json({"quote": "", "answerable": False, "answer": ""})
    spec = replace(SPEC["en"], full_view=False)
    one = by_kind(await made(AgentsEngine({"short_reading": nothing}), "en", spec=spec))
    assert (one[Kind.ANSWERABLE].step, one[Kind.ANSWERABLE].fate) == (Step.RETRIEVAL, Fate.NOT_ANSWERED)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_program_sentence_with_the_answer_and_the_question_ends_the_cut_candidate_whatever_readers_say(
    language: str,
) -> None:
    """Readers that find nothing in a view do not outweigh a sentence that plainly answers."""
    fact = FIRST[language]
    again = {
        "en": "In the year 1911 men from nine parishes replaced the great wheel of the paper mill by the stove.",
        "zh": "县里的学堂说，旧纸坊那个大水轮，村子里的妇女们在宣统二年的夏天看着它被人换掉，花了不少银钱。",
    }[language]
    text = f"{DOCUMENTS[language]}\n\n{again}"
    one = about(await made(AgentsEngine(), language, (0, 1), text=text), fact)
    lack = one[Kind.LACK_OF_EVIDENCE]
    assert one[Kind.ANSWERABLE].fate is Fate.ACCEPTED
    assert again in view_text(text, lack.redactions)
    assert (lack.step, lack.fate) == (Step.RETRIEVAL, Fate.EVIDENCE_SURVIVES)


async def test_program_same_question_is_asked_without_a_document_once() -> None:
    engine = AgentsEngine()
    await made(engine, "en")
    asked = Counter(knowledge(prompt)["question"] for prompt in engine.asked("common_sense"))
    fact = FIRST["en"]
    others = [made_of["question"] for made_of in (fact.entity, fact.condition, fact.assumption)]
    assert asked == Counter([fact.question, *others])


@pytest.mark.parametrize(("switch", "agent"), [("full_view", "full_view"), ("common_sense", "common_sense")])
async def test_program_check_that_is_switched_off_is_not_asked(switch: str, agent: str) -> None:
    engine = AgentsEngine()
    spec = replace(SPEC["en"], **{switch: False})  # type: ignore[arg-type]
    assert fates(await made(engine, "en", spec=spec)) == {Fate.ACCEPTED: 5}
    assert engine.asked(agent) == []


@pytest.mark.parametrize("language", LANGUAGES)
async def test_program_question_that_the_web_answers_is_common_sense(language: str) -> None:
    fact = FIRST[language]
    web = Web([f"Someone writes: {fact.evidence}", "  "])
    one = by_kind(await made(AgentsEngine(), language, searcher=web))
    assert {one[kind].fate for kind in (Kind.ANSWERABLE, Kind.LACK_OF_EVIDENCE)} == {Fate.COMMON_SENSE}
    assert {one[kind].fate for kind in UNANSWERABLE[1:]} == {Fate.TWIN_REJECTED}
    assert web.queries == [fact.question]


@pytest.mark.parametrize("found", [[], ["  "], ["The mill pond freezes over every year."]])
async def test_program_question_that_the_web_does_not_answer_goes_on(found: list[str]) -> None:
    web = Web(found)
    assert fates(await made(AgentsEngine(), "en", searcher=web)) == {Fate.ACCEPTED: 5}
    assert len(web.queries) == 4


async def test_program_web_that_fails_leaves_the_fragment_owed() -> None:
    found = await made(AgentsEngine(), "en", searcher=Web(ProviderError("down")))
    assert {(one.fate, one.step, one.status) for one in found} == {
        (Fate.PROVIDER_ERROR, Step.COMMON_SENSE, Status.PROVIDER_ERROR)
    }


async def test_program_paraphrase_elsewhere_ends_the_cut_candidate_and_no_other() -> None:
    """Cutting copies leaves what is said in other words; the reader of retrieved passages finds it."""
    fact = FIRST["en"]
    again = "Sela Brook, they say, gave the old paper mill a new great wheel, and that was in 1911."
    text = f"{DOCUMENTS['en']}\n\n{again}"

    def reader(prompt: Prompt) -> str:
        gold = knowledge(prompt)
        held = gold["question"] == fact.question and (again in gold["text"] or fact.evidence in gold["text"])
        return as_json({"quote": "", "answerable": held, "answer": fact.answer if held else ""})

    one = about(await made(AgentsEngine({"short_reading": reader}), "en", (0, 1), text=text), fact)
    lack = one.pop(Kind.LACK_OF_EVIDENCE)
    assert (lack.step, lack.fate) == (Step.RETRIEVAL, Fate.EVIDENCE_SURVIVES)
    assert {other.fate for other in one.values()} == {Fate.ACCEPTED}


async def test_program_copy_elsewhere_is_cut_too() -> None:
    fact = FIRST["en"]
    text = f"{DOCUMENTS['en']}\n\n{fact.evidence}\n"
    lack = about(await made(AgentsEngine(), "en", (0, 1), text=text), fact)[Kind.LACK_OF_EVIDENCE]
    assert len(lack.redactions) == 2
    assert lack.fate is Fate.ACCEPTED
    assert fact.answer not in view_text(text, lack.redactions)


async def test_program_misaligned_quotation_gets_the_documents_own_text() -> None:
    fact = FIRST["en"]
    engine = AgentsEngine({"qa": changed("qa", evidence=[fact.evidence.upper().replace(" ", "  ")])})
    twin = by_kind(await made(engine, "en"))[Kind.ANSWERABLE]
    assert twin.fate is Fate.ACCEPTED
    assert [DOCUMENTS["en"][start:end].rstrip(".") for start, end in twin.evidence] == [fact.evidence.rstrip(".")]


async def test_program_topics_are_spread_over_a_documents_questions() -> None:
    for named in (["time", "number"], ["number", "time"]):
        reply = as_json({"topics": named})
        found = await made(AgentsEngine({"topic": reply}), "en", (0, 1))
        assert {one.topic for one in found} == {"time", "number"}


async def test_program_one_fragment_is_the_same_whatever_else_is_owed() -> None:
    both = await made(AgentsEngine(), "en", (0, 1))
    alone = await made(AgentsEngine(), "en", (1,))
    pairs = zip(both[5:], alone, strict=True)
    assert all((a.candidate_id, a.fragment, a.question) == (b.candidate_id, b.fragment, b.question) for a, b in pairs)


async def test_program_without_owed_fragments_makes_nothing() -> None:
    engine = AgentsEngine()
    assert await made(engine, "en", ()) == []
    assert engine.prompts == []


async def test_program_kinds_that_are_not_wanted_are_not_made() -> None:
    spec = replace(SPEC["en"], kinds=(Kind.FALSE_ASSUMPTION, Kind.ANSWERABLE))
    found = await made(AgentsEngine(), "en", spec=spec)
    assert [(one.kind, one.fate) for one in found] == [
        (Kind.FALSE_ASSUMPTION, Fate.ACCEPTED),
        (Kind.ANSWERABLE, Fate.ACCEPTED),
    ]


async def test_program_kinds_without_the_answerable_one_are_refused() -> None:
    with pytest.raises(UserError, match="answerable"):
        await made(AgentsEngine(), "en", spec=SynthesisSpec(kinds=(Kind.LACK_OF_EVIDENCE,)))


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("error", [EngineDead("gone"), ZeroDivisionError("bug")], ids=["dead", "bug"])
async def test_program_dead_engine_and_bugs_raise(agent: str, error: Exception) -> None:
    with pytest.raises(type(error)):
        await made(AgentsEngine({agent: error}), "en", (0, 1))


async def test_program_every_completion_is_observed() -> None:
    seen: list[Completion] = []
    engine = AgentsEngine({"common_sense": "?"})
    await made(engine, "en", (0, 1), observe=seen.append)
    assert len(seen) == len(engine.prompts)


async def test_program_no_more_calls_are_in_flight_than_allowed() -> None:
    class Counting(AgentsEngine):
        now = most = 0

        async def complete(self, *args: object, **kwargs: object) -> Completion:
            type(self).now += 1
            type(self).most = max(self.most, self.now)
            await asyncio.sleep(0)
            completion = await super().complete(*args, **kwargs)  # type: ignore[arg-type]
            type(self).now -= 1
            return completion

    assert fates(await made(Counting(), "en", (0, 1), parallel=2)) == {Fate.ACCEPTED: 10}
    assert Counting.most == 2


def test_template_hashes_are_one_per_language() -> None:
    hashes = template_hashes()
    assert set(hashes) == set(LANGUAGES)
    assert len(set(hashes.values())) == len(LANGUAGES)


def chatty(order: Callable[[str], int]) -> AgentsEngine:
    class Slow(AgentsEngine):
        async def complete(self, prompt: Prompt, *args: object, **kwargs: object) -> Completion:
            for _ in range(order(prompt.request_id)):
                await asyncio.sleep(0)
            return await super().complete(prompt, *args, **kwargs)  # type: ignore[arg-type]

    return Slow()


async def test_program_who_replies_first_decides_nothing() -> None:
    one = await made(chatty(lambda request: int(request[:4], 16) % 7), "en", (0, 1))
    other = await made(chatty(lambda request: 7 - int(request[:4], 16) % 7), "en", (0, 1))
    assert one == other


async def test_program_document_without_room_for_a_fragment_ends_as_data() -> None:
    for text in ("Short.", "", "\n\n"):
        found = await run_program(
            AgentsEngine(), text, a_source("en", text or "x"), (0,), SPEC["en"], MAKING, clock=lambda: WHEN
        )
        assert fates(found) == {Fate.NO_FRAGMENT: 5}


def test_world_facts_are_in_their_paragraphs() -> None:
    for facts in FACTS.values():
        assert all(fact.evidence in fact.paragraph for fact in facts)
