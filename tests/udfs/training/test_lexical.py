"""The head is fitted on words that decide, and weighed on documents that were kept back."""

from __future__ import annotations

from dataclasses import replace

from udfs.engines.lexical_head import pair_features
from udfs.training.examples import Example
from udfs.training.lexical import CALIBRATION_SHARE, enough, fit_head, fit_words, part

TOWNS = ("Aster", "Birch", "Cedar", "Dahlia", "Elm", "Fern", "Gorse", "Hazel")


def examples(count: int) -> list[Example]:
    """Of each document: what is in its words, and what is not."""
    made = []
    for number in range(count):
        town = TOWNS[number % len(TOWNS)]
        text = f"The bridge of {town} was opened in {1800 + number}. A toll was paid there for {number + 2} years."
        asked = ((f"When was the bridge of {town} opened?", True), ("Who sank the blue harbour crane?", False))
        for index, (question, answerable) in enumerate(asked):
            made.append(Example(f"{number}-{index}", f"d{number}", "toy", "", text, question, answerable, ()))
    return made


def test_part_keeps_documents_whole_and_a_share_of_them_back() -> None:
    learnt, kept = part(examples(400), seed=0)
    assert {e.doc_id for e in learnt}.isdisjoint({e.doc_id for e in kept})
    assert len(learnt) + len(kept) == 800
    assert abs(len(kept) / 800 - CALIBRATION_SHARE) < 0.05
    assert part(examples(400), seed=0) == (learnt, kept)
    assert part(examples(400), seed=1) != (learnt, kept)


def test_enough_needs_both_classes() -> None:
    many = examples(60)
    assert enough(many)
    assert not enough([e for e in many if e.answerable] * 2)
    assert not enough(many[:20])


def test_head_over_an_encoder_that_knows_nothing_leans_on_the_words() -> None:
    learnt, kept = part(examples(400), seed=0)
    head = fit_head(fit_words(learnt, kept), [0.5] * len(kept))
    said = [head.probability(0.5, pair_features(e.text, e.question)) for e in kept]
    assert all((p >= 0.5) == e.answerable for p, e in zip(said, kept, strict=True))


def test_head_over_an_encoder_that_is_right_leans_on_it() -> None:
    learnt, kept = part(examples(400), seed=0)
    mixed = [replace(e, answerable=e.answerable == (i // 2 % 2 == 0)) for i, e in enumerate(learnt)]
    encoder = [0.95 if e.answerable else 0.05 for e in kept]
    head = fit_head(fit_words(mixed, kept), [None, *encoder[1:]])
    assert head.encoder_weight > 0.2
    features = pair_features(kept[0].text, kept[0].question)
    assert head.probability(0.95, features) > 0.5 > head.probability(0.05, features)
