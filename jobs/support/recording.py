"""A stage's results on their way into the tables: with progress, and a row in `runs` however it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import pyarrow as pa

from jobs.support.progress import Progress
from jobs.support.runs import RunLedger
from jobs.support.sink import Sink, Totals
from udfs.errors import RunFailed
from udfs.stages.watch import Flight
from udfs.tables.store import Store


@dataclass(frozen=True)
class Recording:
    """What is recorded where: `rows` rows of `table` out of `bundles` bundles, into part `run`."""

    store: Store
    run: str
    label: str
    table: str
    bundles: int
    rows: int
    flush_rows: int
    flush_seconds: float

    def take(
        self,
        results: Iterable[pa.Table],
        ledger: RunLedger,
        in_flight: Callable[[], Flight | None],
        end: Callable[[], tuple[str, str | None]] = lambda: ("ok", None),
    ) -> Totals:
        """Stream RESULTS tables into their tables.

        Args:
            ledger: closed with what became of the stage.
            in_flight: see `Progress`.
            end: asked at a normal end: the status and the error that the ledger is closed with.
        """
        sink = Sink(self.store, self.run, self.flush_rows, self.flush_seconds)
        status, error = "failed", None
        try:
            with (
                ledger.beating(sink.snapshot),
                sink,
                Progress(self.label, self.bundles, self.rows, self.table, in_flight) as progress,
            ):
                for totals in sink.take(results):
                    progress.update(totals)
            status, error = end()
        except RunFailed as failure:
            error = str(failure)
            raise
        except KeyboardInterrupt:
            status = "stopped"
            raise
        finally:
            ledger.close(status, sink.totals, error)
        return sink.totals
