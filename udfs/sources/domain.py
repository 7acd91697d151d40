"""The domain of a text: by the words of its path, else by marks in the text. Give `domain=` where that is wrong."""

from __future__ import annotations

import re
from typing import Final

OTHER: Final = "other"
SAMPLE_CHARACTERS: Final = 200_000
"""The start of a text is enough to tell."""
LAW_MARKS_PER_10K: Final = 12.0
BOOK_MARKS_PER_10K: Final = 15.0
"""Marks in 10,000 characters from which a text is taken for law, or else for a book."""

_PATH_WORDS: Final = {
    "law": "law",
    "laws": "law",
    "legal": "law",
    "statutes": "law",
    "court": "law",
    "book": "book",
    "books": "book",
    "novel": "book",
    "news": "news",
    "wiki": "wikipedia",
    "wikipedia": "wikipedia",
}
_LAW: Final = re.compile(
    r"§|\b(?:shall|hereby|herein|thereof|pursuant|court|courts|plaintiff|defendant|tenant|landlord|claimant|statutes?"
    r"|subsection|clause|bylaw|provision|jurisdiction|amended)\b|\b(?:section|article) \d"
    r"|第[一二三四五六七八九十百千零〇\d]+条|人民法院|本法|当事人|被告|原告|甲方|乙方",
    re.IGNORECASE,
)
_BOOK: Final = re.compile(
    r"\bchapter\b|\b(?:i|he|she|they|him|her|my|me) |\bsaid\b|[“「]|第.{1,6}[回章]|[我他她]", re.IGNORECASE
)


def detect_domain(path: str, text: str) -> str:
    """`law`, `book`, `news`, `wikipedia` by a word of the path; else `law`, `book` or `other` by the text."""
    for part in reversed(path.lower().replace("\\", "/").split("/")[-3:]):
        for word in re.split(r"[^a-z]+", part):
            if word in _PATH_WORDS:
                return _PATH_WORDS[word]
    start = text[:SAMPLE_CHARACTERS]
    per = len(start) / 10_000 or 1.0
    if len(_LAW.findall(start)) / per >= LAW_MARKS_PER_10K:
        return "law"
    return "book" if len(_BOOK.findall(start)) / per >= BOOK_MARKS_PER_10K else OTHER
