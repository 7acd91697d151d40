"""What annotators see and say of a question that confused the checker (CouldAsk, section 4.1): is it answerable?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import polars as pl

from udfs.records import Span
from udfs.review.agreement import MAJORITY, UNANIMOUS, complete_votes, review_agreement
from udfs.review.sheet import GAP, Check, Item, Option, Run, Section
from udfs.review.summary import escaped, table
from udfs.synthesis.index import DocumentIndex
from udfs.synthesis.passages import Passages
from udfs.tables.curation import LABELLED, PUBLISHED, PUBLISHED_KAPPA, UNANSWERABLE
from udfs.tables.texts import Text
from udfs.views import merged

TARGET: Final = "curation"
RULES: Final = (MAJORITY, UNANIMOUS)
PASSAGES, PASSAGE_WORDS = 5, 120
GUIDE: Final = (
    "Read the question and the document, then say whether the document answers the question.",
    (
        "Answerable: a careful reader who has only this document can answer the question in full, in its words or by a "
        "plain conclusion from them."
    ),
    (
        "Unanswerable: the document does not say it, or the question takes for granted what the document does not say "
        "or contradicts. What you know from elsewhere does not count."
    ),
    "Where only parts of a long document are shown, these are its beginning or the passages nearest to the question.",
    "If in doubt, look once more, decide, and write down why.",
)
CHECK: Final = Check(
    "label",
    "Does the document answer the question?",
    (Option("y", "answerable", "Answerable"), Option("n", "unanswerable", "Unanswerable")),
    "From the document alone.",
    ("answerable",),
)


def curation_items(
    rows: Sequence[Mapping[str, Any]], text: Text, whole_chars: int, context_chars: int
) -> Iterator[Item]:
    """The items of one document's questions (rows of `udfs.tables.curation.fates`), grouped by source dataset. What the
    checker said is not shown, so that it persuades nobody.

    Args:
        text: the whole document; of it, what the model was shown is shown.
        whole_chars: what is longer is shown in parts: the passages that match a question best.
        context_chars: shown on both sides of such a passage.
    """
    kept = rows[0]["excerpt"]
    shown = text.text[kept["start"] : kept["end"]] if kept else text.text
    passages = None
    if len(shown) > whole_chars:
        passages = Passages(DocumentIndex(shown, text.language), PASSAGE_WORDS)
    for row in rows:
        parts: Sequence[Span] = [Span(0, len(shown))]
        if passages is not None:
            parts = _around(passages.top([row["question"]], PASSAGES), len(shown), context_chars)
        says = f"{text.title} · {len(shown):,} characters" + (" of it" if kept else "")
        sections = (
            Section("Question", (Run(row["question"]),), lead=True),
            Section("Document", tuple(_runs(shown, parts)), says=says, reading=True),
        )
        chips = (row["language"], row["source_dataset"])
        yield Item(
            row["proposal_id"], row["source_dataset"], row["language"], row["question"], chips, sections, (CHECK,)
        )


def _around(passages: Sequence[Span], length: int, around: int) -> tuple[Span, ...]:
    """The passages with what stands around them; the beginning where none matches."""
    wanted = [Span(max(0, start - around), min(length, end + around)) for start, end in passages]
    return merged(wanted or [Span(0, min(length, 3 * around))], length)


def _runs(text: str, parts: Sequence[Span]) -> Iterator[Run]:
    at = 0
    for start, end in (*parts, Span(len(text), len(text))):
        if start > at:
            yield Run(f"… {start - at:,} characters …", (GAP,))
        if end > start:
            yield Run(text[start:end])
        at = end


def labels(annotations: pl.DataFrame, rule: str) -> tuple[dict[str, bool], dict[str, list[int]]]:
    """Whether each item is answerable by `rule`, where that is decided, and the votes on every item that all annotators
    labelled: [answerable, unanswerable].

    Args:
        rule: `majority`: more than half say so; `unanimous`: all do.
    """
    votes: dict[str, list[int]] = {}
    for item, passed in complete_votes(annotations).select("item_id", "passed").iter_rows():
        votes.setdefault(item, [0, 0])[0 if passed else 1] += 1
    decided = {
        item: yes > no for item, (yes, no) in votes.items() if (yes != no if rule == MAJORITY else not (yes and no))
    }
    return decided, votes


def agreement_table(annotations: pl.DataFrame) -> Iterator[str]:
    """How far the annotators agree, by source dataset, beside the paper's Table 12, as Markdown lines."""
    rows = []
    groups = sorted(annotations["group"].unique())
    parts = [(name, annotations.filter(pl.col("group") == name)) for name in groups]
    for name, part in [*parts, ("all", annotations)] if len(parts) > 1 else parts:
        for row in review_agreement(part).iter_rows(named=True):
            kappa = "undefined" if row["kappa"] is None else f"{100 * row['kappa']:.2f}"
            agree = f"{row['unanimous']} ({100 * row['unanimous'] / row['items']:.2f} %)"
            rows.append([name, str(row["annotators"]), str(row["items"]), agree, kappa])
    rows += [
        [f"{name} (CouldAsk, Table 12)", "3", str(PUBLISHED[name][LABELLED]), "", f"{kappa:.2f}"]
        for name, kappa in PUBLISHED_KAPPA.items()
    ]
    yield from table(["questions", "annotators", "n", "all agree", "100 × Fleiss κ"], rows)


def funnel_table(counts: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """What is left after each step (`udfs.tables.curation.funnel`), beside the paper's numbers, as Markdown lines."""
    columns = counts if len(counts) > 2 else {"all": counts["all"]}
    published = {f"{name} (CouldAsk)": column for name, column in PUBLISHED.items()}
    rows = [
        [step, *(_cell(column, step) for column in (*columns.values(), *published.values()))] for step in counts["all"]
    ]
    yield from table(["questions", *columns, *published], rows)


def _cell(column: Mapping[str, int], step: str) -> str:
    if step not in column:
        return ""
    n, of = column[step], column.get(LABELLED, 0)
    return f"{n:,} ({100 * n / of:.2f} %)" if step == UNANSWERABLE and of else f"{n:,}"


def disputed(rows: Mapping[str, Mapping[str, Any]], votes: Mapping[str, Sequence[int]]) -> Iterator[str]:
    """The questions that were not labelled alike, as Markdown lines."""
    for item, (yes, no) in sorted(votes.items()):
        if yes and no:
            yield f"- {escaped(rows[item]['question'])} ({yes} answerable, {no} unanswerable; {item[:12]})"


def view_of(excerpt: Mapping[str, int] | None, length: int) -> tuple[Span, ...]:
    """The redactions that leave a document's excerpt (null: all of it)."""
    if excerpt is None:
        return ()
    cuts = (Span(0, excerpt["start"]), Span(excerpt["end"], length))
    return tuple(cut for cut in cuts if cut.end > cut.start)
