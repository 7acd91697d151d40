from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.schema import Language
from udfs.text import count_treebank_tokens, count_words, detect_language, normalize, normalize_mapped, parse_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The bridge opened in 1902.", "en"),
        ("Le pont a été ouvert en 1902.", "en"),  # any Latin text: the scripts alone decide
        ("大桥于1902年通车。", "zh"),
        ("大桥的英文名称是 Arlow Bridge，于一九〇二年通车，至今仍在使用。", "zh"),
        ("The katakana ka (カ) comes from the left side of 加, and is used for sounds (片, 気合い).", "en"),
        ("これは日本語の文章です。漢字もあります。", None),
        ("Это русский текст.", None),
        ("1902 – 1903; 42%", None),
        ("", None),
    ],
)
def test_detect_language_follows_the_share_of_scripts(text: str, language: str | None) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize(
    ("tag", "language"), [("EN", "en"), ("en-GB", "en"), ("zh_CN", "zh"), ("Chinese", "zh"), ("fr", None), ("", None)]
)
def test_parse_language_reads_tags_and_names(tag: str, language: str | None) -> None:
    assert parse_language(tag) == language


@pytest.mark.parametrize(
    ("text", "language", "words"),
    [
        ("The  bridge\nopened.", Language.EN, 3),
        ("大桥于1902年通车。", Language.ZH, 7),
        ("使用 vLLM 0.32 引擎", Language.ZH, 6),
        ("", Language.ZH, 0),
    ],
)
def test_count_words_knows_both_languages(text: str, language: str, words: int) -> None:
    assert count_words(text, language) == words


def test_count_treebank_tokens_parts_punctuation_and_clitics() -> None:
    assert count_treebank_tokens("Where wasn't the bridge's toll paid?") == 9
    assert count_treebank_tokens("大桥何时通车？", "zh") == 6


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("The  Bridge!", "the bridge"),
        ("１，２００ florins", "1200 Florins"),
        ("the U.S. army", "the US army"),
        ("don’t", "dont"),
        ("mid-2006", "mid 2006"),
        ("《民法典》第 五 条", "民法典第五条"),
        ("甲方，乙方", "甲方乙方"),
        ("**bold** text", "bold text"),
        ("ﬁne", "fine"),
        ("cafe\u0301", "café"),
        ("\ufeffstart", "start"),
    ],
)
def test_normalize_makes_equal_what_says_the_same(left: str, right: str) -> None:
    assert normalize(left) == normalize(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [("3.5", "35"), ("-5 degrees", "5 degrees"), ("5%", "5"), ("$5", "5"), ("1,20", "120"), ("in form", "inform")],
)
def test_normalize_keeps_apart_what_says_another_thing(left: str, right: str) -> None:
    assert normalize(left) != normalize(right)


@given(st.text())
def test_normalize_is_idempotent_on_any_text(text: str) -> None:
    once = normalize(text)
    assert normalize(once) == once
    assert once == once.strip()


@given(st.text(alphabet=st.sampled_from("aB1. ,-'’《》中文，。\n\u0301\uff21ﬁ%*")))
def test_normalize_map_leads_back_to_the_piece_it_came_from(text: str) -> None:
    mapped = normalize_mapped(text)
    assert len(mapped.text) == len(mapped.starts) == len(mapped.ends)
    for i, char in enumerate(mapped.text):
        start, end = mapped.original(i, i + 1)
        assert 0 <= start <= end <= len(text)
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text[start:end]).casefold())
        assert char == " " or char in folded
    assert list(mapped.starts) == sorted(mapped.starts)


def test_normalize_map_gives_offsets_of_the_original() -> None:
    text = "He said: “It opened\n in  1902.”"
    mapped = normalize_mapped(text)
    at = mapped.text.index("opened in 1902")
    start, end = mapped.original(at, at + len("opened in 1902"))
    assert text[start:end] == "opened\n in  1902"
