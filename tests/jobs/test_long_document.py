"""A document of 120,000 tokens through the whole flow on real vLLM: ingest, evaluate, report."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tokenizers import Tokenizer

from jobs.cli import compose
from jobs.config import EvaluateConfig
from jobs.evaluate import evaluate
from jobs.ingest import IngestConfig, ingest
from jobs.report import ReportConfig, report
from udfs.engines.config import VllmModel
from udfs.tables.store import Store

TOKENS = 120_000


def long_text(folder: str) -> str:
    """A register of harbour entries, every line its own, of `TOKENS` tokens."""
    tokenizer = Tokenizer.from_file(f"{folder}/tokenizer.json")
    lines: list[str] = []
    tokens = 0
    while tokens < TOKENS:
        number = len(lines)
        lines.append(
            f"Entry {number}: the barge of berth {number * 7 % 613} took in {number * 13 % 977} casks of lamp oil.\n"
        )
        tokens += len(tokenizer.encode(lines[-1]).ids)
    return "".join(lines)


@pytest.mark.engine
@pytest.mark.timeout(600)
def test_document_of_120k_tokens_second_question_comes_from_the_cache(
    tiny_long_model: VllmModel, tmp_path: Path
) -> None:
    root, model = str(tmp_path / "root"), tiny_long_model
    text = long_text(model.weights)
    rows = [
        {"text": text, "question": "How many casks did entry 5 take in?", "label": 1, "answers": ["65"]},
        {"text": text, "question": "Who signed entry 5?", "label": 0, "answers": []},
    ]
    source = tmp_path / "long.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    columns = [f"columns.{name}={name}" for name in ("text", "question", "answers")]
    given = ["source=table", f"path={source}", "name=long", "columns.answerable=label", f"tokenizer={model.weights}"]
    ingest(compose("ingest", IngestConfig, [*given, *columns, f"storage.root={root}"]))
    given = ["model=smollm2-135m", "datasets=[long]", "methods=[zs]", "model.sampling.max_tokens=8"]
    given += [f"model.{key}={getattr(model, key)}" for key in ("name", "weights", "window", "kv_cache_gib")]
    given += [f"model.max_num_batched_tokens={model.max_num_batched_tokens}", f"storage.root={root}"]
    evaluate(compose("evaluate", EvaluateConfig, given))
    store = Store(root)
    assert store.read("documents", ["length_bucket"])["length_bucket"].to_list() == ["64-128K"]
    turns = store.read("responses").select("status", "turns").explode("turns").unnest("turns")
    assert turns["status"].unique().to_list() == ["ok"]
    answers = turns.filter(pl.col("purpose") == "answer").sort("cached_tokens").to_dicts()
    assert all(turn["prompt_tokens"] > TOKENS for turn in answers)
    first, second = (turn["cached_tokens"] for turn in answers)
    assert first < 128
    assert second >= TOKENS
    run = store.read("runs").filter(pl.col("job") == "evaluate").row(0, named=True)
    assert run["computed_over_bound"] < 1.01
    assert "64-128K" in report(compose("report", ReportConfig, [f"storage.root={root}"]))
    assert (Path(root) / "reports" / "main" / "index.html").is_file()
