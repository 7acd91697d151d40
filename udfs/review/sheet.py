"""The sheet an annotator works on: one HTML file that needs nothing else and keeps to no one kind of review.

An item is sections of marked text and the checks to answer. A check is a choice among options, each with a key; "yes
or no" is one case. A tagging marks words of a text: any of those proposed, and others. What a sheet holds is data: it
goes into the page as JSON that no text can break out of, and from there as text nodes.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from udfs.identity import content_hash
from udfs.text import normalize

FORMAT: Final = "askable review 1"
EVIDENCE: Final = "evidence"
CUT: Final = "cut"
GAP: Final = "gap"
MARKS: Final = frozenset({EVIDENCE, CUT, GAP})
RESERVED_KEYS: Final = frozenset("jkucmfvsl?123456789")
"""Keys that the sheet itself listens to; digits choose an option by its place."""


@dataclass(frozen=True)
class Run:
    """A stretch of text under the same marks: evidence, cut (not seen by a model), gap (left out of the sheet)."""

    text: str
    marks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not MARKS.issuperset(self.marks):
            raise ValueError(f"unknown marks {set(self.marks) - MARKS}; known: {sorted(MARKS)}")


@dataclass(frozen=True)
class Section:
    """A titled text. `reading`: long text, shown in the wide column; `lead`: the one that the item is about."""

    title: str
    runs: tuple[Run, ...]
    says: str = ""
    reading: bool = False
    lead: bool = False


@dataclass(frozen=True)
class Option:
    """One answer of a check: the key that gives it, the value that is stored, the words on the button."""

    key: str
    value: str
    label: str


YES_NO: Final = (Option("y", "yes", "Yes"), Option("n", "no", "No"))


@dataclass(frozen=True)
class Check:
    """What is asked of an item. `passes`: the values that count as passed."""

    id: str
    label: str
    options: tuple[Option, ...] = YES_NO
    hint: str = ""
    passes: tuple[str, ...] = ("yes",)

    def __post_init__(self) -> None:
        keys = [option.key for option in self.options]
        if len(set(keys)) < len(keys) or RESERVED_KEYS & set(keys) or any(len(key) != 1 for key in keys):
            raise ValueError(f"the keys {keys} of check {self.id} must be single, distinct and none of the sheet's own")
        if len({option.value for option in self.options}) < len(keys) or not 2 <= len(keys) <= 9:
            raise ValueError(f"check {self.id} needs two to nine options with distinct values")

    def refuses(self, value: str | list[str]) -> str | None:
        """What is wrong with an answer: None, or what is allowed."""
        offered = [option.value for option in self.options]
        return None if value in offered else f"is not offered; allowed are {' or '.join(offered)}"


def stands_in(words: str, text: str) -> bool:
    """Whether `text` holds the words, case and punctuation aside; never where they say nothing."""
    said = normalize(words)
    return bool(said) and (words.casefold() in text.casefold() or said in normalize(text))


@dataclass(frozen=True)
class Tagging:
    """A check whose answer is a list of words of `text`: any of `proposals`, and others of the annotator's own. An
    empty list says that there are none.
    """

    id: str
    label: str
    text: str
    proposals: tuple[str, ...]
    hint: str = ""

    def refuses(self, value: str | list[str]) -> str | None:
        """As `Check.refuses`. Words that are not proposed have to stand in the text, case and punctuation aside."""
        if isinstance(value, str):
            return "is not a list of words"
        for words in value:
            if words not in self.proposals and not stands_in(words, self.text):
                return f"marks {words!r}, which does not stand in {self.text!r}"
        return None


@dataclass(frozen=True)
class Item:
    """One thing to review. `group`: what its results are reported by; `chips`: short facts shown above it."""

    id: str
    group: str
    language: str
    title: str
    chips: tuple[str, ...]
    sections: tuple[Section, ...]
    checks: tuple[Check | Tagging, ...]


@dataclass(frozen=True)
class Sheet:
    """One annotator's sheet: the items in their order, under the hash of the sample that they are."""

    review: str
    sample: str
    number: int
    guide: tuple[str, ...]
    items: tuple[Item, ...]


def sample_hash(review: str, items: Sequence[Item]) -> str:
    """The identity of a sample: what is asked of what, in whatever order, under which name."""
    content = [dataclasses.asdict(item) for item in sorted(items, key=lambda item: item.id)]
    return content_hash("review sample", FORMAT, review, content)


def embedded_json(value: Any) -> str:
    """`value` as JSON for a script element of type application/json; parsing gives `value` back."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def render(sheet: Sheet) -> str:
    """The sheet as HTML. Its policy lets no script run but its own, and lets nothing be loaded or sent."""
    script = _template("sheet.js")
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    environment = Environment(loader=FunctionLoader(_template), autoescape=True, undefined=StrictUndefined)
    return environment.get_template("sheet.html.j2").render(
        sheet=sheet,
        style=Markup(_template("sheet.css")),
        script=Markup(script),
        script_hash=digest,
        data=Markup(embedded_json({"format": FORMAT, **dataclasses.asdict(sheet)})),
    )


def _template(name: str) -> str:
    return files("udfs.review").joinpath("templates", name).read_text(encoding="utf-8")
