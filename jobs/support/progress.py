"""Progress for people: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from jobs.support.sink import Totals

PLAIN_INTERVAL_S = 10.0
REFRESH_PER_SECOND = 2


class Progress:
    """Shows bundles, rows, tokens a second, cache share, errors and the time left.

    Args:
        label: what is running.
        bundles, rows: how many of each are owed.
        table: which table's rows are counted: responses or judgements.
    """

    def __init__(self, label: str, bundles: int, rows: int, table: str, console: Console | None = None) -> None:
        self.label, self.bundles, self.rows, self.table = label, bundles, rows, table
        self.console = console or Console(file=sys.stderr, highlight=False)
        self.totals = Totals()
        self.started = time.monotonic()
        self._last_plain = self.started
        self._first: tuple[float, int] | None = None  # when the first rows came, and how many
        self._live: Live | None = None

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            self._live = Live(
                get_renderable=lambda: Text(self.line()), console=self.console, refresh_per_second=REFRESH_PER_SECOND
            )
            self._live.__enter__()
        else:
            self._print(f"{self.label}: {self.bundles:,} bundles, {self.rows:,} {self.table} to do")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.__exit__(kind, error, trace)
        else:
            self._print(self.line())

    def update(self, totals: Totals) -> None:
        """Take new totals; on no terminal prints a line at most every ten seconds."""
        self.totals = totals
        now = time.monotonic()
        if self._first is None:
            self._first = (now, totals.rows(self.table))
        if self._live is None and now - self._last_plain >= PLAIN_INTERVAL_S:
            self._last_plain = now
            self._print(self.line())

    def line(self) -> str:
        """The whole state in one line."""
        totals, now = self.totals, time.monotonic()
        elapsed = now - self.started
        done = totals.rows(self.table)
        parts = [
            f"{self.label}: {totals.bundles:,}/{self.bundles:,} bundles",
            f"{done:,}/{self.rows:,} {self.table}",
        ]
        if totals.prompt_tokens:
            rate = (totals.prompt_tokens + totals.output_tokens) / max(elapsed, 1e-9)
            parts.append(f"{rate:,.0f} tokens/s")
            parts.append(f"{totals.cached_tokens / totals.prompt_tokens:.0%} of the prompt from cache")
        if totals.failed(self.table):
            bad = ", ".join(f"{n:,} {s}" for s, n in sorted(totals.statuses[self.table].items()) if s != "ok")
            parts.append(bad)
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
