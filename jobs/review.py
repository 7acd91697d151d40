"""jobs.review: people check a sample of questions or of verdicts.

`python -m jobs.review sample n=144 'datasets=[synthetic]' storage.root=R`
    questions (or judgements) ──▶ stratified sample ──▶ one HTML sheet an annotator, sample.json
`python -m jobs.review collect a.json b.json c.json storage.root=R` (or 'files=[a.json,b.json,c.json]')
    annotators' files ──▶ checked ──▶ annotations ──▶ quality, agreement, disagreements as Markdown
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.markdown import Markdown

from jobs.cli import job, rewriting
from jobs.config import StorageConfig, require
from udfs.errors import UserError
from udfs.review.collecting import (
    Sample,
    annotation_rows,
    check_annotators,
    check_saved,
    drawn_items,
    read_saved,
)
from udfs.review.drawing import Pool, judgement_pool, made_items, question_pool
from udfs.review.folder import ReviewFolder
from udfs.review.items import JUDGEMENT_GUIDE, QUESTION_GUIDE
from udfs.review.sampling import draw, shuffled
from udfs.review.sheet import Item, Sheet, render, sample_hash
from udfs.review.summary import review_markdown, strata_table
from udfs.tables.store import Store

ACTIONS = ("sample", "collect")
SAMPLE_FILE = "sample.json"


@dataclass(frozen=True)
class ReviewConfig:
    """`jobs.review`: what is drawn of what for whom, or whose files are collected."""

    storage: StorageConfig
    action: Literal["sample", "collect"]
    name: str | None
    what: Literal["questions", "judgements"]
    datasets: tuple[str, ...]
    n: int
    annotators: int
    seed: int
    allocation: Literal["proportional", "equal"] | None
    context_chars: int
    run: str | None
    judge_name: str | None
    measure: Literal["answer_consistency", "response_class"]
    files: tuple[str, ...]
    partial: bool

    def __post_init__(self) -> None:
        require(self.n >= 1, "n", self.n, "at least 1")
        require(1 <= self.annotators <= 100, "annotators", self.annotators, "1 to 100")
        require(50 <= self.context_chars <= 20_000, "context_chars", self.context_chars, "50 to 20000")
        safe = self.review.replace("-", "").replace("_", "").replace(".", "")
        require(safe.isalnum(), "name", self.name, "letters, digits, '-', '_' and '.'")
        if self.action == "collect":
            wanted = "name what the annotators sent, each file once: collect a.json b.json …"
            require(0 < len(self.files) == len(set(self.files)), "files", list(self.files), wanted)

    @property
    def review(self) -> str:
        """The review's name."""
        return self.name or ("questions" if self.what == "questions" else self.measure)


def sample(config: ReviewConfig) -> str:
    """Draw a review's sample and write its sheets; give what was done as Markdown.

    Raises:
        UserError: there is nothing to draw from, or the review's name has another sample already.
    """
    store = Store(config.storage.root)
    judged = config.what == "judgements"
    if judged:
        pool = judgement_pool(store, config.run, config.judge_name, config.measure, config.datasets)
    else:
        pool = question_pool(store, config.datasets)
    allocation = config.allocation or ("equal" if judged else "proportional")
    chosen, strata = draw(pool.strata, config.n, config.seed, allocation)
    items = made_items(store, pool, chosen, config.context_chars)
    found = sample_hash(config.review, items)
    about = {**pool.about, "drawn": f"{len(items)} of {len(pool.strata)}, {allocation}, seed {config.seed}"}
    made = Sample(
        config.review,
        found,
        config.what,
        config.measure if judged else None,
        about,
        tuple(strata),
        drawn_items(items),
    )
    folder = ReviewFolder(store, config.review)
    _refuse_other_sample(folder, made)
    folder.write(SAMPLE_FILE, made.to_json())
    sheets = write_sheets(folder, made, items, config)
    return _sampled(config, pool, made, sheets)


def write_sheets(folder: ReviewFolder, made: Sample, items: Sequence[Item], config: ReviewConfig) -> list[str]:
    """One sheet an annotator, each in an order of its own; give their addresses."""
    guide = QUESTION_GUIDE if made.target == "questions" else JUDGEMENT_GUIDE
    by_id = {item.id: item for item in items}
    written = []
    for number in range(1, config.annotators + 1):
        order = shuffled(by_id, config.seed, "sheet", number)
        sheet = Sheet(made.review, made.sample, number, guide, tuple(by_id[name] for name in order))
        written.append(folder.write(f"sheet-{number}.html", render(sheet)))
    return written


def _refuse_other_sample(folder: ReviewFolder, made: Sample) -> None:
    text = folder.read(SAMPLE_FILE)
    if text is None or Sample.from_json(text, folder.address(SAMPLE_FILE)).sample == made.sample:
        return
    raise UserError(
        f"review {made.review!r} has another sample already, and its sheets may be with annotators: give another "
        f"name=…, or remove {folder.address('')}"
    )


def _sampled(config: ReviewConfig, pool: Pool, made: Sample, sheets: Sequence[str]) -> str:
    lines = [f"# Sample of review {made.review}", "", *(f"- {name}: {value}" for name, value in made.about.items())]
    if len(made.items) < config.n:
        lines += [f"- n={config.n} was asked for; these are all there are"]
    without = [stratum for stratum in made.strata if not stratum.drawn]
    if without:
        lines += [f"- n={config.n} does not go round: {len(without)} of {len(made.strata)} strata have no item in it"]
    lines += ["", f"Strata: {' × '.join(pool.axes)}.", "", *strata_table(made.strata), ""]
    lines += [f"- sheet {number}: {address}" for number, address in enumerate(sheets, 1)]
    lines += [
        "",
        "Send one sheet to each annotator. It opens in a browser, offline, and saves the file to send back. Then:",
        "",
        f"    python -m jobs.review collect FILES name={made.review} storage.root={config.storage.root}",
    ]
    return "\n".join(lines) + "\n"


def collect(config: ReviewConfig) -> str:
    """Check the annotators' files, write the annotations, give the report as Markdown (also `report.md`).

    Raises:
        UserError: there is no such review, or a file is missing, damaged, incomplete or of another sample.
    """
    store = Store(config.storage.root)
    folder = ReviewFolder(store, config.review)
    text = folder.read(SAMPLE_FILE)
    if text is None:
        known = ", ".join(store.parts("reviews")) or "none"
        raise UserError(f"no review {config.review!r} under {store.root}; reviews: {known}; give name=…")
    drawn = Sample.from_json(text, folder.address(SAMPLE_FILE))
    saved = {file: read_saved(_read(file), file) for file in config.files}
    for file, one in saved.items():
        check_saved(one, drawn, file, config.partial)
    check_annotators(saved)
    rows = annotation_rows(list(saved.values()), drawn, datetime.now(UTC))
    if not rows:
        raise UserError(f"none of the files answers an item of review {config.review!r}")
    store.write("annotations", drawn.review, rows, name="annotations")
    report = review_markdown(drawn, store.read("annotations", part=drawn.review))
    folder.write("report.md", report)
    return report


def _read(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise UserError(f"{file} does not exist; files= names what the annotators sent back") from error
    except (IsADirectoryError, UnicodeDecodeError) as error:
        raise UserError(f"{file} is not a file that a review sheet saved: {error}") from error


@job("review", ReviewConfig)
def main(config: ReviewConfig) -> None:
    """Print what was done: laid out on a terminal, plain Markdown into a pipe."""
    text = sample(config) if config.action == "sample" else collect(config)
    if sys.stdout.isatty():
        Console().print(Markdown(text))
    else:
        print(text)


def with_action(arguments: Sequence[str]) -> list[str]:
    """The command line as Hydra takes it: its bare first word as `action=…`, the bare words after `collect` as files.

    Names of files are quoted: Hydra's grammar knows no unquoted 陈.json.

    Raises:
        UserError: the first word is no action, there is none, or `sample` is given files.
    """
    first = arguments[0] if arguments else ""
    if first.startswith("-") or any(argument.startswith("action=") for argument in arguments):
        return list(arguments)
    if first not in ACTIONS:
        said = f"{first!r} is not something it does" if first and "=" not in first else "say what to do"
        raise UserError(f"{said}: python -m jobs.review sample … or python -m jobs.review collect …")
    files = [argument for argument in arguments[1:] if "=" not in argument and not argument.startswith("-")]
    if files and first == "sample":
        raise UserError(f"sample takes key=value, not {files[0]!r}")
    rest = [_quoted(argument) for argument in arguments[1:] if argument not in files]
    return [f"action={first}", *rest, *([_listed(files)] if files else [])]


def _quoted(argument: str) -> str:
    """`files=[a,b]` with its names quoted, anything else as it is."""
    names = argument.removeprefix("files=[").removesuffix("]")
    if argument != f"files=[{names}]" or "'" in names or '"' in names or not names:
        return argument
    return _listed([name.strip() for name in names.split(",")])


def _listed(names: Sequence[str]) -> str:
    quoted = (name.replace("'", "\\'") for name in names)
    return "files=[" + ",".join(f"'{name}'" for name in quoted) + "]"


command = rewriting(main, with_action)  # python -m jobs.review sample|collect [files] key=value …

if __name__ == "__main__":
    command()
