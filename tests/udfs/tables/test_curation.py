"""Fates and funnel of a curation: every question is in one of the counts; the paper's numbers are what it prints."""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.factories import WHEN
from udfs.schema import ProposalFate, Status
from udfs.tables.curation import PUBLISHED, fates, funnel

WRITTEN = list(ProposalFate)[: list(ProposalFate).index(ProposalFate.PROVIDER_ERROR) + 1]
SAMPLE = st.sampled_from([("ok", True), ("ok", False), ("over_length", None), ("provider_error", None)])


def proposals(written: list[ProposalFate]) -> pl.DataFrame:
    rows: list[dict[str, Any]] = [
        {"proposal_id": f"p{number}", "doc_id": f"d{number % 2}", "source_dataset": f"s{number % 2}", "language": "en"}
        | {"number": number, "question": "Why?", "excerpt": None, "fate": str(fate), "detail": None}
        for number, fate in enumerate(written)
    ]
    texts = ("proposal_id", "doc_id", "source_dataset", "language", "question", "fate", "detail")
    kinds: dict[str, Any] = dict.fromkeys(texts, pl.String) | {"number": pl.Int64, "excerpt": pl.Null}
    return pl.DataFrame(rows, schema=kinds)


def checks(samples: dict[str, list[tuple[str, bool | None]]]) -> pl.DataFrame:
    rows = [
        (name, number, status, refused, WHEN)
        for name, said in samples.items()
        for number, (status, refused) in enumerate(said)
    ]
    kinds = {"proposal_id": pl.String, "sample": pl.Int64, "status": pl.String, "refused": pl.Boolean}
    return pl.DataFrame(rows, schema=kinds | {"created_at": pl.Datetime("us", "UTC")}, orient="row")


@pytest.mark.parametrize(
    ("said", "fate"),
    [
        ([("ok", False)] * 5, "not_confusing"),
        ([("ok", False)] * 4 + [("ok", True)], "awaiting_annotation"),
        ([("ok", False)] * 5 + [("ok", True)], "not_confusing"),  # the sixth is not asked for any more
        ([("ok", True)] * 4, "unchecked"),
        ([("ok", True)] * 4 + [("provider_error", None)], "unchecked"),
        ([("ok", True)] * 4 + [("filtered", None)], "awaiting_annotation"),
        ([("over_length", None)] * 5, "check_failed"),
        ([], "unchecked"),
    ],
)
def test_fates_follow_from_the_samples_that_are_asked_for(said: list[tuple[str, bool | None]], fate: str) -> None:
    found = fates(proposals([ProposalFate.PROPOSED]), checks({"p0": said}), 5)
    assert found["fate"].to_list() == [fate]
    assert found["refused"].to_list() == [sum(refused is True for _, refused in said[:5])]


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(WRITTEN), st.lists(SAMPLE, max_size=3)), max_size=12))
def test_funnel_counts_every_question_and_only_narrows(
    plan: list[tuple[ProposalFate, list[tuple[str, bool | None]]]],
) -> None:
    said = {f"p{number}": samples for number, (_, samples) in enumerate(plan)}
    rows = fates(proposals([fate for fate, _ in plan]), checks(said), 2).to_dicts()
    assert len(rows) == len(plan)
    kept = [row["proposal_id"] for row in rows if row["fate"] == ProposalFate.AWAITING_ANNOTATION]
    counts = funnel(rows, kept, dict.fromkeys(kept[1:], False))
    all_steps = list(counts["all"].values())
    assert all_steps[0] == len(plan)
    assert all_steps == sorted(all_steps, reverse=True)
    assert all_steps[-3:] == [len(kept), len(kept[1:]), len(kept[1:])]
    parts = [Counter(column) for name, column in counts.items() if name != "all"]
    assert sum(parts, Counter()) == +Counter(counts["all"])
    undecided = {str(status) for status in Status}
    written = [
        row for row, (fate, _) in zip(sorted(rows, key=lambda r: r["number"]), plan, strict=True) if fate in undecided
    ]
    assert not any(row["proposal_id"] in kept for row in written)


def test_published_counts_give_the_percentages_that_the_paper_prints() -> None:
    shares = [round(100 * column["of these unanswerable"] / column["labelled"], 2) for column in PUBLISHED.values()]
    assert shares == [21.22, 36.10, 30.91]
