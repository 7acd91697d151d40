from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from udfs.engines.base import Sampling
from udfs.engines.config import EndpointModel, ScriptedModel, VllmModel, model_config
from udfs.engines.factory import describe
from udfs.errors import UserError

CONF = Path(__file__).parents[3] / "conf" / "model"
VLLM = {"engine": "vllm", "name": "m", "weights": "/weights"}
OPENAI = {"engine": "openai", "name": "m", "base_url": "https://host/v1", "model": "m-1"}
SCRIPTED = {"engine": "scripted"}


def loaded(name: str, **changes: Any) -> dict[str, Any]:
    merged = OmegaConf.merge(OmegaConf.load(CONF / f"{name}.yaml"), changes)
    plain = OmegaConf.to_container(OmegaConf.create({"model": merged}), resolve=True)
    assert isinstance(plain, dict)
    return dict(plain["model"])


@pytest.mark.parametrize("file", sorted(CONF.glob("*.yaml")), ids=lambda file: file.stem)
def test_model_config_shipped_file_is_valid(file: Path) -> None:
    changes = {"base_url": "http://127.0.0.1:1/v1", "model": "served"} if file.stem == "endpoint" else {}
    config = model_config(loaded(file.stem, **changes))
    assert config.name == ("served" if file.stem == "endpoint" else file.stem)
    assert isinstance(config.sampling, Sampling)


@pytest.mark.parametrize(
    "name",
    [
        "qwen2.5-7b", "qwen2.5-72b", "llama-3.1-8b", "llama-3.3-70b", "llama2-7b-chat", "mistral-7b", "mistral-large",
        "zephyr-7b", "gpt-4o", "gpt-4", "gpt-3.5", "gemini", "smollm2-135m", "endpoint", "scripted",
    ],
)  # fmt: skip
def test_model_config_every_model_of_the_papers_has_a_file(name: str) -> None:
    assert (CONF / f"{name}.yaml").is_file()


@pytest.mark.parametrize("name", ["qwen2.5-7b", "qwen2.5-72b"])
def test_model_config_qwen_reaches_128k_by_yarn(name: str) -> None:
    config = model_config(loaded(name))
    assert isinstance(config, VllmModel)
    rope = config.hf_overrides["rope_parameters"]
    assert rope["factor"] * rope["original_max_position_embeddings"] == config.window == 131072


@pytest.mark.parametrize(
    ("given", "kind"), [(VLLM, VllmModel), (OPENAI, EndpointModel), (SCRIPTED, ScriptedModel)], ids=["v", "o", "s"]
)
def test_model_config_engine_picks_the_kind(given: dict[str, Any], kind: type) -> None:
    assert isinstance(model_config(given), kind)


@pytest.mark.parametrize(
    ("given", "changes", "words"),
    [
        (VLLM, {"engine": "tgi"}, ["tgi", "vllm", "openai", "scripted"]),
        (VLLM, {"engine": None}, ["None", "vllm"]),
        (VLLM, {"wheights": "x"}, ["wheights", "allowed", "weights"]),
        (VLLM, {"weights": None}, ["weights"]),
        (VLLM, {"window": 0}, ["window", "0", "16"]),
        (VLLM, {"window": "8k"}, ["window", "8k"]),
        (VLLM, {"window": True}, ["window", "True"]),
        (VLLM, {"dtype": "int3"}, ["dtype", "int3", "bfloat16"]),
        (VLLM, {"kv_cache_gib": 0}, ["kv_cache_gib", "above 0"]),
        (VLLM, {"kv_cache_gib": float("nan")}, ["kv_cache_gib", "nan"]),
        (VLLM, {"gpu_memory_utilization": 1.5}, ["gpu_memory_utilization", "1.5", "at most 1"]),
        (VLLM, {"enforce_eager": "yes"}, ["enforce_eager", "true or false"]),
        (VLLM, {"engine_args": {"window": 3}}, ["engine_args", "window"]),
        (VLLM, {"engine_args": [1]}, ["engine_args", "mapping"]),
        (VLLM, {"sampling": {"temperature": 3}}, ["sampling.temperature", "3", "at most 2"]),
        (VLLM, {"sampling": {"top_p": 0}}, ["sampling.top_p", "above 0"]),
        (VLLM, {"sampling": {"max_tokens": 0}}, ["sampling.max_tokens"]),
        (VLLM, {"sampling": {"temprature": 0}}, ["temprature", "temperature"]),
        (OPENAI, {"base_url": None}, ["base_url"]),
        (OPENAI, {"base_url": "host:80"}, ["base_url", "host:80", "https://"]),
        (OPENAI, {"api_key_env": "sk-123-secret"}, ["api_key_env", "name of an environment variable"]),
        (OPENAI, {"structured": "xml"}, ["structured", "xml", "json_schema"]),
        (OPENAI, {"omit": ["model"]}, ["omit", "model", "seed"]),
        (OPENAI, {"omit": "seed"}, ["omit", "list"]),
        (OPENAI, {"timeout_s": -1}, ["timeout_s", "-1"]),
        (OPENAI, {"max_concurrency": 0}, ["max_concurrency", "0"]),
        (SCRIPTED, {"error_rate": 1.1}, ["error_rate", "1.1", "at most 1"]),
        (SCRIPTED, {"delay_s": -0.5}, ["delay_s", "-0.5"]),
    ],
)
def test_model_config_bad_value_names_key_value_and_what_is_allowed(
    given: dict[str, Any], changes: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(UserError) as caught:
        model_config(given | changes)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("secret", ["sk-123-secret", "https://me:hunter2@host/v1"])
def test_model_config_credentials_in_the_wrong_place_are_not_repeated(secret: str) -> None:
    key = "base_url" if "://" in secret else "api_key_env"
    with pytest.raises(UserError) as caught:
        model_config(OPENAI | {key: secret})
    assert "123-secret" not in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_describe_endpoint_moved_elsewhere_is_the_same_model() -> None:
    moved = OPENAI | {"base_url": "http://elsewhere:8000/v1"}
    assert describe(model_config(OPENAI)) == describe(model_config(moved)) == ("m", "m-1")
    assert describe(model_config(OPENAI | {"extra_body": {"top_k": 1}})) != describe(model_config(OPENAI))


def test_describe_scripted_faults_do_not_change_it_but_replies_do() -> None:
    plain = describe(model_config(SCRIPTED))
    assert describe(model_config(SCRIPTED | {"error_rate": 0.5, "delay_s": 1.0, "call_log": "/tmp/x"})) == plain
    assert describe(model_config(SCRIPTED | {"seed": 1})) != plain
