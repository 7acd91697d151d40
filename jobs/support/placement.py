"""Where the actors that decide and add up live: beside the driver, never on a node that may be taken away."""

from __future__ import annotations

from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy


def actor_beside_driver(kind: type, *arguments: Any) -> Any:
    """A handle of a new actor of `kind` on the driver's node; it takes no CPU. Needs a started Ray.

    Its state lives as long as the driver does: on another node it would go with a spot node, and a stage that asked it
    would end. Affinity is hard, since an actor elsewhere is what must not be.
    """
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    options: dict[str, Any] = {"num_cpus": 0, "scheduling_strategy": here}
    return ray.remote(**options)(kind).remote(*arguments)
