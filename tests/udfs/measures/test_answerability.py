"""What the rules say of made-up documents, of any text, and of the shipped sample."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from tests.udfs.sources.helpers import real_data, take
from udfs.measures.answerability import THRESHOLD, Answerability, rules_answerable
from udfs.measures.entities import tag
from udfs.measures.entity_overlap import RELEVANT, soft_overlap
from udfs.views import view_text

EN = (
    "The bridge at Arlow was opened in 1902 by Ana Rook. It is painted green because rust shows less on it.\n\n"
    "The mill stands by the weir. Its wheel turns seven times a minute, and forty sacks are ground there every day. "
    "The miller is called Tom Osgood; his two sons keep geese."
)
ZH = (
    "阿洛镇的石桥建于一九〇二年，由罗安出资。桥漆成绿色，因为绿色不显锈迹。\n\n"
    "磨坊在水坝旁边。水轮每分钟转七圈，每天磨四十袋麦子。磨坊主姓欧，他的两个儿子养鹅。"
)
ANSWERABLE = [
    ("en", "When was the bridge at Arlow opened?", "in 1902"),
    ("en", "In which year did Ana Rook open the bridge?", "in 1902"),
    ("en", "Why is the bridge painted green?", "because rust"),
    ("en", "How many sacks are ground at the mill every day?", "forty sacks"),
    ("en", "What is the miller called?", "Tom Osgood"),
    ("en", "Where does the mill stand?", "by the weir"),
    ("zh", "阿洛镇的石桥建于哪一年？", "一九〇二年"),
    ("zh", "石桥由谁出资？", "罗安"),
    ("zh", "桥为什么漆成绿色？", "因为绿色"),
    ("zh", "水轮每分钟转多少圈？", "七圈"),
    ("zh", "磨坊每天磨多少袋麦子？", "四十袋"),
]
UNANSWERABLE = [
    ("en", "When was the bridge at Carrow opened?", "a name that is not there"),
    ("en", "Who opened the bridge at Arlow in 1903?", "a number that is not there"),
    ("en", "What colour is the tower of the church?", "nouns that are not there"),
    ("en", "In which year did Tom Osgood die?", "no year near the name"),
    ("en", "How many geese do the two sons keep?", "no number of geese"),
    ("en", "Why does the wheel turn seven times a minute?", "no word of cause"),
    ("en", "What?", "nothing asked about"),
    ("zh", "《水车记》是哪一年发布的？", "a title that is not there"),
    ("zh", "一九〇三年阿洛镇建了什么？", "a number that is not there"),
    ("zh", "教堂的塔楼是什么颜色？", "nouns that are not there"),
    ("zh", "磨坊主的儿子是哪一年出生的？", "no year near the sons"),
    ("zh", "两个儿子养了多少只鹅？", "no number of geese"),
    ("zh", "什么？", "nothing asked about"),
    ("en", "Which bridge was never opened by Ana Rook?", "a negation that is not there"),
    ("en", "In which year was the largest bridge at Arlow opened?", "a superlative that is not there"),
    ("en", "When was the bridge at Arlow closed by Ana Rook?", "the opposite of a word that is there"),
    ("en", "How many forty geese are there?", "a number of another thing"),
]


@pytest.mark.parametrize(("language", "question", "support"), ANSWERABLE)
def test_answerability_question_about_what_is_said_is_answerable_by_its_sentence(
    language: str, question: str, support: str
) -> None:
    document = EN if language == "en" else ZH
    found = rules_answerable(question, document, language)
    assert found.answerable
    assert found.span is not None
    assert support in document[found.span.start : found.span.end]


@pytest.mark.parametrize(("language", "question", "reason"), UNANSWERABLE)
def test_answerability_question_about_what_is_not_said_is_not_answerable(
    language: str, question: str, reason: str
) -> None:
    assert not rules_answerable(question, EN if language == "en" else ZH, language).answerable, reason


def test_answerability_of_a_view_goes_by_what_is_shown() -> None:
    question = "When was the bridge at Arlow opened?"
    assert not rules_answerable(question, EN[EN.index("It is painted") :], "en").answerable


@given(st.text(), st.text(), st.sampled_from(["en", "zh"]))
@settings(max_examples=60)
def test_answerability_any_texts_keep_ranges(question: str, document: str, language: str) -> None:
    found = rules_answerable(question, document, language)
    assert 0.0 <= found.score <= 1.0
    assert found.answerable == (found.score >= THRESHOLD)
    assert (found.span is None) == (found.score == 0)
    assert found.span is None or document[found.span.start : found.span.end].strip()


@given(st.sampled_from([question for _, question, _ in ANSWERABLE + UNANSWERABLE]), st.sampled_from(["en", "zh"]))
@settings(max_examples=30)
def test_answerability_without_a_document_is_none(question: str, language: str) -> None:
    assert rules_answerable(question, " \n", language) == Answerability(False, 0.0, None)


def test_answerability_and_relevance_of_the_sample_part_gold_reformulations_from_originals() -> None:
    taken = take("sample", None)
    documents = {document.doc_id: document.text for document in taken.documents}
    gold, relevant, originals, answerable = [], [], [], []
    for asked in taken.questions:
        shown = view_text(documents[asked.doc_id], asked.redactions)
        language = asked.language
        found = rules_answerable(asked.question, shown, language).answerable
        if asked.answerable:
            answerable.append(found)
            continue
        new = asked.gold_reformulation or ""
        originals.append(found)
        gold.append(rules_answerable(new, shown, language).answerable)
        overlap = soft_overlap(tag(asked.question, language), tag(new, language), new, language)
        relevant.append(overlap is not None and overlap >= RELEVANT)
    assert (len(gold), len(answerable)) == (80, 64)
    assert sum(gold) / len(gold) >= 0.9
    assert sum(relevant) / len(relevant) >= 0.9
    assert sum(g and r for g, r in zip(gold, relevant, strict=True)) / len(gold) >= 0.9
    assert sum(answerable) / len(answerable) >= 0.8
    assert sum(originals) / len(originals) <= 0.25


@pytest.mark.parametrize(
    ("language", "question", "document", "expected"),
    [
        ("en", "What may a vessel of 3 metres carry?", "1. A vessel of 4 metres may carry oil.\n3. No fires.", False),
        (
            "en",
            "What does Article 3 forbid on the quay?",
            "1. Oil is dear.\n3. It is to forbid fires on the quay.",
            True,
        ),
        ("zh", "一级古桥收多少元门票？", "一级古桥不收门票。亭子漆成绿色。二级古桥收三元门票。", False),
        ("zh", "二级古桥收多少元门票？", "一级古桥不收门票。亭子漆成绿色。二级古桥收三元门票。", True),
    ],
)
def test_answerability_numbers_of_items_and_ranks_are_told_from_others(
    language: str, question: str, document: str, expected: bool
) -> None:
    assert rules_answerable(question, document, language).answerable is expected


def test_answerability_what_stands_far_away_counts_less() -> None:
    question, passage = "When did Ana Rook leave Arlow for Tannet?", "She did leave Arlow in 1902. "
    near, far = (
        f"Ana Rook saw Tannet. {'The mill stands. ' * between}{passage}{'The mill stands. ' * 40}"
        for between in (3, 40)
    )
    assert rules_answerable(question, near, "en").score > rules_answerable(question, far, "en").score


@pytest.mark.parametrize(
    ("source", "file", "every", "least"),
    [("banditqa", "banditqa_dev.jsonl.gz", 1, 0.62), ("squad_v2", "squad_v2_dev_part.json.gz", 5, 0.6)],
)
def test_answerability_parts_the_questions_of_other_datasets(source: str, file: str, every: int, least: float) -> None:
    taken = take(source, real_data("qa", file))
    documents = {document.doc_id: document.text for document in taken.documents}
    asked = taken.questions[::every]
    scores = [rules_answerable(question.question, documents[question.doc_id], "en").score for question in asked]
    assert roc_auc_score([question.answerable for question in asked], scores) >= least


def test_answerability_unknown_language_raises() -> None:
    with pytest.raises(ValueError, match="fr"):
        rules_answerable("Qui ?", "Ana.", "fr")
