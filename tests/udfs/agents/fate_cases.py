"""One bad reply among good ones, and what becomes of whom: the table behind `test_fates`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.udfs.agents.world import (
    FIRST,
    REWRITTEN,
    UNANSWERABLE,
    Fact,
    Reply,
    changed,
    knowledge,
    when,
)
from udfs.engines.base import Filtered, OverLength, Prompt, ProviderError
from udfs.schema import Fate, Kind, Step

Values = Callable[[Fact], dict[str, Any]]

ALL = (Kind.ANSWERABLE, *UNANSWERABLE)
TWIN = (Kind.ANSWERABLE,)
LACK = (Kind.LACK_OF_EVIDENCE,)
ENTITY = (Kind.ENTITY_SUBSTITUTION,)
CONDITION = (Kind.IMPOSSIBLE_CONDITION,)
ASSUMPTION = (Kind.FALSE_ASSUMPTION,)


@dataclass(frozen=True)
class Case:
    """`agent` says `reply` in a language; the candidates of `kinds` then end at `step` with `fate`."""

    agent: str
    reply: Callable[[str], Reply]
    step: Step
    fate: Fate
    kinds: tuple[Kind, ...] = ALL

    def __str__(self) -> str:
        return f"{self.agent}-{self.fate}-{self.kinds[0] if len(self.kinds) == 1 else len(self.kinds)}"


def says(agent: str, **values: Any) -> Callable[[str], Reply]:
    """The good reply with other values; a pair is by language, a function is called with the fact."""

    def reply(language: str) -> Reply:
        picked = {}
        for name, value in values.items():
            value = value[language == "zh"] if isinstance(value, tuple) else value
            picked[name] = value(FIRST[language]) if callable(value) else value
        return changed(agent, **picked)

    return reply


def fails(error: Exception) -> Callable[[str], Reply]:
    return lambda _: error


def answers(agent: str, holds: Callable[[dict[str, Any], Fact], bool], **values: Any) -> Callable[[str], Reply]:
    """A reader's reply where `holds`, of what the prompt is about and the first fact; else the good one."""

    def reply(language: str) -> Reply:
        fact = FIRST[language]
        given = says(agent, **values)(language)

        def matches(prompt: Prompt) -> bool:
            return holds(knowledge(prompt), fact)

        return when(matches, agent, given)

    return reply


def rewritten(gold: dict[str, Any], fact: Fact) -> bool:
    return bool(gold["question"] != fact.question)


def cut(gold: dict[str, Any], fact: Fact) -> bool:
    return gold["question"] == fact.question and fact.evidence not in gold["text"]


def whole(gold: dict[str, Any], fact: Fact) -> bool:
    return gold["question"] == fact.question and fact.evidence in gold["text"]


def gold_answer(fact: Fact) -> str:
    return fact.answer


FOUND = {"answerable": True, "answer": gold_answer}
OTHER = {"answerable": True, "answer": ("twelve guineas", "十二个银元")}
QUESTION_IN_ZH, QUESTION_IN_EN = "旧纸坊的大水轮是哪一年换掉的？", "When was the wheel of the paper mill replaced?"
TITLE_IN_ZH, TITLE_IN_EN = "琉璃窑", "Pepper Foundry"

QA_CASES = [
    Case("quality", says("quality", score=2), Step.QUALITY, Fate.LOW_QUALITY),
    Case("topic", says("topic", topics=[]), Step.TOPIC, Fate.NO_TOPIC),
    *(
        Case("qa", says("qa", **values), Step.QA, fate)
        for fate, values in (
            (Fate.NOT_A_QUESTION, {"question": ("The great wheel of the mill.", "旧纸坊的大水轮。")}),
            (Fate.NOT_A_QUESTION, {"question": ("What is the wheel of the", "大水轮")}),
            (Fate.WRONG_LANGUAGE, {"question": (QUESTION_IN_ZH, QUESTION_IN_EN)}),
            (Fate.WRONG_LANGUAGE, {"question": ("¿Quién cambió la rueda?", "水車を取り替えたのはいつですか？")}),
            (Fate.WRONG_LANGUAGE, {"answer": (TITLE_IN_ZH, TITLE_IN_EN)}),
            (
                Fate.NOT_SELF_CONTAINED,
                {"question": ("When, as said above, was the wheel new?", "上文的大水轮是哪年换的？")},
            ),
            (
                Fate.ANSWER_IN_QUESTION,
                {"question": ("Who replaced the wheel in 1911?", "宣统二年换掉水轮的匠人是谁？")},
            ),
            (Fate.UNRELATED_QUESTION, {"question": ("Who discovered penicillin?", "谁发现了青霉素？")}),
            (Fate.EVIDENCE_NOT_FOUND, {"evidence": (["The school bought the wheel."], ["学堂买下了水轮。"])}),
            (Fate.EVIDENCE_NOT_FOUND, {"evidence": lambda fact: [fact.evidence, "Not in it at all, 没有这句话。"]}),
            (Fate.EVIDENCE_NOT_FOUND, {"evidence": (["the"], ["纸坊"])}),  # of which sentence?
            (Fate.NOT_A_QUESTION, {"question": ("Was the great wheel of the mill new?", "纸坊的大水轮是否换过？")}),
            (Fate.UNSUPPORTED_ANSWER, {"answer": ("1912", "宣统三年")}),
            (Fate.UNSUPPORTED_ANSWER, {"answer": ("summer hail", "下冰雹的夏天")}),
            (Fate.UNSUPPORTED_ANSWER, {"answer": ("Yes.", "是的。")}),
            (Fate.UNSUPPORTED_ANSWER, {"answer": ("…", "……")}),
        )
    ),
    *(
        Case("qa_review", says("qa_review", **{name: False}), Step.QA_REVIEW, fate)
        for name, fate in (
            ("self_contained", Fate.NOT_SELF_CONTAINED),
            ("supported", Fate.UNSUPPORTED_ANSWER),
            ("complete", Fate.INCOMPLETE_ANSWER),
        )
    ),
]

BARE = (
    "The document does not say in which year the great wheel of the old paper mill was replaced.",
    "文档没有提到旧纸坊的大水轮是哪一年换掉的。",
)
NO_REFUSAL = ("Rags came by cart from nine parishes to the mill.", "破布由九个村子用车送到旧纸坊。")
NEGATIVE_CASES = [
    *(
        Case("reference", says("reference", reference=reference), Step.NEGATIVE, fate, LACK)
        for fate, reference in (
            (Fate.WEAK_REFERENCE, lambda fact: f"{fact.reference} ({fact.answer})"),
            (Fate.WEAK_REFERENCE, BARE),
            (Fate.WEAK_REFERENCE, NO_REFUSAL),
            (Fate.WEAK_REFERENCE, lambda fact: fact.reference.replace("nine", "1200").replace("九个", "一千二百个")),
            (Fate.WRONG_LANGUAGE, (FIRST["zh"].reference, FIRST["en"].reference)),
        )
    ),
    *(
        Case("entity_substitution", says("entity_substitution", **values), Step.NEGATIVE, fate, ENTITY)
        for fate, values in (
            (Fate.UNCHANGED_QUESTION, {"question": lambda fact: fact.question}),
            (Fate.UNCHANGED_QUESTION, {"original": ("ferry", "渡船")}),
            (Fate.UNCHANGED_QUESTION, {"replacement": ("salt works", "盐场")}),
            (
                Fate.UNCHANGED_QUESTION,
                {"question": lambda fact: f"{fact.entity['question'][:-1]}, {fact.entity['original']}?"},
            ),
            (Fate.WRONG_LANGUAGE, {"question": (QUESTION_IN_ZH, QUESTION_IN_EN)}),
            (Fate.WRONG_LANGUAGE, {"replacement": (TITLE_IN_ZH, TITLE_IN_EN)}),
            (Fate.WRONG_LANGUAGE, {"reference": (FIRST["zh"].reference, FIRST["en"].reference)}),
            (
                Fate.IN_DOCUMENT,
                {
                    "replacement": ("harvest", "渡船"),
                    "question": (
                        "In which year was the great wheel of the old harvest replaced?",
                        "旧渡船的大水轮是哪一年换掉的？",
                    ),
                },
            ),
            (Fate.UNCHANGED_QUESTION, {"replacement": ("which", "，")}),
            (
                Fate.IN_DOCUMENT,
                {
                    "replacement": ("Professor Sela Brook", "石伯安先生"),
                    "question": (
                        "In which year was the great wheel of the old Professor Sela Brook replaced?",
                        "旧石伯安先生的大水轮是哪一年换掉的？",
                    ),
                },
            ),
            (
                Fate.UNRELATED_QUESTION,
                {"question": ("Who saw the great wheel when pepper foundry ice fell?", "琉璃窑的大水轮有什么人看过？")},
            ),
            (Fate.WEAK_REFERENCE, {"reference": lambda fact: fact.condition["reference"]}),  # names another thing
            (
                Fate.WEAK_REFERENCE,  # as if the document had said it of the new entity
                {
                    "reference": (
                        "The document does not mention a pepper foundry. It says that its wheel was replaced in 1911.",
                        "文档没有提到琉璃窑。文档说的是匠人石伯安在宣统二年换掉了大水轮。",
                    )
                },
            ),
            (
                Fate.WEAK_REFERENCE,
                {"reference": ("The document does not mention any pepper foundry at all.", "文档没有提到琉璃窑。")},
            ),
            (Fate.WEAK_REFERENCE, {"reference": ("The wheel of the pepper foundry is old.", "琉璃窑的大水轮很旧。")}),
            (Fate.NOT_A_QUESTION, {"question": ("The wheel of the pepper foundry.", "琉璃窑的大水轮。")}),
            (
                Fate.NOT_SELF_CONTAINED,
                {
                    "question": (
                        "When, in this fragment, was the pepper foundry's wheel replaced?",
                        "该片段中琉璃窑的大水轮是哪一年换掉的？",
                    )
                },
            ),
        )
    ),
    *(
        Case(agent, says(agent, **values), Step.NEGATIVE, fate, kinds)
        for agent, name, kinds in (
            ("impossible_condition", "condition", CONDITION),
            ("false_assumption", "assumption", ASSUMPTION),
        )
        for fate, values in (
            (Fate.UNCHANGED_QUESTION, {"question": lambda fact: fact.question}),
            (Fate.UNCHANGED_QUESTION, {name: ("if elephants could fly", "假如大象会飞")}),
            (Fate.UNCHANGED_QUESTION, {name: ("the great wheel", "大水轮")}),
            (
                Fate.UNCHANGED_QUESTION,
                {
                    name: ("according to the document", "根据文档内容"),
                    "question": (
                        "According to the document, in which year was the great wheel of the old paper mill replaced?",
                        "根据文档内容，旧纸坊的大水轮是哪一年换掉的？",
                    ),
                },
            ),
            (Fate.WRONG_LANGUAGE, {name: ("假如大象会飞", "if elephants could fly")}),
            (
                Fate.IN_DOCUMENT,
                {
                    name: ("after a winter of ice", "结冰之后"),
                    "question": (
                        "What year was the great wheel replaced after a winter of ice?",
                        "结冰之后，旧纸坊的大水轮是哪一年换掉的？",
                    ),
                },
            ),
            (Fate.ANSWER_IN_QUESTION, {"question": lambda fact: f"{fact.answer}: {fact.condition['question']}"}),
            (Fate.WEAK_REFERENCE, {"reference": lambda fact: fact.entity["reference"]}),
            (Fate.WEAK_REFERENCE, {"reference": BARE}),
        )
    ),
]

REVIEW_CASES = [
    Case("short_reading", answers("short_reading", whole, **OTHER), Step.RETRIEVAL, Fate.CONFLICTING_ANSWERS, TWIN),
    Case("short_reading", answers("short_reading", cut, **FOUND), Step.RETRIEVAL, Fate.EVIDENCE_SURVIVES, LACK),
    Case(
        "short_reading",
        answers("short_reading", cut, answer=gold_answer),  # "not answerable", with the answer
        Step.RETRIEVAL,
        Fate.EVIDENCE_SURVIVES,
        LACK,
    ),
    Case("short_reading", answers("short_reading", cut, **OTHER), Step.RETRIEVAL, Fate.CONFLICTING_ANSWERS, LACK),
    Case(
        "short_reading", answers("short_reading", rewritten, **FOUND), Step.RETRIEVAL, Fate.EVIDENCE_SURVIVES, REWRITTEN
    ),
    Case(
        "short_reading",
        answers("short_reading", rewritten, **OTHER),
        Step.RETRIEVAL,
        Fate.CONFLICTING_ANSWERS,
        REWRITTEN,
    ),
    Case(
        "short_reading",
        answers("short_reading", whole, answerable=True, answer=(TITLE_IN_ZH, TITLE_IN_EN)),
        Step.RETRIEVAL,
        Fate.WRONG_LANGUAGE,
        TWIN,
    ),
    Case(
        "full_view", answers("full_view", whole, answerable=False, answer=""), Step.FULL_VIEW, Fate.NOT_ANSWERED, TWIN
    ),
    Case("full_view", answers("full_view", whole, **OTHER), Step.FULL_VIEW, Fate.CONFLICTING_ANSWERS, TWIN),
    Case(
        "full_view",
        answers("full_view", whole, answerable=True, answer=("not 1911", "不是宣统二年")),
        Step.FULL_VIEW,
        Fate.CONFLICTING_ANSWERS,
        TWIN,
    ),
    Case("full_view", answers("full_view", cut, **FOUND), Step.FULL_VIEW, Fate.EVIDENCE_SURVIVES, LACK),
    Case("full_view", answers("full_view", cut, **OTHER), Step.FULL_VIEW, Fate.CONFLICTING_ANSWERS, LACK),
    Case("full_view", answers("full_view", rewritten, **FOUND), Step.FULL_VIEW, Fate.EVIDENCE_SURVIVES, REWRITTEN),
    Case("full_view", answers("full_view", rewritten, **OTHER), Step.FULL_VIEW, Fate.CONFLICTING_ANSWERS, REWRITTEN),
    Case(
        "common_sense",
        says("common_sense", known=True, answer=gold_answer),
        Step.COMMON_SENSE,
        Fate.COMMON_SENSE,
        (Kind.ANSWERABLE, Kind.LACK_OF_EVIDENCE),
    ),
    Case(
        "common_sense",
        says("common_sense", known=False, answer=gold_answer),  # "not known", with the answer
        Step.COMMON_SENSE,
        Fate.COMMON_SENSE,
        (Kind.ANSWERABLE, Kind.LACK_OF_EVIDENCE),
    ),
    Case(
        "common_sense",
        says("common_sense", known=True, answer=(TITLE_IN_ZH, TITLE_IN_EN)),
        Step.COMMON_SENSE,
        Fate.WRONG_LANGUAGE,
        (Kind.ANSWERABLE, Kind.LACK_OF_EVIDENCE),
    ),
]
STEP_OF = {
    "quality": Step.QUALITY,
    "topic": Step.TOPIC,
    "qa": Step.QA,
    "qa_review": Step.QA_REVIEW,
    "reference": Step.NEGATIVE,
    "entity_substitution": Step.NEGATIVE,
    "impossible_condition": Step.NEGATIVE,
    "false_assumption": Step.NEGATIVE,
    "short_reading": Step.RETRIEVAL,
    "full_view": Step.FULL_VIEW,
    "common_sense": Step.COMMON_SENSE,
}
ENDED_BY = {
    "quality": ALL,
    "topic": ALL,
    "qa": ALL,
    "qa_review": ALL,
    "reference": LACK,
    "entity_substitution": ENTITY,
    "impossible_condition": CONDITION,
    "false_assumption": ASSUMPTION,
    "short_reading": TWIN,
    "full_view": ALL,
    "common_sense": (Kind.ANSWERABLE, Kind.LACK_OF_EVIDENCE),
}
"""The kinds that end when an agent always gives a bad reply: the others lose their twin, or go on."""
ERROR_CASES = [
    Case(agent, fails(error), STEP_OF[agent], fate, ALL if fate is Fate.PROVIDER_ERROR else ENDED_BY[agent])
    for agent in STEP_OF
    for error, fate in (
        (OverLength("too many tokens"), Fate.OVER_LENGTH),
        (Filtered("withheld"), Fate.FILTERED),
        (ProviderError("gone"), Fate.PROVIDER_ERROR),
    )
]
CASES = [*QA_CASES, *NEGATIVE_CASES, *REVIEW_CASES, *ERROR_CASES]
