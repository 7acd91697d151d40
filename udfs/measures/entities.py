"""What a question is about: its names, numbers, titles and noun phrases, by rules, in English and Chinese. Pure.

A stand-in for CouldAsk's entity tagger, which is a model: entities are about two a question, and common nouns are among
them. No dictionary and no part-of-speech tagger stands behind it, so verbs slip in and phrases come out too long or too
short; `udfs.measures.entity_overlap.soft_overlap` is made for that.
"""

from __future__ import annotations

from udfs.measures import entities_en, entities_zh
from udfs.measures.asked_for import asked_for
from udfs.schema import Language


def tag(question: str, language: str) -> tuple[str, ...]:
    """The entities of a question, as it writes them, in order, none twice (case aside).

    Quoted titles, dates, numbers, names and what else it says between function words, verbs and words of asking.

    Raises:
        ValueError: the language is not one of `udfs.schema.Language`.
    """
    rules = entities_zh if Language(language) is Language.ZH else entities_en
    first: dict[str, str] = {}
    for _, entity in sorted(rules.entities(asked_for(question, language).rest)):
        first.setdefault(entity.casefold(), entity)
    return tuple(first.values())
