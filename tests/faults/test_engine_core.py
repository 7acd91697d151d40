"""vLLM's own process killed under an actor: the actor goes, a new one loads the model and does its blocks."""

from __future__ import annotations

import psutil
import pytest

from tests.faults.ray_nodes import wait_for
from tests.faults.runs import BLOCKS_PER_ACTOR, Evaluation
from udfs.engines.config import VllmModel
from udfs.tables.store import Store


@pytest.mark.engine
@pytest.mark.timeout(400)
def test_vllm_engine_core_killed_in_the_middle_is_started_again(tiny_long_model: VllmModel, run: Evaluation) -> None:
    model = tiny_long_model
    given = [f"model.{key}={getattr(model, key)}" for key in ("name", "weights", "window", "kv_cache_gib")]
    given += [f"model.max_num_batched_tokens={model.max_num_batched_tokens}", "model.sampling.max_tokens=8"]
    given += ["model.enforce_eager=true", f"cluster.blocks_per_actor={BLOCKS_PER_ACTOR}", "flush_seconds=0.2"]
    run.methods = ("zs",)
    run.launch("model=smollm2-135m", *given)
    store = Store(run.root)
    wait_for(lambda: bool(store.files("responses", run.run)) or run.poll() is not None, "a first response", 200)
    assert run.process is not None
    cores = [
        child for child in psutil.Process(run.process.pid).children(recursive=True) if "EngineCore" in _title(child)
    ]
    assert len(cores) == 1, run.said()
    recorded = run.responses().height
    cores[0].kill()
    run.wait(seconds=200)
    run.check()
    assert recorded < run.responses().height, "nothing was left to do after the kill"


def _title(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""
