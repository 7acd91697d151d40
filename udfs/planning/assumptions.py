"""What cannot be known before a run is asked: how long replies are, how often a question is refused, how often a judge
has to be asked again, how much more is computed than has to be.

Each comes from what the store has recorded of the same model (a calibration records too), or is a default with a wide
range; `Assumed.source` says which.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import polars as pl

from udfs.judges.base import REFUSAL
from udfs.judges.minimum_span import MINIMUM_SPAN
from udfs.judges.reformulation import ANSWERABLE, ENTITY_OVERLAP, ERROR_CATEGORY, STRATEGY
from udfs.planning.ranges import DEFAULT, Assumed, Range, mean_of, share_of
from udfs.schema import Status

FEW, VERY_FEW = 8, 3
"""Fewer recorded rows of one kind say too little: those of all kinds together are taken."""
REFUSED: Final = Range(0.0, 0.3, 1.0)
RENEWED: Final = Range(0.0, 0.8, 1.0)
RETRIED: Final = Range(0.0, 0.1, 1.0)
OVERHEAD: Final = Range(1.0, 1.05, 1.5)
"""Computed prompt tokens ÷ the bound in whole cache blocks."""
UTILISED: Final = Range(1.0, 0.9, 0.5)
"""Busy ÷ busy and idle time of the engines, best first: it divides."""
REPLY_SHARE: Final[dict[str, float]] = {"plain": 0.15, "cot": 0.5, "judge": 0.25}
"""Expected share of `sampling.max_tokens` that a reply takes."""
LEAST_SHARE: Final = 0.1

MEASURE_CALLS: Final[dict[str, tuple[str, int]]] = {
    REFUSAL: ("judge.response", 1),  # the first judgement of the one call that gives several
    ANSWERABLE: ("judge.answerable", 1),
    ENTITY_OVERLAP: ("judge.entities", 2),
    ERROR_CATEGORY: ("judge.error_category", 1),
    STRATEGY: ("judge.strategy", 1),
    MINIMUM_SPAN: ("judge.minimum_span", 1),
}
"""Measure of a judgement that carries calls → their purpose, and how many there are without a second try."""


@dataclass(frozen=True)
class Assumptions:
    """Look-ups over what is recorded; every answer is kept for the table that says what was assumed.

    Args:
        turns: one row a recorded turn: method, purpose, output_tokens.
        refusals: one row a recorded response: method, answerable, refused, renewed (null without a second turn).
        calls: one row a recorded judgement with calls: purpose, calls, output_tokens, failed.
        max_tokens: of the model's replies.
        overhead: see `overhead_of`.
        cached: share of the prompt that comes from a cache, for engines that show no tokens.
    """

    turns: pl.DataFrame
    refusals: pl.DataFrame
    calls: pl.DataFrame
    max_tokens: int
    overhead: Assumed
    cached: Assumed
    told: dict[str, Assumed] = field(default_factory=dict)

    def output(self, purpose: str, method: str) -> Assumed:
        """Tokens of one reply."""
        return self._tell(f"tokens of a reply: {_about(purpose, method)}", lambda: self._output(purpose, method))

    def refused(self, method: str, answerable: bool) -> Assumed:
        """Share of the dialogues that are refused, and so have a second turn."""
        kind = "answerable" if answerable else "unanswerable"
        return self._tell(f"refused share: {method}, {kind}", lambda: self._refused(method, answerable))

    def renewed(self) -> Assumed:
        """Share of the second turns that give a question, and another one: judges ask about those."""
        return self._tell("second turns with a new question", self._renewed)

    def retried(self, purpose: str) -> Assumed:
        """Share of the calls whose reply cannot be read, and which are asked once more."""
        return self._tell(f"asked again: {purpose}", lambda: self._retried(purpose))

    def _tell(self, what: str, find: Callable[[], Assumed]) -> Assumed:
        if what not in self.told:
            self.told[what] = find()
        return self.told[what]

    def _output(self, purpose: str, method: str) -> Assumed:
        if purpose.startswith("judge."):
            for rows, enough in ((self.calls.filter(pl.col("purpose") == purpose), VERY_FEW), (self.calls, FEW)):
                if rows.height >= enough:
                    return mean_of((rows["output_tokens"] / rows["calls"]).to_list())
            return self._default("judge")
        known = self.turns.filter(pl.col("purpose") == purpose)
        same = known.filter(pl.col("method") == method)
        for rows in (same, known):
            if rows.height >= FEW:
                return mean_of([float(n) for n in rows["output_tokens"].to_list()])
        return self._default("judge" if purpose == "refusal" else "cot" if "cot" in method else "plain")

    def _default(self, kind: str) -> Assumed:
        most = self.max_tokens
        return Assumed(Range(LEAST_SHARE * most, REPLY_SHARE[kind] * most, most), DEFAULT)

    def _refused(self, method: str, answerable: bool) -> Assumed:
        alike = self.refusals.filter(pl.col("answerable") == answerable)
        prior = int(alike["refused"].sum()) / alike.height if alike.height else None
        for rows in (alike.filter(pl.col("method") == method), alike, self.refusals):
            if rows.height >= FEW:
                return share_of(int(rows["refused"].sum()), rows.height, prior)
        return Assumed(REFUSED, DEFAULT)

    def _renewed(self) -> Assumed:
        known = self.refusals.filter(pl.col("renewed").is_not_null() & ~pl.col("answerable"))
        if known.height < FEW:
            return Assumed(RENEWED, DEFAULT)
        return share_of(int(known["renewed"].sum()), known.height)

    def _retried(self, purpose: str) -> Assumed:
        if purpose == "refusal":
            again = self.turns.filter(pl.col("purpose") == purpose).group_by("response_id").len()
            return share_of(int((again["len"] > 1).sum()), again.height) if again.height >= FEW else _RETRIED
        for rows in (self.calls.filter(pl.col("purpose") == purpose), self.calls):
            if rows.height >= FEW:
                return share_of(int((rows["calls"] > rows["least"]).sum()), rows.height)
        return _RETRIED


_RETRIED: Final = Assumed(RETRIED, DEFAULT)


def _about(purpose: str, method: str) -> str:
    return purpose if purpose.startswith("judge.") else f"{purpose}, {method}"


def turn_rows(responses: pl.DataFrame, model: str, revision: str) -> pl.DataFrame:
    """`Assumptions.turns` of one model, out of the responses table."""
    mine = responses.filter((pl.col("model") == model) & (pl.col("model_revision") == revision))
    return (
        mine.select("response_id", "method", "turns")
        .explode("turns", empty_as_null=False, keep_nulls=False)
        .select("response_id", "method", *(pl.col("turns").struct.field(n) for n in TURN_FIELDS))
    )


TURN_FIELDS: Final = ("purpose", "prompt_tokens", "cached_tokens", "output_tokens")


def refusal_rows(
    responses: pl.DataFrame, questions: pl.DataFrame, model: str, revision: str, detector: str
) -> pl.DataFrame:
    """`Assumptions.refusals` of one model and detector."""
    mine = responses.filter(
        (pl.col("model") == model)
        & (pl.col("model_revision") == revision)
        & (pl.col("detector") == detector)
        & pl.col("refused").is_not_null()
    )
    gold = questions.select("question_id", "answerable", "question")
    turned = pl.col("turns").list.eval(pl.element().struct.field("purpose") == "reformulate").list.any()
    asked = mine.with_columns(turned=turned).select("question_id", "method", "refused", "reformulation", "turned")
    new = pl.col("reformulation").is_not_null() & (pl.col("reformulation") != pl.col("question"))
    return asked.join(gold, on="question_id").select(
        "question_id", "method", "answerable", "refused", renewed=pl.when("turned").then(new.fill_null(False))
    )


def call_rows(judgements: pl.DataFrame, judge: str, max_tokens: int) -> pl.DataFrame:
    """`Assumptions.calls` of one judge.

    A judgement does not say how many calls it took. It took another one where its reply could not be read in the end,
    or where it has more output than one reply may have.
    """
    kinds = pl.DataFrame(
        [(measure, purpose, least) for measure, (purpose, least) in MEASURE_CALLS.items()],
        schema=["measure", "purpose", "least"],
        orient="row",
    )
    mine = judgements.filter((pl.col("judge") == judge) & (pl.col("output_tokens") > 0)).join(kinds, on="measure")
    again = (pl.col("status") == Status.PARSE_FAILURE) | (pl.col("output_tokens") > pl.col("least") * max_tokens)
    return mine.select("purpose", "least", "output_tokens", calls=pl.col("least") + again.cast(pl.Int64))


def overhead_of(runs: pl.DataFrame, model: str) -> Assumed:
    """Computed prompt tokens ÷ the bound in whole cache blocks, over the recorded stages of a model."""
    known = runs.filter((pl.col("model") == model) & (pl.col("bound_block_tokens") > 0))
    if not known.height:
        return Assumed(OVERHEAD, DEFAULT)
    each = (known["bounded_computed_tokens"] / known["bound_block_tokens"]).to_list()
    total = int(known["bounded_computed_tokens"].sum()) / int(known["bound_block_tokens"].sum())
    return Assumed(Range(min(each), total, max(each)), f"recorded ({known.height} stages)")


def cached_of(turns: pl.DataFrame) -> Assumed:
    """Share of the prompt tokens that came from a cache, over recorded turns."""
    prompt = int(turns["prompt_tokens"].sum()) if turns.height else 0
    if not prompt:
        return Assumed(Range(0.0, 0.0, 0.0), DEFAULT)
    share = int(turns["cached_tokens"].sum()) / prompt
    return Assumed(Range.exactly(share), f"recorded (n {turns.height:,})")
