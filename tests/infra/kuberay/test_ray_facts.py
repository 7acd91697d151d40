"""What the rules take for granted of Ray, held against the Ray that is installed."""

from __future__ import annotations

import inspect

from ray._private import ray_constants
from ray._raylet import RAY_NODE_MARKET_TYPE_KEY  # type: ignore[attr-defined]  # compiled
from ray.autoscaler.v2.instance_manager import config

from infra.kuberay.house_rules import DRAIN, FALLBACK, MARKET, RAY_DRAIN_SECONDS, RAY_FALLBACK_SECONDS


def test_ray_drains_as_long_as_the_rules_say() -> None:
    assert ray_constants.RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S == RAY_DRAIN_SECONDS
    assert f'"{DRAIN}"' in inspect.getsource(ray_constants)


def test_ray_gives_a_group_up_when_the_rules_say() -> None:
    assert config.InstanceReconcileConfig().allocate_status_timeout_s == RAY_FALLBACK_SECONDS
    assert f'"{FALLBACK}"' in inspect.getsource(config)


def test_ray_market_type_is_the_label_of_the_rules() -> None:
    assert RAY_NODE_MARKET_TYPE_KEY == MARKET
