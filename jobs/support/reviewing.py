"""What differs between the things that `jobs.review` has people look at: the guide, where answers go, the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from udfs.report.grid import Grid
from udfs.report.markdown import grid_markdown
from udfs.report.validation_tables import measures_beside_people, preferring, taggers_beside_people, tagging
from udfs.review import entities, preferences
from udfs.review.collecting import Sample, Saved, annotation_rows
from udfs.review.items import JUDGEMENT_GUIDE, QUESTION_GUIDE
from udfs.review.sampling import Allocation
from udfs.review.summary import escaped, review_markdown, strata_table
from udfs.tables.preferences import ANSWERS, disputed
from udfs.tables.store import Store
from udfs.tables.taggers import complete, hand_tags
from udfs.tables.validation import of_preferences, of_tags

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Target:
    """One thing that people look at.

    Args:
        guide: how to review, as the sheet says it.
        allocation: of the sample over its strata, unless the config says otherwise.
        table: where the answers go.
        rows: the answers as rows of that table.
        report: the whole report of one review as Markdown; reads what was collected.
    """

    guide: tuple[str, ...]
    allocation: Allocation
    table: str
    rows: Callable[[Sequence[Saved], Sample, datetime], Rows]
    report: Callable[[Store, Sample], str]


def _annotated(store: Store, sample: Sample) -> str:
    return review_markdown(sample, store.read("annotations", part=sample.review))


def _preferred(store: Store, sample: Sample) -> str:
    rows = store.read("preferences", part=sample.review)
    found = of_preferences(store, rows)
    counted = found.between["pairs"].sum()
    names = sorted(set(rows["annotator"]))
    lines = [*_head(sample.review, sample.about, names, int(counted), len(sample.items)), *_grids(
        "Which new question is nearer", measures_beside_people(found.measured), preferring(found.between)
    )]  # fmt: skip
    if not found.measured.height:
        lines += ["No measure has scores of the questions that were shown: they were asked again, or never judged.", ""]
    lines += ["## Disagreements", ""]
    titles = {item.id: item.title for item in sample.items}
    split = list(disputed(rows))
    for item_id, votes in split:
        said = {
            name: [r["annotator"] for r in votes.iter_rows(named=True) if r["preferred"] == name] for name in ANSWERS
        }
        shown = {"first": votes["first_text"][0], "second": votes["second_text"][0], "tie": "alike"}
        lines.append(f"- **{escaped(titles.get(item_id, item_id))}** ({item_id[:12]})")
        lines += [f"  - {escaped(shown[name])}: {escaped(', '.join(who))}" for name, who in said.items() if who]
        lines += [
            f"  - {escaped(row['annotator'])} notes: {escaped(row['note'])}"
            for row in votes.iter_rows(named=True)
            if row["note"]
        ]
    lines += [] if split else ["None."]
    return "\n".join([*lines, "", "## What was drawn", "", *strata_table(sample.strata)]) + "\n"


def _tagged(store: Store, sample: Sample) -> str:
    lines = list(tags_report(store, sample.review, sample.about, len(sample.items)))
    return "\n".join([*lines, "", "## What was drawn", "", *strata_table(sample.strata)]) + "\n"


def tags_report(store: Store, review: str, about: Mapping[str, str], asked: int) -> Iterator[str]:
    """The report on hand tags, of sheets or of a file, as Markdown lines.

    Args:
        asked: how many questions there were to tag.
    """
    rows = store.read("tags", part=review)
    found = of_tags(rows, lambda questions: entities.tags_of(store, questions))
    hand = hand_tags(rows)
    yield from _head(review, about, sorted(set(rows["annotator"])), complete(rows)["item_id"].n_unique(), asked)
    yield from _grids("Taggers", taggers_beside_people(found.quality), tagging(found.tagging))
    yield from ("## Entities by hand", "")
    words = dict(rows.select("item_id", "question").iter_rows())
    for item, marked in hand.items():
        yield f"- {escaped(words[item])}: {escaped(' · '.join(marked)) or 'none'}"


def _head(review: str, about: Mapping[str, str], names: Sequence[str], counted: int, asked: int) -> Iterator[str]:
    yield from (f"# Manual review {escaped(review)}", "")
    yield from (f"- {name}: {escaped(value)}" for name, value in about.items())
    yield f"- annotators: {escaped(', '.join(names))}"
    yield f"- items counted: {counted} of {asked}"
    if counted < asked:
        yield from ("", f"**{asked - counted} items were not answered by every annotator and are left out.**")
    yield ""


def _grids(title: str, *grids: Grid) -> Iterator[str]:
    yield from (f"## {title}", "", "Percent, 95 % interval (documents drawn anew), n; κ from −1 to 1.", "")
    for grid in grids:
        if grid.measured:
            yield from (f"### {grid.title}", "", *grid_markdown(grid), "")


TARGETS: Final[Mapping[str, Target]] = {
    "questions": Target(QUESTION_GUIDE, "proportional", "annotations", annotation_rows, _annotated),
    "judgements": Target(JUDGEMENT_GUIDE, "equal", "annotations", annotation_rows, _annotated),
    preferences.TARGET: Target(
        preferences.GUIDE, "equal", "preferences", preferences.preference_rows, _preferred
    ),
    entities.TARGET: Target(entities.GUIDE, "proportional", "tags", entities.tag_rows, _tagged),
}  # fmt: skip
