"""What a card tells of an export, as tables: counts, lengths, licences, where it comes from. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

import polars as pl

from udfs.exports.plan import Plan
from udfs.records import Question
from udfs.schema import LENGTH_BUCKETS, Fate, Kind, Step
from udfs.sources.intake import UNKNOWN
from udfs.tables.stats import mean_sd

CANDIDATE_COLUMNS: Final = ("candidate_id", "spec", "model", "model_revision", "step", "fate", "created_at")
BOOKKEEPING: Final = ("complete", "fingerprint", "content")
PRIVATE: Final = ("path", "url", "base_url")
"""What a dataset's marker says that a card does not: the state of its files, and addresses of somebody's machines."""
SOURCES_NAMED: Final = 3


def question_frame(plan: Plan) -> pl.DataFrame:
    """One row a question: split (as exported), language, kind, length_bucket, dataset, doc_id, source, license."""
    rows = [
        {
            "split": plan.names[question.split],
            "language": question.language,
            "kind": question.kind,
            "length_bucket": plan.facts(question)["length_bucket"],
            "dataset": question.dataset,
            "doc_id": question.doc_id,
            **{name: plan.facts(question)[name] for name in ("source", "license", "n_words", "n_tokens", "tokenizer")},
        }
        for question in plan.questions
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def counts(questions: pl.DataFrame) -> pl.DataFrame:
    """Questions by split × language × kind, a column a length bucket that occurs."""
    buckets = [bucket for bucket in LENGTH_BUCKETS if bucket in set(questions["length_bucket"])]
    groups = questions.group_by("split", "language", "kind", maintain_order=True).agg(
        *((pl.col("length_bucket") == bucket).sum().alias(bucket) for bucket in buckets), total=pl.len()
    )
    kinds = {kind.value: position for position, kind in enumerate(Kind)}
    splits = {split: position for position, split in enumerate(questions["split"].unique(maintain_order=True))}
    rank = [pl.col("split").replace_strict(splits), pl.col("language"), pl.col("kind").replace_strict(kinds, default=9)]
    return groups.sort([*rank, "kind"])


def lengths(questions: pl.DataFrame) -> pl.DataFrame:
    """Documents and their lengths, mean ± sample sd over distinct documents, by split × language × tokenizer."""
    rows = []
    documents = questions.unique(["split", "doc_id"], maintain_order=True)
    keys = ["split", "language", "tokenizer"]
    for (split, language, tokenizer), part in documents.group_by(keys, maintain_order=True):
        rows.append(
            {
                "split": split,
                "language": language,
                "documents": f"{part.height:,}",
                "words": mean_sd(part["n_words"]),
                "tokens": mean_sd(part["n_tokens"]),
                "tokenizer": tokenizer,
            }
        )
    return pl.DataFrame(rows)


def licences(questions: pl.DataFrame) -> pl.DataFrame:
    """Documents and questions by dataset and licence, with the sources of the documents."""
    rows = []
    for (dataset, license_), part in questions.group_by("dataset", "license", maintain_order=True):
        sources = part["source"].unique().sort().to_list()
        named = ", ".join(sources[:SOURCES_NAMED])
        more = len(sources) - SOURCES_NAMED
        rows.append(
            {
                "dataset": dataset,
                "license": license_ or UNKNOWN,
                "documents": f"{part['doc_id'].n_unique():,}",
                "questions": f"{part.height:,}",
                "source": f"{named} and {more:,} more" if more > 0 else named,
            }
        )
    return pl.DataFrame(rows).sort("dataset", "license")


def is_unknown(license_: str) -> bool:
    """Whether a licence is not known."""
    return license_.strip().casefold() in ("", UNKNOWN)


@dataclass(frozen=True)
class Attrition:
    """What became of the candidates of one dataset: `proposed` = `accepted` + the sum of `ended`.

    Args:
        ended: (step, fate, number), in the order of the steps.
    """

    proposed: int
    accepted: int
    ended: tuple[tuple[str, str, int], ...]
    first: datetime
    last: datetime


def attrition(candidates: pl.DataFrame) -> Attrition | None:
    """The account of a dataset's candidates (columns `CANDIDATE_COLUMNS`); None where there are none."""
    if candidates.is_empty():
        return None
    steps = {step.value: position for position, step in enumerate(Step)}
    fates = {fate.value: position for position, fate in enumerate(Fate)}
    ended = candidates.filter(pl.col("fate") != Fate.ACCEPTED).group_by("step", "fate").len()
    ordered = sorted(ended.iter_rows(), key=lambda row: (steps.get(row[0], 99), fates.get(row[1], 99), row))
    first, last = candidates["created_at"].min(), candidates["created_at"].max()
    assert isinstance(first, datetime)
    assert isinstance(last, datetime)
    return Attrition(
        proposed=candidates.height,
        accepted=candidates.filter(fate=Fate.ACCEPTED.value).height,
        ended=tuple(ordered),
        first=first,
        last=last,
    )


class Maker(NamedTuple):
    """What made questions: a model in one way, out of the documents of one dataset."""

    model: str
    revision: str
    spec: str
    source_dataset: str


def makers(questions: Iterable[Question]) -> dict[Maker, int]:
    """How many of the questions each maker made, by what their provenance says; ingested questions have none."""
    found: Counter[Maker] = Counter()
    for question in questions:
        said = json.loads(question.provenance)
        if isinstance(said, dict) and said.get("candidate_id"):
            names = ("model", "model_revision", "spec", "source_dataset")
            found[Maker(*(str(said.get(name) or UNKNOWN) for name in names))] += 1
    return dict(sorted(found.items()))


@dataclass(frozen=True)
class Origin:
    """Where one dataset comes from.

    Args:
        facts: what its marker says of how it was made, as texts.
        versions: package → version of the starts that made it, where they are recorded.
        makers: what made its questions, and how many.
    """

    dataset: str
    facts: Mapping[str, str]
    versions: Mapping[str, str]
    makers: Mapping[Maker, int]
    attrition: Attrition | None


def origin(
    dataset: str, questions: Iterable[Question], marker: Mapping[str, Any] | None, runs: pl.DataFrame,
    candidates: pl.DataFrame,
) -> Origin:  # fmt: skip
    """Where a dataset comes from. Of its candidates those count that were made as its exported questions were.

    Args:
        questions: the exported questions of the dataset.
        marker: what wrote it says of it (`udfs.sources.writer.read_marker`).
        runs: run, job and versions of the runs table; starts of synthesis named like the dataset made it.
        candidates: rows with `CANDIDATE_COLUMNS`.
    """
    facts = {
        key: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for key, value in _public(marker or {}).items()
        if key not in BOOKKEEPING and value is not None
    }
    versions: dict[str, str] = {}
    for text in runs.filter((pl.col("run") == dataset) & pl.col("job").str.starts_with("synthesi"))["versions"]:
        versions |= {str(name): str(version) for name, version in json.loads(text or "{}").items()}
    made = makers(questions)
    specs = {maker.spec for maker in made}
    same = candidates.filter(pl.col("spec").is_in(list(specs))) if specs else candidates
    return Origin(dataset, facts, versions, made, attrition(same))


def _public(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _public(inner) for key, inner in value.items() if key not in PRIVATE}
    return [_public(inner) for inner in value] if isinstance(value, list) else value


def size_category(n: int) -> str:
    """Hugging Face's name for a number of rows."""
    bounds: Sequence[tuple[int, str]] = (
        (1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"),
        (10_000_000, "1M<n<10M"),
    )  # fmt: skip
    return next((name for bound, name in bounds if n < bound), "10M<n<100M")
