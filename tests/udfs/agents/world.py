"""Two small documents, what a good model says as each agent about them, and an engine that says it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from udfs.agents.base import AGENTS, purpose
from udfs.agents.program import Making, Source, run_program
from udfs.agents.spec import SynthesisSpec
from udfs.engines.base import Completion, Message, Prompt, Sampling
from udfs.identity import doc_id
from udfs.records import Candidate
from udfs.schema import Kind

Reply = str | Exception | Callable[[Prompt], str | Exception]


@dataclass(frozen=True)
class Fact:
    """One paragraph of a document, and everything that is made of it."""

    paragraph: str
    evidence: str
    question: str
    answer: str
    reference: str
    entity: Mapping[str, str]
    condition: Mapping[str, str]
    assumption: Mapping[str, str]

    def json(self, agent: str) -> dict[str, Any]:
        """What a good model says as `agent`, one that writes."""
        said: dict[str, dict[str, Any]] = {
            "qa": {"evidence": [self.evidence], "question": self.question, "answer": self.answer},
            "reference": {"reference": self.reference},
            "entity_substitution": dict(self.entity),
            "impossible_condition": dict(self.condition),
            "false_assumption": dict(self.assumption),
        }
        return said[agent]


FERRY = Fact(
    paragraph="Tannet lies where the lower Brenning widens. The carpenter Oswin Harl built the first ferry at Tannet "
    "in 1874. It carries carts and sheep over the water from the thaw until the harvest is in. The toll was paid in "
    "salt, and the keeper wrote every crossing into a long grey book.",
    evidence="The carpenter Oswin Harl built the first ferry at Tannet in 1874.",
    question="Who built the first ferry at Tannet?",
    answer="Oswin Harl",
    reference="The document does not say who built the first ferry at Tannet. It does say that the ferry carries carts "
    "and sheep over the water, and that the toll was paid in salt.",
    entity={
        "original": "Tannet",
        "replacement": "Quorvane",
        "question": "Who built the first ferry at Quorvane?",
        "reference": "The document does not mention Quorvane. It says that Oswin Harl built the first ferry at Tannet.",
    },
    condition={
        "condition": "after the volcano had buried the river",
        "question": "Who built the first ferry at Tannet after the volcano had buried the river?",
        "reference": "The document does not mention any volcano that buried the river. It says that the carpenter "
        "Oswin Harl built the first ferry at Tannet in 1874.",
    },
    assumption={
        "assumption": "the first ferry at Tannet was made of glass",
        "question": "Who decided that the first ferry at Tannet was made of glass?",
        "reference": "The document does not say that the first ferry at Tannet was made of glass. It says that the "
        "carpenter Oswin Harl built it in 1874.",
    },
)
MILL = Fact(
    paragraph="Above the weir stands the old paper mill. Its great wheel was replaced by the millwright Sela Brook in "
    "1911 after a winter of ice. Rags came by cart from nine parishes, and women sorted them by the stove. The mill "
    "sold its last ream to a school in Harlow and then fell silent.",
    evidence="Its great wheel was replaced by the millwright Sela Brook in 1911 after a winter of ice.",
    question="In which year was the great wheel of the old paper mill replaced?",
    answer="1911",
    reference="The document does not say in which year the great wheel of the paper mill was replaced. It does say "
    "that rags came by cart from nine parishes and that the mill sold its last ream to a school in Harlow.",
    entity={
        "original": "paper mill",
        "replacement": "pepper foundry",
        "question": "In which year was the great wheel of the old pepper foundry replaced?",
        "reference": "The document does not mention a pepper foundry. It speaks of an old paper mill, whose great "
        "wheel was replaced by the millwright Sela Brook in 1911.",
    },
    condition={
        "condition": "while the comet was overhead",
        "question": "In which year was the great wheel of the old paper mill replaced while the comet was overhead?",
        "reference": "The document does not mention that a comet was overhead. It says that the great wheel was "
        "replaced by the millwright Sela Brook in 1911 after a winter of ice.",
    },
    assumption={
        "assumption": "pirates stole the great wheel of the old paper mill",
        "question": "In which year was it known that pirates stole the great wheel of the old paper mill?",
        "reference": "The document does not say that pirates stole the great wheel of the old paper mill. It says that "
        "the millwright Sela Brook replaced it in 1911 after a winter of ice.",
    },
)
DUKOU = Fact(
    paragraph="青石渡在下游河面最宽的地方。光绪元年，木匠沈阿福在青石渡造了第一艘渡船。渡船从开春一直走到秋收，运送牛羊与车辆。"
    "过河的人用盐付钱，看渡的老人把每一次摆渡都记在灰皮簿子里。",
    evidence="光绪元年，木匠沈阿福在青石渡造了第一艘渡船。",
    question="青石渡的第一艘渡船是谁造的？",
    answer="沈阿福",
    reference="文档没有提到青石渡的第一艘渡船是谁造的，因此无法回答。文档只说渡船从开春走到秋收，运送牛羊与车辆，过河的人用盐付钱。",
    entity={
        "original": "青石渡",
        "replacement": "霁岚港",
        "question": "霁岚港的第一艘渡船是谁造的？",
        "reference": "文档没有提到霁岚港。文档说的是木匠沈阿福在青石渡造了第一艘渡船。",
    },
    condition={
        "condition": "在火山掩埋河道之后",
        "question": "在火山掩埋河道之后，青石渡的第一艘渡船是谁造的？",
        "reference": "文档没有提到火山掩埋河道。文档说的是光绪元年木匠沈阿福在青石渡造了第一艘渡船。",
    },
    assumption={
        "assumption": "青石渡的第一艘渡船用琉璃打造",
        "question": "是谁决定青石渡的第一艘渡船用琉璃打造的？",
        "reference": "文档没有提到青石渡的第一艘渡船用琉璃打造。文档说的是光绪元年木匠沈阿福造了这艘渡船。",
    },
)
MOFANG = Fact(
    paragraph="堰坝上面立着一座旧纸坊。宣统二年冬天结冰之后，匠人石伯安换掉了纸坊的大水轮。破布由九个村子用车送来，妇女们围着炉子分拣。"
    "纸坊把最后一刀纸卖给了县里的学堂，从此再无声响。",
    evidence="宣统二年冬天结冰之后，匠人石伯安换掉了纸坊的大水轮。",
    question="旧纸坊的大水轮是哪一年换掉的？",
    answer="宣统二年",
    reference="文档没有提到旧纸坊的大水轮是哪一年换掉的，因此无法回答。文档只说破布由九个村子用车送来，最后一刀纸卖给了县里的学堂。",
    entity={
        "original": "纸坊",
        "replacement": "琉璃窑",
        "question": "旧琉璃窑的大水轮是哪一年换掉的？",
        "reference": "文档没有提到琉璃窑。文档说的是匠人石伯安在宣统二年换掉了纸坊的大水轮。",
    },
    condition={
        "condition": "彗星当空的时候",
        "question": "彗星当空的时候，旧纸坊的大水轮是哪一年换掉的？",
        "reference": "文档没有提到彗星当空的时候。文档说的是宣统二年冬天结冰之后，匠人石伯安换掉了纸坊的大水轮。",
    },
    assumption={
        "assumption": "海盗偷走了旧纸坊的大水轮",
        "question": "海盗偷走了旧纸坊的大水轮是哪一年的事？",
        "reference": "文档没有提到海盗偷走了旧纸坊的大水轮。文档说的是宣统二年匠人石伯安换掉了大水轮。",
    },
)
FACTS = {"en": (FERRY, MILL), "zh": (DUKOU, MOFANG)}
DOCUMENTS = {language: "\n\n".join(fact.paragraph for fact in facts) for language, facts in FACTS.items()}
SPEC = {
    "en": SynthesisSpec(fragment_min_words=45, fragment_max_words=60, max_redacted_share=0.3, seed=3),
    "zh": SynthesisSpec(fragment_min_words=70, fragment_max_words=100, max_redacted_share=0.3, seed=3),
}
"""Each paragraph is a fragment, and there are no others."""
FIRST = {"en": MILL, "zh": MOFANG}
"""The fact of fragment 0."""
MAKING = Making("made", "spec", "fake", "r1")
WHEN = datetime(2026, 1, 2, tzinfo=UTC)
UNANSWERABLE = tuple(kind for kind in Kind if kind not in (Kind.ANSWERABLE, Kind.UNANSWERABLE))
REWRITTEN = tuple(kind for kind in UNANSWERABLE if kind is not Kind.LACK_OF_EVIDENCE)


def as_json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)


def knowledge(prompt: Prompt) -> dict[str, Any]:
    found: dict[str, Any] = prompt.gold["agent"]
    return found


def fact_of(prompt: Prompt) -> Fact:
    """The fact that a prompt is about, told by its fragment or its question."""
    gold = knowledge(prompt)
    facts = FACTS[gold["language"]]
    fragment = gold.get("fragment", "")
    for fact in facts:
        if fragment and (fact.evidence in fragment or fragment in fact.paragraph):
            return fact
        if gold.get("answer") == fact.answer:
            return fact
    raise AssertionError(f"no fact in {gold}")


def well(agent: str) -> Callable[[Prompt], str]:
    """What a good model says as `agent`."""

    def reply(prompt: Prompt) -> str:
        gold = knowledge(prompt)
        match agent:
            case "quality":
                return as_json({"reason": "Plain facts.", "score": 4})
            case "topic":
                return as_json({"topics": ["person", "time"]})
            case "qa_review":
                return as_json({"reason": "Good.", "self_contained": True, "supported": True, "complete": True})
            case "common_sense":
                return as_json({"known": False, "answer": ""})
            case "short_reading" | "full_view":
                fact = fact_of(prompt)
                held = gold["question"] == fact.question and fact.evidence in gold["text"]
                quote, answer = (fact.evidence, fact.answer) if held else ("", "")
                return as_json({"quote": quote, "answerable": held, "answer": answer})
        return as_json(fact_of(prompt).json(agent))

    return reply


def changed(agent: str, **values: Any) -> Callable[[Prompt], str]:
    """The good reply with other values in some fields."""
    return lambda prompt: as_json({**json.loads(well(agent)(prompt)), **values})


def when(holds: Callable[[Prompt], bool], agent: str, reply: Reply) -> Callable[[Prompt], str | Exception]:
    """`reply` where a prompt is of that sort, else the good reply."""

    def chosen(prompt: Prompt) -> str | Exception:
        if not holds(prompt):
            return well(agent)(prompt)
        return reply(prompt) if callable(reply) else reply

    return chosen


@dataclass
class AgentsEngine:
    """Says what a good model would, but for the purposes that a test gives its own replies."""

    replies: Mapping[str, Reply] = field(default_factory=dict)
    finish_reason: str = "stop"
    prompts: list[Prompt] = field(default_factory=list)
    schemas: list[Mapping[str, Any] | None] = field(default_factory=list)
    name: str = "fake"
    revision: str = "r1"
    kv_tokens: int | None = None
    block_size: int = 1

    async def complete(
        self,
        prompt: Prompt,
        sampling: Sampling,
        schema: Mapping[str, Any] | None = None,
        on_prefill: Callable[[], None] | None = None,
    ) -> Completion:
        self.prompts.append(prompt)
        self.schemas.append(schema)
        agent = prompt.purpose.removeprefix("agent.")
        assert agent in AGENTS
        reply = self.replies.get(agent, well(agent))
        said = reply(prompt) if callable(reply) else reply
        if on_prefill is not None:
            on_prefill()
        if isinstance(said, Exception):
            raise said
        return Completion(said, 10, 4, 3, self.finish_reason, 0.5)

    async def count_tokens(self, messages: Sequence[Message]) -> int | None:
        return None

    async def close(self) -> None:
        return None

    def asked(self, agent: str) -> list[Prompt]:
        return [prompt for prompt in self.prompts if prompt.purpose == purpose(agent)]


def a_source(language: str, text: str | None = None) -> Source:
    return Source(doc_id(text or DOCUMENTS[language]), "docs", language, "books", "0-16K")


async def made(
    engine: AgentsEngine,
    language: str = "en",
    indices: Sequence[int] = (0,),
    spec: SynthesisSpec | None = None,
    text: str | None = None,
    **options: Any,
) -> list[Candidate]:
    """Run the program over a document of this module."""
    return await run_program(
        engine,
        text or DOCUMENTS[language],
        a_source(language, text),
        indices,
        spec or SPEC[language],
        MAKING,
        clock=lambda: WHEN,
        **options,
    )


def by_kind(candidates: Sequence[Candidate], index: int = 0) -> dict[Kind, Candidate]:
    return {Kind(one.kind): one for one in candidates if one.fragment_index == index}


def about(candidates: Sequence[Candidate], fact: Fact) -> dict[Kind, Candidate]:
    """The candidates of the fragment that `fact` is in, wherever the draw put it."""
    index = next(one.fragment_index for one in candidates if one.question == fact.question)
    return by_kind(candidates, index)
