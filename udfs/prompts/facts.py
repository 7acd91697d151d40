"""What a method's turn 2 may be told beside its instruction: facts of the question and of the document as it is shown.

A template that names one of `FACTS` gets it; for the others nothing is computed. That is how `rule_based` works, the
baseline that turns the document's most overlapped sentence into a question (CouldAsk, appendix B). The paper tags
entities with a model; here it is the deterministic tagger, so that a method needs no third turn.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from udfs.measures.entities import tag
from udfs.measures.overlapped_sentence import overlapped_sentence

FACTS: Final = ("entities", "sentence")
"""`entities`: of the question, in its words, in order. `sentence`: the document's most overlapped one, verbatim."""
FACTS_VERSION: Final = 1
"""Raise it when the rules change by which facts are found: it is part of the identity of what was asked with them."""


def facts(wanted: Collection[str], document: str, question: str, language: str) -> dict[str, Any]:
    """The wanted ones of `FACTS`.

    Args:
        document: the text as it is shown (a view). In a blank one the sentence is "".
    """
    if not wanted:
        return {}
    found: dict[str, Any] = {"entities": tag(question, language)}
    if "sentence" in wanted:
        span = overlapped_sentence(document, question, found["entities"], language)
        found["sentence"] = document[span.start : span.end] if span else ""
    return {name: found[name] for name in wanted}
