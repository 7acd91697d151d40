from __future__ import annotations

import json
from typing import Any

import pytest

from tests.udfs.sources.helpers import BRIDGE, take, write_jsonl
from udfs.sources.training import forbids_training


@pytest.mark.parametrize(
    ("provenance", "why"),
    [
        ({"extra": {"canary": "GUID 1"}}, "GUID 1"),
        ({"extra": {"no_training": "It is a benchmark"}}, "It is a benchmark"),
        ({"extra": {"canary": "GUID 1", "no_training": "It is a benchmark"}}, "It is a benchmark; GUID 1"),
        ({"extra": {"canary": "", "no_training": None}}, None),
        ({"extra": {"canary": "  "}}, None),
        ({"extra": {"topic": "canary"}}, None),
        ({"file": "no_training/canary.csv"}, None),
        ({}, None),
        (["canary"], None),
    ],
)
def test_forbids_training_reads_the_flag_and_the_canary_alone(provenance: Any, why: str | None) -> None:
    assert forbids_training(json.dumps(provenance)) == why


def test_forbids_training_holds_for_any_source_that_keeps_a_canary(tmp_path: Any) -> None:
    row = {"context": BRIDGE, "question": "When?", "answerable": 1, "entities": []}
    path = write_jsonl(tmp_path / "a.jsonl", [row, row | {"question": "Who?", "canary": "GUID 7"}])
    assert [forbids_training(question.provenance) for question in take("couldask", path).questions] == [None, "GUID 7"]
