"""The cosine's stage called directly, as Ray would: blocks in, RESULTS out, over a local endpoint."""

from __future__ import annotations

import json
import os
from typing import Any

import pyarrow as pa
import pytest

from tests.factories import make_document, make_question, make_response
from tests.udfs.engines.fake_server import Fake, serving, status, vectors
from tests.udfs.judges.letter_embedder import LetterEmbedder
from tests.udfs.stages.test_stages import Left, Watching
from udfs.bundles import PLAN, Place, bundle_row
from udfs.engines.base import EngineDead
from udfs.errors import UserError
from udfs.judges.cosine import CosineJudge
from udfs.records import row_of
from udfs.stages.embed import CosineStage
from udfs.stages.engine_stage import EXIT_ENGINE_DEAD
from udfs.stages.results import RESULTS

JUDGE = CosineJudge("fake", "m")


def embedding(server: Fake) -> dict[str, Any]:
    return {"engine": "openai", "name": "fake", "base_url": server.base_url, "model": "m", "max_retries": 0}


def block(documents: int = 3) -> pa.Table:
    """A plan's block: of each document an unanswerable question with two responses and an answerable one with one."""
    rows = []
    for number in range(documents):
        document = make_document(f"The bridge number {number} opened in 1902.")
        wanted = {
            make_question(document, 0, answerable=False): ("zs", "fs"),
            make_question(document, 1, answerable=True): ("zs",),
        }
        items = []
        for question, methods in wanted.items():
            responses = [make_response(question, method=method, refused=True) for method in methods]
            recorded = [json.dumps(row_of(response), default=str) for response in responses]
            items.append({**row_of(question), "asks": [], "responses": recorded})
        rows.append(bundle_row(Place(document.doc_id, "en", 10, "none", 0, 0), items))
    return pa.Table.from_pylist(rows, schema=PLAN)


async def test_cosine_stage_judges_all_responses_of_a_block_in_one_request() -> None:
    async with serving() as server:
        server.handlers = [vectors()]
        watch = Watching()
        stage = CosineStage(embedding(server), watch, JUDGE)
        results = await stage(block())
        again = await stage(block(1))
        await stage.close()
        await stage.close()
    assert results.schema.equals(RESULTS)
    made = results.to_pylist()
    assert [len(row["judgements"]) for row in made] == [2, 2, 2]
    assert {row["bundle_id"] for row in again.to_pylist()} < {row["bundle_id"] for row in made}
    for row in made:
        assert all(
            judgement["judge"] == "embedding:fake" and judgement["score"] > 0.9 for judgement in row["judgements"]
        )
    assert watch.flight.statuses == {"ok": 8}
    assert [len(body["input"]) for body in server.bodies] == [2, 2], "the two questions, equal in all documents"


async def test_cosine_stage_whose_provider_fails_gives_rows_that_say_so() -> None:
    async with serving() as server:
        server.handlers = [status(500)]
        watch = Watching()
        stage = CosineStage(embedding(server), watch, JUDGE)
        (row,) = (await stage(block(1))).to_pylist()
        await stage.close()
    assert [judgement["status"] for judgement in row["judgements"]] == ["provider_error"] * 2
    assert all("500" in judgement["error"] and judgement["score"] is None for judgement in row["judgements"])
    assert watch.flight.statuses == {"provider_error": 2}


async def test_cosine_stage_whose_key_is_refused_ends_the_run() -> None:
    async with serving() as server:
        server.handlers = [status(401)]
        stage = CosineStage(embedding(server), Watching(), JUDGE)
        with pytest.raises(UserError, match="401"):
            await stage(block(1))
        await stage.close()


async def test_cosine_stage_whose_embedder_dies_ends_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    codes: list[int] = []

    def leave(code: int) -> None:
        codes.append(code)
        raise Left

    monkeypatch.setattr(os, "_exit", leave)
    async with serving() as server:
        watch = Watching()
        stage = CosineStage(embedding(server), watch, JUDGE)
        stage.adopt(LetterEmbedder(opened=EngineDead))
        with pytest.raises(Left):
            await stage(block(1))
    assert codes == [EXIT_ENGINE_DEAD]
    assert watch.deaths == ["opened in 2"]


def test_cosine_stage_without_an_embedding_is_a_mistake_of_its_caller() -> None:
    with pytest.raises(ValueError, match="needs an embedding"):
        CosineStage({"engine": "none"}, Watching(), JUDGE)
