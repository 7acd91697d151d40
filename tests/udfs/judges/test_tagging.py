"""What is taken of the entities that a model names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from udfs.judges.tagging import Tags, sifted


@pytest.mark.parametrize(
    ("named", "question", "tags"),
    [
        (["cox", "Tannet crew"], "Who is the cox of the Tannet crew?", Tags(("cox", "Tannet crew"))),
        (["COX", "cox"], "Who is the cox?", Tags(("COX",))),
        (["Tannet's crew"], "Who rows in Tannet’s crew?", Tags(("Tannet's crew",))),
        (["Ines Bahr", "", "?"], "Who is the cox?", Tags((), ("Ines Bahr", "?"))),
        (["白水镇", "龙舟队", "周秀兰"], "白水镇的龙舟队由谁掌舵？", Tags(("白水镇", "龙舟队"), ("周秀兰",))),
        ([], "Who?", Tags(())),
    ],
)
def test_sifted_keeps_what_the_question_holds_once(named: list[str], question: str, tags: Tags) -> None:
    assert sifted(named, question) == tags


@given(st.lists(st.text(max_size=6), max_size=8), st.text(max_size=30))
def test_sifted_parts_the_named_without_repetition_or_loss(named: list[str], question: str) -> None:
    tags = sifted(named, question)
    both = [*tags.entities, *tags.left_out]
    assert len({entity.casefold() for entity in both}) == len(both)
    assert {entity.casefold() for entity in both} == {entity.casefold() for entity in named if entity}
