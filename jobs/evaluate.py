"""Evaluate a model: every prompt method on every dataset, judged.

    documents ⨝ questions × methods ─▶ owed (expected − recorded) ─▶ within the budget? ─▶ bundles, longest first
        ─▶ attach text ─▶ dialogues on the engine ─▶ responses
        ─▶ judges: rules as tasks; the same model inside the bundle; another model as its own stage;
           embeddings of both questions on actors of their own ─▶ judgements

Start it again and it asks only for what is still owed.
"""

from __future__ import annotations

from jobs.cli import job
from jobs.config import EvaluateConfig
from jobs.support.evaluation import prepare
from jobs.support.ingested import require_ingested
from jobs.support.owed import owed_judgements, owed_responses, select_questions
from jobs.support.planning import hold_to_budget
from jobs.support.runtime import Cluster


def evaluate(config: EvaluateConfig) -> None:
    """Check everything that can be checked, then ask, judge and record what is owed."""
    run = prepare(config)
    questions = select_questions(run.store, config.datasets, config.split, config.limit)
    owed = owed_responses(run.store, questions, run.specs, run.name, run.revision, run.run, config.retry)
    run.check(owed)
    hold_to_budget(run, questions, owed)
    with Cluster(config.cluster, run.store.root) as cluster:
        asked = run.ask(owed, cluster)
        judged = []
        for judge in run.judges:
            to_judge = owed_judgements(run.store, questions, judge, owed.response_ids, run.run)
            judged.append(run.judge(judge, to_judge, cluster))
    print(run.summary(asked, judged, owed))


def check(config: EvaluateConfig) -> None:
    """What a sweep finds out before its first model is loaded."""
    require_ingested(config.storage.root, config.datasets)


main = job("evaluate", EvaluateConfig, check)(evaluate)

if __name__ == "__main__":
    main()
