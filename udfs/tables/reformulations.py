"""Metrics of reformulated questions: success and what it is made of, what failed ones are, how good ones were made.

All are over gold-unanswerable questions and, for each, over whatever judges gave the measure. A question that was not
detected got no new question and counts as 0 (CouldAsk, Tables 5 and 13 to 15); the variants `.detected` leave it out.
A detected question without entities has no entity overlap: it is in neither the value, nor n, nor what coverage divides
by.

- reformulation.success, .success_strict: answerable and relevance >= 0.5 (CouldAsk's code), > 0.5 (its paper).
- reformulation.answerable, .entity_overlap, .entity_overlap_soft, .edit_similarity, .cosine: means, 0 to 1 (CouldAsk's
  entity overlap may exceed 1); .edit_distance: mean in words.
- reformulation.error.<category>: shares of the failed new questions (Table 6).
- reformulation.strategy.<strategy>: shares of the successful ones (Table 1).
- reformulation.span.<span>: of the detected questions, whose minimum span is the whole question, whose a part of it;
  reformulation.answerable.<span>: how many of their new questions are answerable (Figure 3).
- <measure>.parse_failure_rate: judgements that could not be read, over all judgements.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import polars as pl

from udfs.measures.categories import ErrorCategory, Strategy
from udfs.measures.entity_overlap import RELEVANT
from udfs.schema import Status
from udfs.tables.observations import latest_judgements
from udfs.tables.ratios import BY_LANGUAGE, Ratio, Slice, document_sums

ANSWERABLE: Final = "reformulation_answerable"
ENTITY_OVERLAP: Final = "entity_overlap"
ENTITY_OVERLAP_SOFT: Final = "entity_overlap_soft"
EDIT_DISTANCE: Final = "edit_distance"
EDIT_SIMILARITY: Final = "edit_similarity"
COSINE: Final = "cosine"
ERROR_CATEGORY: Final = "error_category"
STRATEGY: Final = "strategy"
MINIMUM_SPAN: Final = "minimum_span"
SUCCESS: Final = "success"
SUCCESS_STRICT: Final = "success_strict"

UNDEFINED: Final = "undefined"
"""Verdict of an overlap with a question that has no entities."""
NONE: Final = "none"
"""Verdict of an error category of a success, and of a strategy of a failure."""
UNDECIDED: Final = "undecided"
ERROR_CATEGORIES: Final = (*(category.value for category in ErrorCategory), UNDECIDED)
STRATEGIES: Final = (*(strategy.value for strategy in Strategy), UNDECIDED)
Q_SPAN, SHORT_SPAN = "q_span", "short_span"
SPANS: Final = (Q_SPAN, SHORT_SPAN)
"""Verdicts of a minimum span: the whole question makes it unanswerable, or a part of it does."""

SCORED: Final = (ENTITY_OVERLAP, ENTITY_OVERLAP_SOFT, EDIT_DISTANCE, EDIT_SIMILARITY, COSINE)
LABELLED: Final = {
    ERROR_CATEGORY: ("error", ERROR_CATEGORIES),
    STRATEGY: ("strategy", STRATEGIES),
    MINIMUM_SPAN: ("span", SPANS),
}
MEASURES: Final = (ANSWERABLE, *SCORED, *LABELLED)
"""Measures that are judgements."""
DETECTED: Final = ".detected"
VALUES: Final = {
    SUCCESS: "reformulation.success",
    SUCCESS_STRICT: "reformulation.success_strict",
    ANSWERABLE: "reformulation.answerable",
    **{measure: f"reformulation.{measure}" for measure in SCORED},
}
"""The metric of each measure that has a value for every question, over all of them; `DETECTED` is put behind it."""
_UNBOUNDED: Final = (ENTITY_OVERLAP, EDIT_DISTANCE)
_AVERAGED: Final = frozenset(name + end for name in VALUES.values() for end in ("", DETECTED))


def is_averaged(metric: str) -> bool:
    """Whether the metric has an average over datasets; shares of failed or successful ones have none."""
    return metric in _AVERAGED


def reformulation_sums(rows: pl.DataFrame, judgements: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """The sums (`ratios.document_sums`) of every metric here; none where no judge judged a new question.

    Args:
        rows: `observations.response_rows`.
        judgements: rows of the judgements table.
    """
    judged = latest_judgements(judgements.filter(pl.col("measure").is_in(MEASURES)))
    unanswerable = rows.filter(~pl.col("answerable"))
    valued = _values(judged)
    for measure, metric in VALUES.items():
        for marked in _marked(unanswerable, valued, measure):
            for ratio in _means(metric, measure not in _UNBOUNDED):
                yield from (document_sums(marked, ratio, part) for part in BY_LANGUAGE)
    labelled = _marks(judged, pl.lit(None, pl.Float64))
    for measure, (name, labels) in LABELLED.items():
        for marked in _marked(unanswerable, labelled, measure):
            for ratio in _shares(f"reformulation.{name}", labels):
                yield from (document_sums(marked, ratio, part) for part in BY_LANGUAGE)
    for marked in _with_spans(_marked(unanswerable, valued, ANSWERABLE), judged):
        for ratio in _answerable_by_span():
            yield from (document_sums(marked, ratio, part) for part in BY_LANGUAGE)
    for measure in MEASURES:
        for marked in _marked(unanswerable, labelled, measure):
            name, there = f"{measure}.parse_failure_rate", pl.col("judged")
            yield document_sums(marked, Ratio(name, pl.col("unparsed"), there, there, ok=there), Slice())


def successes(judgements: pl.DataFrame) -> pl.DataFrame:
    """Success of every response by every judge of its answerability.

    Columns: response_id, judge, readable (both halves were judged and could be read), undefined (the original has no
    entities), success, success_strict (null unless readable and defined).

    Args:
        judgements: one a response, judge and measure (`observations.latest_judgements`).
    """
    judged = judgements.with_columns(fine=_fine())
    halves = judged.filter(pl.col("measure") == ANSWERABLE).select(
        "response_id", "judge", "fine", answerable=pl.col("verdict") == "answerable"
    )
    sources = [(judge, *source) for judge, source in relevance_sources(judgements).items()]
    by_judge = pl.DataFrame(sources, schema=dict.fromkeys(("judge", "by", "measure"), pl.String), orient="row")
    relevance = judged.select("response_id", "measure", by="judge", kept="fine", relevance="score", said="verdict")
    both = halves.join(by_judge, on="judge").join(relevance, on=["response_id", "by", "measure"], how="left")
    both = both.with_columns(
        readable=pl.col("fine") & pl.col("kept").fill_null(False),
        undefined=(pl.col("said") == UNDEFINED).fill_null(False),
    )
    defined = pl.col("readable") & ~pl.col("undefined")
    relevant = {SUCCESS: pl.col("relevance") >= RELEVANT, SUCCESS_STRICT: pl.col("relevance") > RELEVANT}
    told = {name: pl.when(defined).then(pl.col("answerable") & enough) for name, enough in relevant.items()}
    return both.select("response_id", "judge", "readable", "undefined", **told)


def relevance_sources(judgements: pl.DataFrame) -> dict[str, tuple[str, str]]:
    """The (judge, measure) that says for each judge of answerability whether a new question is relevant.

    Its own entity overlap: for `rules` the soft one, for all others the exact one if they give it. A judge that gives
    none, such as a classifier, goes by the soft one of `rules`; where that is missing too, it has no success.
    """
    have = set(judgements.select("judge", "measure").unique().iter_rows())
    found: dict[str, tuple[str, str]] = {}
    for judge in sorted(name for name, measure in have if measure == ANSWERABLE):
        own = [(judge, ENTITY_OVERLAP), (judge, ENTITY_OVERLAP_SOFT)]
        wanted = [*(reversed(own) if judge == "rules" else own), ("rules", ENTITY_OVERLAP_SOFT)]
        source = next((place for place in wanted if place in have), None)
        if source is not None:
            found[judge] = source
    return found


def span_sources(judgements: pl.DataFrame) -> dict[str, str]:
    """The judge of minimum spans that each judge of answerability is broken down by: itself, else the first by name;
    empty where nobody found minimum spans.
    """
    have = set(judgements.select("judge", "measure").unique().iter_rows())
    finders = sorted(judge for judge, measure in have if measure == MINIMUM_SPAN)
    judges = sorted(judge for judge, measure in have if measure == ANSWERABLE)
    return {judge: judge if judge in finders else finders[0] for judge in judges if finders}


def _fine() -> pl.Expr:
    """Whether a judgement says what its measure is to say: a verdict, or a score or that there can be none."""
    scored = pl.col("score").is_not_null() | (pl.col("verdict") == UNDEFINED).fill_null(False)
    said = pl.when(pl.col("measure").is_in(SCORED)).then(scored).otherwise(pl.col("verdict").is_not_null())
    return (pl.col("status") == Status.OK) & said


def _marks(judged: pl.DataFrame, value: pl.Expr) -> pl.DataFrame:
    return judged.select(
        "response_id",
        "judge",
        "measure",
        "verdict",
        readable=_fine(),
        undefined=(pl.col("verdict") == UNDEFINED).fill_null(False),
        unparsed=pl.col("status") == Status.PARSE_FAILURE,
        value=value,
    )


def _values(judged: pl.DataFrame) -> pl.DataFrame:
    """`_marks` with a value: of answerability 1 or 0 by its verdict, else the score; successes among them."""
    answerable = (pl.col("verdict") == "answerable").cast(pl.Float64)
    given = _marks(judged, pl.when(pl.col("measure") == ANSWERABLE).then(answerable).otherwise(pl.col("score")))
    won = successes(judged)
    derived = [
        won.select(
            "response_id",
            "judge",
            "readable",
            "undefined",
            measure=pl.lit(name),
            verdict=pl.lit(None, pl.String),
            unparsed=pl.lit(False),
            value=pl.col(name).cast(pl.Float64),
        ).select(given.columns)
        for name in (SUCCESS, SUCCESS_STRICT)
    ]
    return pl.concat([given, *derived])


def _marked(rows: pl.DataFrame, marks: pl.DataFrame, measure: str) -> Iterator[pl.DataFrame]:
    """`rows` once for each judge of `measure` that judged their model, with its marks; nothing without a judge.

    A model none of whose responses was judged is given every judge there is: where it detected nothing, its values are
    zeros and not absent.

    Adds judge, verdict, value, detected, judged, unparsed, readable, undefined and `ok`: not detected, or readable.
    """
    mine = marks.filter(pl.col("measure") == measure).drop("measure")
    if not mine.height or not rows.height:
        return
    by_model = rows.select("response_id", "model").join(mine, on="response_id").select("model", "judge").unique()
    unjudged = rows.select("model").unique().join(by_model, on="model", how="anti")
    judges = pl.concat([by_model, unjudged.join(mine.select("judge").unique(), how="cross")])
    joined = rows.join(judges, on="model").join(mine, on=["response_id", "judge"], how="left")
    detected, flags = pl.col("refused").fill_null(False), ("readable", "undefined", "unparsed")
    yield joined.with_columns(
        *(pl.col(name).fill_null(False) for name in flags), judged=pl.col("readable").is_not_null(), detected=detected
    ).with_columns(
        value=pl.when("detected").then(pl.col("value")).otherwise(0.0).fill_null(0.0),
        ok=(~pl.col("refused")).fill_null(False) | (pl.col("detected") & pl.col("readable")),
    )


def _means(metric: str, proportion: bool) -> tuple[Ratio, Ratio]:
    """The mean value over all questions, and over the detected ones."""
    value, detected = pl.col("value"), pl.col("detected")
    defined = ~(detected & pl.col("undefined"))
    return (
        Ratio(metric, value * defined, defined, defined, expected=defined, proportion=proportion),
        Ratio(
            metric + DETECTED,
            value * (defined & detected),
            defined & detected,
            defined & detected,
            expected=defined & detected,
            proportion=proportion,
        ),
    )


def _shares(metric: str, labels: tuple[str, ...]) -> list[Ratio]:
    """The share of each label among the detected questions that have one."""
    detected = pl.col("detected")
    labelled = detected & (pl.col("verdict") != NONE).fill_null(False)
    return [
        Ratio(f"{metric}.{label}", labelled & (pl.col("verdict") == label), labelled, labelled, expected=detected)
        for label in labels
    ]


def _with_spans(answerability: Iterator[pl.DataFrame], judged: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Rows of `_marked` with `span`, the verdict on their minimum span (null: none that can be read)."""
    sources = pl.DataFrame(list(span_sources(judged).items()), ["judge", "finder"], orient="row")
    if not sources.height:
        return
    found = judged.filter((pl.col("measure") == MINIMUM_SPAN) & _fine())
    spans = found.select("response_id", finder="judge", span="verdict")
    for marked in answerability:
        with_finder = marked.join(sources, on="judge", how="left", maintain_order="left")
        yield with_finder.join(spans, on=["response_id", "finder"], how="left", maintain_order="left")


def _answerable_by_span() -> Iterator[Ratio]:
    """The share of answerable new questions among those of each span; a question without a known span is in neither."""
    for span in SPANS:
        mine = pl.col("detected") & (pl.col("span") == span).fill_null(False)
        yield Ratio(f"{VALUES[ANSWERABLE]}.{span}", pl.col("value") * mine, mine, mine, expected=mine)
