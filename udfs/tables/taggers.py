"""How well taggers find the entities that people mark in a question (CouldAsk, Table 11). Pure.

Counts are summed over questions (micro). Exactly: the same words, case and spaces aside, as CouldAsk compares entities.
Softly: one entity is a part of the other (`Empire State Building`, `the Empire State Building`), each paired once.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final

import numpy as np
import polars as pl

from udfs.measures.entities import tag
from udfs.schema import Language, Status
from udfs.tables.intervals import Estimate, Floats, ratio_estimate, seed_of
from udfs.tables.reformulations import ENTITY_OVERLAP
from udfs.text import normalize

RULES, DATASET = "rules", "dataset"
"""Taggers beside models: the rules of `udfs.measures.entities`, and the tags that a dataset came with, which the judge
`couldask` goes by."""
EXACT, SOFT = "exact", "soft"
MATCHINGS: Final = (EXACT, SOFT)
QUALITY: Final[dict[str, type[pl.DataType]]] = {
    "review": pl.String,
    "tagger": pl.String,
    "matching": pl.String,
    "language": pl.String,  # all, or one of several
    "questions": pl.Int64,  # tagged by people and by the tagger
    "coverage": pl.Float64,  # of the questions that people tagged
    "hand": pl.Int64,  # entities that people marked in these
    "tagged": pl.Int64,  # that the tagger gave
    "right": pl.Int64,  # the pairs among them
    **dict.fromkeys(
        ("precision", "precision_low", "precision_high", "recall", "recall_low", "recall_high", "f1", "f1_low",
         "f1_high"),
        pl.Float64,
    ),
}  # fmt: skip
TAGGED: Final[dict[str, pl.DataType]] = {
    "item_id": pl.String(), "tagger": pl.String(), "entities": pl.List(pl.String())
}  # fmt: skip
ALL: Final = "all"
Entities = Mapping[str, Sequence[str]]
"""The entities of each question, by item_id."""


def entity_key(entity: str) -> str:
    """Entities with equal keys are the same."""
    return " ".join(entity.split()).casefold()


def complete(tags: pl.DataFrame) -> pl.DataFrame:
    """The tags of questions that every annotator of their review has tagged."""
    wanted = tags.group_by("review").agg(wanted=pl.col("annotator").n_unique())
    given = tags.group_by("review", "item_id").agg(given=pl.col("annotator").n_unique())
    full = given.join(wanted, on="review").filter(pl.col("given") == pl.col("wanted"))
    return tags.join(full.select("review", "item_id"), on=["review", "item_id"], how="semi")


def hand_tags(tags: pl.DataFrame) -> dict[str, tuple[str, ...]]:
    """By item_id, of the complete questions of one review: the entities that more than half of its annotators mark."""
    found: dict[str, tuple[str, ...]] = {}
    for (item_id,), mine in complete(tags).sort("item_id", "annotator").group_by("item_id", maintain_order=True):
        lists = [_distinct(entities) for entities in mine["entities"].to_list()]
        counts = Counter(key for entities in lists for key in entities)
        words = {key: entity for entities in reversed(lists) for key, entity in entities.items()}
        found[str(item_id)] = tuple(words[key] for key in counts if 2 * counts[key] > len(lists))
    return found


def _distinct(entities: Iterable[str]) -> dict[str, str]:
    """Entities by key, the first of several with one key."""
    found: dict[str, str] = {}
    for entity in entities:
        if key := entity_key(entity):
            found.setdefault(key, entity)
    return found


def taggers_say(questions: pl.DataFrame, known: pl.DataFrame, judgements: pl.DataFrame) -> pl.DataFrame:
    """Columns `TAGGED`: what every tagger gives for each question; a model only for those that it has judged.

    Args:
        questions: item_id, question, language.
        known: question_id, entities: what datasets came with.
        judgements: rows of the judgements table, of any runs; a model's tags are in its rationale of entity overlap.
    """
    rows = [
        (item, RULES, list(tag(question, language)))
        for item, question, language in questions.select("item_id", "question", "language").iter_rows()
    ]
    wanted = set(questions["item_id"])
    rows += [
        (item, DATASET, list(entities))
        for item, entities in known.select("question_id", "entities").iter_rows()
        if item in wanted and entities
    ]
    mine = judgements.filter(
        pl.col("question_id").is_in(list(wanted))
        & (pl.col("measure") == ENTITY_OVERLAP)
        & pl.col("judge").str.starts_with("llm:")
        & (pl.col("status") == Status.OK)
    )
    newest = mine.sort("created_at", "judgement_id", descending=True).unique(
        ["question_id", "judge"], keep="first", maintain_order=True
    )
    for item, judge, rationale in newest.select("question_id", "judge", "rationale").sort("judge").iter_rows():
        entities = _tags_in(rationale)
        if entities is not None:
            rows.append((item, judge, entities))
    return pl.DataFrame(rows, schema=TAGGED, orient="row")


def _tags_in(rationale: str | None) -> list[str] | None:
    """The tags of the original question in the rationale of a model's entity overlap; None where it holds none."""
    try:
        said = json.loads(rationale or "")
    except ValueError:
        return None
    original = said.get("original") if isinstance(said, dict) else None
    return [entity for entity in original if isinstance(entity, str)] if isinstance(original, list) else None


def matched(left: Iterable[str], right: Iterable[str], matching: str, language: str) -> int:
    """How many entities of `left` and `right` are pairs of the same, each in one pair at most."""
    a, b = list(_distinct(left)), list(_distinct(right))
    if matching == EXACT:
        return len(set(a) & set(b))
    ours, theirs = ([normalize(entity) for entity in side] for side in (a, b))
    parts = [[place for place, other in enumerate(theirs) if _part(words, other, language)] for words in ours]
    partner: dict[int, int] = {}
    return sum(_paired(place, parts, partner, set()) for place in range(len(ours)))


def _paired(place: int, parts: Sequence[Sequence[int]], partner: dict[int, int], tried: set[int]) -> bool:
    """Find a partner for one more entity, moving others to another of theirs where that makes room (as many pairs as
    there can be: an augmenting path).
    """
    for other in parts[place]:
        if other not in tried:
            tried.add(other)
            if other not in partner or _paired(partner[other], parts, partner, tried):
                partner[other] = place
                return True
    return False


def _part(a: str, b: str, language: str) -> bool:
    """Whether one is a part of the other, in whole words; Chinese has no spaces, and a part there is two characters."""
    short, long = sorted((a, b), key=len)
    if not short:
        return False
    if language == Language.ZH:
        return short in long and (len(short) > 1 or short == long)
    return f" {short} " in f" {long} "


def tagger_quality(tags: pl.DataFrame, tagged: pl.DataFrame, resamples: int = 1000, seed: int = 0) -> pl.DataFrame:
    """Columns `QUALITY`: precision, recall and F1 of each tagger against people's tags, by review, matching and
    language; intervals are drawn by document (by question where it has none).

    Args:
        tags: rows of the tags table.
        tagged: `taggers_say`.
    """
    rows = []
    for (review,), mine in tags.sort("review").group_by("review", maintain_order=True):
        hand = hand_tags(mine)
        about = {row["item_id"]: row for row in mine.iter_rows(named=True) if row["item_id"] in hand}
        languages = sorted({row["language"] for row in about.values()})
        slices = {ALL: list(hand)}
        if len(languages) > 1:
            slices |= {name: [item for item in hand if about[item]["language"] == name] for name in languages}
        draw = seed_of(seed, str(review))
        for (tagger,), said in tagged.group_by("tagger", maintain_order=True):
            given = dict(said.select("item_id", "entities").iter_rows())
            for language, items in slices.items():
                both = [item for item in items if item in given]
                units = [about[item]["doc_id"] or item for item in both]
                for matching in MATCHINGS if both else ():
                    counts = _counts([(hand[i], given[i], about[i]["language"]) for i in both], matching)
                    totals = (int(total) for total in counts.sum(axis=0)[::-1])
                    rates = [bound for rate in _rates(counts, units, resamples, draw) for bound in rate]
                    rows.append(
                        (review, tagger, matching, language, len(both), len(both) / len(items), *totals, *rates)
                    )
    return pl.DataFrame(rows, schema=QUALITY, orient="row")


def _counts(cases: Iterable[tuple[Sequence[str], Sequence[str], str]], matching: str) -> Floats:
    """(right, tagged, hand) of each question's (hand tags, tagger's tags, language)."""
    rows = [
        (matched(hand, given, matching, language), len(_distinct(given)), len(_distinct(hand)))
        for hand, given, language in cases
    ]
    return np.array(rows, dtype=np.float64)


def _rates(
    counts: Floats, units: Sequence[str], resamples: int, seed: int
) -> Iterator[tuple[float | None, float | None, float | None]]:
    """Precision, recall and F1, each with its interval, of `_counts`."""
    order, place = np.unique(np.asarray(units), return_inverse=True)
    sums = np.zeros((len(order), 3))
    np.add.at(sums, place, counts)
    right, tagged, hand = sums.T
    for num, den in ((right, tagged), (right, hand), (2 * right, tagged + hand)):
        found = ratio_estimate(num, den, resamples, seed)
        yield found.value, found.low, found.high


def between_annotators(
    tags: pl.DataFrame, resamples: int = 1000, seed: int = 0
) -> dict[str, tuple[int, int, Estimate]]:
    """By review with several annotators: how many they are, the complete questions, and the mean F1 of each two of them
    (exact, micro over pairs and questions).
    """
    found = {}
    for (review,), mine in complete(tags).sort("review").group_by("review", maintain_order=True):
        names = mine["annotator"].unique().to_list()
        if len(names) < 2:
            continue
        sums: dict[str, list[float]] = {}
        for (item,), votes in mine.group_by("item_id", maintain_order=True):
            lists = [list(_distinct(entities)) for entities in votes["entities"].to_list()]
            total = sums.setdefault(votes["doc_id"][0] or str(item), [0.0, 0.0])
            for a, b in combinations(lists, 2):
                total[0] += 2 * len(set(a) & set(b))
                total[1] += len(a) + len(b)
        table = np.array(list(sums.values()))
        estimate = ratio_estimate(table[:, 0], table[:, 1], resamples, seed_of(seed, str(review)))
        found[str(review)] = (len(names), mine["item_id"].n_unique(), estimate)
    return found
