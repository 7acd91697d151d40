"""jobs.train on a tiny encoder: it learns what can be learnt, goes on where it was killed, says what it measured."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from jobs.cli import compose
from jobs.support import training
from jobs.support.training_config import TrainConfig
from jobs.train import train
from tests.udfs.training.tiny import ingest, questions, tiny_bert
from udfs.engines.base import OverLength
from udfs.engines.classifier_config import TransformersClassifier
from udfs.engines.classifier_factory import create_classifier, describe_classifier
from udfs.errors import UserError
from udfs.tables.store import Store
from udfs.training.folder import ModelFolder

pytest.importorskip("torch")

QUICK = ["window=64", "stride=16", "epochs=3", "batch_size=16", "learning_rate=8e-3", "head_rate=1.0", "threads=1"]
QUICK += ["evidence_weight=0.0", "lexical_head=false", "freeze_layers=0"]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert(tmp_path_factory.mktemp("base"))


def config(root: Path, base: Path, *given: str) -> TrainConfig:
    common = [f"storage.root={root}", f"base={base}", "name=tiny", "datasets=[toy]", "save_steps=5", *QUICK]
    return compose("train", TrainConfig, [*common, *given])


@pytest.fixture(scope="module")
def trained(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A storage root with the dataset and the model that was trained on it."""
    root = tmp_path_factory.mktemp("root")
    ingest(str(root), questions(120))
    ingest(str(root), questions(20, "other", ("train", "test")))
    train(config(root, base, "also_test=[other]"))
    return root


def value(root: Path, metric: str, dataset: str = "toy") -> float:
    rows = Store(str(root)).read("models", part="tiny")
    found = rows.row(by_predicate=(pl.col("metric") == metric) & (pl.col("dataset") == dataset), named=True)
    return float(found["value"])


def probabilities(root: Path, pairs: list[tuple[str, str]]) -> list[Any]:
    async def ask() -> list[Any]:
        classifier = await create_classifier(TransformersClassifier(name="t", weights=f"{root}/models/tiny", threads=1))
        try:
            return await classifier.answerable(pairs)
        finally:
            await classifier.close()

    return asyncio.run(ask())


def test_train_on_separable_questions_learns_them_on_documents_it_has_not_seen(trained: Path) -> None:
    assert value(trained, "majority") == 0.5
    assert value(trained, "accuracy") >= 0.9
    assert value(trained, "gain") == pytest.approx(value(trained, "accuracy") - 0.5)


def test_train_records_what_the_model_is_made_of_and_how_it_is_asked(trained: Path) -> None:
    record = json.loads((trained / "models" / "tiny" / "answerability.json").read_text(encoding="utf-8"))
    held = record["documents"]
    assert held["train"]["toy"] + held["test"]["toy"] == 120
    assert record["questions"] == {"train": 2 * held["train"]["toy"], "test": 2 * held["test"]["toy"]}
    assert (record["input"], record["window"], record["stride"], record["seed"]) == ("pair", 64, 16, 0)
    assert record["steps"] == record["planned"] > 0
    assert record["licences"]["datasets"] == {"toy": ["CC0-1.0"]}
    saved = json.loads((trained / "models" / "tiny" / "config.json").read_text(encoding="utf-8"))
    assert saved["id2label"] == {"0": "unanswerable", "1": "answerable"}
    assert (trained / "models" / "tiny" / "model.safetensors").is_file()
    assert not (trained / "models" / "tiny" / "_checkpoints").exists()


def test_train_measures_other_datasets_without_documents_it_was_trained_on(trained: Path) -> None:
    rows = Store(str(trained)).read("models", part="tiny").filter(pl.col("metric") == "accuracy")
    by_dataset = dict(rows.select("dataset", "n").iter_rows())
    assert set(by_dataset) == {"toy", "other"}
    assert 0 < by_dataset["other"] < 40  # the same texts are in toy; most of them were trained on


def test_train_writes_its_report(trained: Path) -> None:
    text = (trained / "reports" / "model-tiny" / "report.md").read_text(encoding="utf-8")
    for told in ("| tiny | toy |", "majority class", "ECE", "gold unanswerable said answerable", "held out"):
        assert told in text
    assert (trained / "reports" / "model-tiny" / "index.html").is_file()


def test_train_of_a_finished_model_trains_nothing(trained: Path, base: Path) -> None:
    weights = trained / "models" / "tiny" / "model.safetensors"
    before = weights.stat().st_mtime_ns
    train(config(trained, base, "also_test=[other]"))
    assert weights.stat().st_mtime_ns == before


def test_train_of_a_finished_model_with_other_settings_asks_for_another_name(trained: Path, base: Path) -> None:
    with pytest.raises(UserError, match=r"other settings .* another name=, or overwrite=true"):
        train(config(trained, base, "also_test=[other]", "epochs=4"))


def test_classifier_reads_a_long_document_in_windows_and_takes_the_best(trained: Path) -> None:
    sentence, question = "The bridge of elm opened in 1850.", "When did the bridge of elm open?"
    filler = "the of in . " * 100
    alone, within, over = probabilities(
        trained, [(sentence, question), (filler + sentence + filler, question), (filler, "when did " * 40)]
    )
    assert alone > 0.5
    assert within > 0.5
    assert isinstance(over, OverLength)


def test_classifier_describes_itself_as_it_is_loaded(trained: Path) -> None:
    first = TransformersClassifier(name="t", weights=f"{trained}/models/tiny")
    assert describe_classifier(first) == describe_classifier(
        TransformersClassifier(name="t", weights=first.weights, threads=1)
    )
    other = TransformersClassifier(name="t", weights=first.weights, stride=8)
    assert describe_classifier(other)[1] != describe_classifier(first)[1]


def test_train_that_was_killed_goes_on_and_ends_with_the_same_numbers(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("whole", "killed"):
        ingest(str(tmp_path / name), questions(60))
    train(config(tmp_path / "whole", base))

    kept = ModelFolder.put_checkpoint

    def killed(folder: ModelFolder, at: Path, spec: str) -> None:
        kept(folder, at, spec)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(ModelFolder, "put_checkpoint", killed)
        with pytest.raises(KeyboardInterrupt):
            train(config(tmp_path / "killed", base))
    assert (tmp_path / "killed" / "models" / "tiny" / "_checkpoints" / "checkpoint-5").is_dir()
    assert training.prepare(config(tmp_path / "killed", base)).finished is False

    train(config(tmp_path / "killed", base))
    for metric in ("accuracy", "brier", "ece", "auc"):
        assert value(tmp_path / "killed", metric) == pytest.approx(value(tmp_path / "whole", metric), abs=1e-5)


def test_train_whose_time_is_up_ends_with_what_it_has_and_says_so(base: Path, tmp_path: Path) -> None:
    ingest(str(tmp_path), questions(60))
    train(config(tmp_path, base, "max_minutes=1e-6"))
    record = json.loads((tmp_path / "models" / "tiny" / "answerability.json").read_text(encoding="utf-8"))
    assert record["steps"] == 1 < record["planned"]
    assert "max_minutes" in (tmp_path / "reports" / "model-tiny" / "report.md").read_text(encoding="utf-8")


def test_train_with_a_lexical_head_weighs_encoder_and_words(base: Path, tmp_path: Path) -> None:
    ingest(str(tmp_path), questions(600))
    train(config(tmp_path, base, "lexical_head=true", "max_minutes=1e-6"))  # one step: the encoder knows nothing
    folder = tmp_path / "models" / "tiny"
    record = json.loads((folder / "answerability.json").read_text(encoding="utf-8"))
    assert (folder / "lexical_head.json").is_file()
    assert record["encoder_alone"]["accuracy"] < 0.8 < value(tmp_path, "accuracy")
    text = (tmp_path / "reports" / "model-tiny" / "report.md").read_text(encoding="utf-8")
    assert "its accuracy alone, all datasets" in text
    said = probabilities(
        tmp_path,
        [
            ("The bridge of elm opened in 1850.", "When did the bridge of elm open?"),
            ("The bridge of elm opened in 1850.", "When will the bridge of elm close?"),
        ],
    )
    assert said[0] > 0.5 > said[1]


def test_train_with_too_few_questions_for_a_lexical_head_says_so(base: Path, tmp_path: Path) -> None:
    ingest(str(tmp_path), questions(60))
    with pytest.raises(UserError, match=r"lexical_head=true needs at least 100 .* or lexical_head=false"):
        train(config(tmp_path, base, "lexical_head=true"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("window=63", "window=63.*at least 64"),
        ("stride=64", "stride=64.*less than window"),
        ("max_minutes=0", "max_minutes=0"),
        ("also_test=[toy]", "toy is trained on already"),
        ("workers=3", "batch_size=16.*multiple of workers=3"),
        ("name=../x", "name='../x'"),
        ("base=nobody/no/model", "base='nobody/no/model'"),
    ],
)
def test_train_says_what_is_not_allowed(tmp_path: Path, base: Path, given: str, message: str) -> None:
    ingest(str(tmp_path), questions(4))
    with pytest.raises(UserError, match=message):
        training.prepare(config(tmp_path, base, given))


@pytest.mark.slow
def test_train_on_two_workers_learns_the_same_and_writes_one_model(base: Path, tmp_path: Path) -> None:
    ingest(str(tmp_path), questions(120))
    train(config(tmp_path, base, "workers=2"))
    assert value(tmp_path, "accuracy") >= 0.9
    record = json.loads((tmp_path / "models" / "tiny" / "answerability.json").read_text(encoding="utf-8"))
    assert record["workers"] == 2
