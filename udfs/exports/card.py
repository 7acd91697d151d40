"""The dataset card: what a reader of the folder needs to know, and the YAML head that Hugging Face reads. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files as package_files
from typing import Any, Final

import polars as pl
import yaml
from jinja2 import Environment, FunctionLoader, StrictUndefined

from udfs.exports.facts import Origin, counts, is_unknown, lengths, licences, size_category
from udfs.exports.folder import WrittenFile
from udfs.exports.pairs import Pairs
from udfs.exports.plan import Plan
from udfs.exports.rows import LAYOUT, METHOD, LeftOut
from udfs.exports.schemas import SCHEMAS, features
from udfs.tables.stats import markdown

LICENSES: Final = frozenset({
    "apache-2.0", "mit", "bsd-2-clause", "bsd-3-clause", "cc0-1.0", "cc-by-2.0", "cc-by-2.5", "cc-by-3.0", "cc-by-4.0",
    "cc-by-sa-3.0", "cc-by-sa-4.0", "cc-by-nc-2.0", "cc-by-nc-3.0", "cc-by-nc-4.0", "cc-by-nd-4.0", "cc-by-nc-nd-3.0",
    "cc-by-nc-nd-4.0", "cc-by-nc-sa-2.0", "cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0", "odc-by", "odbl", "pddl", "gpl-2.0",
    "gpl-3.0", "gfdl", "unlicense",
})  # fmt: skip
"""Licences that Hugging Face knows by these names."""
TRAINING: Final = ("sft", "dpo")


@dataclass(frozen=True)
class Card:
    """Everything that the card tells.

    Args:
        name: of the export.
        folder: the folder's own name, by which the card's code loads it.
        questions: `facts.question_frame`.
        files: the row files, as written.
        split: the split that training records are made of.
        parts: the parts that were asked for.
        sft_left_out: questions of the split without an SFT record, by reason.
        pairs: the account of DPO pairs; None where they were not asked for.
        annotated: (check, passed, total) of what people said of exported questions.
        warnings: what a reader has to know first.
    """

    name: str
    folder: str
    plan: Plan
    questions: pl.DataFrame
    files: Sequence[WrittenFile]
    parts: Sequence[str]
    split: str
    sft_left_out: Mapping[LeftOut, int]
    pairs: Pairs | None
    origins: Sequence[Origin]
    annotated: Sequence[tuple[str, int, int]]
    warnings: Sequence[str]
    versions: Mapping[str, str]
    made_at: datetime


def data_files(files: Sequence[WrittenFile]) -> dict[str, list[dict[str, str]]]:
    """By config, what Hugging Face loads as which split: Parquet where there is any, else JSONL."""
    by_config: dict[str, dict[str, str]] = {}
    for file in files:
        what, _, rest = file.name.partition("/")
        split = rest.rsplit(".", 1)[0]
        by_config.setdefault(what, {}).setdefault(split, file.name)  # Parquet stands before JSONL
    return {
        what: [{"split": split, "path": path} for split, path in splits.items()] for what, splits in by_config.items()
    }


def yaml_head(card: Card) -> str:
    """The card's YAML head, without its marks."""
    configs = data_files(card.files)
    head: dict[str, Any] = {
        "pretty_name": card.name,
        "language": sorted(card.questions["language"].unique()),
        **_license(card.questions["license"].unique().to_list()),
        "size_categories": [size_category(card.questions.height)],
        "task_categories": [
            "question-answering",
            *(["text-generation"] if any(what in configs for what in TRAINING) else []),
        ],
        "tags": ["unanswerable-questions", "long-context", "abstention"],
        "configs": [
            {"config_name": what, **({"default": True} if position == 0 else {}), "data_files": found}
            for position, (what, found) in enumerate(configs.items())
        ],
        "dataset_info": [{"config_name": what, "features": features(SCHEMAS[what])} for what in configs],
    }
    return yaml.safe_dump(head, sort_keys=False, allow_unicode=True, width=120)


def _license(found: Sequence[str]) -> dict[str, str]:
    """The head's licence: only where one licence holds for everything."""
    if len(found) != 1 or is_unknown(found[0]):
        return {}
    name = re.sub(r"\s+", "-", found[0].strip().casefold())
    if name in LICENSES:
        return {"license": name}
    return {"license": "other", "license_name": re.sub(r"[^a-z0-9.]+", "-", name).strip("-") or "other"}


def render(card: Card) -> str:
    """The card as Markdown with its YAML head."""
    shown = [split for split in ("test", "validation", "dev") if split in card.plan.names.values()]
    names = list(card.plan.names.values())
    body = (
        _environment()
        .get_template("card.md.j2")
        .render(
            card=card,
            plan=card.plan,
            n_documents=len(card.plan.by_document),
            answerable=sum(question.answerable for question in card.plan.questions),
            redacted=sum(bool(question.redactions) for question in card.plan.questions),
            example_split=(shown or names)[0],
            renamed={split: name for split, name in card.plan.names.items() if split != name},
            configs=data_files(card.files),
            counts=markdown(_as_text(counts(card.questions))),
            lengths=markdown(lengths(card.questions)),
            licences=markdown(licences(card.questions)),
            tokenizers=sorted(card.questions["tokenizer"].unique()),
            rows={file.name.partition("/")[0]: file.rows for file in card.files},
            method=METHOD,
            layout=LAYOUT,
        )
    )
    return f"---\n{yaml_head(card)}---\n\n" + re.sub(r"\n{3,}", "\n\n", body).strip() + "\n"


def code(text: str) -> str:
    """`text` as inline code, whatever is in it."""
    return f"`{' '.join(text.replace('`', chr(39)).split())}`"


def _as_text(frame: pl.DataFrame) -> pl.DataFrame:
    numbers = [name for name, kind in frame.schema.items() if kind.is_integer()]
    return frame.with_columns(
        pl.Series(name, [f"{value:,}" for value in frame[name]], dtype=pl.String) for name in numbers
    )


def _template(name: str) -> str:
    return package_files("udfs.exports").joinpath("templates", name).read_text(encoding="utf-8")


def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_template),
        autoescape=False,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["code"] = code
    environment.filters["n"] = lambda value: f"{value:,}"
    return environment
