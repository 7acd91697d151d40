"""How near the agents of synthesis come to the least possible prefill, on real vLLM.

    python -m infra.bench.synthesis_reuse [--documents 4] [--document-tokens 2000] [--alpha 2] [--kv-documents 2.5]

vLLM computes every prompt and writes a reply of a few tokens; what the agents are told instead is the scripted
engine's reply, so that every step of the program is reached. The figures are about work and time, not about quality:
computed prompt tokens ÷ the distinct prompt tokens of each document's program. Ends with one line of JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from infra.bench.prefix_reuse import BLOCK, COUNTS, KV_SHARE, SAMPLE, cut, figures, gib
from jobs.config import load_model
from udfs.agents.program import Making, Source
from udfs.agents.spec import SynthesisSpec
from udfs.engines.base import Completion, Engine, Message, Prompt, Sampling
from udfs.engines.config import ScriptedModel, model_config
from udfs.engines.factory import create_engine
from udfs.engines.scripted import ScriptedEngine
from udfs.identity import content_hash
from udfs.schema import length_bucket
from udfs.stages.engine_stage import EnginePlacement
from udfs.stages.gate import OpenGate
from udfs.stages.synthesize import SynthesizeStage
from udfs.stages.watch import NoWatch

MAKING = Making("bench", "bench", "bench", "bench")


class Prompted:
    """An engine that computes every prompt and says what a script says."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self._script = engine, ScriptedEngine(ScriptedModel())
        self.name, self.revision = engine.name, engine.revision
        self.kv_tokens, self.block_size = engine.kv_tokens, engine.block_size

    async def complete(
        self,
        prompt: Prompt,
        sampling: Sampling,
        schema: Mapping[str, Any] | None = None,
        on_prefill: Callable[[], None] | None = None,
    ) -> Completion:
        computed = await self._engine.complete(prompt, sampling, None, on_prefill)
        said = await self._script.complete(prompt, sampling, schema)
        return dataclasses.replace(computed, text=said.text, finish_reason="stop")

    async def count_tokens(self, messages: Sequence[Message]) -> int | None:
        return await self._engine.count_tokens(messages)

    async def close(self) -> None:
        await self._engine.close()


def main() -> None:
    """Measure and print the result."""
    print(json.dumps(asyncio.run(measure(_arguments())), sort_keys=True))


async def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """The synthesis stage over made-up documents of one length, with a cache that holds a few of them."""
    model = load_model("smollm2-135m")
    sampling = Sampling(max_tokens=arguments.max_tokens)
    held = int(arguments.document_tokens * arguments.kv_documents)
    model |= {"block_size": BLOCK, "max_num_batched_tokens": 2048, "sampling": asdict(sampling)}
    model |= {"window": held - held % BLOCK, "kv_cache_gib": gib(model, held)}
    spec = SynthesisSpec(fragment_min_words=60, fragment_max_words=120, passages=3, sampling=sampling)
    engine = Prompted(await create_engine(model_config(model)))
    try:
        figured = await as_bundles(engine, model, spec, await _texts(engine, arguments), arguments.alpha)
    finally:
        await engine.close()
    return figured | {
        "kv_tokens": engine.kv_tokens,
        "document_tokens": arguments.document_tokens,
        "documents": arguments.documents,
        "candidates": arguments.documents * arguments.alpha * len(spec.kinds),
    }


async def as_bundles(
    engine: Engine, model: dict[str, Any], spec: SynthesisSpec, texts: Sequence[str], alpha: int
) -> dict[str, Any]:
    """The synthesis stage itself, every bundle handed to it at once."""
    stage = SynthesizeStage(model, EnginePlacement(1, KV_SHARE), NoWatch(), spec, MAKING, OpenGate())
    stage.adopt(engine)
    started = time.perf_counter()
    rows = await asyncio.gather(*(stage.run_bundle(engine, _bundle(text, alpha)) for text in texts))
    seconds = time.perf_counter() - started
    stage.engine = None  # it would close the engine as it goes
    made: list[Any] = [candidate for row in rows for candidate in row["candidates"]]  # type: ignore[attr-defined]
    fates = Counter(str(candidate["fate"]) for candidate in made)
    totals = {key: sum(int(str(row[key])) for row in rows) for key in COUNTS}
    return figures(totals, seconds) | {"fates": dict(fates)}


async def _texts(engine: Engine, arguments: argparse.Namespace) -> list[str]:
    """Documents of the wanted length put together from the sample's English texts, each beginning in its own way."""
    whole = "\n\n".join(file.read_text("utf-8") for file in sorted(SAMPLE.glob("en_*.txt")))
    starts = [number * len(whole) // arguments.documents for number in range(arguments.documents)]
    bodies = [f"Volume {n}.\n\n{whole[start:]}{whole[:start]}" for n, start in enumerate(starts)]
    return [await cut(engine, body, arguments.document_tokens) for body in bodies]


def _source(text: str) -> Source:
    return Source(content_hash(text), "bench", "en", "book", length_bucket(len(text) // 4))


def _bundle(text: str, alpha: int) -> dict[str, Any]:
    return asdict(_source(text)) | {
        "bundle_id": content_hash(text),
        "n_tokens": len(text) // 4,
        "text": text,
        "items": [{"fragment_index": index} for index in range(alpha)],
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=4)
    parser.add_argument("--document-tokens", type=int, default=2000)
    parser.add_argument("--alpha", type=int, default=2, help="fragments a document")
    parser.add_argument("--kv-documents", type=float, default=2.5, help="documents that the KV cache holds")
    parser.add_argument("--max-tokens", type=int, default=4, help="of each reply")
    return parser.parse_args()


if __name__ == "__main__":
    main()
