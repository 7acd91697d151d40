"""Which of the stored responses a report is about."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from udfs.errors import UserError
from udfs.tables.facts import newest_run
from udfs.tables.store import Store


def which_run(store: Store, wanted: str | None) -> str:
    """The run to report.

    Raises:
        UserError: there are no responses, or none of the run that was asked for.
    """
    recorded = store.parts("responses")
    if not recorded:
        raise UserError(
            f"no responses under {store.root}: evaluate a model first, for example "
            f"`python -m jobs.evaluate 'datasets=[sample]' storage.root={store.root}`"
        )
    if wanted is not None:
        if wanted not in recorded:
            raise UserError(f"run={wanted!r} has no responses under {store.root}; runs: {', '.join(recorded)}")
        return wanted
    runs = store.read("runs", ["run", "started_at"])
    known = set(runs["run"]) & set(recorded)
    created = pl.DataFrame() if known else store.read("responses", ["run", "created_at"])
    found = newest_run(runs, recorded, created)
    if found is None:
        raise UserError(f"the responses table under {store.root} is empty: start jobs.evaluate again")
    return found


def chosen(responses: pl.DataFrame, datasets: Sequence[str], models: Sequence[str]) -> pl.DataFrame:
    """The responses of the datasets and models that were asked for.

    Raises:
        UserError: the run has none of that name.
    """
    for column, wanted in (("dataset", datasets), ("model", models)):
        have = sorted(set(responses[column]))
        for name in wanted:
            if name not in have:
                raise UserError(f"{column}s=[{name}]: this run has no responses of it; it has {', '.join(have)}")
        if wanted:
            responses = responses.filter(pl.col(column).is_in(list(wanted)))
    return responses
