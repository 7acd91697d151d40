"""What a dataset is, in the forms of CouldAsk's Table 2 and FactGuard's Table 3, and by language, domain, length, kind.

All functions take the documents (without text) and questions as Polars frames; several datasets may be in one frame.
Means come with the sample standard deviation. Document lengths are over distinct documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

import polars as pl

from udfs.schema import LENGTH_BUCKETS, Kind, Topic
from udfs.tables.metrics import ALL
from udfs.text import count_treebank_tokens

DOCUMENT_COLUMNS: Final = (
    *("doc_id", "dataset", "split", "language", "domain", "title", "source", "n_words", "n_tokens", "tokenizer"),
    "length_bucket",
)
QUESTION_COLUMNS: Final = (
    *("question_id", "doc_id", "dataset", "split", "language", "question", "answerable", "kind", "entities"),
)
BREAKDOWNS: Final = ("split", "language", "domain", "length_bucket", "kind")
NAMED_VALUES: Final = 3
"""So many values of source and domain are named in a cell; of more, only their number."""
_ORDERS: Final[dict[str, Sequence[str]]] = {
    "length_bucket": LENGTH_BUCKETS,
    "kind": [kind.value for kind in Kind],
    "topic": [topic.value for topic in Topic],
    "split": ["train", "dev", "validation", "test"],
}
_NONE: Final = "–"


def with_question_tokens(questions: pl.DataFrame) -> pl.DataFrame:
    """`questions` and `n_question_tokens`: Penn-Treebank tokens (en); Han characters and words (zh)."""
    pairs = zip(questions["question"], questions["language"], strict=True)
    counts = [count_treebank_tokens(question, language) for question, language in pairs]
    return questions.with_columns(pl.Series("n_question_tokens", counts, dtype=pl.Int64))


def couldask_table(documents: pl.DataFrame, questions: pl.DataFrame) -> pl.DataFrame:
    """A row a dataset: number and unanswerable share of its questions, lengths, entities, source, domain (CouldAsk,
    Table 2). `questions` must have `n_question_tokens`. Where a dataset has no entities at all, they were not tagged.
    """
    rows = []
    for name in documents["dataset"].unique().sort():
        docs, asked = documents.filter(dataset=name), questions.filter(dataset=name)
        entities = asked["entities"].list.len()
        rows.append(
            {
                "dataset": name,
                "documents": f"{docs.height:,}",
                "total": f"{asked.height:,}",
                "unans %": _percent(asked),
                "document length (words)": mean_sd(docs["n_words"]),
                "document length (tokens)": mean_sd(docs["n_tokens"]),
                "question length": mean_sd(asked["n_question_tokens"]),
                "# question entities": mean_sd(entities) if entities.sum() else _NONE,
                "source": _named(docs["source"]),
                "domain": _named(docs["domain"]),
                "tokenizer": _named(docs["tokenizer"]),
            }
        )
    return pl.DataFrame(rows)


def factguard_table(documents: pl.DataFrame, questions: pl.DataFrame) -> pl.DataFrame:
    """`split_counts` as words, a block a dataset (FactGuard, Table 3)."""
    counts = split_counts(documents, questions)
    numbers = [pl.col(name).map_elements("{:,}".format, return_dtype=pl.String) for name in ("en", "zh", "total")]
    return counts.with_columns(numbers).rename({"what": ""}) if counts.height else pl.DataFrame()


def split_counts(documents: pl.DataFrame, questions: pl.DataFrame) -> pl.DataFrame:
    """Columns dataset, split, what (examples, articles, documents), en, zh, total: numbers behind FactGuard's Table 3.

    Examples are questions. An article is a title, or a document that has none: paragraphs, and reduced versions of one
    text, share their title. A document without questions counts in its own split.
    """
    titled = documents.select("dataset", "doc_id", "domain", article=_article())
    asked = questions.join(titled, on=["dataset", "doc_id"], how="left").select(
        "dataset", "split", "language", "doc_id", "article", examples=pl.lit(1)
    )
    silent = documents.join(questions, on=["dataset", "doc_id"], how="anti").select(
        "dataset", "split", "language", "doc_id", article=_article(), examples=pl.lit(0)
    )
    rows = []
    for (dataset, split), part in _ordered(pl.concat([asked, silent]), ["dataset", "split"]):
        columns = {language: part.filter(language=language) for language in ("en", "zh")} | {"total": part}
        rows += [
            [dataset, split, what, *(_count(frame, what) for frame in columns.values())]
            for what in ("examples", "articles", "documents")
        ]
    texts, numbers = ("dataset", "split", "what"), ("en", "zh", "total")
    schema: dict[str, type[pl.DataType]] = {**dict.fromkeys(texts, pl.String), **dict.fromkeys(numbers, pl.Int64)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def distribution(documents: pl.DataFrame, questions: pl.DataFrame, by: str) -> pl.DataFrame:
    """Columns language (all, or one), value, n, share: how questions spread over `by` (FactGuard, Figure 3).

    Args:
        documents, questions: of one dataset; every question's document is there.
        by: domain, kind, topic or length_bucket; domain and bucket are the document's.
    """
    of_document = [name for name in ("domain", "length_bucket") if name not in questions.columns]
    facts = documents.select("dataset", "doc_id", *of_document)
    told = questions.join(facts, on=["dataset", "doc_id"], how="left").select(
        "language", value=pl.col(by).fill_null(_NONE)
    )
    everything = told.with_columns(language=pl.lit(ALL))
    counts = (
        pl.concat([everything, told]).group_by("language", "value").len("n").with_columns(pl.col("n").cast(pl.Int64))
    )
    order = [*_ORDERS.get(by, ())]
    rank = pl.col("value").replace_strict(order, range(len(order)), default=len(order), return_dtype=pl.Int64)
    shares = counts.with_columns(share=pl.col("n") / pl.col("n").sum().over("language"))
    return shares.sort(pl.col("language") != ALL, "language", rank, "value")


def breakdown(documents: pl.DataFrame, questions: pl.DataFrame, by: str) -> pl.DataFrame:
    """Documents, questions, unanswerable share and lengths of each dataset by `by`, one of `BREAKDOWNS`.

    Domain and bucket are the document's; language, split and kind the question's. A document stands in every row that
    one of its questions is in; one without questions stands where its own columns say (not in a row of kinds).
    """
    columns = ["dataset", "doc_id", "n_words", "n_tokens"]
    of_question = by in questions.columns
    facts = documents.select(columns if of_question else [*columns, by])
    asked = questions.join(facts, on=["dataset", "doc_id"], how="left")
    silent = documents.join(questions, on=["dataset", "doc_id"], how="anti")
    keys = ["dataset", by]
    held = [asked.select(*columns, by)] + ([silent.select(*columns, by)] if by in silent.columns else [])
    docs = pl.concat(held).unique([*keys, "doc_id"])
    rows = []
    for (dataset, value), part in _ordered(docs, keys):
        of_value = asked.filter((pl.col("dataset") == dataset) & (pl.col(by) == value))
        rows.append(
            {
                "dataset": dataset,
                by.replace("_", " "): value,
                "documents": f"{part.height:,}",
                "questions": f"{of_value.height:,}",
                "unans %": _percent(of_value),
                "document length (words)": mean_sd(part["n_words"]),
                "document length (tokens)": mean_sd(part["n_tokens"]),
                "question length": mean_sd(of_value["n_question_tokens"]),
            }
        )
    return pl.DataFrame(rows)


def mean_sd(values: pl.Series) -> str:
    """`mean ± sd` of the values that are not null; a dash where there is no mean, no sd of a single value."""
    mean, sd = values.cast(pl.Float64).mean(), values.cast(pl.Float64).std()
    if not isinstance(mean, float):
        return _NONE
    return f"{mean:,.2f} ± {sd:,.2f}" if isinstance(sd, float) else f"{mean:,.2f}"


def markdown(frame: pl.DataFrame) -> str:
    """The frame as a Markdown table, texts left and numbers right."""
    if not frame.width:
        return "(nothing)"

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    texts = {"dataset", "split", "", "source", "domain", "tokenizer", "language", "length bucket", "kind"}
    rules = ["---" if name in texts else "---:" for name in frame.columns]
    rows = [line([str(cell) for cell in row]) for row in frame.iter_rows()]
    return "\n".join([line(frame.columns), line(rules), *rows])


def _count(frame: pl.DataFrame, what: str) -> int:
    if what == "examples":
        return int(frame["examples"].sum())
    return frame["article" if what == "articles" else "doc_id"].n_unique()


def _article() -> pl.Expr:
    return pl.when(pl.col("title") != "").then(pl.col("title")).otherwise(pl.col("doc_id"))


def _ordered(frame: pl.DataFrame, keys: list[str]) -> list[tuple[tuple[str, ...], pl.DataFrame]]:
    """The frame's groups by two keys: datasets by name, the second key in its own order."""
    order = _ORDERS.get(keys[1], ())

    def rank(group: tuple[tuple[str, ...], pl.DataFrame]) -> tuple[str, int, str]:
        dataset, value = group[0]
        return dataset, order.index(value) if value in order else len(order), value

    groups = [(cast("tuple[str, ...]", key), rows) for key, rows in frame.group_by(keys, maintain_order=True)]
    return sorted(groups, key=rank)


def _percent(questions: pl.DataFrame) -> str:
    share = (~questions["answerable"]).cast(pl.Float64).mean()
    return f"{100 * share:.2f}" if isinstance(share, float) else _NONE


def _named(values: pl.Series) -> str:
    distinct = values.unique().sort().to_list()
    return ", ".join(distinct) if len(distinct) <= NAMED_VALUES else f"{len(distinct):,} values"
