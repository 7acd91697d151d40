"""Whether what a job reads has been ingested: said before anything starts, for all datasets at once."""

from __future__ import annotations

from collections.abc import Sequence

from jobs.support.command_line import CONF
from udfs.errors import UserError
from udfs.tables.store import Store

PRESETS = CONF / "dataset"


def require_ingested(root: str, datasets: Sequence[str]) -> None:
    """Raise `UserError` naming every dataset that is not there, and how it is ingested."""
    store = Store(root)
    have = store.dataset_names()
    missing = [name for name in dict.fromkeys(datasets) if name not in have]
    if not missing:
        return
    presets = [name for name in missing if (PRESETS / f"{name}.yaml").is_file()]
    others = [name for name in missing if name not in presets]
    ways = []
    if presets:
        each = presets[0] if len(presets) == 1 else "NAME"
        path = "" if presets == ["sample"] else " path=FILE"
        ways.append(
            f"{', '.join(presets)} by `python -m jobs.ingest dataset={each}{path} storage.root={root}` "
            f"(conf/dataset/{each}.yaml says where its files come from)"
        )
    if others:
        ways.append(f"{', '.join(others)} by `python -m jobs.ingest source=… path=… name=… storage.root={root}`")
    there = f"; ingested there: {', '.join(have)}" if have else ""
    raise UserError(f"not ingested under {root}: {'; '.join(ways)}{there}")
