"""The stage of the classifier: recorded responses in, judgements out, on a classifier that is loaded once an actor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from udfs.engines.base import Classifier, EngineDead
from udfs.engines.classifier_config import classifier_config
from udfs.engines.classifier_factory import create_classifier
from udfs.judges.classifier import ClassifierJudge
from udfs.stages.engine_stage import LoadedStage
from udfs.stages.judge import pairs_of
from udfs.stages.results import RESULTS, Tally, result_row
from udfs.stages.watch import Watch
from udfs.views import view_text


class ClassifyStage(LoadedStage[Classifier]):
    """Columns read: PLAN and `text`. Gives RESULTS. The responses about one document are classified together.

    Calls and tokens of a classifier are not counted.

    Args:
        classifier: the classifier's config, as under conf/classifier.
        watch: told of every row, and of a classifier's death.
    """

    def __init__(self, classifier: Mapping[str, Any], watch: Watch, judge: ClassifierJudge) -> None:
        super().__init__(watch)
        config = classifier_config(classifier)
        if config is None:
            raise ValueError("ClassifyStage needs a classifier")
        self.classifier = config
        self.judge = judge

    async def create(self) -> Classifier:
        return await create_classifier(self.classifier)

    async def __call__(self, batch: pa.Table) -> pa.Table:
        rows = []
        for bundle in batch.to_pylist():
            asked = [
                (question, response, view_text(bundle["text"], question.redactions))
                for question, response in pairs_of(bundle)
            ]
            try:
                made = await self.judge.judge(asked, await self.load())
            except EngineDead as error:
                self.leave(str(error))
            judgements = [judgement for of_one in made for judgement in of_one]
            for judgement in judgements:
                self.watch.row(judgement.status)
            rows.append(result_row(bundle["bundle_id"], bundle["doc_id"], [], judgements, Tally()))
            self.watch.flush()
        return pa.Table.from_pylist(rows, schema=RESULTS)
