"""Plan an evaluation before anything is spent: tokens, GPU hours and money, cell by cell.

    documents ⨝ questions × methods ─▶ owed ─▶ bundles ─▶ the prompts as the model would be sent them, counted
        + what nobody knows yet (replies' length, refused share, overhead), from recorded responses or stated defaults
        ─▶ tables, JSON

Takes the arguments of the `jobs.evaluate` that is planned. `plan.calibrate=true` asks a few bundles for real first;
their responses are recorded, and the run goes on from there.
"""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console

from jobs.cli import job
from jobs.support.evaluation import prepare
from jobs.support.ingested import require_ingested
from jobs.support.owed import Owed, a_few, owed_judgements, owed_responses, select_questions
from jobs.support.plan_config import PlanConfig
from jobs.support.plan_table import as_json, show
from jobs.support.planning import RunPlan, make_plan
from jobs.support.runtime import Cluster


def plan(config: PlanConfig) -> RunPlan:
    """Count what the run owes; with `plan.calibrate` after a few bundles were asked."""
    run = prepare(config)
    questions = select_questions(run.store, config.datasets, config.split, config.limit)

    def owed_now() -> Owed:
        return owed_responses(run.store, questions, run.specs, run.name, run.revision, run.run, config.retry)

    owed = owed_now()
    if config.plan.calibrate and owed.rows:
        few = a_few(owed, config.plan.bundles)
        run.check(few)
        with Cluster(config.cluster, run.store.root) as cluster:
            run.ask(few, cluster)
            for judge in run.judges:
                run.judge(judge, owed_judgements(run.store, questions, judge, few.response_ids, run.run), cluster)
        owed = owed_now()
    return make_plan(run, questions, owed, config.plan.documents)


def plan_and_show(config: PlanConfig) -> None:
    """Print the plan, and write it as JSON where `plan.json` says so."""
    made = plan(config)
    width = None if sys.stdout.isatty() else 200
    show(made, config.cluster, Console(width=width, highlight=False))
    if config.plan.json:
        file = Path(config.plan.json).expanduser()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(as_json(made, config.cluster), encoding="utf-8")
        print(f"written: {file}")


def check(config: PlanConfig) -> None:
    """What a sweep finds out before its first plan is made."""
    require_ingested(config.storage.root, config.datasets)


main = job("plan", PlanConfig, check)(plan_and_show)

if __name__ == "__main__":
    main()
