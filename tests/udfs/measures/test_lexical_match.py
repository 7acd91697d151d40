"""Word overlap as numbers: what each says of pairs whose words are known, in both languages."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.measures.lexical_match import FEATURES, lexical_features

EN = "The ferry departs from Harrow Quay at six. Its master is Ana Brook. A ticket costs four crowns."
ZH = "渡船六点离开码头。船长是安娜。船票四元。"


def features(question: str, document: str, language: str = "en") -> dict[str, float]:
    return dict(zip(FEATURES, lexical_features(question, document, language), strict=True))


def test_features_of_a_question_in_the_documents_words_hold_them_all() -> None:
    found = features("When does the ferry depart from Harrow Quay?", EN)
    assert (found["held"], found["absent"], found["best_sentence"]) == (1.0, 0.0, 1.0)
    assert found["absent_entities"] == 0.0
    assert found["asks_for_time"] == 1.0
    assert sum(found[name] for name in FEATURES if name.startswith("asks_for_")) == 1.0


def test_features_of_a_question_with_other_words_miss_them() -> None:
    found = features("How many crowns did 12 sailors of Velm pay?", EN)
    assert found["held"] < 0.5
    assert found["absent"] >= 3
    assert found["absent_entities"] >= 1
    assert (found["numbers"], found["absent_numbers"]) == (1.0, 1.0)
    assert found["asks_for_number"] == 1.0


def test_features_of_words_in_two_neighbouring_sentences_are_found_together() -> None:
    found = features("Who is master of the ferry?", EN)
    assert found["best_neighbours"] == 1.0
    assert found["best_sentence"] == 0.5


def test_features_of_a_negated_question_say_so() -> None:
    assert features("Why does the ferry not leave?", EN)["negative"] == 1.0
    assert features("Why does the ferry leave?", EN)["negative"] == 0.0


def test_features_of_a_chinese_question_count_neighbouring_characters() -> None:
    held, absent = features("渡船几点离开码头？", ZH, "zh"), features("谁造了灯塔？", ZH, "zh")
    assert held["held"] > 0.5 > absent["held"]
    assert held["rules_score"] > absent["rules_score"]


def test_features_of_another_language_are_refused() -> None:
    with pytest.raises(ValueError, match="fr"):
        lexical_features("Qui?", EN, "fr")


@given(st.text(max_size=80), st.text(max_size=200), st.sampled_from(["en", "zh"]))
def test_features_of_any_text_are_finite_and_shares_are_shares(question: str, document: str, language: str) -> None:
    found = features(question, document, language)
    assert list(found) == list(FEATURES)
    assert all(math.isfinite(value) for value in found.values())
    for name in ("rules_score", "held", "best_sentence", "next_best_sentence", "best_neighbours", "pairs_held"):
        assert 0 <= found[name] <= 1
    assert found["next_best_sentence"] <= found["best_sentence"]
