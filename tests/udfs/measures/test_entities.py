from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.sources.helpers import take
from udfs.measures.entities import tag

EN = [
    ("Who built the mill?", ("mill",)),
    ("How many mills does Nether Errin have?", ("mills", "Nether Errin")),
    ("When was the Bank of Carrow founded?", ("Bank of Carrow",)),
    ("What did the Guild of the Blue Oar buy in 1902?", ("Guild of the Blue Oar", "1902")),
    ("Did Ana Rook sell the mill on 4 May 1902?", ("Ana Rook", "mill", "4 May 1902")),
    ('Who wrote "The Long Weir"?', ("The Long Weir",)),
    ("How does balance work in an open system of particles?", ("balance", "open system", "particles")),
    ("What trade needs no papers?", ("trade", "papers")),
    ("How much did the miller's two sons pay?", ("miller's two sons",)),
    ("Which mill is the mill of the Mill?", ("mill",)),
    ("What does the general assembly decide?", ("general assembly",)),
    ("Who is it?", ()),
    ("", ()),
]
ZH = [
    ("磨坊是谁建的？", ("磨坊",)),
    ("《水车记》是哪一年发布的？", ("水车记",)),
    ("阿洛镇在一九〇二年有多少座磨坊？", ("阿洛镇", "一九〇二年", "磨坊")),
    ("罗安的磨坊和钟楼在哪里？", ("罗安", "磨坊", "钟楼")),
    ("2019年9月3日，罗安在磨坊中放了什么？", ("2019年9月3日", "罗安", "磨坊")),
    ("第三条规定的押金是多少元？", ("第三条", "押金")),
    ("他是谁？", ()),
    ("", ()),
]


@pytest.mark.parametrize(("question", "expected"), EN)
def test_entities_english_question_gives_expected_tags(question: str, expected: tuple[str, ...]) -> None:
    assert tag(question, "en") == expected


@pytest.mark.parametrize(("question", "expected"), ZH)
def test_entities_chinese_question_gives_expected_tags(question: str, expected: tuple[str, ...]) -> None:
    assert tag(question, "zh") == expected


def test_entities_of_the_sample_are_two_to_five_a_question() -> None:
    found = [tag(question.question, question.language) for question in take("sample", None).questions]
    assert all(found)
    assert 2.0 <= sum(map(len, found)) / len(found) <= 5.0


@given(st.text(), st.sampled_from(["en", "zh"]))
def test_entities_any_text_are_parts_of_it_without_repeats(text: str, language: str) -> None:
    found = tag(text, language)
    assert len({entity.casefold() for entity in found}) == len(found)
    squeezed = "".join(text.split())
    assert all(entity and "".join(entity.split()) in squeezed for entity in found)


def test_entities_unknown_language_raises() -> None:
    with pytest.raises(ValueError, match="fr"):
        tag("Qui est-ce ?", "fr")
