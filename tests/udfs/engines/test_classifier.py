"""Classifiers: what a configuration and a folder must say, and that both engines give the same probabilities."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from omegaconf import OmegaConf

from tests.udfs.engines.made_classifier import made_classifier
from udfs.engines.base import Classifier, EngineDead, EngineError, OverLength, ProviderError, Unreadable
from udfs.engines.classifier import Batch
from udfs.engines.classifier_config import classifier_config
from udfs.engines.classifier_factory import check_classifier_ready, create_classifier, describe_classifier
from udfs.engines.classifier_weights import RECORD, local_folder
from udfs.errors import UserError

CONF = Path(__file__).parents[3] / "conf" / "classifier"
LONG = " ".join(f"The ferry of day {number} left the harbour at noon." for number in range(60))
PAIRS = [
    ("The bridge opened in 1902. The mill closed in 1950.", "When did the bridge open?"),
    ("The bridge opened in 1902.", "Who paid for the mill?"),
    (LONG, "When did the ferry leave the harbour?"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_classifier(tmp_path_factory.mktemp("classifier"))


def loaded(file: str, **changes: Any) -> dict[str, Any]:
    merged = OmegaConf.merge(OmegaConf.load(CONF / f"{file}.yaml"), changes)
    plain = OmegaConf.to_container(
        OmegaConf.create({"classifier": merged, "storage": {"root": "runs/x"}}), resolve=True
    )
    assert isinstance(plain, dict)
    return dict(plain["classifier"])


async def created(file: str, **changes: Any) -> Classifier:
    config = classifier_config(loaded(file, **changes))
    assert config is not None
    return await create_classifier(config)


async def test_transformers_classifier_gives_the_greatest_of_a_documents_windows(folder: Path) -> None:
    classifier = await created("transformers", name="t", weights=str(folder), threads=1)
    found = np.array(await classifier.answerable(PAIRS), dtype=float)
    assert np.ptp(found) > 0.01
    alone = [await classifier.answerable([pair]) for pair in PAIRS]
    np.testing.assert_allclose(found, np.array(alone, dtype=float)[:, 0], atol=1e-5)
    (longer,) = await classifier.answerable([(f"{PAIRS[0][0]} {LONG}", PAIRS[0][1])])
    assert not isinstance(longer, EngineError)
    (over, strange) = await classifier.answerable([(LONG, "when " * 200), (LONG, "诗人在哪一年去世？")])
    assert isinstance(over, OverLength)
    assert isinstance(strange, Unreadable)
    await classifier.close()
    await classifier.close()
    with pytest.raises(EngineDead):
        await classifier.answerable(PAIRS)


@pytest.mark.engine
@pytest.mark.slow
async def test_vllm_pooling_gives_the_probabilities_of_transformers(folder: Path) -> None:
    pytest.importorskip("vllm")
    for form in ("pair", "couldask"):
        given = {"name": "c", "weights": str(folder), "input": form}
        plain = await created("transformers", **given)
        expected = np.array(await plain.answerable(PAIRS), dtype=float)
        await plain.close()
        classifier = await created("trained", **given)
        try:
            np.testing.assert_allclose(np.array(await classifier.answerable(PAIRS), dtype=float), expected, atol=2e-3)
            (over,) = await classifier.answerable([(LONG, "when " * 200)])
            assert isinstance(over, OverLength)
        finally:
            await classifier.close()
        with pytest.raises(EngineDead):
            await classifier.answerable(PAIRS)


def test_classifier_config_shipped_files_are_valid() -> None:
    names = {"none": None, "trained": "mine", "transformers": "mine", "couldask": "couldask"}
    assert {file.stem for file in CONF.glob("*.yaml")} == set(names)
    for file, name in names.items():
        changes: dict[str, Any] = {"name": "mine"} if name == "mine" else {"weights": "/w"} if name else {}
        config = classifier_config(loaded(file, **changes))
        assert (config.name if config else None) == name
        if name == "mine":
            assert config is not None
            assert config.weights == "runs/x/models/mine"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"engine": "magic"}, "classifier.engine='magic'.*none, transformers, vllm"),
        ({"engine": "none", "name": "x"}, "no key 'name'"),
        ({"engine": "vllm", "name": "c"}, "needs a value for weights"),
        ({"engine": "vllm", "name": "c", "weights": "w", "input": "both"}, "^classifier.input='both'.*pair, couldask"),
        ({"engine": "vllm", "name": "c", "weights": "w", "window": 8}, "^classifier.window=8"),
        ({"engine": "transformers", "name": "c", "weights": "w", "dtype": "auto"}, "no key 'dtype'"),
        ({"engine": "vllm", "name": "c", "weights": "w", "answerable_label": 2}, "^classifier.answerable_label=2"),
    ],
)
def test_classifier_config_says_what_is_not_allowed(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        classifier_config(given)


@pytest.mark.parametrize(
    ("config", "record", "given", "message"),
    [
        ({"max_position_embeddings": 512}, {}, {}, "classifier.input=pair|couldask"),
        ({}, {"input": "pair"}, {}, "give classifier.window"),
        ({"max_position_embeddings": 64}, {"input": "pair"}, {"window": 128}, "more than the 64 positions"),
        (
            {"max_position_embeddings": 64, "id2label": {"0": "a", "1": "b", "2": "c"}},
            {"input": "pair"},
            {},
            "3 labels",
        ),
        (
            {"max_position_embeddings": 64, "id2label": {"0": "LABEL_0", "1": "LABEL_1"}},
            {"input": "pair"},
            {},
            "0 LABEL_0, 1 LABEL_1.*classifier.answerable_label",
        ),
    ],
)
def test_classifier_folder_that_does_not_say_how_it_is_asked(
    tmp_path: Path, config: dict[str, Any], record: dict[str, Any], given: dict[str, Any], message: str
) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    if record:
        (tmp_path / RECORD).write_text(json.dumps(record), encoding="utf-8")
    made = classifier_config({"engine": "transformers", "name": "c", "weights": str(tmp_path), **given})
    assert made is not None
    with pytest.raises(UserError, match=message):
        describe_classifier(made)


def test_classifier_without_weights_is_missing_before_anything_loads(tmp_path: Path) -> None:
    config = classifier_config(loaded("transformers", name="c", weights=str(tmp_path / "none")))
    assert config is not None
    with pytest.raises(UserError, match=r"classifier\.weights='.*none'"):
        check_classifier_ready(config)


def test_weights_on_object_storage_are_copied_once_into_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASKABLE_CACHE", str(tmp_path / "cache"))
    source = tmp_path / "bucket" / "model"
    source.mkdir(parents=True)
    (source / "config.json").write_text("{}", encoding="utf-8")
    first = local_folder(source.as_uri())
    assert [path.name for path in first.iterdir()] == ["config.json"]
    assert local_folder(source.as_uri()) == first
    (source / "config.json").write_text('{"another": 1}', encoding="utf-8")
    assert local_folder(source.as_uri()) != first


def test_batch_refuses_probabilities_that_are_none() -> None:
    class OneWindow:
        def windows(self, text: str, question: str) -> list[Any]:
            return [object()] if question != "long" else [object(), object()]

    batch = Batch(OneWindow(), [("t", "short"), ("t", "long")])  # type: ignore[arg-type]
    assert batch.outcomes([0.4, 0.1, 0.9]) == [0.4, 0.9]
    for odd in ([0.4, 0.1], [0.4, 0.1, float("nan")], [0.4, 0.1, 7.0]):
        with pytest.raises(ProviderError):
            batch.outcomes(odd)
