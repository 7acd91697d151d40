"""Evaluate a model: every prompt method on every dataset, judged.

    documents ⨝ questions × methods ─▶ owed (expected − recorded) ─▶ bundles, longest document first
        ─▶ attach text ─▶ dialogues on the engine ─▶ responses
        ─▶ judges: rules as tasks; the same model inside the bundle; another model as its own stage;
           embeddings of both questions on actors of their own ─▶ judgements

Start it again and it asks only for what is still owed.
"""

from __future__ import annotations

from jobs.cli import job
from jobs.config import EvaluateConfig
from jobs.support.evaluation import prepare
from jobs.support.owed import owed_judgements, owed_responses, select_questions
from jobs.support.runtime import Cluster


def evaluate(config: EvaluateConfig) -> None:
    """Check everything that can be checked, then ask, judge and record what is owed."""
    run = prepare(config)
    questions = select_questions(run.store, config.datasets, config.split, config.limit)
    owed = owed_responses(run.store, questions, run.specs, run.name, run.revision, run.run, config.retry)
    run.check(owed)
    with Cluster(config.cluster, run.store.root) as cluster:
        asked = run.ask(owed, cluster)
        for judge in run.judges:
            to_judge = owed_judgements(run.store, questions, judge, owed.response_ids, run.run)
            run.judge(judge, to_judge, cluster)
    print(run.summary(asked, owed))


main = job("evaluate", EvaluateConfig)(evaluate)

if __name__ == "__main__":
    main()
