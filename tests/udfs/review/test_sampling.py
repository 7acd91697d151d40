from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from udfs.review.sampling import allocate, draw, shuffled

SIZES = st.dictionaries(st.text(max_size=3), st.integers(0, 60), max_size=12)


@settings(max_examples=50)
@given(SIZES, st.integers(0, 200), st.sampled_from(["proportional", "equal"]))
def test_allocate_gives_exactly_n_or_all_and_never_more_than_there_are(
    sizes: dict[str, int], n: int, allocation: str
) -> None:
    drawn = allocate(sizes, n, allocation)  # type: ignore[arg-type]
    assert list(drawn) == list(sizes)
    assert sum(drawn.values()) == min(n, sum(sizes.values()))
    assert all(0 <= drawn[key] <= sizes[key] for key in sizes)
    filled = [key for key in sizes if sizes[key]]
    if n >= len(filled):
        assert all(drawn[key] >= 1 for key in filled)


@settings(max_examples=50)
@given(st.lists(st.integers(1, 60), min_size=2, max_size=8), st.integers(8, 200))
def test_allocate_proportionally_never_gives_the_smaller_stratum_more(sizes: list[int], n: int) -> None:
    drawn = allocate(dict(enumerate(sizes)), n)
    assert all(drawn[a] <= drawn[b] + 1 for a in drawn for b in drawn if sizes[a] <= sizes[b])


@settings(max_examples=50)
@given(st.lists(st.integers(1, 60), min_size=1, max_size=8), st.integers(8, 200))
def test_allocate_in_equal_turns_differs_by_one_unless_a_stratum_is_used_up(sizes: list[int], n: int) -> None:
    drawn = allocate(dict(enumerate(sizes)), n, "equal")
    most = max(drawn.values())
    assert all(drawn[key] >= most - 1 or drawn[key] == sizes[key] for key in drawn)


def test_allocate_keeps_the_shares_of_the_strata() -> None:
    assert allocate({"a": 4000, "b": 4000, "c": 6400}, 144) == {"a": 40, "b": 40, "c": 64}


def test_allocate_that_does_not_go_round_serves_the_largest() -> None:
    assert allocate({"a": 1, "b": 9, "c": 5}, 2) == {"a": 0, "b": 1, "c": 1}


def test_draw_does_not_depend_on_the_order_of_the_items() -> None:
    strata = {f"id{i}": ("x" if i % 3 else "y",) for i in range(60)}
    backwards = dict(reversed(strata.items()))
    chosen, counts = draw(strata, 20, seed=4)
    assert draw(backwards, 20, seed=4) == (chosen, counts)
    assert len(set(chosen)) == 20
    assert {(s.name, s.available, s.drawn) for s in counts} == {(("x",), 40, 13), (("y",), 20, 7)}
    assert draw(strata, 20, seed=5)[0] != chosen


def test_shuffled_gives_each_annotator_an_order_of_their_own() -> None:
    ids = [f"id{i}" for i in range(30)]
    first, second = shuffled(ids, 0, "sheet", 1), shuffled(ids, 0, "sheet", 2)
    assert sorted(first) == sorted(second) == sorted(ids)
    assert first != second
    assert first == shuffled(reversed(ids), 0, "sheet", 1)
