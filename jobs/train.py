"""Train a model on what was ingested, and measure it on documents that it has not seen.

python -m jobs.train target=answerability name=answerable 'datasets=[squad,banditqa]' storage.root=runs/x

    questions ⨝ documents ─▶ views ─▶ examples (without those whose source forbids training)
        ─▶ parts of whole documents: train, test
        ─▶ Hugging Face Trainer (on Ray Train where workers > 1) ─▶ models/<name>
        ─▶ predictions on the test part ─▶ accuracy, F1, calibration ─▶ models table, report

Start it again and it goes on from its last checkpoint; a finished model is not trained anew. `classifier=trained`
makes `jobs.evaluate` judge with it.
"""

from __future__ import annotations

from jobs.cli import job
from jobs.support.runtime import Cluster
from jobs.support.training import prepare
from jobs.support.training_config import TrainConfig


def train(config: TrainConfig) -> None:
    """Check everything that can be checked, then train, measure and record, unless that was done before."""
    run = prepare(config)
    if not run.finished:
        with Cluster(config.cluster, run.store.root) as cluster:
            run.fit(cluster)
        run.record(run.predict())
    print(run.summary())


main = job("train", TrainConfig)(train)

if __name__ == "__main__":
    main()
