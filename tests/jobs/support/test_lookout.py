"""When a stage counts as standing still."""

from __future__ import annotations

import pytest

from jobs.support.lookout import ActorState, stands_still

READER = ActorState("reader", is_engine=False, state="ALIVE")
LOST_READER = ActorState("reader", is_engine=False, state="RESTARTING")
HERE = ActorState("here", is_engine=True, state="ALIVE")
LOST = ActorState("lost", is_engine=True, state="RESTARTING")
NEVER_THERE = ActorState("third", is_engine=True, state="PENDING_CREATION")


@pytest.mark.parametrize(
    ("actors", "blocks", "still"),
    [
        ([READER, HERE, LOST], {"lost": 2}, True),
        ([READER, HERE, LOST], {"here": 0, "lost": 2}, True),
        ([LOST_READER, HERE], {}, True),
        ([READER, HERE, NEVER_THERE], {}, True),
        ([READER, HERE, LOST], {"here": 1, "lost": 2}, False),
        ([READER, HERE], {"here": 0}, False),
        ([READER, LOST, NEVER_THERE], {"lost": 2}, False),
        ([], {}, False),
    ],
)
def test_stage_stands_still_when_actors_wait_and_no_engine_there_has_work(
    actors: list[ActorState], blocks: dict[str, int], still: bool
) -> None:
    assert stands_still(actors, blocks) is still
