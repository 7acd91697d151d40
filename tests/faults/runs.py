"""One evaluation on a cluster, as a user starts it: what it asked, what it recorded, and what a fault cost it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

import polars as pl

from tests.faults.ray_nodes import POLL_SECONDS, Node, Nodes, environment, wait_for
from udfs.bundles import BLOCK_WEIGHT
from udfs.tables.store import Store

REPOSITORY = Path(__file__).resolve().parents[2]
DELAY_SECONDS = 0.4
BLOCKS_PER_ACTOR = 1
TURNS = 2
IN_FLIGHT_CALLS = BLOCKS_PER_ACTOR * BLOCK_WEIGHT * TURNS
"""Calls of the blocks that one engine works on at once, at most: what one lost engine costs."""
JOB_SECONDS = 400
COST = "cost of a fault"
"""The name under which a test's report carries a `Cost` as a dict: reports are what comes back from other processes."""


@dataclass(frozen=True)
class Cost:
    """What an event cost: calls that were made more than once, and the share of all prompt tokens that they had."""

    event: str
    calls: int
    lost_calls: int
    prompt_tokens: int
    lost_tokens: int
    bound_calls: int
    recovered_s: float | None
    """From the event to the first call that was made again; None where none was."""


@dataclass
class Evaluation:
    """A run named `run` on the storage root; started as often as it takes.

    Args:
        log: the file that every engine appends its calls to.
    """

    root: str
    run: str
    log: Path
    dataset: str = "sample"
    methods: tuple[str, ...] = ("zs", "fs")
    process: subprocess.Popen[bytes] | None = None
    struck_at: float | None = None
    _asked_again_at: float | None = field(default=None, init=False)
    _made_before: Counter[str] = field(default_factory=Counter, init=False)

    def start(self, nodes: Nodes, *options: str) -> Self:
        """Start the job on `nodes`; it runs until it is waited for."""
        return self.launch(
            "model=scripted",
            f"cluster.address='{nodes.address}'",
            "cluster.actors=2",
            f"cluster.blocks_per_actor={BLOCKS_PER_ACTOR}",
            f"model.delay_s={DELAY_SECONDS}",
            f"model.call_log={self.log}",
            "flush_seconds=0.2",
            "cluster.reassign_s=8",
            *options,
        )

    def launch(self, *options: str) -> Self:
        """Start the job with these options."""
        command = [sys.executable, "-m", "jobs.evaluate", f"datasets=[{self.dataset}]", f"run={self.run}"]
        command += [f"methods=[{','.join(self.methods)}]", f"storage.root={self.root}", *options]
        with self.output.open("ab") as output:
            self.process = subprocess.Popen(
                command, cwd=REPOSITORY, env=environment(), stdout=output, stderr=output, start_new_session=True
            )
        return self

    @property
    def output(self) -> Path:
        return self.log.with_suffix(".out")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def calls(self) -> Counter[str]:
        """How often each call was made."""
        return Counter(self.log.read_text().splitlines() if self.log.exists() else [])

    def working(self, nodes: Nodes) -> list[Node]:
        """The nodes with an engine that has been asked something; waits for one in the middle of its work."""

        def found() -> bool:
            self.poll()
            return bool(nodes.working(self.log)) and self.calls().total() > 20

        wait_for(found, "an engine at work")
        return nodes.working(self.log)

    def struck(self) -> None:
        """Remember when the fault came."""
        self.struck_at = self.struck_at or time.monotonic()
        self._made_before = self.calls()

    def poll(self) -> int | None:
        """The exit code, None while it runs; notes when calls are made again."""
        assert self.process is not None
        if self.struck_at and not self._asked_again_at and self.lost() > 0:
            self._asked_again_at = time.monotonic()
        return self.process.poll()

    def wait(self, code: int | None = 0, seconds: float = JOB_SECONDS) -> int:
        """Until the job has ended, with exit code `code` (None: any but 0)."""
        wait_for(lambda: self.poll() is not None, f"the end of the job ({self.said()})", seconds)
        assert self.process is not None
        ended = self.process.returncode
        assert ended == code if code is not None else ended != 0, f"exit {ended}: {self.said()}"
        return ended

    def said(self) -> str:
        """The end of what it printed."""
        return self.output.read_text(errors="replace")[-1500:] if self.output.exists() else ""

    def lost(self) -> int:
        """Calls that were made before."""
        made = self.calls()
        return made.total() - len(made)

    def responses(self) -> pl.DataFrame:
        return Store(self.root).read("responses", part=self.run)

    def check(self) -> None:
        """Exactly the rows that are owed, once each, all of them judged."""
        store = Store(self.root)
        responses = self.responses()
        questions = store.read("questions", ["question_id"], part=self.dataset).height
        assert responses.height == len(self.methods) * questions
        assert responses["status"].unique().to_list() == ["ok"]
        raw = sum(
            pl.read_parquet(file.path, columns=["response_id"]).height for file in store.files("responses", self.run)
        )
        assert raw == responses.height, "a row was recorded twice"
        judged = store.read("judgements", part=self.run).filter(measure="answer_consistency")
        assert set(judged["response_id"]) == set(responses["response_id"])
        assert judged.height == responses.height

    def cost(self, event: str, bound_calls: int) -> Cost:
        """What the event cost; fails where that is more than `bound_calls`."""
        turns = self.responses().select("response_id", "turns").explode("turns").unnest("turns")
        tokens = {
            f"{response}\t{purpose}": count
            for response, purpose, count in turns.select("response_id", "purpose", "prompt_tokens").iter_rows()
        }
        made = self.calls()
        assert set(made) == set(tokens), "calls and recorded turns differ"
        total = sum(times * tokens[call] for call, times in made.items())
        again = (
            None if self._asked_again_at is None or self.struck_at is None else self._asked_again_at - self.struck_at
        )
        found = Cost(event, made.total(), self.lost(), total, total - sum(tokens.values()), bound_calls, again)
        assert found.lost_calls <= bound_calls, found
        return found


def table(costs: list[Cost]) -> list[str]:
    """The lines of a table of events."""
    lines = [
        f"{'event':44} {'calls':>6} {'again':>6} {'bound':>6} {'tokens':>9} {'again':>8} {'share':>6} {'after s':>8}"
    ]
    for cost in costs:
        after = "-" if cost.recovered_s is None else f"{cost.recovered_s:.1f}"
        share = cost.lost_tokens / cost.prompt_tokens
        lines.append(
            f"{cost.event:44} {cost.calls:6,} {cost.lost_calls:6,} {cost.bound_calls:6,} {cost.prompt_tokens:9,} "
            f"{cost.lost_tokens:8,} {share:6.1%} {after:>8}"
        )
    return lines


def pause(seconds: float, run: Evaluation) -> None:
    """Let the run go on for `seconds`, or to its end."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and run.poll() is None:
        time.sleep(POLL_SECONDS)
