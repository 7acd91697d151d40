"""Annotators' files: read, checked against the sample they belong to, made rows of the annotations table."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from udfs.errors import UserError
from udfs.review.sampling import Stratum
from udfs.review.sheet import FORMAT, Check, Item, Option, Tagging

SHOWN_IDS = 5


@dataclass(frozen=True)
class Drawn:
    """An item of a sample, as far as its answers need it."""

    id: str
    group: str
    title: str
    checks: tuple[Check | Tagging, ...]


@dataclass(frozen=True)
class Sample:
    """What was drawn for a review: `sample.json`.

    Args:
        sample: the hash that sheets and annotators' files carry.
        target: questions | judgements | curation | preferences | entities.
        about: what it was drawn from, in words, by name.
        facts: by item, what annotators are not shown and their answers are stored with.
    """

    review: str
    sample: str
    target: str
    measure: str | None
    about: dict[str, str]
    strata: tuple[Stratum, ...]
    items: tuple[Drawn, ...]
    facts: dict[str, dict[str, Any]] = field(default_factory=dict)

    def to_json(self) -> str:
        return json.dumps({"format": FORMAT, **asdict(self)}, ensure_ascii=False, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str, where: str) -> Sample:
        """Read back what `to_json` wrote.

        Raises:
            UserError: it is damaged, or of another version of the project.
        """
        try:
            values = json.loads(text)
            if values.pop("format") != FORMAT:
                raise UserError(f"{where} was written by another version of the project; draw the sample again")
            strata = tuple(Stratum(tuple(s["name"]), s["available"], s["drawn"]) for s in values.pop("strata"))
            return cls(**values | {"strata": strata, "items": tuple(_drawn(item) for item in values["items"])})
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UserError(f"{where} is damaged ({error}); draw the sample again with the same seed") from error


def _drawn(values: dict[str, Any]) -> Drawn:
    return Drawn(values["id"], values["group"], values["title"], tuple(map(_check, values["checks"])))


def _check(check: dict[str, Any]) -> Check | Tagging:
    if "proposals" in check:
        return Tagging(check["id"], check["label"], check["text"], tuple(check["proposals"]), check["hint"])
    options = tuple(Option(**option) for option in check["options"])
    return Check(check["id"], check["label"], options, check["hint"], tuple(check["passes"]))


def drawn_items(items: Sequence[Item]) -> tuple[Drawn, ...]:
    """What `sample.json` keeps of the items."""
    return tuple(Drawn(item.id, item.group, item.title, item.checks) for item in items)


def _storable(note: object) -> object:
    """Half of an emoji, which JSON can hold and a table cannot, as U+FFFD."""
    return re.sub("[\ud800-\udfff]", "\ufffd", note) if isinstance(note, str) else note


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    checks: dict[str, str | list[str]]
    note: Annotated[str, BeforeValidator(_storable)] = ""


class Saved(BaseModel):
    """An annotator's file, as the sheet saves it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["askable review 1"]
    review: str
    sample: str
    sheet: int = Field(ge=1)
    annotator: str = Field(min_length=1, max_length=200)
    saved_at: datetime
    answers: dict[str, _Answer]


def read_saved(text: str, where: str) -> Saved:
    """One annotator's file.

    Raises:
        UserError: it is no JSON, or not what a sheet saves; names the file and the place in it.
    """
    try:
        saved = Saved.model_validate(json.loads(text))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "the whole"
        raise UserError(
            f"{where} is not a file that a review sheet saved: {place}: {first['msg']}; ask its annotator to save again"
        ) from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"{where} is damaged: {error}; ask its annotator to save and send it again") from error
    if not saved.annotator.strip():
        raise UserError(f"{where} names no annotator; ask for one with a name")
    return saved


def check_saved(saved: Saved, sample: Sample, where: str, partial: bool) -> int:
    """Check a file against its sample; give how many of the sample's items it leaves open.

    Args:
        partial: allow open items.

    Raises:
        UserError: it belongs to another review or sample, answers unknown items or checks, gives a value that is not
            offered, or leaves items open although it must not.
    """
    if saved.review != sample.review:
        raise UserError(f"{where} belongs to review {saved.review!r}, not to {sample.review!r}: give name=…")
    if saved.sample != sample.sample:
        raise UserError(f"{where} was saved from sheets of another sample of review {sample.review!r}")
    items = {item.id: item for item in sample.items}
    for item_id, answer in saved.answers.items():
        if item_id not in items:
            raise UserError(f"{where} answers item {item_id!r}, which review {sample.review!r} does not have")
        asked = {check.id: check for check in items[item_id].checks}
        for name, value in answer.checks.items():
            if name not in asked:
                raise UserError(f"{where}, item {item_id}: {name!r} is not asked; it asks {', '.join(asked)}")
            if wrong := asked[name].refuses(value):
                raise UserError(f"{where}, item {item_id}: {name}={value!r} {wrong}")
    left = [item.id for item in sample.items if not _answered(saved, item)]
    if left and not partial:
        named = ", ".join(left[:SHOWN_IDS]) + (", …" if len(left) > SHOWN_IDS else "")
        raise UserError(
            f"{where} leaves {len(left)} of {len(sample.items)} items open ({named}): ask {saved.annotator} to answer "
            "them, or give partial=true to count only what every annotator has answered"
        )
    return len(left)


def _answered(saved: Saved, item: Drawn) -> bool:
    answer = saved.answers.get(item.id)
    return answer is not None and all(check.id in answer.checks for check in item.checks)


def check_annotators(files: Mapping[str, Saved]) -> None:
    """Check that the files are of different annotators (white space and capitals make no other person).

    Raises:
        UserError: two are of one; names both.
    """
    names = {where: " ".join(saved.annotator.split()).casefold() for where, saved in files.items()}
    for name, times in Counter(names.values()).items():
        if times > 1:
            same = [where for where, other in names.items() if other == name]
            raise UserError(
                f"{' and '.join(same)} are both of annotator {files[same[0]].annotator!r}; give one file a person, "
                "the newest, or have another name put in and saved again"
            )


def given_answers(
    saved: Sequence[Saved], sample: Sample
) -> Iterator[tuple[Drawn, Check | Tagging, str | list[str], dict[str, Any]]]:
    """Every answer: its item, the check, the value, and what a row of it holds in every table: review, annotator,
    item_id, note. A note stands beside every check of its item.
    """
    for one in saved:
        for item in sample.items:
            answer = one.answers.get(item.id)
            for check in item.checks if answer else ():
                assert answer is not None
                if check.id in answer.checks:
                    yield (
                        item,
                        check,
                        answer.checks[check.id],
                        {
                            "review": sample.review,
                            "annotator": " ".join(one.annotator.split()),
                            "item_id": item.id,
                            "note": answer.note.strip() or None,
                        },
                    )


def annotation_rows(saved: Sequence[Saved], sample: Sample, now: datetime) -> list[dict[str, Any]]:
    """The answers as rows of the annotations table."""
    rows = []
    for item, check, value, row in given_answers(saved, sample):
        assert isinstance(check, Check)
        about = {"target": sample.target, "group": item.group, "check": check.id}
        rows.append(row | about | {"passed": value in check.passes, "created_at": now})
    return rows
