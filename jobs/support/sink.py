"""Where results land: buffered by table, written as atomic files of many rows, at the latest every few seconds."""

from __future__ import annotations

import copy
import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.compute as pc

from udfs.errors import warn
from udfs.schema import TABLES
from udfs.stages.busy import EngineTimes, Idleness, idleness
from udfs.tables.store import Store

RESULT_TABLES = ("responses", "judgements", "candidates", "proposals", "checks")


@dataclass
class Totals:
    """What has come so far."""

    bundles: int = 0
    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    bound_tokens: int | None = None
    bound_block_tokens: int | None = None
    bounded_computed_tokens: int = 0
    """Computed prompt tokens of the bundles whose bound is known: the numerator of computed ÷ bound."""
    usd: float = 0.0
    """What endpoints charge for it."""
    engines: dict[str, EngineTimes] = field(default_factory=dict)
    """The last times that each engine told, by its id."""
    statuses: dict[str, Counter[str]] = field(default_factory=lambda: {name: Counter() for name in RESULT_TABLES})

    @property
    def computed_tokens(self) -> int:
        return self.prompt_tokens - self.cached_tokens

    def rows(self, table: str) -> int:
        """Rows of `table` so far."""
        return sum(self.statuses[table].values())

    def failed(self, table: str) -> int:
        """Rows of `table` whose status is not ok."""
        return self.rows(table) - self.statuses[table]["ok"]

    @property
    def idleness(self) -> Idleness | None:
        """What the engines did; None where they did not tell."""
        return idleness(list(self.engines.values()))

    def add(self, result: dict[str, Any]) -> None:
        """Add one bundle's costs."""
        self.bundles += 1
        self.usd += result["usd"] or 0.0
        if result["engine"] is not None:
            told = EngineTimes(**result["engine"])
            known = self.engines.get(told.engine)
            self.engines[told.engine] = told if known is None or told.requests >= known.requests else known
        for key in ("calls", "prompt_tokens", "cached_tokens", "output_tokens"):
            setattr(self, key, getattr(self, key) + (result[key] or 0))
        if result["bound_tokens"] is not None:
            self.bound_tokens = (self.bound_tokens or 0) + result["bound_tokens"]
            self.bound_block_tokens = (self.bound_block_tokens or 0) + (result["bound_block_tokens"] or 0)
            self.bounded_computed_tokens += (result["prompt_tokens"] or 0) - (result["cached_tokens"] or 0)

    @property
    def computed_over_bound(self) -> float | None:
        """Computed prompt tokens ÷ the least that could have been computed; None where no bound is known."""
        return self.bounded_computed_tokens / self.bound_tokens if self.bound_tokens else None


class Sink:
    """Takes RESULTS tables; leaving the `with` block writes what is left, also after an error or an interrupt."""

    def __init__(self, store: Store, run: str, flush_rows: int, flush_seconds: float) -> None:
        self.store, self.run = store, run
        self.flush_rows, self.flush_seconds = flush_rows, flush_seconds
        self.totals = Totals()
        self._pending: dict[str, list[pa.Table]] = {name: [] for name in RESULT_TABLES}
        self._lock = threading.Lock()
        self._left = threading.Event()
        self._clock = threading.Thread(target=self._flush_by_time, name="sink", daemon=True)

    def take(self, results: Iterable[pa.Table]) -> Iterable[Totals]:
        """Add each table of results; gives the totals after each."""
        for table in results:
            self.add(table)
            yield self.totals

    def add(self, results: pa.Table) -> None:
        """Add one RESULTS table."""
        with self._lock:
            waiting = self._add(results)
        if waiting >= self.flush_rows:
            self.flush()

    def _add(self, results: pa.Table) -> int:
        costs = results.drop_columns(["bundle_id", "doc_id", *RESULT_TABLES]).to_pylist()
        for row in costs:
            self.totals.add(row)
        for name in RESULT_TABLES:
            flat = pc.list_flatten(results[name].combine_chunks())
            if len(flat):
                flat = flat.combine_chunks() if isinstance(flat, pa.ChunkedArray) else flat
                rows = pa.Table.from_struct_array(flat).select(TABLES[name].names)
                self._pending[name].append(rows)
                self.totals.statuses[name].update(rows["status"].to_pylist())
        return sum(table.num_rows for tables in self._pending.values() for table in tables)

    def snapshot(self) -> Totals:
        """The totals as they stand, for another thread."""
        with self._lock:
            return copy.deepcopy(self.totals)

    def flush(self) -> None:
        """Write what is pending, one file a table."""
        with self._lock:
            for name, tables in self._pending.items():
                if tables:
                    self.store.write(name, self.run, pa.concat_tables(tables))
                    tables.clear()

    def _flush_by_time(self) -> None:
        while not self._left.wait(min(self.flush_seconds, threading.TIMEOUT_MAX)):
            try:
                self.flush()
            except OSError as error:  # the rows stay pending; the last flush, in the main thread, raises
                warn(f"results could not be written, trying again: {error}")

    def __enter__(self) -> Self:
        self._clock.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._left.set()
        self._clock.join()
        self.flush()
