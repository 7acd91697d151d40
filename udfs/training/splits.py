"""Document-disjoint parts: no document that is trained on, in any dataset, is measured on. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from udfs.errors import UserError
from udfs.identity import content_hash
from udfs.training.examples import Example

TRAIN: Final = "train"
TEST: Final = "test"
OWN: Final = "its own splits"
BY_DOCUMENT: Final = "by document"
_UNIT: Final = 16**16


def place(purpose: str, seed: int, doc_id: str) -> float:
    """Where a document stands between 0 and 1 in an order of its own for each purpose and seed."""
    return int(content_hash(purpose, seed, doc_id)[:16], 16) / _UNIT


@dataclass(frozen=True)
class Parts:
    """What is trained on and what is measured on.

    Args:
        how: by dataset: its own splits, or by document.
        overlapping: by dataset: questions left out of training because their document is measured on elsewhere.
        unused: by dataset with splits of its own: questions of other splits than train and test.
    """

    train: list[Example]
    test: list[Example]
    how: Mapping[str, str]
    overlapping: Mapping[str, int]
    unused: Mapping[str, int]

    def documents(self) -> dict[str, dict[str, int]]:
        """Distinct documents by part and dataset."""
        return {
            name: dict(sorted(Counter(dataset for dataset, _ in {(e.dataset, e.doc_id) for e in part}).items()))
            for name, part in ((TRAIN, self.train), (TEST, self.test))
        }


def split(examples: Sequence[Example], test_share: float, seed: int) -> Parts:
    """Part the examples by document.

    A dataset that has a split `train` and a split `test` without a common document keeps them. Of all others a
    document's part follows from its id and the seed, so a document has one part in whatever dataset it is.

    Args:
        test_share: share of the documents that are measured on, where the dataset does not say.

    Raises:
        UserError: nothing is left to train or to measure on.
    """
    datasets = list(dict.fromkeys(example.dataset for example in examples))
    how = {name: OWN if _has_own([e for e in examples if e.dataset == name]) else BY_DOCUMENT for name in datasets}
    assigned = [(example, _part(example, how[example.dataset], test_share, seed)) for example in examples]
    test = [example for example, part in assigned if part == TEST]
    held_out = {example.doc_id for example in test}
    train = [example for example, part in assigned if part == TRAIN and example.doc_id not in held_out]
    overlapping = Counter(e.dataset for e, part in assigned if part == TRAIN and e.doc_id in held_out)
    unused = Counter(e.dataset for e, part in assigned if part is None)
    for name, part in ((TRAIN, train), (TEST, test)):
        if len({example.answerable for example in part}) < 2:
            raise UserError(
                f"the {name} part has {len(part):,} questions and not both answerable and unanswerable ones: give more "
                "documents, other datasets, or another test_share or seed"
            )
    return Parts(train, test, how, dict(overlapping), dict(unused))


def _has_own(examples: Sequence[Example]) -> bool:
    documents = {name: {e.doc_id for e in examples if e.split == name} for name in (TRAIN, TEST)}
    return all(documents.values()) and documents[TRAIN].isdisjoint(documents[TEST])


def _part(example: Example, how: str, test_share: float, seed: int) -> str | None:
    if how == OWN:
        return example.split if example.split in (TRAIN, TEST) else None
    return TEST if place("training part", seed, example.doc_id) < test_share else TRAIN
