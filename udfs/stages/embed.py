"""The stage of the cosine: recorded responses in, judgements out, on an embedder that is loaded once an actor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from udfs.engines.base import Embedder, EngineDead
from udfs.engines.embedding_config import embedding_config
from udfs.engines.embedding_factory import create_embedder
from udfs.judges.cosine import CosineJudge
from udfs.stages.engine_stage import LoadedStage
from udfs.stages.judge import pairs_of
from udfs.stages.results import RESULTS, Tally, result_row
from udfs.stages.watch import Watch


class CosineStage(LoadedStage[Embedder]):
    """Columns read: PLAN (no text needed). Gives RESULTS. All responses of a block are embedded together.

    Calls and tokens of an embedder are not counted.

    Args:
        embedding: the embedding's config, as under conf/embedding.
        watch: told of every row, and of an embedder's death.
    """

    def __init__(self, embedding: Mapping[str, Any], watch: Watch, judge: CosineJudge) -> None:
        super().__init__(watch)
        config = embedding_config(embedding)
        if config is None:
            raise ValueError("CosineStage needs an embedding")
        self.embedding = config
        self.judge = judge

    async def create(self) -> Embedder:
        return await create_embedder(self.embedding)

    async def __call__(self, batch: pa.Table) -> pa.Table:
        bundles = batch.to_pylist()
        pairs = [pairs_of(bundle) for bundle in bundles]
        try:
            embedder = await self.load()
            made = iter(await self.judge.judge([pair for of_one in pairs for pair in of_one], embedder))
        except EngineDead as error:
            self.leave(str(error))
        rows = []
        for bundle, of_one in zip(bundles, pairs, strict=True):
            judgements = [judgement for _ in of_one for judgement in next(made)]
            for judgement in judgements:
                self.watch.row(judgement.status)
            rows.append(result_row(bundle["bundle_id"], bundle["doc_id"], [], judgements, Tally()))
        self.watch.flush()
        return pa.Table.from_pylist(rows, schema=RESULTS)
