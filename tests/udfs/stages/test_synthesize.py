"""The synthesis stage called directly, as Ray would: blocks in, RESULTS out; no Ray, a scripted engine."""

from __future__ import annotations

import asyncio
import dataclasses
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from tests.factories import make_document
from udfs.agents.program import Making
from udfs.agents.spec import SynthesisSpec, WebSearch
from udfs.agents.web import HttpSearcher
from udfs.bundles import SYNTHESIS_PLAN, Place, fragment_row
from udfs.engines.base import Completion, Engine, Prompt, Sampling
from udfs.records import Candidate, Document
from udfs.scheduling import Admission
from udfs.stages import synthesize
from udfs.stages.engine_stage import EnginePlacement
from udfs.stages.gate import OpenGate
from udfs.stages.results import RESULTS
from udfs.stages.synthesize import Room, SynthesizeStage
from udfs.stages.watch import Flight

TEXT = " ".join(
    f"The {name} bridge opened in {year} and was {length} metres long. It cost {year * 3} crowns, which the town paid."
    for name, year, length in zip(
        ["Orla", "Tamsin", "Maddock", "Corley", "Jory", "Orrell", "Harrow", "Pendle"], range(1801, 1809), range(40, 48),
        strict=True,
    )
)  # fmt: skip
SPEC = SynthesisSpec(fragment_min_words=20, fragment_max_words=60)


class Watching:
    """A watch that keeps what it is told."""

    def __init__(self) -> None:
        self.flight = Flight()

    def completed(self, completion: Completion) -> None:
        self.flight.add_completion(completion)

    def row(self, status: str) -> None:
        self.flight.statuses[status] += 1

    def flush(self) -> None:
        return None

    def engine_died(self, error: str) -> None:
        raise AssertionError(error)


class Closing:
    """A gate that closes after so many bundles have begun, and keeps what it is told."""

    def __init__(self, after: int) -> None:
        self.after = after
        self.told: list[tuple[int, int]] = []
        self.expected: list[int] = []
        self.begun: list[str] = []

    async def refuses(self, bundle_id: str, language: str, length_bucket: str, expected_tokens: int) -> str | None:
        assert (language, length_bucket) == ("en", "0-16K")
        self.expected.append(expected_tokens)
        self.after -= 1
        if self.after < 0:
            return "enough"
        self.begun.append(bundle_id)
        return None

    async def done(self, bundle_id: str, candidates: Sequence[Candidate], spent_tokens: int) -> None:
        self.begun.remove(bundle_id)
        self.told.append((len(candidates), spent_tokens))


def document(number: int, repeat: int) -> Document:
    return make_document(f"Report {number}. {TEXT * repeat}", "bench", n_tokens=500)


def block(documents: int = 1, fragments: int = 2, repeat: int = 1) -> pa.Table:
    docs = [document(number, repeat) for number in range(documents)]
    items = [{"fragment_index": index} for index in range(fragments)]
    source = {"dataset": "bench", "domain": "book", "length_bucket": "0-16K"}
    rows = [fragment_row(Place(doc.doc_id, "en", doc.n_tokens, "none", 0, 0), source, items) for doc in docs]
    texts = pa.array([doc.text for doc in docs], pa.large_string())
    return pa.Table.from_pylist(rows, schema=SYNTHESIS_PLAN).append_column("text", texts)


def stage(watch: Watching | None = None, gate: Any = None, spec: SynthesisSpec = SPEC, **model: Any) -> SynthesizeStage:
    config = {"engine": "scripted", "name": "scripted", **model}
    making = Making("synthetic", "spec1", "scripted", "r1")
    return SynthesizeStage(config, EnginePlacement(1, 0.9), watch or Watching(), spec, making, gate or OpenGate())


async def test_synthesize_stage_makes_every_kind_of_every_owed_fragment() -> None:
    watch = Watching()
    result = await stage(watch)(block(documents=2, fragments=2))
    assert result.schema.equals(RESULTS)
    made = [row for bundle in result["candidates"].to_pylist() for row in bundle]
    assert len({row["candidate_id"] for row in made}) == len(made) == 2 * 2 * len(SPEC.kinds)
    assert {(row["dataset"], row["source_dataset"], row["spec"]) for row in made} == {("synthetic", "bench", "spec1")}
    assert any(row["fate"] == "accepted" for row in made)
    assert watch.flight.statuses == {"ok": len(made)}
    assert watch.flight.prompt_tokens == sum(result["prompt_tokens"].to_pylist()) > 0
    assert result["responses"].to_pylist() == [[], []]


async def test_synthesize_stage_of_a_refused_bundle_asks_nothing_and_records_nothing() -> None:
    gate = Closing(after=1)
    result = await stage(gate=gate)(block(documents=3, fragments=1))
    made = [len(bundle) for bundle in result["candidates"].to_pylist()]
    assert sorted(made) == [0, 0, len(SPEC.kinds)]
    assert sorted(bool(calls) for calls in result["calls"].to_pylist()) == [False, False, True]
    spent = sum(result["prompt_tokens"].to_pylist()) + sum(result["output_tokens"].to_pylist())
    assert gate.told == [(len(SPEC.kinds), spent)]
    assert not gate.begun


async def test_synthesize_stage_expects_every_candidate_to_read_the_document_where_no_cache_is_known() -> None:
    unknown, known, short = Closing(after=9), Closing(after=9), Closing(after=9)
    await stage(gate=unknown)(block(fragments=2))
    await stage(gate=known, kv_tokens=100_000)(block(fragments=2))
    await stage(gate=short, spec=dataclasses.replace(SPEC, full_view=False))(block(fragments=2))
    kinds = len(SPEC.kinds)
    assert unknown.expected[0] - short.expected[0] == 2 * kinds * 500
    assert known.expected[0] - short.expected[0] == 2 * 500, "once as it is, once with its evidence cut out"


class Program:
    """A stand-in for the agents' program: a step over fragments, then calls over the whole document."""

    def __init__(self) -> None:
        self.now = Counter[str]()
        self.most = Counter[str]()
        self.parallel: set[int] = set()
        self.searchers: list[object] = []

    async def __call__(self, engine: Engine, *given: object, parallel: int, **named: object) -> list[Candidate]:
        self.parallel.add(parallel)
        self.searchers.append(named["searcher"])
        await self.step("fragments")
        prompts = [Prompt(({"role": "user", "content": "?"},), purpose, "r") for purpose in ["agent.full_view"] * 2]
        await asyncio.gather(*(engine.complete(prompt, Sampling()) for prompt in prompts))
        await self.step("document")
        return []

    async def step(self, name: str) -> None:
        self.now[name] += 1
        self.most[name] = max(self.most[name], self.now[name])
        await asyncio.sleep(0.01)
        self.now[name] -= 1


@pytest.mark.parametrize(("kv_tokens", "fragments", "document"), [(None, 6, 6), (60_000, 2, 1)])
async def test_synthesize_stage_admits_documents_by_the_cache_only_when_they_are_read(
    kv_tokens: int | None, fragments: int, document: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Program()
    monkeypatch.setattr(synthesize, "run_program", program)
    blocks = block(documents=6, fragments=2, repeat=40)
    await asyncio.wait_for(stage(kv_tokens=kv_tokens)(blocks), timeout=20)
    assert program.parallel == {2 * len(SPEC.kinds)}
    assert program.most == {"fragments": fragments, "document": document}


async def test_synthesize_stage_of_documents_larger_than_the_cache_runs_one_after_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = Program()
    monkeypatch.setattr(synthesize, "run_program", program)
    await asyncio.wait_for(stage(kv_tokens=10)(block(documents=4)), timeout=20)
    assert program.most == {"fragments": 1, "document": 1}


async def test_room_is_given_back_when_a_bundle_fails() -> None:
    admission = Admission(100)

    async def fail() -> None:
        async with Room(admission, 10, 90) as room:
            await room.for_document()
            assert admission.in_use == 90
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await fail()
    assert admission.in_use == 0


async def test_synthesize_stage_asks_the_gate_only_when_a_bundle_has_its_place() -> None:
    gate = Closing(after=2)
    result = await stage(gate=gate, kv_tokens=3000)(block(documents=4, fragments=1))
    assert [len(bundle) > 0 for bundle in result["candidates"].to_pylist()] == [True, True, False, False]


async def test_synthesize_stage_gives_its_bundles_one_web_search_where_one_is_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = Program()
    monkeypatch.setattr(synthesize, "run_program", program)
    await stage()(block(documents=1))
    searching = stage(spec=dataclasses.replace(SPEC, web=WebSearch("http://127.0.0.1:9/search")))
    await searching(block(documents=2))
    without, first, second = program.searchers
    assert without is None
    assert isinstance(first, HttpSearcher)
    assert first is second
    await searching.close()
