"""conf/experiment: each composes to the grid that it names, and the command line wins."""

from __future__ import annotations

import pytest

from jobs.cli import CONF, to_dataclass
from jobs.config import EvaluateConfig
from jobs.support.command_line import compose_jobs, parse
from jobs.support.evaluation import prepare

NAMES = sorted(path.stem for path in (CONF / "experiment").glob("*.yaml"))


def grid(*arguments: str) -> list[EvaluateConfig]:
    jobs, is_sweep = compose_jobs(parse(arguments, "evaluate"))
    assert is_sweep
    return [to_dataclass(one.config, EvaluateConfig) for one in jobs]


def models(configs: list[EvaluateConfig]) -> list[str]:
    return [config.model["name"] for config in configs]


@pytest.mark.parametrize("name", NAMES)
def test_experiment_shares_one_run_of_its_name_and_reads_datasets_that_have_a_preset(name: str) -> None:
    configs = grid(f"experiment={name}")
    assert {config.run for config in configs} == {name}
    assert len(set(models(configs))) == len(configs) > 1
    for config in configs:
        assert [dataset for dataset in config.datasets if not (CONF / "dataset" / f"{dataset}.yaml").is_file()] == []


@pytest.mark.parametrize("name", NAMES)
def test_experiment_yields_to_the_command_line(name: str) -> None:
    given = ("model=scripted,endpoint", "model.base_url=http://127.0.0.1:1/v1", "judge=rules", "embedding=minilm")
    configs = grid(f"experiment={name}", "cluster=local", "run=mine", *given[:1], *given[2:])
    assert [config.model["engine"] for config in configs] == ["scripted", "openai"]
    assert {(config.judge.kind, config.embedding["engine"], config.run) for config in configs} == {
        ("rules", "transformers", "mine")
    }


def test_experiment_couldask_is_the_papers_grid() -> None:
    configs = grid("experiment=couldask")
    assert models(configs) == ["gpt-3.5", "gpt-4", "llama2-7b-chat", "mistral-7b", "zephyr-7b"]
    for config in configs:
        assert config.methods == ("zs", "zs_cot", "fs", "fs_cot")
        assert len(config.datasets) == 6
        assert (config.layout, config.detector, config.judge.kind) == ("paper", "couldask", "llm")
        assert (config.model["sampling"]["temperature"], config.model["sampling"]["max_tokens"]) == (1.0, 512)


def test_experiment_couldask_leaves_the_judge_its_own_sampling() -> None:
    run = prepare(grid("experiment=couldask", "model=gpt-4")[0])
    assert run.judge_model is not None, "the evaluated gpt-4, at temperature 1, does not judge"
    assert run.judge_model["sampling"]["temperature"] == 0
    assert run.embedding is not None
    assert run.embedding.name == "text-embedding-3-large"


def test_experiment_factguard_is_the_papers_grid_but_for_the_model_that_is_gone() -> None:
    configs = grid("experiment=factguard")
    assert models(configs) == [
        "qwen2.5-7b", "llama-3.1-8b", "qwen2.5-72b", "llama-3.3-70b", "mistral-large", "gpt-4o",
    ]  # fmt: skip
    for config in configs:
        assert (config.datasets, config.split, config.methods) == (("factguard",), "test", ("zs",))
        assert (config.judge.model, config.judge.reformulations) == ("qwen2.5-72b", False)
