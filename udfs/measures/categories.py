"""What went wrong with a failed reformulation, and how a successful one was made, where rules decide. Pure.

CouldAsk's error categories (its Table 6) and strategies (Table 1) were given by people. The rules here give one only
where the words leave little doubt, and None elsewhere: that is for a judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from enum import StrEnum
from functools import lru_cache
from typing import Final

from rapidfuzz import fuzz

from udfs.measures.asked_for import AskedFor, asked_for
from udfs.measures.edit_distance import edit_units
from udfs.measures.entities import tag
from udfs.measures.entity_overlap import soft_overlap
from udfs.measures.stems import stem
from udfs.schema import Language
from udfs.synthesis.overlap import STOP_WORDS
from udfs.synthesis.sentences import sentences
from udfs.text import normalize

DOCUMENTS_KEPT: Final = 2
MISSPELT_RATIO: Final = 85.0
"""Similarity (0 to 100) from which two longer words are spellings of one."""
COPIED_RUN: Final = {Language.EN: 6, Language.ZH: 10}
"""Words (in Chinese: characters) in one piece that a copied question shares with a sentence of the document."""
COPIED_SHARE: Final = 0.5
"""Share of its words that this piece must be."""
IRRELEVANT_BELOW: Final = 0.34
"""Soft entity overlap below which a question is about something else; up to `entity_overlap.RELEVANT` is doubt."""

_QUESTION_MARK: Final = re.compile(r"[?？]")
_APOLOGY: Final = re.compile(
    r"^\W*(?:i(?:'m| am)? (?:sorry|apologi[sz]e|cannot|can't|do not|don't)|sorry|unfortunately|my apologies)\b"
    r"|^\W*(?:抱歉|对不起|很遗憾|我无法|无法)",
    re.IGNORECASE,
)
_EMPTY_ZH: Final = frozenset(
    "的了是在被把着也都就还它他她们我你您这那之而且则有为由从对和与及或吗呢吧啊什么哪谁几多少怎样如何何"
)


class ErrorCategory(StrEnum):
    SAME_OR_REPHRASED = "same_or_rephrased"
    COPIED = "copied"  # from the document
    IRRELEVANT = "irrelevant"
    OTHER = "other"  # mostly no question at all


class Strategy(StrEnum):
    CORRECT = "correct"  # a presupposition that contradicts the document
    GENERALIZE = "generalize"
    NEAREST_MATCH = "nearest_match"
    SPECIFY = "specify"


def error_category(original: str, reformulated: str | None, document: str, language: str) -> ErrorCategory | None:
    """Why a reformulation failed, by the first of these rules that holds; None where none does.

    Other: no question, or an apology. Same or rephrased: the same content words in the same order. Copied: most of the
    question is one piece of a sentence of the document that is not in the original. Irrelevant: few of the original's
    entities are left.

    Args:
        reformulated: the new question, or what a reply has in its place; None where there is none.
        document: the text as it was shown.
        language: en or zh.

    Raises:
        ValueError: the language is not one of `udfs.schema.Language`.
    """
    language = Language(language)
    if reformulated is None or not _is_question(reformulated, language):
        return ErrorCategory.OTHER
    if is_same_question(original, reformulated, language):
        return ErrorCategory.SAME_OR_REPHRASED
    if is_copied(original, reformulated, document, language):
        return ErrorCategory.COPIED
    kept = soft_overlap(tag(original, language), tag(reformulated, language), reformulated, language)
    return ErrorCategory.IRRELEVANT if kept is not None and kept < IRRELEVANT_BELOW else None


def strategy(original: str, reformulated: str, language: str) -> Strategy | None:
    """How a successful reformulation was made: `generalize` where it only leaves content out, `specify` where it only
    adds some, the rest in the same order. None where it does both, neither, or asks for another sort of answer: whether
    an exchanged word corrects the question or makes it the nearest match depends on the document.

    Raises:
        ValueError: the language is not one of `udfs.schema.Language`.
    """
    language = Language(language)
    if not _same_kind(original, reformulated, language):
        return None
    old, new = _content(original, language), _content(reformulated, language)
    if len(old) == len(new):
        return None
    if _is_subsequence(new, old):
        return Strategy.GENERALIZE
    return Strategy.SPECIFY if _is_subsequence(old, new) else None


def is_same_question(original: str, reformulated: str, language: str) -> bool:
    """Whether the new question has the original's content words in the same order, spelling mistakes aside, and asks
    for the same sort of answer. An exchanged name, number or noun makes it another question.
    """
    if normalize(original) == normalize(reformulated):
        return True
    language = Language(language)
    old, new = _content(original, language), _content(reformulated, language)
    if not old or len(old) != len(new) or not _same_kind(original, reformulated, language):
        return False
    return all(_same_word(left, right) for left, right in zip(old, new, strict=True))


def is_copied(original: str, reformulated: str, document: str, language: str) -> bool:
    """Whether most of the new question is one piece of a document's sentence, and that piece not of the original."""
    language = Language(language)
    new, least = edit_units(reformulated), COPIED_RUN[language]
    runs = [f" {' '.join(gram)} " for gram in _grams(new, least)]
    for said in _said(document, language):
        if not any(run in said for run in runs):
            continue
        piece = _common_run(new, said.split())
        if len(piece) < COPIED_SHARE * len(new):
            continue
        if len(_common_run(piece, edit_units(original))) < COPIED_SHARE * len(piece):
            return True
    return False


@lru_cache(maxsize=DOCUMENTS_KEPT)
def _said(document: str, language: Language) -> tuple[str, ...]:
    """The words of each sentence, as `edit_units` has them, between single spaces."""
    return tuple(f" {' '.join(edit_units(document[start:end]))} " for start, end in sentences(document, language))


def _is_question(text: str, language: Language) -> bool:
    if _APOLOGY.search(text) or not re.search(r"\w", text):
        return False
    return _QUESTION_MARK.search(text) is not None or asked_for(text, language).words != ""


def _same_kind(left: str, right: str, language: Language) -> bool:
    """Whether both ask for the same sort of answer; “which team” and “who” may."""
    kinds = {asked_for(text, language).kind for text in (left, right)}
    return len(kinds) == 1 or kinds == {AskedFor.PERSON, AskedFor.THING}


def _content(text: str, language: Language) -> list[str]:
    """What a question says, in order: stems without stop words; in Chinese characters without those that only join."""
    units = edit_units(asked_for(text, language).rest)
    if language is Language.ZH:
        return [unit for unit in units if unit not in _EMPTY_ZH]
    return [stem(unit) for unit in units if unit not in STOP_WORDS]


def _same_word(left: str, right: str) -> bool:
    spelt = left.isalpha() and right.isalpha() and min(len(left), len(right)) > 4
    return left == right or (spelt and fuzz.ratio(left, right) >= MISSPELT_RATIO)


def _is_subsequence(part: Sequence[str], whole: Sequence[str]) -> bool:
    rest = iter(whole)
    return all(unit in rest for unit in part)


def _grams(units: Sequence[str], width: int) -> Iterator[tuple[str, ...]]:
    return (tuple(units[i : i + width]) for i in range(len(units) - width + 1))


def _common_run(left: Sequence[str], right: Sequence[str]) -> Sequence[str]:
    """The longest run of units that stands in both."""
    match = SequenceMatcher(None, left, right, autojunk=False).find_longest_match()
    return left[match.a : match.a + match.size]
