from __future__ import annotations

import itertools
import shutil
from pathlib import Path

import pytest

from udfs.identity import content_hash
from udfs.prompts.facts import FACTS, FACTS_VERSION, facts
from udfs.prompts.library import LAYOUTS, ROOT, PromptLibrary, library
from udfs.prompts.render import LANGUAGES, METHODS, build_answer, build_reformulate, template_hash

CELLS = list(itertools.product(LAYOUTS, LANGUAGES))
TEXTS = {
    "en": "The bridge at Arlow was painted green. The ferry at {{ Tannet }} stopped in 1902. Nobody minds the mill.",
    "zh": "青石桥在镇东。渡口的{{ 老钟 }}在一九零二年停了。没有人看管磨坊。",
}
QUESTIONS = {"en": "Who built the ferry at Tannet?", "zh": "谁修好了渡口的老钟？"}
SENTENCES = {"en": "The ferry at {{ Tannet }} stopped in 1902.", "zh": "渡口的{{ 老钟 }}在一九零二年停了。"}


def turn_2(method: str, layout: str, language: str, question: str | None = None, text: str | None = None) -> str:
    text, question = TEXTS[language] if text is None else text, question or QUESTIONS[language]
    asked = build_answer(method, layout, language, text, question)
    return build_reformulate(method, layout, language, asked, "No.", question, text)[-1]["content"]


@pytest.mark.parametrize(("layout", "language"), CELLS)
def test_rule_based_turn_2_holds_the_most_overlapped_sentence_and_the_entities(layout: str, language: str) -> None:
    asked = turn_2("rule_based", layout, language)
    assert asked.split("\n")[1] == SENTENCES[language]
    found = facts(FACTS, TEXTS[language], QUESTIONS[language], language)
    assert found["sentence"] == SENTENCES[language]
    assert found["entities"]
    assert ("、" if language == "zh" else ", ").join(found["entities"]) in asked.split("\n")[2]


@pytest.mark.parametrize(("language", "question"), [("en", "Who did it in the mill, and why?"), ("zh", "谁看管？")])
def test_rule_based_turn_2_of_a_question_without_entities_names_none(language: str, question: str) -> None:
    found = facts(FACTS, TEXTS[language], question, language)
    asked = turn_2("rule_based", "document_first", language, question)
    assert found["sentence"] in asked
    if not found["entities"]:
        assert ("above all" if language == "en" else "尤其") not in asked


@pytest.mark.parametrize(("layout", "language"), CELLS)
def test_rule_based_turn_2_about_a_blank_view_is_asked_without_a_sentence(layout: str, language: str) -> None:
    assert facts(FACTS, " \n", QUESTIONS[language], language)["sentence"] == ""
    assert turn_2("rule_based", layout, language, text=" \n").endswith(QUESTIONS[language])


@pytest.mark.parametrize(("layout", "language"), CELLS)
def test_baselines_ask_turn_1_as_zero_shot_does(layout: str, language: str) -> None:
    asked = [
        build_answer(method, layout, language, TEXTS[language], QUESTIONS[language])
        for method in ("zs", "explicit", "rule_based")
    ]
    assert asked[0] == asked[1] == asked[2]
    second = {turn_2(method, layout, language) for method in ("zs", "explicit", "rule_based")}
    assert len(second) == 3


@pytest.mark.parametrize("method", METHODS)
def test_facts_are_computed_for_methods_that_name_them_alone(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def tag(question: str, language: str) -> tuple[str, ...]:
        asked.append(question)
        return ()

    monkeypatch.setattr("udfs.prompts.facts.tag", tag)
    turn_2(method, "paper", "en")
    assert bool(asked) is (method == "rule_based")


def test_facts_gives_what_is_wanted_and_no_more() -> None:
    text, question = TEXTS["en"], QUESTIONS["en"]
    assert facts((), text, question, "en") == {}
    assert set(facts(("entities",), text, question, "en")) == {"entities"}
    assert set(facts(("sentence",), text, question, "en")) == {"sentence"}


@pytest.mark.parametrize(("layout", "language"), CELLS)
def test_hash_holds_the_version_of_the_facts_only_where_a_method_names_them(
    layout: str, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {method: template_hash(method, layout, language) for method in METHODS}
    monkeypatch.setattr("udfs.prompts.library.FACTS_VERSION", FACTS_VERSION + 1)
    fresh = PromptLibrary()
    changed = {method for method in METHODS if template_hash(method, layout, language, fresh) != before[method]}
    assert changed == {"rule_based"}


def test_hash_of_a_method_without_facts_is_over_its_files_alone() -> None:
    """As before there were facts: responses that are recorded keep their ids."""
    files = ["answer.paper.j2", "reformulate.paper.j2", "document.j2", "zs/answer.j2", "zs/reformulate.j2"]
    expected = content_hash("dialogue", "zs", "paper", "en", library().files_hash("en", files))
    assert template_hash("zs", "paper", "en") == expected


def test_library_few_shot_method_with_facts_gets_those_of_each_example(tmp_path: Path) -> None:
    root = tmp_path / "prompts"
    shutil.copytree(ROOT, root)
    for language in LANGUAGES:
        (root / language / "included.j2").write_text("About: {{ sentence }}", encoding="utf-8")
        (root / language / "fs" / "reformulate.j2").write_text('{% include "included.j2" %}', encoding="utf-8")
    prompts = PromptLibrary(root)
    assert prompts.facts("fs", "en") == ("sentence",)
    asked = build_answer("fs", "paper", "en", TEXTS["en"], QUESTIONS["en"], prompts)
    messages = build_reformulate("fs", "paper", "en", asked, "No.", QUESTIONS["en"], TEXTS["en"], prompts)
    told = [message["content"].split("\n")[0] for message in messages if message["content"].startswith("About: ")]
    examples = [example for example in prompts.examples("fs", "en") if "new_question" in example]
    assert len(told) == len(examples) + 1
    for line, example in zip(told, examples, strict=False):
        assert line.removeprefix("About: ") in example["document"]
    assert told[-1] == f"About: {SENTENCES['en']}"
