"""Pairs of new questions, and which of the two people hold to be nearer to the original (CouldAsk, section 7, Table 8).

A pair is two new questions that different models, methods or runs offered for one question. Who offered which is not
shown, and which comes first is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations
from typing import Any, Final

import polars as pl

from udfs.errors import UserError
from udfs.identity import content_hash
from udfs.review.collecting import Sample, Saved, given_answers
from udfs.review.sampling import shuffled
from udfs.review.sheet import Check, Item, Option, Run, Section
from udfs.tables.observations import latest
from udfs.tables.preferences import FIRST, SECOND, TIE
from udfs.tables.selection import chosen, which_run
from udfs.tables.store import Store
from udfs.text import normalize

TARGET: Final = "preferences"
GUIDE: Final = (
    (
        "Each item is a question that a document could not answer, and two others that were offered in its place. Say "
        "which of the two is nearer to what was asked."
    ),
    "Nearer: somebody who wanted to know the answer to the original question would rather have the answer to this one.",
    (
        "Whether the document answers it does not matter here, nor how well it is written. The words may differ: what "
        "counts is what is asked about."
    ),
    "Say that they are alike only where you cannot say which is nearer.",
)
CHECK: Final = Check(
    "preferred",
    "Which new question is nearer to what was asked?",
    (Option("a", FIRST, "A is nearer"), Option("b", SECOND, "B is nearer"), Option("t", TIE, "Alike")),
    "Go by what is asked about, not by the words.",
    (),
)
COLUMNS: Final = (
    "run",
    "response_id",
    "question_id",
    "doc_id",
    "dataset",
    "model",
    "method",
    "layout",
    "reformulation",
)


@dataclass(frozen=True)
class PairPool:
    """Pairs that can be drawn (see `udfs.review.drawing.Pool`), by who offered their questions and by language.

    Args:
        pairs: of each id the places in `offers` of the question shown first and of the other.
        offers: rows with `COLUMNS`, language and question, the original.
    """

    axes: tuple[str, ...]
    strata: dict[str, tuple[str, ...]]
    about: dict[str, str]
    pairs: dict[str, tuple[int, int]]
    offers: Sequence[dict[str, Any]]

    def items(self, store: Store, ids: Iterable[str], around: int) -> list[Item]:
        """The items of the ids, sorted. The document is not shown: only the questions are compared."""
        return [self._item(name) for name in sorted(ids)]

    def _item(self, name: str) -> Item:
        first, second = (self.offers[place] for place in self.pairs[name])
        sections = (
            Section("Original question", (Run(first["question"]),), lead=True, reading=True),
            Section("New question A", (Run(first["reformulation"]),), reading=True),
            Section("New question B", (Run(second["reformulation"]),), reading=True),
        )
        chips = (first["language"], first["dataset"])
        return Item(name, first["language"], first["language"], first["question"], chips, sections, (CHECK,))

    def facts(self, ids: Iterable[str]) -> dict[str, dict[str, Any]]:
        """What the preferences table says of each pair beside the preference."""
        return {name: self._facts(name) for name in ids}

    def _facts(self, name: str) -> dict[str, Any]:
        first, second = (self.offers[place] for place in self.pairs[name])
        sides = {
            key: value
            for side, offer in ((FIRST, first), (SECOND, second))
            for key, value in (
                (f"{side}_run", offer["run"]), (side, offer["response_id"]), (f"{side}_text", offer["reformulation"])
            )
        }  # fmt: skip
        return {key: first[key] for key in ("question_id", "doc_id", "dataset", "language")} | sides


def pair_pool(
    store: Store, runs: Sequence[str], datasets: Sequence[str], models: Sequence[str], methods: Sequence[str], seed: int
) -> PairPool:
    """Every pair of different new questions for one question without an answer.

    Args:
        runs: [] for the one started last.
        datasets, models, methods: only these, [] for all.
        seed: of which question is shown first.

    Raises:
        UserError: a run, dataset, model or method is unknown, or there is no pair.
    """
    names = list(dict.fromkeys(runs)) or [which_run(store, None, ("responses",))]
    for name in names:
        which_run(store, name, ("responses",))
    offers = _offers(store, names, datasets, models, methods)
    by_question: dict[str, list[int]] = {}
    for place, offer in enumerate(offers):
        by_question.setdefault(offer["question_id"], []).append(place)
    strata: dict[str, tuple[str, ...]] = {}
    pairs: dict[str, tuple[int, int]] = {}
    for places in by_question.values():
        for a, b in combinations(places, 2):
            if normalize(offers[a]["reformulation"]) == normalize(offers[b]["reformulation"]):
                continue
            keys = {_words(offers[place]): place for place in (a, b)}
            first, second = shuffled(keys, seed, "sides", *sorted(keys))
            name = content_hash("pair", first, second)
            pairs[name] = keys[first], keys[second]
            sides = sorted(_side(offers[place], len(names) > 1) for place in (a, b))
            strata[name] = (" or ".join(sides), offers[a]["language"])
    if not pairs:
        raise UserError(
            f"no question of {', '.join(names)} has two different new questions: evaluate it with several models or "
            "methods, or name several runs=[…]"
        )
    about = {"reviewed": "which of two new questions is nearer to the original", "runs": ", ".join(names)}
    return PairPool(("offered by", "language"), strata, about, pairs, offers)


def _offers(
    store: Store, runs: Sequence[str], datasets: Sequence[str], models: Sequence[str], methods: Sequence[str]
) -> list[dict[str, Any]]:
    """New questions for questions without an answer, in a fixed order."""
    kept = []
    for run in runs:
        responses = chosen(store.read("responses", part=run), datasets, models, methods)
        kept.append(latest(responses).filter(pl.col("reformulation").str.strip_chars() != "").select(COLUMNS))
    asked = store.read("questions", ["question_id", "question", "language", "answerable"])
    unanswerable = asked.filter(~pl.col("answerable")).drop("answerable")
    found = pl.concat(kept).join(unanswerable, on="question_id").sort("question_id", "run", "response_id")
    return found.to_dicts()


def _words(offer: dict[str, Any]) -> str:
    return content_hash(offer["run"], offer["response_id"], offer["reformulation"])


def _side(offer: dict[str, Any], several_runs: bool) -> str:
    parts = [*([offer["run"]] if several_runs else []), offer["model"], offer["method"]]
    return " ".join([*parts, *([offer["layout"]] if offer["layout"] != "document_first" else [])])


def preference_rows(saved: Sequence[Saved], sample: Sample, now: datetime) -> list[dict[str, Any]]:
    """The answers as rows of the preferences table."""
    return [
        row | sample.facts[item.id] | {"preferred": value, "created_at": now}
        for item, _, value, row in given_answers(saved, sample)
    ]
