from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.udfs.engines.made_texts import prose
from udfs.agents.base import AGENTS, purpose
from udfs.engines.base import Prompt, ProviderError, Sampling
from udfs.engines.config import ScriptedModel
from udfs.engines.scripted import GARBAGE, ScriptedEngine, revision
from udfs.engines.scripted_texts import INVENTED
from udfs.judges.reasoning import response_class
from udfs.measures.answers import contains_answer
from udfs.schema import Topic
from udfs.synthesis.sentences import sentences
from udfs.text import detect_language

MODEL = ScriptedModel()
FORMS = {
    "quality": ["reason", "score"],
    "topic": ["topics"],
    "qa": ["evidence", "question", "answer"],
    "qa_review": ["reason", "self_contained", "supported", "complete"],
    "reference": ["reference"],
    "entity_substitution": ["original", "replacement", "question", "reference"],
    "impossible_condition": ["condition", "question", "reference"],
    "false_assumption": ["assumption", "question", "reference"],
    "short_reading": ["quote", "answerable", "answer"],
    "full_view": ["quote", "answerable", "answer"],
    "common_sense": ["known", "answer"],
}
FRAGMENTS = {
    "en": "The mill at Lower Hasp was bought in 1887 by Mrs Petra Brandreth, a widow with four sons.\n"
    "Every spring the Harbour Board of Skerrivane counts the boats and paints a mark on each.\n"
    "No boat of that fleet was lost in the great storm, which carried away the roof of the chapel.",
    "zh": "石桥镇的旧粮站建于一九五八年，由镇政府修缮过两次。孟先生说，站前的空地可以停放三十二艘小船。\n"
    "每年十二月，合作社在河边举行抽签，未到场的摊主视为放弃。",
}
REWRITERS = {
    "entity_substitution": "replacement",
    "impossible_condition": "condition",
    "false_assumption": "assumption",
}
BOTH = pytest.mark.parametrize("language", ["en", "zh"])


def say(agent: str, gold: dict[str, Any], config: ScriptedModel = MODEL, request_id: str = "r") -> str:
    async def run() -> str:
        engine = ScriptedEngine(config)
        try:
            prompt = Prompt(({"role": "user", "content": "?"},), purpose(agent), request_id, {"agent": gold})
            return (await engine.complete(prompt, Sampling())).text
        finally:
            await engine.close()

    return asyncio.run(run())


def ask(agent: str, gold: dict[str, Any], config: ScriptedModel = MODEL, request_id: str = "r") -> dict[str, Any]:
    reply: dict[str, Any] = json.loads(say(agent, gold, config, request_id))
    return reply


def worked_out(language: str, topic: str = "time") -> dict[str, Any]:
    """What the agents after `qa` get."""
    gold = {"language": language, "fragment": FRAGMENTS[language], "topic": topic}
    return gold | ask("qa", gold) | {"text": FRAGMENTS[language]}


@BOTH
@pytest.mark.parametrize("agent", AGENTS)
def test_agents_reply_has_the_fields_of_its_form_in_order(agent: str, language: str) -> None:
    assert list(ask(agent, worked_out(language))) == FORMS[agent]


@BOTH
def test_quality_prose_is_good_and_scraps_are_not(language: str) -> None:
    def score(fragment: str) -> int:
        return int(ask("quality", {"language": language, "fragment": fragment})["score"])

    assert score(FRAGMENTS[language]) == 5
    assert score("--- * * * ---") == 1
    assert score("") == 1
    assert score("|——|——|\n| 12 | 7 |") < 3


@BOTH
def test_topic_names_what_the_surface_shows(language: str) -> None:
    found = ask("topic", {"language": language, "fragment": FRAGMENTS[language]})["topics"]
    assert {"time", "number", "organisation", "person", "object"} <= set(found)


@BOTH
def test_topic_of_nothing_is_object(language: str) -> None:
    assert ask("topic", {"language": language, "fragment": "…"})["topics"] == ["object"]


@pytest.mark.parametrize(
    ("language", "topic", "answers"),
    [
        ("en", "time", {"1887"}),
        ("en", "number", {"four sons"}),
        ("en", "person", {"Mrs Petra Brandreth"}),
        ("en", "organisation", {"Harbour Board"}),
        ("en", "event", {"great storm"}),
        ("zh", "time", {"一九五八年", "十二月"}),
        ("zh", "number", {"两次", "三十二艘"}),
        ("zh", "organisation", {"镇政府", "合作社"}),
    ],
)
def test_qa_asks_for_the_topic(language: str, topic: str, answers: set[str]) -> None:
    assert worked_out(language, topic)["answer"] in answers


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_qa_any_prose_gives_a_question_that_its_evidence_answers(data: st.DataObject) -> None:
    language = data.draw(st.sampled_from(["en", "zh"]))
    fragment = data.draw(prose(language))
    said = [fragment[span.start : span.end] for span in sentences(fragment, language)]
    stated = re.findall(r"[^。！？]+[。！？]", fragment)  # also where two stand so close that they count as one
    assume(len(set(said)) == len(said))  # of two equal sentences neither is the one that is meant
    assume(len(set(stated)) == len(stated))
    topic = data.draw(st.sampled_from([topic.value for topic in Topic]))
    gold = {"language": language, "fragment": fragment, "topic": topic}
    reply = ask("qa", gold, request_id=data.draw(st.text(min_size=1, max_size=4)))
    (evidence,) = reply["evidence"]
    assert evidence in fragment
    assert contains_answer(evidence, reply["answer"])
    assert not contains_answer(reply["question"], reply["answer"])
    assert reply["question"].endswith(("?", "？"))
    assert detect_language(reply["question"]) == language
    assert ask("qa_review", gold | reply)["supported"] is True
    assert ask("full_view", gold | reply | {"text": fragment})["answerable"] is True


@given(st.text(max_size=80), st.sampled_from(["en", "zh"]), st.sampled_from(AGENTS))
def test_agents_any_text_gets_a_reply_of_the_form(text: str, language: str, agent: str) -> None:
    gold = {"language": language, "fragment": text, "question": text, "answer": text[:5], "evidence": [text]}
    assert list(ask(agent, gold | {"text": text * 3})) == FORMS[agent]


@BOTH
def test_agents_reply_depends_on_seed_and_request_alone(language: str) -> None:
    gold = {"language": language, "fragment": FRAGMENTS[language], "topic": "object"}
    replies = [say("qa", gold, request_id=str(number)) for number in range(20)]
    assert replies == [say("qa", gold, request_id=str(number)) for number in range(20)]
    assert len(set(replies)) > 3
    assert replies != [say("qa", gold, replace(MODEL, seed=1), str(number)) for number in range(20)]


@BOTH
def test_qa_review_answer_that_is_not_in_the_evidence_is_not_supported(language: str) -> None:
    review = ask("qa_review", worked_out(language) | {"answer": "1066"})
    assert [review[key] for key in ("self_contained", "supported", "complete")] == [True, False, True]


@BOTH
def test_reference_is_in_the_language_and_keeps_the_answer_back(language: str) -> None:
    gold = worked_out(language)
    reference = ask("reference", gold)["reference"]
    assert detect_language(reference) == language
    assert not contains_answer(reference, gold["answer"])
    assert response_class(reference, gold["question"], language) == "reasoned_answer"


@BOTH
@pytest.mark.parametrize("agent", REWRITERS)
def test_rewriter_puts_in_what_it_says_and_misleads_no_reader(agent: str, language: str) -> None:
    gold = worked_out(language)
    reply = ask(agent, gold)
    new = reply[REWRITERS[agent]]
    assert new in reply["question"]
    assert new not in FRAGMENTS[language]
    assert new in reply["reference"]
    assert gold["answer"] in reply["reference"]
    assert INVENTED[language].search(reply["question"])
    assert response_class(reply["reference"], reply["question"], language) == "reasoned_answer"
    assert {detect_language(reply["question"]), detect_language(reply["reference"])} == {language}
    assert ask("full_view", gold)["answerable"] is True
    assert ask("full_view", gold | {"question": reply["question"]})["answerable"] is False


@BOTH
def test_entity_substitution_replaces_what_the_evidence_names(language: str) -> None:
    gold = worked_out(language)
    reply = ask("entity_substitution", gold)
    assert reply["original"] in gold["evidence"][0]
    assert reply["original"] not in reply["question"]
    assert reply["original"] in reply["reference"]


@pytest.mark.parametrize(
    ("language", "question", "text", "answer", "quote"),
    [
        ("en", "When was the mill at Lower Hasp bought?", FRAGMENTS["en"], "1887", "The mill at Lower Hasp was bought"),
        ("en", "When was the mill at Lower Hasp bought?", "It was\nsold in 1887. The mill was bought.", "1887", None),
        ("en", "How many wheels has the mill?", "The mill has wheels, 15 of them.", "5", None),
        (
            "en",
            "How many wheels has the mill?",
            "The mill has five\nwater  wheels.",
            "five water wheels",
            "The mill has",
        ),
        ("zh", "旧粮站建于哪一年？", FRAGMENTS["zh"], "一九五八年", "石桥镇的旧粮站建于"),
        ("zh", "旧粮站建于哪一年？", "一九五八年发大水。旧粮站建于河边。", "一九五八年", None),
        ("en", "?", FRAGMENTS["en"], "1887", None),
        ("en", "When was the mill bought?", FRAGMENTS["en"], "", None),
    ],
)
def test_reading_answers_where_one_sentence_says_both(
    language: str, question: str, text: str, answer: str, quote: str | None
) -> None:
    gold = {"language": language, "question": question, "text": text, "answer": answer}
    for agent in ("short_reading", "full_view"):
        reply = ask(agent, gold)
        assert reply["answerable"] is (quote is not None)
        assert reply["answer"] == (answer if quote else "")
        assert reply["quote"] in text
        assert reply["quote"].startswith(quote or "")


def test_common_sense_knows_the_share_that_it_is_told_to() -> None:
    def known(share: float) -> int:
        config = replace(MODEL, common_sense=share)
        replies = [ask("common_sense", {"answer": "1887"}, config, str(number)) for number in range(200)]
        assert all(reply["answer"] == ("1887" if reply["known"] else "") for reply in replies)
        return sum(reply["known"] for reply in replies)

    assert (known(0), known(1)) == (0, 200)
    assert 30 <= known(0.3) <= 90


def test_agents_faults_are_those_of_every_purpose() -> None:
    gold = worked_out("en")
    assert say("qa", gold, replace(MODEL, garbage_rate=1)) in GARBAGE
    with pytest.raises(ProviderError):
        say("qa", gold, replace(MODEL, error_rate=1))


def test_agents_without_gold_fill_the_schema() -> None:
    schema = {"type": "object", "properties": {"score": {"type": "integer", "minimum": 2}}}

    async def run() -> str:
        prompt = Prompt(({"role": "user", "content": "?"},), purpose("quality"), "r")
        return (await ScriptedEngine(MODEL).complete(prompt, Sampling(), schema)).text

    assert json.loads(asyncio.run(run())) == {"score": 2}


def test_revision_follows_what_decides_replies() -> None:
    assert revision(MODEL) == revision(replace(MODEL, error_rate=0.5))
    assert revision(MODEL) != revision(replace(MODEL, common_sense=0.5))
