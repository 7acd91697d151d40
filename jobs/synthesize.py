"""Make answerable and unanswerable questions about documents: FactGuard's pipeline, over bundles.

    documents ─▶ owed fragments (expected − recorded) ─▶ bundles, longest document first
        ─▶ attach text ─▶ agents on the engine while the gate is open (targets, budget) ─▶ candidates and their fates
        ─▶ the accepted: documents and questions of the dataset `name`, in splits of whole documents

Start it again and it asks only for what is still owed. `jobs.evaluate` and `jobs.report` take the dataset as it is.
"""

from __future__ import annotations

from jobs.cli import job
from jobs.support.fragments import owed_fragments, select_documents
from jobs.support.runtime import Cluster
from jobs.support.synthesis import prepare
from jobs.support.synthesis_config import SynthesizeConfig
from jobs.support.synthesis_summary import summary


def synthesize(config: SynthesizeConfig) -> None:
    """Check everything that can be checked, then make, record and publish what is owed."""
    run = prepare(config)
    documents = select_documents(run.store, config.datasets, config.split, config.language, config.limit)
    owed = owed_fragments(run.store, documents, config.name, run.made_with.spec, run.spec.kinds, config.synthesis.alpha)
    run.check(owed)
    with Cluster(config.cluster, run.store.root) as cluster:
        made = run.make(owed, cluster)
    published = run.publish()
    print(summary(run, owed, made, published))


main = job("synthesize", SynthesizeConfig)(synthesize)

if __name__ == "__main__":
    main()
