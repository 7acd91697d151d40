from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.udfs.synthesis.document_texts import TEXTS
from udfs.measures.numerals import to_digits
from udfs.synthesis.index import DocumentIndex
from udfs.synthesis.mentions import answering, forms, mentions
from udfs.views import merged

EN = DocumentIndex(
    "In 1711 John Smith met the folk of Zurich. The term is 30 days, or twenty-one nights. New York was seen by Lord "
    "Byron on May 5, 1873. The pupils were re-examined. It began at the mills.",
    "en",
)
ZH = DocumentIndex("一八七四年，约翰·史密斯在北京设立学堂。刘备缴纳押金。第五条规定三十日。他活了205天。", "zh")


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("Mr. John Smith", True),  # a title
        ("Smith, John", True),
        ("Ｊｏｈｎ Ｓｍｉｔｈ", True),  # full width
        ("Zürich", True),
        ("thirty days", True),
        ("21 nights", True),
        ("New York City", True),
        ("5 May 1873", True),
        ("the pupil", True),  # inflected
        ("begin at the mill", True),
        ("reexamined", True),
        ("re-\nexamined", True),
        ("Jane Smith", False),
        ("forty days", False),
        ("1712", False),
        ("the mayor of Leeds", False),
        ("…", False),
    ],
)
def test_mentions_finds_an_english_phrase_in_another_form(phrase: str, expected: bool) -> None:
    assert mentions(EN, phrase) is expected


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("1874年", True),
        ("约翰史密斯", True),
        ("约翰・史密斯先生", True),
        ("北京市", True),
        ("第5条", True),
        ("30日", True),
        ("二百零五天", True),
        ("缴纳了押金", True),
        ("１８７４年", True),
        ("1875年", False),
        ("第6条", False),
        ("没有缴纳押金", False),
        ("南京市", False),
    ],
)
def test_mentions_finds_a_chinese_phrase_in_another_form(phrase: str, expected: bool) -> None:
    assert mentions(ZH, phrase) is expected


@given(TEXTS, st.data())
def test_mentions_holds_whatever_occurs(case: tuple[str, str], data: st.DataObject) -> None:
    language, text = case
    index = DocumentIndex(text, language)
    for start, end in index.sentences[:3]:
        if index.occurs(text[start:end]):
            assert mentions(index, text[start:end])
    mentions(index, data.draw(st.text(max_size=30)))


@given(st.integers(1, 9999))
def test_forms_of_a_chinese_number_mean_the_same_number(number: int) -> None:
    written = {form.removesuffix("日") for form in forms(f"{number}日", "zh")}
    assert len(written) > 1
    assert {int(to_digits(form) if not form.isascii() else form) for form in written} == {number}


@pytest.mark.parametrize(
    ("index", "question", "answer", "expected"),
    [
        (
            DocumentIndex(
                "Rain fell. In 1874 it was at Tannet that Oswin Harl had been building a ferry, the first.", "en"
            ),
            "Who built the first ferry at Tannet?",
            "Oswin Harl",
            "In 1874",
        ),
        (
            DocumentIndex("Oswin Harl lived at Tannet. The first ferry was built.", "en"),
            "Who built the first ferry at Tannet?",
            "Oswin Harl",
            None,
        ),
        (
            DocumentIndex("下雨了。渡船，第一艘，由沈阿福于青石渡造成。", "zh"),
            "青石渡的第一艘渡船是谁造的？",
            "沈阿福",
            "渡船",
        ),
        (DocumentIndex("沈阿福住在青石渡。第一艘渡船造好了。", "zh"), "青石渡的第一艘渡船是谁造的？", "沈阿福", None),
        (DocumentIndex("罚款三十元，由灯塔看守缴纳。", "zh"), "灯塔看守缴纳多少罚款？", "30元", "罚款"),
    ],
)
def test_answering_finds_a_sentence_that_holds_the_answer_and_what_is_asked(
    index: DocumentIndex, question: str, answer: str, expected: str | None
) -> None:
    found = answering(index, (), question, answer)
    assert [index.text[start:end].startswith(expected or "") for start, end in found] == [True] * bool(expected)
    assert answering(index, merged(found, len(index.text)), question, answer) == []
