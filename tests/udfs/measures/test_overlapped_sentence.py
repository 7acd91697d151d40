from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.measures.entity_overlap import soft_overlap
from udfs.measures.overlapped_sentence import overlapped_sentence
from udfs.synthesis.sentences import sentences

EN = (
    "The mill stands by the weir. The old bridges of Arlow were painted green in 1902. "
    "The bridge at Tannet fell. In 1902 a mill was built at Tannet."
)
ZH = "磨坊在水坝旁边。青石桥于1902年漆成绿色。渡口的老钟停了。那年有人在渡口建了磨坊。"


def found(text: str, question: str, entities: tuple[str, ...], language: str) -> str | None:
    span = overlapped_sentence(text, question, entities, language)
    return None if span is None else text[span.start : span.end]


@pytest.mark.parametrize(
    ("text", "language", "entities", "expected"),
    [
        (EN, "en", ("mill", "1902", "Tannet"), "In 1902 a mill was built at Tannet."),
        (EN, "en", ("bridge", "Arlow"), "The old bridges of Arlow were painted green in 1902."),  # by stems
        (EN, "en", ("Tannet",), "The bridge at Tannet fell."),  # a tie: the first
        (EN, "en", ("green bridge", "weir"), "The mill stands by the weir."),  # a tie, whole entities
        (EN, "en", ("MILL", "the Weir"), "The mill stands by the weir."),
        (ZH, "zh", ("渡口", "磨坊"), "那年有人在渡口建了磨坊。"),
        (ZH, "zh", ("渡口老钟",), "渡口的老钟停了。"),
        (ZH, "zh", ("修理青石桥",), "青石桥于1902年漆成绿色。"),  # a verb that the tagger left on it
        (ZH, "zh", ("1902",), "青石桥于1902年漆成绿色。"),
    ],
)
def test_overlapped_sentence_holds_most_entities_first_of_ties(
    text: str, language: str, entities: tuple[str, ...], expected: str
) -> None:
    assert found(text, "", entities, language) == expected


@pytest.mark.parametrize("entities", [(), ("Quenby",), ("?!",)])
def test_overlapped_sentence_without_entities_in_the_document_shares_most_content(entities: tuple[str, ...]) -> None:
    assert found(EN, "Who painted it green in Quenby?", entities, "en") == (
        "The old bridges of Arlow were painted green in 1902."
    )


def test_overlapped_sentence_that_shares_nothing_is_the_first() -> None:
    assert found(EN, "Quenby?", (), "en") == "The mill stands by the weir."


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_overlapped_sentence_of_a_blank_text_is_none(text: str) -> None:
    assert overlapped_sentence(text, "Who?", ("mill",), "en") is None


def test_overlapped_sentence_unknown_language_raises() -> None:
    with pytest.raises(ValueError, match="fr"):
        overlapped_sentence(EN, "Qui?", (), "fr")


SPELLINGS = {
    "en": "the mill mills Mill's bridge bridges Arlow weir's 1902 1,902 12 painted of at . ! ,",
    "zh": "磨 坊 桥 青 石 渡 口 1902 mill 。 ， 二 十",
}
WORDS = {language: st.sampled_from(spelt.split()) for language, spelt in SPELLINGS.items()}


@given(st.sampled_from(["en", "zh"]), st.data())
def test_overlapped_sentence_is_the_best_by_soft_overlap(language: str, data: st.DataObject) -> None:
    join = " " if language == "en" else ""
    phrase = st.lists(WORDS[language], min_size=1, max_size=4).map(join.join)
    text = join.join(data.draw(st.lists(WORDS[language], max_size=40)))
    entities = tuple(data.draw(st.lists(phrase, max_size=3)))
    span = overlapped_sentence(text, "", entities, language)
    scores = [soft_overlap(entities, (), text[start:end], language) or 0.0 for start, end in sentences(text, language)]
    if scores and max(scores) > 0:
        assert span == sentences(text, language)[scores.index(max(scores))]
