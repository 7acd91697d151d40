"""A stratified sample: how many items each stratum gives, and which. Pure; equal input gives an equal sample."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, TypeVar

from udfs.identity import content_hash

Allocation = Literal["proportional", "equal"]
_Divisor = Callable[[int, int], Fraction]
_PRIORITY: Final[dict[str, _Divisor]] = {
    "proportional": lambda size, seats: Fraction(size, 2 * seats + 1),
    "equal": lambda size, seats: Fraction(1, seats + 1),
}
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Stratum:
    """What a stratum held and what was drawn of it."""

    name: tuple[str, ...]
    available: int
    drawn: int


def allocate(sizes: Mapping[Key, int], n: int, allocation: Allocation = "proportional") -> dict[Key, int]:
    """How many items to draw of each stratum: `n` in all, or all there are.

    Every stratum that is not empty gives at least one, if `n` goes round; else the `n` largest give one each. The rest
    goes by Webster's method (Sainte-Laguë), which stays closest to the strata's shares, or in equal turns.

    Args:
        sizes: items in each stratum; at equal claims the first one named is served.
        n: how many items are wanted, at least 0.
    """
    order = {key: place for place, key in enumerate(sizes)}
    filled = [key for key in sizes if sizes[key] > 0]
    drawn = dict.fromkeys(sizes, 0)
    for key in sorted(filled, key=lambda key: -sizes[key])[:n]:
        drawn[key] = 1
    priority = _PRIORITY[allocation]
    claims = [(-priority(sizes[key], 1), order[key], key) for key in filled if drawn[key] and sizes[key] > 1]
    heapq.heapify(claims)
    for _ in range(n - sum(drawn.values())):
        if not claims:
            break
        _, place, key = heapq.heappop(claims)
        drawn[key] += 1
        if drawn[key] < sizes[key]:
            heapq.heappush(claims, (-priority(sizes[key], drawn[key]), place, key))
    return drawn


def draw(
    strata: Mapping[str, tuple[str, ...]], n: int, seed: int, allocation: Allocation = "proportional"
) -> tuple[list[str], list[Stratum]]:
    """The ids of a stratified sample, sorted, and what each stratum gave.

    Which items of a stratum are drawn follows from their ids and the seed alone, never from the order of the rows.

    Args:
        strata: the stratum of every item, by id.
    """
    members: dict[tuple[str, ...], list[str]] = {}
    for item, stratum in strata.items():
        members.setdefault(stratum, []).append(item)
    members = {stratum: members[stratum] for stratum in sorted(members)}
    counts = allocate({stratum: len(items) for stratum, items in members.items()}, n, allocation)
    chosen = [item for stratum, items in members.items() for item in shuffled(items, seed, "draw")[: counts[stratum]]]
    return sorted(chosen), [Stratum(name, len(items), counts[name]) for name, items in members.items()]


def shuffled(ids: Iterable[str], seed: int, *names: str | int) -> list[str]:
    """The ids in an order that follows from the seed and the names (an annotator's number, a purpose) alone."""
    return sorted(ids, key=lambda item: (content_hash("review order", seed, list(names), item), item))
