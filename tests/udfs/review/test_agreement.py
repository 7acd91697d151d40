from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.factories import frame
from tests.udfs.review.bench import votes
from udfs.review.agreement import disagreements, groups_of, review_agreement, review_quality

Table = dict[tuple[str, str, str], str]


def value(table: Table, group: str, check: str, rule: str) -> tuple[int, int]:
    rows = review_quality(votes(table)).filter(group=group, check=check, rule=rule)
    assert rows.height == 1
    return rows["n"][0], rows["passed"][0]


SMALL: Table = {
    ("i1", "answerable", "question"): "yyy",
    ("i1", "answerable", "answer"): "yyn",
    ("i2", "answerable", "question"): "ynn",
    ("i2", "answerable", "answer"): "nyy",
    ("i3", "misleading.entity_substitution", "question"): "yyy",
    ("i3", "misleading.entity_substitution", "answer"): "yyy",
    ("i4", "lack_of_evidence", "question"): "nnn",
    ("i4", "lack_of_evidence", "answer"): "yyy",
}


@pytest.mark.parametrize(
    ("group", "check", "unanimous", "majority"),
    [
        ("answerable", "question", (2, 1), (2, 1)),
        ("answerable", "answer", (2, 0), (2, 2)),
        ("answerable", "both", (2, 0), (2, 1)),
        ("misleading", "both", (1, 1), (1, 1)),
        ("unanswerable", "both", (2, 1), (2, 1)),
        ("unanswerable", "answer", (2, 2), (2, 2)),
        ("all", "both", (4, 1), (4, 2)),
    ],
)
def test_quality_counts_by_group_check_and_rule(
    group: str, check: str, unanimous: tuple[int, int], majority: tuple[int, int]
) -> None:
    assert value(SMALL, group, check, "unanimous") == unanimous
    assert value(SMALL, group, check, "majority") == majority


def test_quality_of_the_papers_counts_gives_the_papers_table() -> None:
    passes = {"answerable": (37, 40), "lack_of_evidence": (40, 40), "misleading.false_assumption": (57, 64)}
    table: Table = {
        (f"{kind}{number}", kind, check): "yyy" if number < passed else "yny"
        for kind, (passed, n) in passes.items()
        for number in range(n)
        for check in ("question", "answer")
    }
    quality = review_quality(votes(table)).filter(check="both", rule="unanimous")
    found = {row["group"]: round(100 * row["value"], 2) for row in quality.iter_rows(named=True)}
    assert found["answerable"] == 92.5
    assert found["lack_of_evidence"] == 100
    assert found["misleading"] == 89.06
    assert found["unanswerable"] == 93.27
    assert found["all"] == 93.06
    interval = quality.filter(group="answerable")
    assert interval["ci_low"][0] == pytest.approx(0.8014, abs=1e-4)  # Wilson's for 37 of 40
    assert interval["ci_high"][0] == pytest.approx(0.9742, abs=1e-4)


def test_quality_of_one_check_has_no_both() -> None:
    table: Table = {
        ("v1", "lack_of_evidence/correct", "verdict"): "yy",
        ("v2", "answerable/incorrect", "verdict"): "yn",
    }
    quality = review_quality(votes(table, target="judgements"))
    assert set(quality["check"]) == {"verdict"}
    assert set(quality["target"]) == {"judgements"}
    assert set(quality["group"]) == {"answerable", "lack_of_evidence", "unanswerable", "correct", "incorrect", "all"}


def test_quality_leaves_out_items_that_someone_did_not_answer_in_full() -> None:
    table = SMALL | {("i1", "answerable", "answer"): "yy-"}
    assert value(table, "answerable", "question", "majority") == (1, 0)
    assert review_agreement(votes(table))["items"].to_list() == [3, 3]


def test_half_of_the_annotators_is_no_majority() -> None:
    assert value({("i", "answerable", "q"): "yn"}, "all", "q", "majority") == (1, 0)


def test_groups_of_unites_kinds() -> None:
    assert groups_of("misleading.false_assumption/correct") == (
        "misleading.false_assumption",
        "misleading",
        "unanswerable",
        "correct",
        "all",
    )
    assert groups_of("answerable") == ("answerable", "all")
    assert groups_of("reasoned_answer") == ("reasoned_answer", "all")


def test_kappa_of_a_table_worked_by_hand() -> None:
    # Items yyy, yyn, nnn: P = (1 + 1/3 + 1) / 3 = 7/9; p(yes) = 5/9, Pe = 25/81 + 16/81 = 41/81; κ = 22/40.
    table: Table = {(f"i{n}", "answerable", "q"): said for n, said in enumerate(["yyy", "yyn", "nnn"])}
    row = review_agreement(votes(table)).row(0, named=True)
    assert row["kappa"] == pytest.approx(22 / 40)
    assert (row["annotators"], row["items"], row["unanimous"]) == (3, 3, 2)


@pytest.mark.parametrize("said", [["yyy", "yyy"], ["nnn", "nnn"], ["y", "n"]])
def test_kappa_is_null_where_it_is_undefined(said: list[str]) -> None:
    table: Table = {(f"i{n}", "answerable", "q"): one for n, one in enumerate(said)}
    assert review_agreement(votes(table))["kappa"].to_list() == [None]


@settings(max_examples=30)
@given(st.integers(1, 4).flatmap(lambda k: st.lists(st.text("yn", min_size=k, max_size=k), min_size=1, max_size=12)))
def test_agreement_and_quality_stay_within_their_bounds(said: list[str]) -> None:
    table: Table = {(f"i{n}", "answerable", "q"): one for n, one in enumerate(said)}
    row = review_agreement(votes(table)).row(0, named=True)
    assert row["items"] == len(said)
    assert row["unanimous"] == sum(len(set(one)) == 1 for one in said)
    assert row["kappa"] is None or row["kappa"] <= 1 + 1e-12
    n, unanimous = value(table, "all", "q", "unanimous")
    assert unanimous <= value(table, "all", "q", "majority")[1] <= n
    quality = review_quality(votes(table))
    inside = (quality["ci_low"] <= quality["value"] + 1e-12) & (quality["value"] <= quality["ci_high"] + 1e-12)
    assert inside.all()


def test_reviews_in_one_frame_do_not_mix() -> None:
    both = votes(SMALL).vstack(votes({("x", "answerable", "verdict"): "yn"}, review="s", target="judgements"))
    assert review_quality(both).filter(review="r").equals(review_quality(votes(SMALL)))
    assert review_agreement(both).filter(review="s")["annotators"].to_list() == [2]


def test_no_annotations_give_empty_frames_with_their_columns() -> None:
    none = frame("annotations", [])
    assert review_quality(none).is_empty()
    assert review_quality(none).columns == [
        *("review", "target", "group", "check", "rule", "n", "passed", "value", "ci_low", "ci_high")
    ]
    assert review_agreement(none).columns == ["review", "check", "annotators", "items", "unanimous", "kappa"]
    assert disagreements(none).is_empty()


def test_disagreements_are_the_votes_on_split_checks() -> None:
    split = disagreements(votes(SMALL))
    assert {(row["item_id"], row["check"]) for row in split.iter_rows(named=True)} == {
        ("i1", "answer"),
        ("i2", "question"),
        ("i2", "answer"),
    }
    assert split.height == 9
