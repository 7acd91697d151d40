"""What counts as an engine's death."""

from __future__ import annotations

import pytest

from jobs.support.board import Board


@pytest.mark.parametrize(
    ("alive", "told", "deaths"),
    [
        (["n1", "n2"], False, 1),  # its process died, the node did not
        (["n2"], False, 0),  # the node was lost
        (["n1", "n2"], True, 1),  # the engine told that it dies, and died
        (["n2"], True, 1),
    ],
)
def test_board_engine_that_comes_back_died_where_its_node_did_not(alive: list[str], told: bool, deaths: int) -> None:
    board = Board()
    assert board.came("a", "n1", ["n1", "n2"]) == 0
    board.works_on("a", 3)
    if told:
        board.add_death("a")
    assert board.came("a", "n2", alive) == deaths
    assert board.read_blocks() == {"a": 0}


def test_board_engines_are_counted_together() -> None:
    board = Board()
    for actor in ("a", "b"):
        board.came(actor, "n1", ["n1"])
    board.came("a", "n1", ["n1"])
    assert board.came("b", "n1", ["n1"]) == 2
