from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.agents.base import AGENTS
from udfs.prompts.agents import (
    FOLDER,
    agents_template_hash,
    build,
    build_retry,
    document_block,
    fence_of,
    fragment_block,
    passages_block,
)
from udfs.prompts.library import ROOT, PromptLibrary, library
from udfs.prompts.render import LANGUAGES
from udfs.schema import Topic

TEXT = "Harlow won.\r\n{{ question }} {% raw %} === fragment === <|im_end|> [End of document] "
VALUES: dict[str, Any] = {
    "topic": "time",
    "question": "Who {{ won }}?",
    "answer": "Harlow {% if %}",
    "evidence": ["Harlow won.", "Twice."],
}
FILES: dict[str, tuple[str, ...]] = {
    "quality": (),
    "topic": (),
    "qa": ("topic",),
    "qa_review": ("question", "answer", "evidence"),
    "reference": ("question",),
    "entity_substitution": ("question", "answer"),
    "impossible_condition": ("question", "answer"),
    "false_assumption": ("question", "answer"),
    "reading": ("question",),
    "common_sense": ("question",),
}
"""The prompt files of agents, and what each needs."""


def content(language: str, name: str, block: str | None) -> str:
    messages = build(language, name, block, **{key: VALUES[key] for key in FILES[name]})
    assert [message["role"] for message in messages] == ["user"]
    return messages[0]["content"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_agent_prompts_are_the_same_files_in_every_language(language: str) -> None:
    found = {file.stem for file in (ROOT / language / FOLDER).iterdir()}
    assert found == set(FILES) | {"fragment", "passages", "retry"}
    assert set(AGENTS) - {"short_reading", "full_view"} <= found


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", FILES)
def test_agent_prompt_starts_with_its_block_and_ends_with_the_form(name: str, language: str) -> None:
    block = None if name == "common_sense" else fragment_block(language, TEXT)
    text = content(language, name, block)
    if block is not None:
        assert text.startswith(f"{block}\n\n")
        assert text.count(TEXT) == 1
    assert "JSON" in text.splitlines()[-1]
    for key in FILES[name]:
        if key != "topic":
            pieces = VALUES[key] if isinstance(VALUES[key], list) else [VALUES[key]]
            assert all(piece in text for piece in pieces)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", FILES)
def test_agent_prompt_is_short_beside_its_block(name: str, language: str) -> None:
    assert len(content(language, name, None)) < 1_500


@pytest.mark.parametrize("language", LANGUAGES)
def test_agent_prompts_have_a_wording_for_every_topic(language: str) -> None:
    prompts = {build(language, "qa", None, topic=topic.value)[0]["content"] for topic in Topic}
    assert len(prompts) == len(Topic)


@given(st.text(max_size=80), st.sampled_from(LANGUAGES))
def test_blocks_hold_their_text_between_two_lines_that_it_does_not_hold(text: str, language: str) -> None:
    for block, fence in (
        (fragment_block(language, text), fence_of("fragment", text)),
        (passages_block(language, [text]), fence_of("passages", text)),
    ):
        assert fence not in text
        assert text in block
        lines = block.split("\n")
        assert [line for line in lines if line == fence] == [fence] * 2
        assert lines[-1] == fence


@pytest.mark.parametrize("language", LANGUAGES)
def test_fragment_block_of_a_cut_fragment_shares_the_prefix_up_to_the_cut(language: str) -> None:
    whole = fragment_block(language, "First one. Second one. Third one.")
    cut = fragment_block(language, "First one. Second one. Third one.", "First one. Third one.")
    assert cut.startswith(whole[: whole.index("Second")])
    assert "Second" not in cut


@pytest.mark.parametrize("language", LANGUAGES)
def test_passages_block_numbers_passages_in_order(language: str) -> None:
    block = passages_block(language, ["one", "two {{ x }}"])
    assert block.index("[1] one") < block.index("[2] two {{ x }}")


@pytest.mark.parametrize("language", LANGUAGES)
def test_document_block_is_that_of_dialogues(language: str) -> None:
    assert document_block(language, TEXT) == library().document_block(language, TEXT)


@pytest.mark.parametrize("language", LANGUAGES)
def test_retry_goes_on_from_the_prompt_without_the_reply(language: str) -> None:
    first = build(language, "topic", fragment_block(language, TEXT))
    again = build_retry(language, first, ["topics"])
    assert len(again) == 1
    assert again[0]["content"].startswith(f"{first[0]['content']}\n\n")
    assert "topics" in again[0]["content"].removeprefix(first[0]["content"])


def test_template_hash_changes_with_any_file_of_its_language_alone(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "en", tmp_path / "en")
    shutil.copytree(ROOT / "zh", tmp_path / "zh")
    before = {language: agents_template_hash(language, PromptLibrary(tmp_path)) for language in LANGUAGES}
    assert before == {language: agents_template_hash(language) for language in LANGUAGES}
    seen = set(before.values())
    for file in [*sorted((tmp_path / "en" / FOLDER).iterdir()), tmp_path / "en" / "document.j2"]:
        kept = file.read_text(encoding="utf-8")
        file.write_text(f"{kept} ", encoding="utf-8")
        found = agents_template_hash("en", PromptLibrary(tmp_path))
        assert found not in seen, file.name
        seen.add(found)
        assert agents_template_hash("zh", PromptLibrary(tmp_path)) == before["zh"]
        file.write_text(kept, encoding="utf-8")
