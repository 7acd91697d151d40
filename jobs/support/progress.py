"""Progress for people: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from ray.exceptions import RayError
from rich.console import Console
from rich.live import Live
from rich.text import Text

from jobs.support.sink import Totals
from udfs.schema import Status
from udfs.stages.watch import Flight

PLAIN_INTERVAL_S = 10.0
REFRESH_PER_SECOND = 2
POLL_SECONDS = 2.0


class Progress:
    """Shows bundles, rows, tokens a second, cache share, errors and the time left.

    Rows count from the moment their dialogue is done, also while their bundle still runs.

    Args:
        label: what is running.
        bundles, rows: how many of each are owed.
        table: which table's rows are counted: responses, judgements or candidates.
        in_flight: what has been done so far, asked every few seconds; None where only recorded rows are known.
    """

    def __init__(
        self,
        label: str,
        bundles: int,
        rows: int,
        table: str,
        in_flight: Callable[[], Flight | None] = lambda: None,
        console: Console | None = None,
    ) -> None:
        self.label, self.bundles, self.rows, self.table = label, bundles, rows, table
        self.in_flight = in_flight
        self.console = console or Console(file=sys.stderr, highlight=False)
        self.totals = Totals()
        self.flight = Flight()
        self.started = time.monotonic()
        self._last_plain = self.started
        self._first: tuple[float, int] | None = None  # when the first rows were seen, and how many
        self._live: Live | None = None
        self._done = threading.Event()
        self._poller = threading.Thread(target=self._poll, name="progress", daemon=True)

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            self._live = Live(
                get_renderable=lambda: Text(self.line()), console=self.console, refresh_per_second=REFRESH_PER_SECOND
            )
            self._live.__enter__()
        else:
            self._print(f"{self.label}: {self.bundles:,} bundles, {self.rows:,} {self.table} to do")
        self._poller.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._poller.join(timeout=POLL_SECONDS)
        if self._live:
            self._live.__exit__(kind, error, trace)
        else:
            self._print(self.line())

    def update(self, totals: Totals) -> None:
        """Take new totals of what has been recorded."""
        self.totals = totals
        self._show()

    def _poll(self) -> None:
        while not self._done.wait(POLL_SECONDS):
            try:
                self.flight = self.in_flight() or self.flight
            except RayError:  # the board ends with its stage: what was last known stands
                continue
            self._show()

    def _show(self) -> None:
        now, seen = time.monotonic(), self._rows_done()
        if self._first is None and seen:
            self._first = (now, seen)
        begun = seen or self.flight.prompt_tokens  # long documents: minutes of calls before the first row
        if self._live is None and begun and now - self._last_plain >= PLAIN_INTERVAL_S and not self._done.is_set():
            self._last_plain = now
            self._print(self.line())

    def _rows_done(self) -> int:
        """Recorded rows, or those reported from running bundles where that is more; a retried bundle reports twice."""
        return min(self.rows, max(self.totals.rows(self.table), self.flight.statuses.total()))

    def line(self) -> str:
        """The whole state in one line."""
        now, done = time.monotonic(), self._rows_done()
        elapsed = now - self.started
        parts = [
            f"{self.label}: {self.totals.bundles:,}/{self.bundles:,} bundles",
            f"{done:,}/{self.rows:,} {self.table}",
        ]
        recorded_is_more = self.totals.prompt_tokens >= self.flight.prompt_tokens
        tokens: Totals | Flight = self.totals if recorded_is_more else self.flight
        if tokens.prompt_tokens:
            rate = (tokens.prompt_tokens + tokens.output_tokens) / max(elapsed, 1e-9)
            parts.append(f"{rate:,.0f} tokens/s")
            parts.append(f"{tokens.cached_tokens / tokens.prompt_tokens:.0%} of the prompt from cache")
        statuses = max((self.totals.statuses[self.table], self.flight.statuses), key=lambda counts: counts.total())
        bad = [f"{n:,} {status}" for status, n in sorted(statuses.items()) if status != Status.OK]
        parts += [", ".join(bad)] if bad else []
        parts.append(f"{duration(elapsed)} so far")
        if self._first and self._first[1] < done < self.rows:  # the first rows waited for Ray and the weights
            rate = (done - self._first[1]) / max(now - self._first[0], 1e-9)
            parts.append(f"about {duration((self.rows - done) / rate)} left")
        return " · ".join(parts)

    def _print(self, text: str) -> None:
        self.console.print(text, soft_wrap=True, markup=False)


def duration(seconds: float) -> str:
    """Seconds as people say them: 42 s, 3 min 10 s, 2 h 5 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
