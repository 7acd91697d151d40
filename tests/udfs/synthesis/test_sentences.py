from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings

from tests.udfs.synthesis.document_texts import TEXTS, real_text
from udfs.schema import Language
from udfs.synthesis.sentences import LONGEST, sentences


def texts(text: str, language: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text, language)]


@settings(deadline=None)
@given(TEXTS)
def test_sentences_of_any_text_cover_all_but_white_space_in_order(case: tuple[str, str]) -> None:
    language, text = case
    spans = sentences(text, language)
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    assert edges == sorted(edges)
    assert not any(text[left:right].strip() for left, right in list(pairwise(edges))[::2])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \r\n\u3000", []),
        ("One sentence", ["One sentence"]),
        ("The ship,\nwhich was old,\r\nsank. It was late.", ["The ship,\nwhich was old,\r\nsank.", "It was late."]),
        ("# Title\n\nFirst line.\r\n\r\nNext.", ["# Title", "First line.", "Next."]),
        ("“Stop!” cried Ann. “Who is it?” he asked.", ["“Stop!” cried Ann.", "“Who is it?” he asked."]),
        ('"Go." "No," he said.', ['"Go."', '"No," he said.']),
        ("He said “it is ‘so.’ ” Then he left.", ["He said “it is ‘so.’ ”", "Then he left."]),
        ("Roe v. Ash, 5 U. S. C. §3, of Oak Inc. is. Next.", ["Roe v. Ash, 5 U. S. C. §3, of Oak Inc. is.", "Next."]),
        ("§ 5. Duties of a keeper. § 6. Pay.", ["§ 5. Duties of a keeper.", "§ 6. Pay."]),
        ("He sees App. 84a. Cf. Roe, 8 Oak. 1, 63. End.", ["He sees App. 84a.", "Cf. Roe, 8 Oak. 1, 63.", "End."]),
        ("Give it to me. Then go.", ["Give it to me.", "Then go."]),
        ("It ended in\n1983. It began in\n1979. So.", ["It ended in\n1983.", "It began in\n1979.", "So."]),
        ("- one thing\n- another thing", ["- one thing", "- another thing"]),
        ("It—\n  (1)\n  may pay; and\n  (2)\n  may ask.", ["It—", "(1)\n  may pay; and", "(2)\n  may ask."]),
        ("Under 154(d).\n  The court may hear it.", ["Under 154(d).", "The court may hear it."]),
        ("😀 It 𠮷 sank. Then.", ["😀 It 𠮷 sank.", "Then."]),
        ("It sank then.27\nIn sum, it sank.” 3 Ships sail.", ["It sank then.27", "In sum, it sank.”", "3 Ships sail."]),
        ("It was held so. /1/ But not here.", ["It was held so. /1/", "But not here."]),
    ],
)  # fmt: skip
def test_sentences_english_end_where_a_reader_ends_them(text: str, expected: list[str]) -> None:
    assert texts(text, "en") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("他说：“好。”然后走了。", ["他说：“好。”", "然后走了。"]),
        ("他答道：“走吧。明天再来！”\r\n\r\n\u3000\u3000天黑了。", ["他答道：“走吧。", "明天再来！”", "天黑了。"]),
        ("「真的吗？」他问。「是。」", ["「真的吗？」", "他问。", "「是。」"]),
        ('他说:"好。"又说:"走。"', ['他说:"好。"', '又说:"走。"']),
        ("**第一条**\u3000保护船只（包括渔船。）制定本法。", ["**第一条**\u3000保护船只（包括渔船。）", "制定本法。"]),
        ("有下列情形的：\n\n（一）沉没的；\n\n（二）失踪的。", ["有下列情形的：", "（一）沉没的；", "（二）失踪的。"]),
        ("一行\n接着一行。完", ["一行\n接着一行。", "完"]),
    ],
)  # fmt: skip
def test_sentences_chinese_end_where_a_reader_ends_them(text: str, expected: list[str]) -> None:
    assert texts(text, "zh") == expected


def test_sentences_quotation_that_never_closes_swallows_nothing() -> None:
    assert texts("He began: “Once. There was (a ship. It sank. It's gone. Nobody wept.", "en") == [
        "He began: “Once.", "There was (a ship.", "It sank.", "It's gone.", "Nobody wept.",
    ]  # fmt: skip


@pytest.mark.parametrize(("language", "item"), [("en", "the keeper counts ship number {};\n"), ("zh", "第{}号船只；")])
def test_sentences_run_without_end_marks_is_parted_at_its_items(language: str, item: str) -> None:
    text = "".join(item.format(i) for i in range(200))
    found = texts(text, language)
    assert len(found) > 1
    assert all(len(sentence) <= LONGEST[Language(language)] and sentence[-1] in ";；" for sentence in found)


def test_sentences_unknown_language_raises() -> None:
    with pytest.raises(ValueError, match="fr"):
        sentences("Bonjour.", "fr")


@pytest.mark.parametrize("name", ["en_law_usc_title_35.txt", "en_law_mcdonald_v_chicago.txt", "zh_book_sanguo.txt"])
def test_sentences_of_real_documents_are_short(name: str) -> None:
    text, language = real_text(name), name[:2]
    spans = sentences(text, language)
    assert "".join(text.split()) == "".join("".join(text[start:end].split()) for start, end in spans)
    assert max(end - start for start, end in spans) <= LONGEST[Language(language)]
