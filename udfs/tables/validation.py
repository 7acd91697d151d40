"""How far measures and taggers agree with people, read from the tables (CouldAsk, Tables 8 and 11)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import polars as pl

from udfs.tables import preferences, taggers
from udfs.tables.intervals import Estimate
from udfs.tables.store import Store


@dataclass(frozen=True, slots=True)
class Validation:
    """What people said beside what was measured.

    Args:
        measured: `preferences.measured_agreement`.
        between: `preferences.annotator_agreement`.
        quality: `taggers.tagger_quality`.
        tagging: `taggers.between_annotators`.
    """

    measured: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=preferences.MEASURED))
    between: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=preferences.BETWEEN))
    quality: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=taggers.QUALITY))
    tagging: dict[str, tuple[int, int, Estimate]] = field(default_factory=dict)


def of_preferences(store: Store, rows: pl.DataFrame, resamples: int = 1000, seed: int = 0) -> Validation:
    """Agreement of the measures with the preferences `rows`; scores are those recorded for the very words shown."""
    runs = sorted({*rows["first_run"], *rows["second_run"]})
    shown = pl.concat([rows["first"], rows["second"]]).unique().implode()
    responses, judgements = [], []
    for run in runs:
        held = store.read("responses", ["run", "response_id", "reformulation"], part=run)
        responses.append(held.filter(pl.col("response_id").is_in(shown)))
        said = store.read("judgements", part=run)
        judgements.append(
            said.filter(pl.col("response_id").is_in(shown) & pl.col("measure").is_in(preferences.COMPARED))
        )
    scores = preferences.pair_scores(rows, pl.concat(responses), pl.concat(judgements))
    return Validation(
        preferences.measured_agreement(rows, scores, resamples, seed),
        preferences.annotator_agreement(rows, resamples, seed),
    )


def of_tags(
    rows: pl.DataFrame, tags_of: Callable[[pl.DataFrame], pl.DataFrame], resamples: int = 1000, seed: int = 0
) -> Validation:
    """Quality of the taggers on the questions of the hand tags `rows`.

    Args:
        tags_of: what every tagger gives for questions (item_id, question, language), as `taggers.taggers_say`.
    """
    questions = rows.select("item_id", "question", "language").unique("item_id", keep="first", maintain_order=True)
    return Validation(
        quality=taggers.tagger_quality(rows, tags_of(questions), resamples, seed),
        tagging=taggers.between_annotators(rows, resamples, seed),
    )


def validation_of(
    store: Store,
    run: str,
    datasets: Sequence[str],
    tags_of: Callable[[pl.DataFrame], pl.DataFrame],
    resamples: int = 1000,
    seed: int = 0,
) -> Validation:
    """What people said of the new questions of `run` and of the entities of questions of `datasets`, with hand-tagged
    files of questions that are in no dataset.
    """
    asked = store.read("preferences")
    of_run = (pl.col("first_run") == run) | (pl.col("second_run") == run)
    pairs = asked.filter(of_run & pl.col("dataset").is_in(list(datasets)))
    tags = store.read("tags").filter(pl.col("dataset").is_in([*datasets, ""]))
    of_pairs = of_preferences(store, pairs, resamples, seed) if pairs.height else Validation()
    of_questions = of_tags(tags, tags_of, resamples, seed) if tags.height else Validation()
    return Validation(of_pairs.measured, of_pairs.between, of_questions.quality, of_questions.tagging)
