"""How much a warm prefix saves: the same dialogues as bundles, and cell by cell, on one real vLLM.

    python -m infra.bench.prefix_reuse [--documents 8] [--document-tokens 2000] [--questions 2] [--kv-documents 2.5]

Eight documents of 2,000 tokens with eight dialogues each (two questions × four methods), and a KV cache that holds two
documents. As bundles, everything asked of a document is asked while it is warm; cell by cell (every method × question
over all documents, as a loop over a dataset does) a document is long evicted when it comes round again. Ends with one
line of JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import udfs
from jobs.config import load_model
from udfs.dialogues.dialogue import DialogueSpec, converse
from udfs.engines.base import Engine, Sampling
from udfs.engines.config import VllmModel, model_config
from udfs.engines.factory import create_engine
from udfs.engines.weights import resolve
from udfs.identity import content_hash
from udfs.records import Question
from udfs.stages.engine_stage import EnginePlacement
from udfs.stages.evaluate import EvaluateStage
from udfs.stages.results import Tally
from udfs.stages.watch import NoWatch

METHODS = ("zs", "zs_cot", "fs", "fs_cot")
BLOCK = 128
KV_SHARE = 0.9  # the job's own default
SAMPLE = Path(udfs.__file__).parent / "sources" / "sample" / "documents"
GIB = 2**30


@dataclass(frozen=True)
class Case:
    """One document and its questions."""

    text: str
    questions: tuple[Question, ...]


def main() -> None:
    """Measure both orders on one engine and print the result."""
    arguments = _arguments()
    print(json.dumps(asyncio.run(measure(arguments)), sort_keys=True))


async def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Both orders in one run; the second on other documents of the same lengths, so that nothing is warm for it."""
    model = load_model("smollm2-135m")
    sampling = Sampling(max_tokens=arguments.max_tokens)
    model |= {"block_size": BLOCK, "max_num_batched_tokens": 2048, "sampling": asdict(sampling)}
    held = int(arguments.document_tokens * arguments.kv_documents)
    model |= {"window": held - held % BLOCK, "kv_cache_gib": gib(model, held)}
    engine = await create_engine(model_config(model))
    specs = {method: DialogueSpec(method, sampling=sampling) for method in METHODS}
    try:
        bundles_first = await as_bundles(engine, model, specs, await _cases(engine, arguments, "first"))
        cells = await cell_by_cell(engine, specs, await _cases(engine, arguments, "second"), arguments.parallel)
    finally:
        await engine.close()
    return {
        "computed_over_bound": bundles_first["computed_over_bound"],
        "computed_over_block_bound": bundles_first["computed_over_block_bound"],
        "speedup": cells["seconds"] / bundles_first["seconds"],
        "seconds_bundles": bundles_first["seconds"],
        "seconds_cells": cells["seconds"],
        "bundles": bundles_first,
        "cells": cells,
        "kv_tokens": engine.kv_tokens,
        "block_size": engine.block_size,
        "documents": arguments.documents,
        "document_tokens": arguments.document_tokens,
        "dialogues_per_document": len(METHODS) * arguments.questions,
        "max_tokens": arguments.max_tokens,
    }


async def as_bundles(
    engine: Engine, model: dict[str, Any], specs: dict[str, DialogueSpec], cases: Sequence[Case]
) -> dict[str, Any]:
    """The evaluation stage itself, every bundle handed to it at once: it admits, leads and walks."""
    stage = EvaluateStage(model, EnginePlacement(1, KV_SHARE), NoWatch(), specs, "bench")
    stage.adopt(engine)
    started = time.perf_counter()
    rows = await asyncio.gather(*(stage.run_bundle(engine, _bundle(case, specs)) for case in cases))
    seconds = time.perf_counter() - started
    stage.engine = None  # it would close the engine as it goes
    totals = {key: sum(int(str(row[key])) for row in rows) for key in COUNTS}
    return figures(totals, seconds)


async def cell_by_cell(
    engine: Engine, specs: dict[str, DialogueSpec], cases: Sequence[Case], parallel: int
) -> dict[str, Any]:
    """Method by method, question by question, over all documents; as many in flight as the engine likes."""
    tally, slots = Tally(engine.block_size), asyncio.Semaphore(parallel)

    async def one(case: Case, question: Question, spec: DialogueSpec) -> None:
        async with slots:
            await converse(engine, spec, case.text, question, response_id="bench", run="bench", observe=tally.add)

    started = time.perf_counter()
    await asyncio.gather(
        *(
            one(case, case.questions[index], spec)
            for spec in specs.values()
            for index in range(len(cases[0].questions))
            for case in cases
        )
    )
    seconds = time.perf_counter() - started
    bound = tally.trie.bound
    totals = {key: getattr(tally, key) for key in COUNTS[:-2]}
    return figures(totals | {"bound_tokens": bound.tokens, "bound_block_tokens": bound.block_tokens}, seconds)


COUNTS = ("calls", "prompt_tokens", "cached_tokens", "output_tokens", "bound_tokens", "bound_block_tokens")


def figures(totals: dict[str, int], seconds: float) -> dict[str, Any]:
    computed = totals["prompt_tokens"] - totals["cached_tokens"]
    return totals | {
        "seconds": seconds,
        "computed_tokens": computed,
        "computed_over_bound": computed / totals["bound_tokens"],
        "computed_over_block_bound": computed / totals["bound_block_tokens"],
    }


async def _cases(engine: Engine, arguments: argparse.Namespace, salt: str) -> list[Case]:
    """Documents of the wanted length put together from the sample's English texts, each beginning in its own way."""
    whole = "\n\n".join(file.read_text("utf-8") for file in sorted(SAMPLE.glob("en_*.txt")))
    cases = []
    for number in range(arguments.documents):
        start = number * len(whole) // arguments.documents
        body = f"Volume {number}, {salt} copy.\n\n" + whole[start:] + whole[:start]
        text = await cut(engine, body, arguments.document_tokens)
        cases.append(Case(text, tuple(_question(text, index) for index in range(arguments.questions))))
    return cases


async def cut(engine: Engine, text: str, tokens: int) -> str:
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        counted = await engine.count_tokens([{"role": "user", "content": text[:middle]}]) or 0
        low, high = (middle, high) if counted <= tokens else (low, middle - 1)
    return text[:low]


def _question(text: str, index: int) -> Question:
    asked = ("Who wrote to whom, and about what?", "What is said of the price of copper in the spring?",
             "Which number is named first?", "What did the harbour master plant?")[index % 4]  # fmt: skip
    document = content_hash(text)
    return Question(
        content_hash(document, index), document, "bench", "test", "en", asked, True, ("x",), (), (), "answerable"
    )


def _bundle(case: Case, specs: dict[str, DialogueSpec]) -> dict[str, Any]:
    items = [
        {**{key: getattr(question, key) for key in Question.__slots__},
         "asks": [{"method": method, "response_id": f"{question.question_id}-{method}"} for method in specs]}
        for question in case.questions
    ]  # fmt: skip
    return {
        "bundle_id": case.questions[0].doc_id,
        "doc_id": case.questions[0].doc_id,
        "text": case.text,
        "items": items,
    }


def gib(model: dict[str, Any], tokens: int) -> float:
    config = model_config(model | {"kv_cache_gib": None})
    assert isinstance(config, VllmModel)
    each = resolve(config).kv_bytes_per_token
    assert each is not None
    return (tokens + 2 * BLOCK) * each / GIB  # one block is vLLM's own, one for rounding


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=8)
    parser.add_argument("--document-tokens", type=int, default=2000)
    parser.add_argument("--questions", type=int, default=2)
    parser.add_argument("--kv-documents", type=float, default=2.5, help="documents that the KV cache holds")
    parser.add_argument("--max-tokens", type=int, default=8, help="of each reply")
    parser.add_argument("--parallel", type=int, default=8, help="dialogues in flight cell by cell")
    return parser.parse_args()


if __name__ == "__main__":
    main()
