from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import Server
from udfs.engines.base import OverLength, Prompt, Sampling
from udfs.engines.config import EndpointModel, VllmModel
from udfs.engines.factory import check_ready, create_engine
from udfs.engines.openai_engine import OpenAIEngine
from udfs.engines.vllm_engine import VllmEngine
from udfs.errors import UserError

pytestmark = [pytest.mark.engine, pytest.mark.asyncio(loop_scope="session")]

DOCUMENT = "The ferry to Aldmoor leaves at nine in the morning. It takes forty minutes. " * 30
VERDICT = {
    "type": "object",
    "properties": {"verdict": {"enum": ["refused", "answered"]}},
    "required": ["verdict"],
    "additionalProperties": False,
}


def prompt(text: str, request_id: str = "r") -> Prompt:
    return Prompt(({"role": "user", "content": text},), "answer", request_id)


async def test_complete_chat_answers_and_counts(smollm2_engine: VllmEngine) -> None:
    done = await smollm2_engine.complete(prompt("What is the capital of France?"), Sampling(max_tokens=24))
    assert "Paris" in done.text
    assert done.finish_reason == "stop"
    assert done.prompt_ids is not None
    assert done.prompt_ids.dtype == "uint32"
    assert len(done.prompt_ids) == done.prompt_tokens
    assert 0 < done.output_tokens <= 24
    assert await smollm2_engine.count_tokens(prompt("What is the capital of France?").messages) == done.prompt_tokens


async def test_complete_second_question_finds_the_document_in_cache(smollm2_engine: VllmEngine) -> None:
    filled: list[str] = []
    first = await smollm2_engine.complete(
        prompt(DOCUMENT + "When does it leave?"), Sampling(max_tokens=8), None, lambda: filled.append("first")
    )
    second = await smollm2_engine.complete(prompt(DOCUMENT + "How long does it take?"), Sampling(max_tokens=8))
    assert filled == ["first"]
    assert first.prompt_ids is not None
    assert second.prompt_ids is not None
    shared = int((first.prompt_ids[:500] == second.prompt_ids[:500]).sum())
    assert shared == 500
    assert second.cached_tokens >= second.prompt_tokens - 2 * smollm2_engine.block_size


async def test_complete_schema_reply_is_json_of_that_shape(smollm2_engine: VllmEngine) -> None:
    done = await smollm2_engine.complete(prompt("Was it refused?"), Sampling(max_tokens=40), VERDICT)
    assert json.loads(done.text)["verdict"] in {"refused", "answered"}


async def test_complete_sampled_with_a_seed_repeats(smollm2_engine: VllmEngine) -> None:
    sampling = Sampling(temperature=1.0, max_tokens=16, seed=7)
    first = await smollm2_engine.complete(prompt("Tell a story."), sampling)
    assert (await smollm2_engine.complete(prompt("Tell a story."), sampling)).text == first.text


async def test_complete_prompt_beyond_the_window_is_over_length(smollm2_engine: VllmEngine) -> None:
    tokens = await smollm2_engine.count_tokens(prompt(DOCUMENT).messages)
    assert tokens is not None
    fits = smollm2_engine.window - tokens
    with pytest.raises(OverLength, match=str(smollm2_engine.window)):
        await smollm2_engine.complete(prompt(DOCUMENT), Sampling(max_tokens=fits + 1))


async def test_kv_tokens_small_cache_is_what_was_configured(smollm2_engine: VllmEngine) -> None:
    assert smollm2_engine.block_size == 128
    assert smollm2_engine.kv_tokens is not None
    assert 4500 <= smollm2_engine.kv_tokens <= 5200


async def test_create_no_room_for_the_window_says_so_before_loading(smollm2: VllmModel) -> None:
    with pytest.raises(UserError, match=r"no room.*kv_cache_gib.*model\.window to at most"):
        await create_engine(replace(smollm2, window=8192))


async def test_create_no_room_found_by_vllm_says_so_too(tiny_long_model: VllmModel) -> None:
    config = replace(tiny_long_model, engine_args={"num_gpu_blocks_override": 4})
    with pytest.raises(UserError, match=r"no room.*vLLM:"):
        await create_engine(config)


async def test_create_unknown_engine_argument_is_a_user_error(smollm2: VllmModel) -> None:
    with pytest.raises(UserError, match="no_such_argument"):
        await create_engine(replace(smollm2, engine_args={"no_such_argument": 1}))


LIFE = """
    import asyncio, dataclasses, json, sys
    from udfs.engines.base import EngineDead, Prompt, Sampling
    from udfs.engines.config import VllmModel
    from udfs.engines.factory import create_engine

    async def main(weights: str, window: int, gib: float, lines: int, close: bool) -> None:
        config = VllmModel(name="tiny", weights=weights, window=window, kv_cache_gib=gib, enforce_eager=True,
                           dtype="float32", max_num_seqs=4, max_num_batched_tokens=8192)
        engine = await create_engine(config)
        document = "The ferry to Aldmoor leaves at nine.\\n" * lines
        ask = lambda text: engine.complete(
            Prompt(({"role": "user", "content": document + text},), "answer", "r"), Sampling(max_tokens=2))
        for done in [await ask("When?"), await ask("Where to?")]:
            print(json.dumps([done.prompt_tokens, done.cached_tokens]))
        if close:
            await engine.close()
            await engine.close()
            try:
                await ask("Still there?")
            except EngineDead:
                print("closed")

    if __name__ == "__main__":
        asyncio.run(main(*json.loads(sys.argv[1])))
"""


async def live(folder: Path, *arguments: object) -> list[str]:
    """Run `LIFE` in a process of its own; its lines on stdout. Whatever it says on stderr is noise."""
    script = folder / "life.py"
    script.write_text(textwrap.dedent(LIFE), encoding="utf-8")
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, str(script), json.dumps(arguments)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.strip() == ""
    return done.stdout.splitlines()


async def test_close_after_60k_tokens_answered_from_cache_is_clean(tiny_long_model: VllmModel, tmp_path: Path) -> None:
    model = tiny_long_model
    first, second, last = await live(tmp_path, model.weights, model.window, model.kv_cache_gib, 5_500, True)
    prompt_tokens, cached = json.loads(second)
    assert json.loads(first)[1] == 0
    assert prompt_tokens > 60_000
    assert cached >= prompt_tokens - 2 * 128
    assert last == "closed"


async def test_exit_without_close_is_clean(tiny_long_model: VllmModel, tmp_path: Path) -> None:
    assert len(await live(tmp_path, tiny_long_model.weights, 512, 0.01, 1, False)) == 2


async def test_openai_engine_on_a_real_server_answers_caches_and_refuses(smollm2_server: Server) -> None:
    config = EndpointModel(
        name="served", base_url=smollm2_server.base_url, model=smollm2_server.model, tokenizer=smollm2_server.tokenizer,
    )  # fmt: skip
    await check_ready(config)
    engine = OpenAIEngine(config)
    try:
        first = await engine.complete(prompt(DOCUMENT + "When does it leave?"), Sampling(max_tokens=8))
        second = await engine.complete(prompt(DOCUMENT + "How long does it take?"), Sampling(max_tokens=8))
        verdict = await engine.complete(prompt("Was it refused?"), Sampling(max_tokens=40), VERDICT)
        with pytest.raises(OverLength):
            await engine.complete(prompt(DOCUMENT * 10), Sampling(max_tokens=8))
    finally:
        await engine.close()
    assert first.prompt_ids is not None
    assert len(first.prompt_ids) == first.prompt_tokens
    assert second.cached_tokens > second.prompt_tokens // 2
    assert json.loads(verdict.text)["verdict"] in {"refused", "answered"}
    with pytest.raises(UserError, match="knows no model"):
        await check_ready(replace(config, model="another"))
