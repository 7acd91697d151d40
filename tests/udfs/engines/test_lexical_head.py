"""The head over an encoder and the words: its sum, its file, and what it leaves as it was."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from udfs.engines.base import EngineError, OverLength
from udfs.engines.classifier_weights import HEAD
from udfs.engines.lexical_head import HeadedClassifier, LexicalHead, log_odds, pair_features, read_head
from udfs.errors import UserError
from udfs.measures.lexical_match import FEATURES

NOTHING = dict.fromkeys(FEATURES, 0.0)


class Encoder:
    name, revision, closed = "encoder", "1", False

    async def answerable(self, pairs: Sequence[tuple[str, str]]) -> list[float | EngineError]:
        return [OverLength("too long") if not text else 0.8 for text, _ in pairs]

    async def close(self) -> None:
        self.closed = True


def test_head_without_weights_of_words_gives_the_encoders_probability() -> None:
    head = LexicalHead(0.0, 1.0, NOTHING)
    assert head.probability(0.8, [1.0] * len(FEATURES)) == pytest.approx(0.8)


def test_head_adds_the_log_odds_of_the_words() -> None:
    head = LexicalHead(-1.0, 2.0, NOTHING | {"held": 3.0})
    features = [1.0 if name == "held" else 0.0 for name in FEATURES]
    assert log_odds(head.probability(0.6, features)) == pytest.approx(-1 + 2 * log_odds(0.6) + 3)


def test_log_odds_of_certainty_are_bounded() -> None:
    assert log_odds(1.0) == pytest.approx(9.21, abs=0.01)
    assert log_odds(0.0) == pytest.approx(-9.21, abs=0.01)


async def test_headed_classifier_leaves_what_could_not_be_asked() -> None:
    encoder = Encoder()
    classifier = HeadedClassifier(encoder, LexicalHead(0.0, 1.0, NOTHING | {"held": 2.0}))
    held, absent, over = await classifier.answerable([("A ferry.", "ferry?"), ("A ferry.", "mill?"), ("", "mill?")])
    assert isinstance(held, float)
    assert held > 0.8
    assert absent == pytest.approx(0.8)
    assert isinstance(over, OverLength)
    assert (classifier.name, classifier.revision) == ("encoder", "1")
    await classifier.close()
    assert encoder.closed


def test_head_is_read_as_it_was_written(tmp_path: Path) -> None:
    head = LexicalHead(0.25, 0.5, NOTHING | {"units": -0.125})
    assert read_head(tmp_path) is None
    head.write(tmp_path)
    assert read_head(tmp_path) == head


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"features_version": 0}, "features of version 0, this is version 1: train the model again"),
        ({"weights": {"held": 1.0}}, "train the model again"),
        ({"bias": "much"}, "cannot be read as the head"),
        ({"weights": None}, "cannot be read as the head"),
    ],
)
def test_head_of_other_features_or_none_is_refused(tmp_path: Path, change: dict[str, object], message: str) -> None:
    LexicalHead(0.0, 1.0, NOTHING).write(tmp_path)
    content = json.loads((tmp_path / HEAD).read_text(encoding="utf-8"))
    (tmp_path / HEAD).write_text(json.dumps(content | change), encoding="utf-8")
    with pytest.raises(UserError, match=message):
        read_head(tmp_path)


def test_pair_features_follow_the_language_of_the_question() -> None:
    text = "渡船六点离开码头。船长是安娜。"
    held = dict(zip(FEATURES, pair_features(text, "渡船几点离开码头？"), strict=True))["held"]
    assert held > 0.5
