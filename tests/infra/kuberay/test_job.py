from __future__ import annotations

import shlex

import pytest
import yaml

from infra.kuberay.check import HERE, check_manifests
from infra.kuberay.job import job, main
from infra.kuberay.rendering import assemble
from jobs.cli import compose
from jobs.config import EvaluateConfig
from tests.infra.kuberay.bench import OVERLAYS, manifests_of
from udfs.errors import UserError

COMMAND = ["python", "-m", "jobs.evaluate", "model=qwen2.5-7b", "datasets=[a,b]", "budget.max_usd=5"]


@pytest.mark.parametrize("folder", ["base", *(f"overlays/{overlay}" for overlay in OVERLAYS)])
def test_entrypoint_of_every_folder_is_a_command_that_composes(folder: str) -> None:
    (made,) = (manifest for manifest in assemble(HERE / folder) if manifest["kind"] == "RayJob")
    python, module, name, *overrides = shlex.split(made["spec"]["entrypoint"])
    assert (python, module, name) == ("python", "-m", "jobs.evaluate")
    config = compose("evaluate", EvaluateConfig, overrides)
    most = sum(group["maxReplicas"] for group in made["spec"]["rayClusterSpec"]["workerGroupSpecs"][1:])
    assert config.cluster.actors <= most
    assert config.budget.max_usd is not None


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_job_another_command_is_the_overlays_job_otherwise(overlay: str) -> None:
    made = job(HERE / "overlays" / overlay, "my-run", COMMAND)
    (pattern,) = (manifest for manifest in manifests_of(overlay) if manifest["kind"] == "RayJob")
    assert shlex.split(made["spec"]["entrypoint"]) == COMMAND
    assert made["metadata"]["name"] == "my-run"
    assert "suspend" not in made["spec"]
    assert made["spec"]["rayClusterSpec"] == pattern["spec"]["rayClusterSpec"]
    others = [manifest for manifest in manifests_of(overlay) if manifest["kind"] != "RayJob"]
    assert check_manifests(overlay, [*others, made], {}, placed=True) == []


def test_main_job_is_yaml_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gke", "my-run", "--", *COMMAND]) == 0
    assert yaml.safe_load(capsys.readouterr().out)["metadata"]["name"] == "my-run"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["gke", "my-run"], "usage"),
        (["gke", "--", "python"], "usage"),
        (["gcp", "my-run", "--", "python"], "known: aks, eks, gke"),
    ],
)
def test_main_what_it_cannot_do_is_said_in_one_line(
    capsys: pytest.CaptureFixture[str], given: list[str], said: str
) -> None:
    assert main(given) == 2
    assert said in capsys.readouterr().err


def test_job_folder_without_a_job_is_refused() -> None:
    with pytest.raises(UserError, match="0 RayJobs"):
        job(HERE / "features" / "curfew", "my-run", COMMAND)
