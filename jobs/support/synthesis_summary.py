"""What a person wants to know when a synthesis ends."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from jobs.support.fragments import OwedFragments
from jobs.support.gate import TargetCount
from jobs.support.publishing import Published
from jobs.support.synthesis import Made, Synthesis
from udfs.agents.spec import KINDS
from udfs.schema import Fate, Step


def summary(run: Synthesis, owed: OwedFragments, made: Made, published: Published) -> str:
    """Rows, where the candidates went, targets and budget, tokens, what was published, and the next commands."""
    now = made.totals.rows("candidates")
    lines = [
        f"dataset {run.config.name}: {now:,} candidates now, {owed.recorded:,} before, {owed.expected:,} expected",
        *attrition(run.candidates()),
        *_targets(run.targets(), made),
        *_budget(made),
        *_tokens(made),
        *_retry(made),
        *_published(run, published),
    ]
    return "\n".join(lines)


def attrition(candidates: pl.DataFrame) -> Iterator[str]:
    """proposed = accepted + ended, by kind and by step and reason; every candidate is in one of the counts.

    Args:
        candidates: kind, step and fate of every candidate of the settings.
    """
    accepted = candidates.filter(pl.col("fate") == Fate.ACCEPTED)
    ended = candidates.filter(pl.col("fate") != Fate.ACCEPTED)
    yield f"proposed {candidates.height:,} = accepted {accepted.height:,} + ended {ended.height:,}"
    by_kind = dict(accepted.group_by("kind").len().iter_rows())
    if by_kind:
        yield "  accepted: " + ", ".join(f"{by_kind[kind]:,} {kind}" for kind in KINDS if kind in by_kind)
    for step in Step:
        reasons = (
            ended.filter(pl.col("step") == step).group_by("fate").len().sort(["len", "fate"], descending=[True, False])
        )
        if reasons.height:
            named = ", ".join(f"{count:,} {fate}" for fate, count in reasons.iter_rows())
            yield f"  ended at {step} {reasons['len'].sum():,}: {named}"


def _targets(counted: TargetCount, made: Made) -> Iterator[str]:
    pairs = list(zip(counted.targets, counted.have, strict=True))
    for target, have in pairs:
        yield f"target {target}: {have:,} of {target.count:,}" + (" (met)" if have >= target.count else "")
    if not pairs:
        return
    if all(have >= target.count for target, have in pairs):
        yield "all targets are met"
    elif made.outcome.budget is None:
        yield "the documents ran out before all targets were met: raise synthesis.alpha or limit, or add datasets"


def _budget(made: Made) -> Iterator[str]:
    if made.outcome.budget is not None:
        refused = made.outcome.refused[made.outcome.budget]
        yield (
            f"{made.outcome.budget}: {refused:,} bundles were not started and stay owed; start again with a higher cap "
            "to go on"
        )


def _tokens(made: Made) -> Iterator[str]:
    totals = made.totals
    if totals.prompt_tokens:
        text = (
            f"prompt tokens {totals.prompt_tokens:,}, computed {totals.computed_tokens:,} "
            f"({totals.cached_tokens / totals.prompt_tokens:.0%} from cache), output {totals.output_tokens:,}"
        )
        if totals.computed_over_bound is not None:
            text += f"; computed ÷ bound {totals.computed_over_bound:.3f}"
        yield text


def _retry(made: Made) -> Iterator[str]:
    again = made.totals.statuses["candidates"]["provider_error"]
    if again:
        yield f"warning: {again:,} candidates failed at the provider; start the same command again for them"


def _published(run: Synthesis, published: Published) -> Iterator[str]:
    for why, count in published.left_out.items():
        yield f"warning: {count:,} accepted candidates are not published: {why}"
    name, root = run.config.name, run.store.root
    if not published.questions:
        there = name in run.store.dataset_names()
        yield f"nothing was accepted, so nothing was published as {name!r}" + (
            "; it holds what other settings made" if there else ""
        )
        return
    splits = ", ".join(f"{split} {published.documents_by_split[split]:,}" for split in run.config.splits.ratios)
    how = "published" if published.written else "published before, unchanged"
    documents = published.documents_by_split.total()
    yield f"{how}: dataset {name!r}, {published.questions:,} questions about {documents:,} documents ({splits})"
    yield f"report: python -m jobs.report storage.root={root} run={name}"
    yield f"evaluate: python -m jobs.evaluate model=… 'datasets=[{name}]' storage.root={root}"
