"""Progress lines."""

from __future__ import annotations

import io
from collections import Counter

import pytest
from rich.console import Console

from jobs.support.progress import Progress, duration
from jobs.support.sink import Totals
from udfs.stages.watch import Flight


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59.4, "59 s"), (61, "1 min 1 s"), (3600, "1 h 0 min"), (7500, "2 h 5 min")]
)
def test_duration_reads_as_people_say_it(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_progress_off_a_terminal_prints_plain_lines() -> None:
    out = io.StringIO()
    totals = Totals(bundles=2, calls=9, prompt_tokens=1000, cached_tokens=900, output_tokens=10)
    totals.statuses["responses"].update(["ok", "ok", "over_length"])
    with Progress("evaluate m", 4, 8, "responses", console=Console(file=out)) as progress:
        progress.update(totals)
    first, last = out.getvalue().splitlines()
    assert first == "evaluate m: 4 bundles, 8 responses to do"
    assert last.startswith("evaluate m: 2/4 bundles · 3/8 responses · ")
    assert "90% of the prompt from cache" in last
    assert "1 over_length" in last
    assert "\x1b" not in out.getvalue()


def test_progress_on_a_terminal_shows_one_live_line() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=200)
    with Progress("evaluate m", 1, 1, "responses", console=console) as progress:
        progress.update(Totals(bundles=1))
    assert "1/1 bundles" in out.getvalue()
    assert "to do" not in out.getvalue()


def test_progress_counts_rows_of_bundles_that_still_run() -> None:
    progress = Progress("evaluate m", 4, 8, "responses", console=Console(file=io.StringIO()))
    progress.flight = Flight(Counter(ok=3, provider_error=1), prompt_tokens=200, cached_tokens=50)
    assert "0/4 bundles · 4/8 responses" in progress.line()
    assert "25% of the prompt from cache" in progress.line()
    assert "1 provider_error" in progress.line()
    progress.flight = Flight(Counter(ok=99))
    assert "8/8 responses" in progress.line(), "a bundle tried twice must not count beyond what is owed"


def test_progress_off_a_terminal_shows_calls_before_the_first_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.support.progress.PLAIN_INTERVAL_S", 0.0)
    out = io.StringIO()
    progress = Progress("evaluate m", 1, 8, "responses", console=Console(file=out))
    progress.update(Totals())
    assert out.getvalue() == "", "nothing has been asked yet"
    progress.flight = Flight(prompt_tokens=120_000)
    progress.update(Totals())
    assert "0/8 responses" in out.getvalue()
