"""Splits of whole documents: no document is in two, and each split looks like the whole.

FactGuard's released test documents are in its training data too; here a split is a property of the document.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from udfs.errors import UserError
from udfs.identity import content_hash

TOLERANCE = 1e-9


class SplitDocument(NamedTuple):
    """What a document's split depends on."""

    doc_id: str
    language: str
    domain: str
    length_bucket: str

    @property
    def stratum(self) -> tuple[str, str, str]:
        return (self.language, self.domain, self.length_bucket)


def check_ratios(ratios: Mapping[str, float]) -> None:
    """Raise `UserError` unless the ratios are shares of a whole."""
    for name, ratio in ratios.items():
        if not 0 <= ratio <= 1:
            raise UserError(f"splits.{name}={ratio!r} is not allowed: from 0 to 1")
    total = math.fsum(ratios.values())
    if abs(total - 1) > TOLERANCE:
        given = " + ".join(f"{name} {ratio:g}" for name, ratio in ratios.items())
        raise UserError(f"splits must sum to 1, not {total:g} ({given})")


@dataclass
class _Filling:
    """How many of `wanted` documents each split has."""

    ratios: Mapping[str, Fraction]
    wanted: int
    counts: Counter[str] = field(default_factory=Counter)

    def deficit(self, split: str) -> Fraction:
        return self.ratios[split] * self.wanted - self.counts[split]

    def whole_deficit(self, split: str) -> int:
        """Documents that the split must get at least: its quota without the fraction."""
        return math.floor(self.ratios[split] * self.wanted) - self.counts[split]

    def has_room(self, split: str) -> bool:
        return self.counts[split] < math.ceil(self.ratios[split] * self.wanted)


def assign_splits(
    documents: Iterable[SplitDocument], ratios: Mapping[str, float], seed: int, taken: Mapping[str, str]
) -> dict[str, str]:
    """The split of each document, by doc_id.

    In every stratum (language × domain × length bucket) each split first gets the whole part of its quota. What is
    left over of the strata goes, inside the stratum's rounding, to the split that lacks most over all documents: many
    strata of one document each still make the ratios. A split of ratio 0 gets nothing.

    Args:
        documents: all documents of the dataset; an id that comes twice counts once.
        ratios: share of each split, from 0 to 1, summing to 1; earlier names win ties.
        seed: of the order in which the documents of a stratum are dealt out.
        taken: splits of documents that have one already; they keep it.

    Raises:
        UserError: ratios out of range.
    """
    check_ratios(ratios)
    shares = {name: Fraction(str(ratio)) for name, ratio in ratios.items()}
    strata: dict[tuple[str, str, str], list[str]] = {}
    for document in {document.doc_id: document for document in documents}.values():
        strata.setdefault(document.stratum, []).append(document.doc_id)
    everything = _Filling(shares, sum(len(members) for members in strata.values()))
    fillings = {stratum: _Filling(shares, len(members)) for stratum, members in strata.items()}
    given: dict[str, str] = {}

    def put(doc_id: str, split: str, filling: _Filling) -> None:
        given[doc_id] = split
        filling.counts[split] += 1
        everything.counts[split] += 1

    for stratum, members in strata.items():
        for doc_id in members:
            if doc_id in taken:
                put(doc_id, taken[doc_id], fillings[stratum])
    left: list[tuple[str, _Filling]] = []
    for stratum, members in sorted(strata.items()):
        filling = fillings[stratum]
        for doc_id in sorted(set(members) - given.keys(), key=lambda doc_id: content_hash("split", seed, doc_id)):
            split = max(shares, key=filling.whole_deficit)
            if filling.whole_deficit(split) > 0:
                put(doc_id, split, filling)
            else:
                left.append((doc_id, filling))
    for doc_id, filling in sorted(left, key=lambda entry: content_hash("rest", seed, entry[0])):
        open_splits = [split for split in shares if filling.has_room(split)]
        put(doc_id, max(open_splits, key=everything.deficit), filling)
    return given
