"""What a question is about by hand: the sheet on which people mark entities, and files of tags that they made elsewhere
(CouldAsk, Appendix B, Table 11).

The sheet proposes what any tagger found, without saying which, and takes what they all missed. A proposal persuades: a
file that was tagged without any is the stricter test.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import polars as pl

from udfs.errors import UserError
from udfs.identity import content_hash
from udfs.review.collecting import Sample, Saved, given_answers
from udfs.review.sheet import Item, Run, Section, Tagging, stands_in
from udfs.sources.base import Bad
from udfs.sources.fields import RowError, strings_field, text_field
from udfs.sources.reasons import Reason
from udfs.sources.rows import read_files
from udfs.tables.store import Store
from udfs.tables.taggers import entity_key, taggers_say
from udfs.text import detect_language, normalize, parse_language

TARGET: Final = "entities"
CHECK: Final = "entities"
GUIDE: Final = (
    (
        "Mark what the question is about: its people, organisations, places, dates, numbers, works, things and other "
        "nouns or noun phrases that it could not do without."
    ),
    (
        "Take the shortest words that name the thing: without articles, without the verb, without “of” and what "
        "follows where that names another thing."
    ),
    "The words that ask (who, which year, 哪一年) are no entities. Mark each entity once.",
    (
        "Proposed is what some programme found; it may be wrong. Add what is missing: select words and press e, or "
        "press e and write. If there is nothing to mark, say so with 0."
    ),
)
HINT: Final = "As the question writes them, each once."
QUESTION_COLUMNS: Final = ("question_id", "doc_id", "dataset", "language", "question", "entities")
SHOWN_ERRORS: Final = 10


@dataclass(frozen=True)
class TagPool:
    """Questions that can be drawn (see `udfs.review.drawing.Pool`), by dataset and language.

    Args:
        questions: rows with `QUESTION_COLUMNS`, by question_id.
        tagged: `udfs.tables.taggers.taggers_say` of them.
    """

    axes: tuple[str, ...]
    strata: dict[str, tuple[str, ...]]
    about: dict[str, str]
    questions: dict[str, dict[str, Any]]
    tagged: pl.DataFrame

    def items(self, store: Store, ids: Iterable[str], around: int) -> list[Item]:
        """The items of the ids, sorted; a question is tagged by itself, without its document."""
        wanted = sorted(ids)
        mine = self.tagged.filter(pl.col("item_id").is_in(wanted))
        said = dict(mine.group_by("item_id").agg(pl.col("entities").explode()).iter_rows())
        return [_item(self.questions[name], said.get(name) or ()) for name in wanted]

    def facts(self, ids: Iterable[str]) -> dict[str, dict[str, Any]]:
        """What the tags table says of each question beside its tags."""
        columns = ("doc_id", "dataset", "language", "question")
        return {name: {column: self.questions[name][column] for column in columns} for name in ids}


def _item(row: Mapping[str, Any], found: Iterable[str | None]) -> Item:
    question = row["question"]
    sections = (Section("Question", (Run(question),), lead=True, reading=True),)
    check = Tagging(CHECK, "What is the question about?", question, proposals(question, found), HINT)
    chips = (row["language"], row["dataset"])
    return Item(row["question_id"], row["dataset"], row["language"], question, chips, sections, (check,))


def proposals(question: str, found: Iterable[str | None]) -> tuple[str, ...]:
    """What taggers found in a question, each once (case aside), in the order in which it stands there."""
    first: dict[str, str] = {}
    for entity in found:
        if entity and (key := entity_key(entity)):
            first.setdefault(key, entity)
    folded = question.casefold()
    return tuple(sorted(first.values(), key=lambda entity: (folded.find(entity.casefold()), len(entity), entity)))


def tag_pool(store: Store, datasets: Sequence[str]) -> TagPool:
    """The questions of the datasets that every tagger has tagged, or all of them where there is no such question.

    Args:
        datasets: [] for all.

    Raises:
        UserError: a dataset is unknown, or there are no questions.
    """
    store.require_datasets(list(datasets))
    names = list(dict.fromkeys(datasets)) or store.dataset_names()
    rows = pl.concat([store.read("questions", QUESTION_COLUMNS, part=name) for name in names])
    if rows.is_empty():
        raise UserError(f"the datasets {', '.join(names)} under {store.root} hold no questions to tag")
    tagged = tags_of(store, rows.select("question", "language", item_id="question_id"))
    taggers = sorted(set(tagged["tagger"]))
    counts = tagged.group_by("item_id").agg(n=pl.col("tagger").n_unique())
    by_all = counts.filter(pl.col("n") == len(taggers))["item_id"].to_list()
    kept = rows.filter(pl.col("question_id").is_in(by_all)) if by_all else rows
    strata: dict[str, tuple[str, ...]] = {
        row["question_id"]: (row["dataset"], row["language"]) for row in kept.iter_rows(named=True)
    }
    about = {
        "reviewed": "entities of questions",
        "datasets": ", ".join(names),
        "taggers": ", ".join(taggers),
        "drawn from": f"{kept.height:,} of {rows.height:,} questions"
        + (", those that every tagger has tagged" if by_all else ", of which none was tagged by every tagger"),
    }
    questions = {row["question_id"]: row for row in kept.iter_rows(named=True)}
    return TagPool(("dataset", "language"), strata, about, questions, tagged)


def tags_of(store: Store, questions: pl.DataFrame) -> pl.DataFrame:
    """What every tagger gives for each question (`taggers_say`), with the tags of datasets and models as recorded.

    Args:
        questions: item_id, question, language.
    """
    known = store.read("questions", ["question_id", "entities"])
    columns = ["judgement_id", "question_id", "measure", "judge", "status", "created_at", "rationale"]
    return taggers_say(questions, known, store.read("judgements", columns))


def tag_rows(saved: Sequence[Saved], sample: Sample, now: datetime) -> list[dict[str, Any]]:
    """The answers as rows of the tags table."""
    return [
        row | sample.facts[item.id] | {"entities": value, "created_at": now}
        for item, _, value, row in given_answers(saved, sample)
    ]


def file_rows(store: Store, path: str, review: str, now: datetime) -> list[dict[str, Any]]:
    """A file of questions with their entities as rows of the tags table.

    JSONL, CSV or Parquet with the columns question and entities (a list, or a JSON list in a text), and where they are
    there language and annotator. A question that a dataset has is known by its words.

    Raises:
        UserError: there is no such file, or rows cannot be used; names each with what is wrong.
    """
    columns = ["question_id", "doc_id", "dataset", "language", "question"]
    known = {
        normalize(row["question"]): row for row in store.read("questions", columns).sort("question_id").to_dicts()[::-1]
    }
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    wrong: list[str] = []
    for file, number, fields in read_files(path):
        try:
            if isinstance(fields, Bad):
                raise RowError(fields.reason, fields.detail)
            row = _file_row(fields, known, file)
            key = (row["annotator"], row["item_id"])
            if key in rows:
                raise RowError(Reason.DUPLICATE_ID, f"{row['annotator']} has tagged this question in an earlier row")
            rows[key] = row | {"review": review, "created_at": now}
        except RowError as error:
            wrong.append(f"{file}, row {number}: {error.reason}{f': {error.detail}' if error.detail else ''}")
    if wrong:
        more = f"\n  … and {len(wrong) - SHOWN_ERRORS} more" if len(wrong) > SHOWN_ERRORS else ""
        shown = "\n  ".join(wrong[:SHOWN_ERRORS])
        raise UserError(f"{len(wrong)} rows cannot be used; mend them, nothing was taken:\n  {shown}{more}")
    if not rows:
        raise UserError(f"{path} holds no rows; each is a question with its entities")
    return list(rows.values())


def _file_row(fields: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]], file: str) -> dict[str, Any]:
    question = text_field(fields, "question", absent=Reason.NO_QUESTION).strip()
    if "entities" not in fields:
        raise RowError(Reason.MISSING_FIELD, "entities is missing; write an empty list where the question has none")
    given = fields["entities"]
    entities = () if isinstance(given, str) and given.strip() in ("", "[]") else strings_field(fields, "entities")
    strange = [entity for entity in entities if not stands_in(entity, question)]
    if strange:
        raise RowError(Reason.BAD_FIELD, f"{', '.join(map(repr, strange))} do not stand in the question {question!r}")
    found = known.get(normalize(question), {})
    said = text_field(fields, "language").strip()
    language = parse_language(said) if said else found.get("language") or detect_language(question)
    if language is None:
        raise RowError(Reason.UNKNOWN_LANGUAGE, f"language={said!r}" if said else f"of {question!r}")
    return {
        "annotator": text_field(fields, "annotator").strip() or file.rsplit("/", 1)[-1],
        "item_id": found.get("question_id") or content_hash("hand_tagged", question),
        "doc_id": found.get("doc_id"),
        "dataset": found.get("dataset", ""),
        "language": str(language),
        "question": question,
        "entities": list(entities),
        "note": None,
    }
