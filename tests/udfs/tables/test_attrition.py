from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.factories import frame, make_candidate, make_document
from udfs.agents.spec import KINDS
from udfs.records import Candidate
from udfs.schema import Fate, Kind, Status, Step
from udfs.tables.attrition import (
    ATTRITION,
    COLUMNS,
    STAGES,
    STEPS,
    UNDECIDED,
    WHOLE,
    attrition,
    checked,
    reasons,
)
from udfs.tables.metrics import ALL
from udfs.tables.observations import MISLEADING

DOCUMENTS = [
    make_document(f"Document {n}.", language="zh" if n % 2 else "en", domain="law" if n > 1 else "book")
    for n in range(4)
]
ENDINGS = st.one_of(
    st.just((Step.CONSOLE, Fate.ACCEPTED)),
    st.tuples(st.sampled_from(list(Step)), st.sampled_from([fate for fate in Fate if fate is not Fate.ACCEPTED])),
)
PLANS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(KINDS), ENDINGS), min_size=1, max_size=40)


def candidates(plan: list[tuple[int, Kind, tuple[Step, Fate]]]) -> pl.DataFrame:
    made = [
        make_candidate(DOCUMENTS[document], number, kind, fate, step=step)
        for number, (document, kind, (step, fate)) in enumerate(plan)
    ]
    return frame("candidates", made).select(COLUMNS)


def cell(counted: pl.DataFrame, stage: str, kind: str = ALL, language: str = ALL) -> dict[str, object]:
    (row,) = counted.filter(
        (pl.col("stage") == stage) & (pl.col("kind") == kind) & (pl.col("language") == language)
    ).to_dicts()
    return row


def test_attrition_counts_what_came_was_lost_and_is_left() -> None:
    accepted, low, survives = (
        (Step.CONSOLE, Fate.ACCEPTED),
        (Step.QUALITY, Fate.LOW_QUALITY),
        (Step.RETRIEVAL, Fate.EVIDENCE_SURVIVES),
    )
    counted = attrition(
        candidates(
            [
                (0, Kind.ANSWERABLE, accepted),
                (0, Kind.ENTITY_SUBSTITUTION, survives),
                (1, Kind.IMPOSSIBLE_CONDITION, accepted),
                (1, Kind.FALSE_ASSUMPTION, low),
                (2, Kind.LACK_OF_EVIDENCE, (Step.RETRIEVAL, Fate.PARSE_FAILURE)),
            ]
        )
    )
    assert dict(counted.schema) == ATTRITION
    quality = cell(counted, Step.QUALITY)
    assert [quality[name] for name in ("reached", "lost", "undecided", "remaining", "share")] == [5, 1, 0, 4, 0.2]
    retrieval = cell(counted, Step.RETRIEVAL)
    assert [retrieval[name] for name in ("reached", "lost", "undecided", "remaining")] == [4, 2, 1, 2]
    misleading = cell(counted, Step.RETRIEVAL, MISLEADING)
    assert [misleading[name] for name in ("reached", "lost", "remaining", "share")] == [2, 1, 1, 0.5]
    assert cell(counted, Step.CONSOLE, MISLEADING)["remaining"] == 1
    assert cell(counted, Step.QUALITY, ALL, "zh")["lost"] == 1
    assert cell(counted, Step.QUALITY, ALL, "en")["lost"] == 0


def test_attrition_of_a_step_that_nobody_reached_has_no_share() -> None:
    counted = attrition(candidates([(0, Kind.ANSWERABLE, (Step.SEGMENT, Fate.NO_FRAGMENT))]))
    assert cell(counted, Step.QA)["share"] is None
    assert cell(counted, Step.QA)["reached"] == 0


def test_attrition_interval_resamples_documents_not_candidates() -> None:
    """Ten candidates of each of four documents, alike within a document, say no more than four candidates."""
    lost = (Step.QA, Fate.NOT_A_QUESTION)
    plan = [(n, Kind.ANSWERABLE, lost if n == 0 else (Step.CONSOLE, Fate.ACCEPTED)) for n in range(4)]
    few, many = (cell(attrition(candidates(plan * times)), Step.QA) for times in (1, 10))
    assert few["share"] == many["share"] == 0.25
    assert (few["ci_low"], few["ci_high"]) == (many["ci_low"], many["ci_high"])


def test_attrition_interval_over_thousands_of_documents_agrees_with_the_normal_one() -> None:
    (one,) = candidates([(0, Kind.ANSWERABLE, (Step.CONSOLE, Fate.ACCEPTED))]).to_dicts()
    rows = [
        one
        | {"candidate_id": str(n), "doc_id": str(n)}
        | ({} if n % 5 else {"step": Step.QA.value, "fate": Fate.NOT_A_QUESTION.value})
        for n in range(6_000)
    ]
    found = cell(attrition(pl.DataFrame(rows, schema=candidates([]).schema)), Step.QA)
    half = 1.96 * (0.2 * 0.8 / 6_000) ** 0.5
    assert found["share"] == pytest.approx(0.2)
    assert found["ci_low"] == pytest.approx(0.2 - half, abs=0.002)
    assert found["ci_high"] == pytest.approx(0.2 + half, abs=0.002)


def test_stages_of_the_paper_cover_every_step_once_in_order() -> None:
    assert [step for steps in STAGES.values() for step in steps] == list(Step)
    assert [step for steps in STEPS.values() for step in steps] == list(Step)
    assert [step for steps in WHOLE.values() for step in steps] == list(Step)


@settings(max_examples=15, deadline=None)
@given(PLANS)
def test_attrition_proposed_is_accepted_and_the_sum_over_reasons(
    plan: list[tuple[int, Kind, tuple[Step, Fate]]],
) -> None:
    every = checked(candidates(plan))
    steps, counted = attrition(every, resamples=10), reasons(every)
    for (language, kind), part in steps.group_by("language", "kind", maintain_order=True):
        ended = counted.filter((pl.col("language") == language) & (pl.col("kind") == kind))
        proposed, accepted = part["reached"][0], part["remaining"][-1]
        assert proposed == accepted + ended["n"].sum()
        assert part["reached"].to_list()[1:] == part["remaining"].to_list()[:-1]
        undecided = ended.filter(pl.col("fate").is_in([*UNDECIDED]))["n"].sum()
        assert part["undecided"].sum() == undecided
        for stage, lost in part.select("stage", "lost").iter_rows():
            assert lost == ended.filter(pl.col("step") == stage)["n"].sum()
    whole = attrition(every, WHOLE, resamples=10)
    of_kind = {
        kind: n for language, kind, n in whole.select("language", "kind", "reached").iter_rows() if language == ALL
    }
    assert of_kind.get(MISLEADING, 0) == sum(n for kind, n in of_kind.items() if kind.startswith(f"{MISLEADING}."))
    assert of_kind[ALL] == len(plan) == sum(of_kind.get(kind.value, 0) for kind in KINDS)
    staged = attrition(every, STAGES, resamples=10).filter((pl.col("language") == ALL) & (pl.col("kind") == ALL))
    assert staged["lost"].sum() == of_kind[ALL] - steps["remaining"][len(Step) - 1]


def test_reasons_come_in_the_order_of_the_steps() -> None:
    plan = [
        (0, Kind.ANSWERABLE, (Step.COMMON_SENSE, Fate.COMMON_SENSE)),
        (0, Kind.ANSWERABLE, (Step.QA, Fate.TOO_LONG)),
        (0, Kind.ANSWERABLE, (Step.QA, Fate.NOT_A_QUESTION)),
        (0, Kind.ANSWERABLE, (Step.SEGMENT, Fate.NO_FRAGMENT)),
    ]
    told = reasons(candidates(plan)).filter((pl.col("kind") == ALL) & (pl.col("language") == ALL))
    assert told["fate"].to_list() == ["no_fragment", "not_a_question", "too_long", "common_sense"]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"step": Step.QA}, "accepted end at console"),
        ({"status": Status.PROVIDER_ERROR}, "not the fate's"),
        ({"fate": Fate.OVER_LENGTH, "status": Status.OK}, "not the fate's"),
        ({"kind": "unanswerable"}, "knows why"),
        ({"kind": "riddle"}, "riddle"),
    ],
)
def test_candidates_that_no_pipeline_can_have_written_raise(wrong: dict[str, object], says: str) -> None:
    made: Candidate = replace(make_candidate(DOCUMENTS[0]), **wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=says):
        checked(frame("candidates", [made]))


def test_candidate_with_two_fates_raises() -> None:
    twice = [make_candidate(DOCUMENTS[0]), make_candidate(DOCUMENTS[0], fate=Fate.NOT_A_QUESTION)]
    with pytest.raises(ValueError, match="more than one fate"):
        checked(frame("candidates", twice))
