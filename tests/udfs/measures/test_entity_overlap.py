from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.measures.entities import tag
from udfs.measures.entity_overlap import couldask_overlap, soft_overlap

LISTS = st.lists(st.text())


@pytest.mark.parametrize(
    ("original", "new", "question", "expected"),
    [
        (("mill",), ("mills",), "Who built the mills?", 1.0),
        (("the Blue Mill",), ("Blue Mill",), "Who built Blue Mill?", 1.0),
        (("Mercantile Bank of Carrow",), ("bank",), "Which bank is it?", 1.0),
        (("Kettering",), ("Ketering",), "Where is Ketering?", 1.0),
        (("spring of 2010",), ("spring of 2011",), "What came in the spring of 2011?", 0.0),
        (("2010",), ("2011",), "What came in 2011?", 0.0),
        (("heron", "oak"), ("alder", "oaks"), "When did the oaks and alders die?", 0.5),
        (("open system",), (), "Is a system open?", 1.0),
        (("oak",), ("oakum",), "Who sells oakum?", 0.0),
        ((), ("oak",), "Which oak?", None),
        (("?!",), ("oak",), "Which oak?", None),
    ],
)
def test_soft_overlap_english_entity_is_kept_in_its_words_or_parts(
    original: tuple[str, ...], new: tuple[str, ...], question: str, expected: float | None
) -> None:
    assert soft_overlap(original, new, question, "en") == expected


@pytest.mark.parametrize(
    ("original", "new", "question", "expected"),
    [
        (("阿洛镇",), ("阿洛镇",), "阿洛镇在哪里？", 1.0),
        (("清理摊位",), ("摊位",), "摊位有多少个？", 1.0),
        (("水磨坊",), ("磨坊",), "磨坊是谁建的？", 1.0),
        (("罗安",), ("罗平",), "罗平是谁？", 0.0),
        (("一九〇二年",), ("1902年",), "1902年建了什么？", 1.0),
        (("一九〇二年",), ("一九〇三年",), "一九〇三年建了什么？", 0.0),
        (("磨坊", "钟楼"), ("钟楼",), "钟楼是谁建的？", 0.5),
        ((), (), "谁？", None),
    ],
)
def test_soft_overlap_chinese_entity_is_kept_in_half_of_its_characters(
    original: tuple[str, ...], new: tuple[str, ...], question: str, expected: float | None
) -> None:
    assert soft_overlap(original, new, question, "zh") == expected


@given(LISTS, LISTS, st.text(), st.sampled_from(["en", "zh"]))
def test_soft_overlap_any_lists_is_between_0_and_1(
    original: list[str], new: list[str], question: str, language: str
) -> None:
    overlap = soft_overlap(original, new, question, language)
    assert overlap is None or 0.0 <= overlap <= 1.0


@given(st.text(), st.sampled_from(["en", "zh"]))
def test_soft_overlap_of_a_question_with_itself_is_whole(question: str, language: str) -> None:
    entities = tag(question, language)
    assert soft_overlap(entities, entities, question, language) in (1.0, None)


@given(LISTS, LISTS)
def test_couldask_overlap_any_lists_is_undefined_only_without_original_entities(
    original: list[str], new: list[str]
) -> None:
    overlap = couldask_overlap(original, new)
    assert (overlap is None) == (not original)
    assert overlap is None or 0.0 <= overlap <= len(new)
    assert not original or couldask_overlap(original, original) == 1.0
