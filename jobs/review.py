"""jobs.review: people check a sample of questions or of verdicts, compare new questions, or mark entities.

`python -m jobs.review sample n=144 'datasets=[synthetic]' storage.root=R`
    questions (judgements, pairs of new questions) ──▶ stratified sample ──▶ one HTML sheet an annotator, sample.json
`python -m jobs.review collect a.json b.json c.json storage.root=R` (or 'files=[a.json,b.json,c.json]')
    annotators' files ──▶ checked ──▶ annotations (preferences, tags) ──▶ quality, agreement, disagreements as Markdown
`python -m jobs.review collect what=entities tags=hand.jsonl storage.root=R`
    a file of hand-tagged questions ──▶ checked ──▶ tags ──▶ precision and recall of the taggers as Markdown
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from rich.console import Console
from rich.markdown import Markdown

from jobs.cli import job, rewriting
from jobs.config import StorageConfig, require
from jobs.support.reviewing import TARGETS, tags_report
from udfs.errors import UserError
from udfs.review.collecting import (
    Sample,
    check_annotators,
    check_saved,
    drawn_items,
    read_saved,
)
from udfs.review.drawing import Drawable, judgement_pool, question_pool
from udfs.review.entities import file_rows, tag_pool
from udfs.review.folder import ReviewFolder
from udfs.review.preferences import pair_pool
from udfs.review.sampling import draw, shuffled
from udfs.review.sheet import Item, Sheet, render, sample_hash
from udfs.review.summary import strata_table
from udfs.sources.files import read_text
from udfs.tables.store import Store

ACTIONS = ("sample", "collect")
SAMPLE_FILE, REPORT_FILE = "sample.json", "report.md"
HAND_TAGS = "hand_tags"
"""What a file of hand tags is collected as, unless `name=` says otherwise."""


@dataclass(frozen=True)
class ReviewConfig:
    """`jobs.review`: what is drawn of what for whom, or whose files are collected."""

    storage: StorageConfig
    action: Literal["sample", "collect"]
    name: str | None
    what: Literal["questions", "judgements", "preferences", "entities"]
    datasets: tuple[str, ...]
    n: int
    annotators: int
    seed: int
    allocation: Literal["proportional", "equal"] | None
    context_chars: int
    run: str | None
    runs: tuple[str, ...]
    models: tuple[str, ...]
    methods: tuple[str, ...]
    judge_name: str | None
    measure: Literal["answer_consistency", "response_class"]
    files: tuple[str, ...]
    tags: str | None
    partial: bool

    def __post_init__(self) -> None:
        require(self.n >= 1, "n", self.n, "at least 1")
        require(1 <= self.annotators <= 100, "annotators", self.annotators, "1 to 100")
        require(50 <= self.context_chars <= 20_000, "context_chars", self.context_chars, "50 to 20000")
        safe = self.review.replace("-", "").replace("_", "").replace(".", "")
        require(safe.isalnum(), "name", self.name, "letters, digits, '-', '_' and '.'")
        if self.tags is not None:
            require(self.action == "collect" and self.what == "entities", "tags", self.tags, "collect what=entities")
            require(not self.files, "files", list(self.files), "nothing beside tags=: it is a file of its own")
        elif self.action == "collect":
            wanted = "name what the annotators sent, each file once: collect a.json b.json …"
            require(0 < len(self.files) == len(set(self.files)), "files", list(self.files), wanted)

    @property
    def review(self) -> str:
        """The review's name."""
        own = HAND_TAGS if self.tags is not None else self.what
        return self.name or (self.measure if self.what == "judgements" else own)


def sample(config: ReviewConfig) -> str:
    """Draw a review's sample and write its sheets; give what was done as Markdown.

    Raises:
        UserError: there is nothing to draw from, or the review's name has another sample already.
    """
    store = Store(config.storage.root)
    pool = _pool(store, config)
    allocation = config.allocation or TARGETS[config.what].allocation
    chosen, strata = draw(pool.strata, config.n, config.seed, allocation)
    items = pool.items(store, chosen, config.context_chars)
    about = {**pool.about, "drawn": f"{len(items)} of {len(pool.strata)}, {allocation}, seed {config.seed}"}
    made = Sample(
        config.review,
        sample_hash(config.review, items),
        config.what,
        config.measure if config.what == "judgements" else None,
        about,
        tuple(strata),
        drawn_items(items),
        pool.facts(chosen),
    )
    folder = ReviewFolder(store, config.review)
    _refuse_other_sample(folder, made)
    folder.write(SAMPLE_FILE, made.to_json())
    sheets = write_sheets(folder, made, items, config)
    return _sampled(config, pool, made, sheets)


def _pool(store: Store, config: ReviewConfig) -> Drawable:
    """What is drawn from, by `what`."""
    if config.what == "judgements":
        return judgement_pool(store, config.run, config.judge_name, config.measure, config.datasets)
    if config.what == "preferences":
        runs = config.runs or ((config.run,) if config.run else ())
        return pair_pool(store, runs, config.datasets, config.models, config.methods, config.seed)
    return tag_pool(store, config.datasets) if config.what == "entities" else question_pool(store, config.datasets)


def write_sheets(folder: ReviewFolder, made: Sample, items: Sequence[Item], config: ReviewConfig) -> list[str]:
    """One sheet an annotator, each in an order of its own; give their addresses."""
    guide = TARGETS[made.target].guide
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


def _sampled(config: ReviewConfig, pool: Drawable, made: Sample, sheets: Sequence[str]) -> str:
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
    """Check the annotators' files, write what they say, give the report as Markdown (also `report.md`).

    Raises:
        UserError: there is no such review, or a file is missing, damaged, incomplete or of another sample.
    """
    store = Store(config.storage.root)
    folder = ReviewFolder(store, config.review)
    text = folder.read(SAMPLE_FILE)
    if config.tags is not None:
        return _collect_tags(config, config.tags, store, folder, text is not None)
    if text is None:
        known = ", ".join(store.parts("reviews")) or "none"
        raise UserError(f"no review {config.review!r} under {store.root}; reviews: {known}; give name=…")
    drawn = Sample.from_json(text, folder.address(SAMPLE_FILE))
    if drawn.target not in TARGETS:
        raise UserError(f"{config.review!r} is the review of a curation: collect it with python -m jobs.curate collect")
    saved = {file: read_saved(_read(file), file) for file in config.files}
    for file, one in saved.items():
        check_saved(one, drawn, file, config.partial)
    check_annotators(saved)
    target = TARGETS[drawn.target]
    rows = target.rows(list(saved.values()), drawn, datetime.now(UTC))
    if not rows:
        raise UserError(f"none of the files answers an item of review {config.review!r}")
    store.write(target.table, drawn.review, rows, name=target.table)
    report = target.report(store, drawn)
    folder.write(REPORT_FILE, report)
    return report


def _collect_tags(config: ReviewConfig, path: str, store: Store, folder: ReviewFolder, has_sheets: bool) -> str:
    """The same of a file of hand-tagged questions."""
    if has_sheets:
        raise UserError(f"review {config.review!r} has sheets: collect the file under another name=…")
    rows = file_rows(store, path, config.review, datetime.now(UTC))
    store.write("tags", config.review, rows, name="tags")
    questions = len({row["item_id"] for row in rows})
    known = len({row["item_id"] for row in rows if row["dataset"]})
    about = {"file": path, "questions": f"{questions:,}, of these {known:,} in a dataset"}
    report = "\n".join(tags_report(store, config.review, about, questions)) + "\n"
    folder.write(REPORT_FILE, report)
    return report


def _read(file: str) -> str:
    try:
        return read_text(file)
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
