"""One fine-tuning on several workers: Ray Train starts a process each, torch averages their gradients."""

from __future__ import annotations

import dataclasses
import importlib
import tempfile
from collections.abc import Callable
from typing import Any

import ray
from ray.exceptions import RayError

from jobs.support.runtime import Cluster, root_cause
from udfs.errors import RunFailed


def fit_on_workers(target: str, task: Any, workers: int, cluster: Cluster, say: Callable[[str], None]) -> None:
    """Fine-tune `task` on `workers` processes; each has its part of every batch.

    Args:
        target: the module whose `fit_model` they run.
        task: what it is given; its batch size is divided among the workers.

    Raises:
        RunFailed: a worker raised or died.
    """
    from ray.train import RunConfig, ScalingConfig
    from ray.train.torch import TorchConfig, TorchTrainer

    cluster.start()
    fitting = dataclasses.replace(task.fitting, batch_size=task.fitting.batch_size // workers)
    shared = ray.put(dataclasses.replace(task, fitting=fitting))
    gpus = cluster.config.actor_gpus
    resources = {"CPU": cluster.config.actor_cpus, **({"GPU": gpus} if gpus else {})}
    with tempfile.TemporaryDirectory(prefix="askable-ray-train-") as place:
        trainer = TorchTrainer(
            _worker,
            train_loop_config={"target": target, "task": [shared]},
            torch_config=TorchConfig(backend="nccl" if gpus else "gloo"),
            scaling_config=ScalingConfig(num_workers=workers, use_gpu=bool(gpus), resources_per_worker=resources),
            run_config=RunConfig(name="train", storage_path=place),
        )
        say(f"{workers} workers of Ray Train")
        try:
            trainer.fit()
        except (RayError, RuntimeError) as error:
            raise RunFailed(root_cause(error)) from error


def _worker(config: dict[str, Any]) -> None:
    """What each worker runs."""
    from ray.train import get_context
    from ray.train.huggingface.transformers import prepare_trainer

    task = ray.get(config["task"][0])
    first = get_context().get_world_rank() == 0
    importlib.import_module(config["target"]).fit_model(task, print, prepare_trainer, first)
