"""How `model=scripted` plays the agents of `udfs.agents.base`: by rule, from what stands in `Prompt.gold["agent"]`.

It plays them well enough that most candidates about ordinary prose pass, so that the pipeline can be tested from end
to end; the questions are statements with a blank. Nothing here is a claim about models.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from udfs.engines.scripted_texts import (
    BLANK,
    INVENTED,
    Draw,
    invented,
    one_line,
    originals,
    sentence_around,
    statements,
    topics,
)
from udfs.measures.answers import contains_answer
from udfs.schema import Topic
from udfs.synthesis.overlap import content, overlap
from udfs.synthesis.sentences import sentences
from udfs.text import count_words

AGENTS_VERSION: Final = 1
"""Raise it when a reply changes: it is part of the scripted engine's revision."""
MIN_SHARE: Final = 0.5
"""Share of a question's content that a sentence needs for a reader to take it for the question's answer."""
MAX_BESIDE: Final = 0.5
"""Overlap with the evidence above which a sentence of the fragment may be cut out with it."""
MAX_QUOTED: Final = 300
MAX_READ: Final = 20_000
"""Characters of a document that questions are written about."""
_ANSWERING: Final = re.compile(r"\d|[A-Z][a-z]|[一二三四五六七八九十]")
_NOUNS: Final[dict[str, dict[Topic, str]]] = {
    "en": {
        Topic.TIME: "date or time",
        Topic.NUMBER: "number",
        Topic.LOCATION: "place",
        Topic.PERSON: "person",
        Topic.ORGANISATION: "organisation",
        Topic.EVENT: "event",
        Topic.OBJECT: "word or phrase",
    },
    "zh": {
        Topic.TIME: "时间",
        Topic.NUMBER: "数字",
        Topic.LOCATION: "地点",
        Topic.PERSON: "人物",
        Topic.ORGANISATION: "机构",
        Topic.EVENT: "事件",
        Topic.OBJECT: "词语",
    },
}
_ASK: Final = {
    "en": "According to the document, which {noun} completes the statement “{blanked}”?",
    "zh": "根据文档内容，“{blanked}”一句中空缺的是哪个{noun}？",
}
_FRAME: Final[dict[str, frozenset[str]]] = {
    language: frozenset().union(
        *(content(_ASK[language].format(noun=noun, blanked=" "), language) for noun in _NOUNS[language].values())
    )
    for language in ("en", "zh")
}
"""Content of the frame alone, which says nothing of what is asked."""
_CONDITIONS: Final = {
    "en": (
        "the {name} moratorium were in force at the time",
        "everyone concerned had first taken the {name} oath",
        "the {name} register had been burnt beforehand",
    ),
    "zh": ("{name}禁令当时已经生效", "各方事先都立下{name}誓约", "{name}名册在此之前已被焚毁"),
}
_ASSUMPTIONS: Final = {
    "en": (
        "the {name} delegation had put this to a vote",
        "a certain {name} had already paid for this",
        "the {name} archive is the source of this",
    ),
    "zh": ("{name}使团曾对此进行表决", "{name}早已为此支付费用", "此事出自{name}档案"),
}
_OPENINGS: Final = re.compile(r"(?:According|What|Which|Who|Whom|Whose|When|Where|Why|How|In|On|At|By|For|To)\b")

Knowledge = Mapping[str, Any]
Agent = Callable[[Knowledge, str, Draw], dict[str, Any]]


def reply(agent: str, gold: Knowledge, draw: Draw, common_sense: float = 0.0) -> dict[str, Any] | None:
    """What `agent` (a name of `udfs.agents.base.AGENTS`) says of `gold` (its `AgentGold`); None for one unknown here.

    Args:
        draw: chance, by the engine's seed and the request.
        common_sense: share of the questions that it knows the answer to without a document.
    """
    language = "zh" if gold.get("language") == "zh" else "en"
    if agent == "common_sense":
        known = draw("known") < common_sense
        return {"known": known, "answer": str(gold.get("answer", "")) if known else ""}
    play = _AGENTS.get(agent)
    return None if play is None else play(gold, language, draw)


def _quality(gold: Knowledge, language: str, draw: Draw) -> dict[str, Any]:
    """1, and a point each for length, for letters rather than signs, for sentences, and for something to ask about."""
    fragment = str(gold.get("fragment", ""))
    visible = sum(not char.isspace() for char in fragment)
    signs = {
        "length": count_words(fragment, language) >= 20,
        "letters": sum(map(str.isalpha, fragment)) >= 0.6 * max(1, visible),
        "sentences": len(sentences(fragment, language)) >= 2,
        "facts": _ANSWERING.search(fragment) is not None,
    }
    good = [name for name, holds in signs.items() if holds]
    reason = "、".join(good) if language == "zh" else ", ".join(good)
    words = ("片段具备：{}。", "The fragment has enough {}.") if good else ("片段没有内容。", "It says nothing.")
    return {"reason": words[language == "en"].format(reason), "score": 1 + len(good)}


def _topic(gold: Knowledge, language: str, draw: Draw) -> dict[str, Any]:
    found = topics(str(gold.get("fragment", "")), language)
    return {"topics": [topic.value for topic in found] or [Topic.OBJECT.value]}


def _qa(gold: Knowledge, language: str, draw: Draw) -> dict[str, Any]:
    fragment = str(gold.get("fragment", ""))
    first = Topic(gold.get("topic") or Topic.OBJECT)
    for topic in dict.fromkeys((first, *Topic)):
        frame, noun = _ASK[language], _NOUNS[language][topic]
        empty = frame.format(noun=noun, blanked=BLANK)
        found = [one for one in statements(fragment, language, topic) if not contains_answer(empty, one.answer)]
        if found:
            chosen = found[int(draw("statement") * len(found))]
            question = frame.format(noun=noun, blanked=chosen.blanked)
            return {"evidence": [chosen.sentence], "question": question, "answer": chosen.answer}
    return {"evidence": [], "question": "", "answer": ""}  # nothing can be asked about it


def _qa_review(gold: Knowledge, language: str, draw: Draw) -> dict[str, Any]:
    supported = any(contains_answer(str(piece), str(gold.get("answer", ""))) for piece in gold.get("evidence") or ())
    yes = (
        "答案出自证据，问题明确。" if language == "zh" else "The evidence states the answer, and the question is clear."
    )
    no = "证据中没有这个答案。" if language == "zh" else "The evidence does not state the answer."
    return {"reason": yes if supported else no, "self_contained": True, "supported": supported, "complete": True}


def _reference(gold: Knowledge, language: str, draw: Draw) -> dict[str, Any]:
    question, beside = str(gold.get("question", "")), _beside(gold, language, MAX_BESIDE, str(gold.get("answer", "")))
    if language == "zh":
        return {"reference": f"文档没有回答“{question}”这个问题，因此无法回答。文档在相近之处只写道：“{beside}”。"}
    return {
        "reference": f"The document does not answer the question “{question}”, so it cannot be answered. "
        f"What the document does say nearby is this: “{beside}”."
    }


def _beside(gold: Knowledge, language: str, most: float, unsaid: str = "") -> str:
    """The fragment's sentence with most content, of those that share at most `most` with the evidence (as overlap) and
    do not hold `unsaid`.
    """
    fragment = str(gold.get("fragment", ""))
    evidence = content(" ".join(map(str, gold.get("evidence") or ())), language)
    found = (fragment[span.start : span.end] for span in sentences(fragment, language))
    others = [
        one_line(sentence, language)
        for sentence in found
        if overlap(content(sentence, language), evidence) <= most and not contains_answer(sentence, unsaid)
    ]
    return max(others, key=lambda sentence: len(content(sentence, language)), default="…")[:MAX_QUOTED]


def _says(gold: Knowledge, language: str) -> str:
    """What the document says instead of what a misleading question takes for granted."""
    evidence = one_line(" ".join(map(str, gold.get("evidence") or ())), language)[:MAX_QUOTED]
    answer, beside = gold.get("answer", ""), _beside(gold, language, most=0.99)  # any but the evidence itself
    if language == "zh":
        return f"文档写的是：“{evidence}”，其中所问的是“{answer}”；旁边还写道：“{beside}”。"
    return f"What it does say is “{evidence}”, which gives “{answer}”, and beside that “{beside}”."


def _entity_substitution(gold: Knowledge, language: str, draw: Draw) -> dict[str, Any]:
    question = str(gold.get("question", ""))
    evidence = "\n".join(map(str, gold.get("evidence") or ()))
    found = originals(question, evidence, language)
    original = found[int(draw("original") * len(found))] if found else ""
    new = invented(draw, language, "entity")
    replacement = new if language == "zh" or not original.islower() else new.lower()
    border = "" if language == "zh" else r"\b"
    changed = re.sub(f"{border}{re.escape(original)}{border}", replacement, question) if original else question
    reference = (
        f"文档中没有提到“{replacement}”，提到的是“{original}”。"
        if language == "zh"
        else f"The document does not mention “{replacement}”; it speaks of “{original}”. "
    )
    reference += _says(gold, language)
    return {"original": original, "replacement": replacement, "question": changed, "reference": reference}


def _impossible_condition(gold: Knowledge, language: str, draw: Draw) -> dict[str, Any]:
    condition = _claim(_CONDITIONS[language], gold, language, draw)
    reference = (
        f"文档没有提到“{condition}”这一条件。"
        if language == "zh"
        else f"The document does not mention any such condition as “{condition}”. "
    )
    question = _prefixed("如果" if language == "zh" else "If ", condition, str(gold.get("question", "")), language)
    return {"condition": condition, "question": question, "reference": reference + _says(gold, language)}


def _false_assumption(gold: Knowledge, language: str, draw: Draw) -> dict[str, Any]:
    assumption = _claim(_ASSUMPTIONS[language], gold, language, draw)
    reference = (
        f"文档没有提到“{assumption}”，这一前提不成立。"
        if language == "zh"
        else f"The document does not say that {assumption}; the question assumes something false. "
    )
    given = "既然" if language == "zh" else "Given that "
    question = _prefixed(given, assumption, str(gold.get("question", "")), language)
    return {"assumption": assumption, "question": question, "reference": reference + _says(gold, language)}


def _claim(choices: tuple[str, ...], gold: Knowledge, language: str, draw: Draw) -> str:
    """A claim about something made up that does not give the answer away."""
    name, answer = invented(draw, language, "claim"), str(gold.get("answer", ""))
    claims = [choice.format(name=name) for choice in choices]
    fit = [claim for claim in claims if not contains_answer(claim, answer)] or claims
    return fit[int(draw("choice") * len(fit))]


def _prefixed(opening: str, clause: str, question: str, language: str) -> str:
    if language == "zh":
        return f"{opening}{clause}，{question}"
    lower = question[:1].lower() + question[1:] if _OPENINGS.match(question) else question
    return f"{opening}{clause}, {lower}"


def _reading(gold: Knowledge, language: str, draw: Draw) -> dict[str, Any]:
    """Finds the gold answer where a sentence says it and half of what is asked; misled by no word that is made up."""
    text, question, answer = (str(gold.get(key, "")) for key in ("text", "question", "answer"))
    if all(word in text for word in INVENTED[language].findall(question)):
        quote = _find(text, question, answer, language)
        if quote is not None:
            return {"quote": quote, "answerable": True, "answer": answer}
    return {"quote": "", "answerable": False, "answer": ""}


def _find(text: str, question: str, answer: str, language: str) -> str | None:
    asked = content(question, language) - _FRAME[language]
    pieces = [answer[i] for i in range(len(answer))] if language == "zh" else answer.split()
    if not asked or not answer.strip():
        return None
    spelled = (r"\s*" if language == "zh" else r"\s+").join(map(re.escape, pieces))
    seen: set[str] = set()
    for found in re.finditer(spelled, text, re.IGNORECASE):
        sentence = sentence_around(text, found.start(), language)
        if sentence in seen:
            continue
        seen.add(sentence)
        shared = len(asked & content(sentence, language))
        if shared >= MIN_SHARE * len(asked) and contains_answer(sentence, answer):
            return sentence
    return None


def _questions(gold: Knowledge, language: str, draw: Draw) -> dict[str, Any]:
    """Statements with a blank, drawn with replacement, so that some come twice; a third takes what is made up for
    granted.
    """
    text = str(gold.get("text", ""))[:MAX_READ]
    found = [(topic, one) for topic in Topic for one in statements(text, language, topic)]
    questions = []
    for i in range(int(gold.get("count", 0)) if found else 0):

        def own(what: str, i: int = i) -> float:
            return draw(f"{what} {i}")

        topic, chosen = found[int(own("statement") * len(found))]
        question = _ASK[language].format(noun=_NOUNS[language][topic], blanked=chosen.blanked)
        if own("made up") < 1 / 3:
            given = "既然" if language == "zh" else "Given that "
            question = _prefixed(given, _claim(_ASSUMPTIONS[language], {}, language, own), question, language)
        questions.append(question)
    return {"questions": questions}


_AGENTS: Final[dict[str, Agent]] = {
    "quality": _quality,
    "topic": _topic,
    "qa": _qa,
    "qa_review": _qa_review,
    "reference": _reference,
    "entity_substitution": _entity_substitution,
    "impossible_condition": _impossible_condition,
    "false_assumption": _false_assumption,
    "short_reading": _reading,
    "full_view": _reading,
    "question_generator": _questions,
}
