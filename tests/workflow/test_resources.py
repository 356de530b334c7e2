"""What jobs ask of a cluster."""

import re
from types import SimpleNamespace

import pytest
import yaml

from fedatlas.experiments.cells import CellSpec
from fedatlas.workflow import estimates
from fedatlas.workflow.estimates import GROUP, START_MINUTES, Requests
from fedatlas.workflow.graph import Graph
from fedatlas.workflow.resources import count_gpus, memory_mb
from fedatlas.workflow.study import Study
from fedatlas.workflow.summary import Cost
from tests.workflow.project import TINY

CONVEX = {"kind": "logistic", "data": "a9a"}


NETWORK = {"kind": "network", "data": "mnist"}


@pytest.mark.parametrize(
    "device, of_networks, gpu",
    [
        (None, 0, 0), ("cpu", 0, 0), ("auto", 0, 0), ("cuda", 0, 1), ("cuda:1", 0, 1),
        (None, 1, 1), ("cpu", 1, 0), ("auto", 2, 2), ("cuda", 2, 2),
    ],
)  # fmt: skip
def test_a_gpu_is_asked_for_where_experiment_or_configuration_name_one(device, of_networks, gpu):
    problem = NETWORK | ({"device": device} if device else {})
    assert count_gpus(problem, of_networks) == gpu
    assert count_gpus(CONVEX | {"device": "cuda"}, 1) == 0


def cell(problem, algorithm="fedavg", clients=10, **setting):
    return CellSpec(algorithm, {"lr": 0.1}, problem, {"clients": clients, "rounds": 5, **setting})


def test_larger_problems_ask_for_more():
    problems = ({"kind": "quadratic", "dim": 3}, {"kind": "logistic", "data": "breast_cancer"}, CONVEX, NETWORK)
    quadratic, small, large, network = (memory_mb(cell(problem)) for problem in problems)
    assert quadratic <= small < large < network


def test_memory_follows_the_states_of_clients():
    """ResNet-18 has 11 million parameters of 4 bytes; a client of SCAFFOLD keeps one vector, one of FedAvg none."""
    resnet = {"kind": "network", "data": "cifar10", "architecture": "resnet18"}
    few, many = (memory_mb(cell(resnet, "scaffold", clients)) for clients in (100, 300))
    assert many - few == pytest.approx(200 * 4 * 11.17, rel=0.01)
    assert memory_mb(cell(resnet, "fedavg", 300)) - memory_mb(cell(resnet, "fedavg", 100)) <= 1
    coded = cell(resnet, "fedavg", 300, channel={"kind": "top-k", "share": 0.1, "error_feedback": True})
    assert memory_mb(coded) - memory_mb(cell(resnet, "fedavg", 300)) == pytest.approx(300 * 4 * 11.17, rel=0.01)


def test_epsilon_fits_thrice_and_into_24_gigabytes():
    """It stays in single precision."""
    memory = memory_mb(cell({"kind": "logistic", "data": "epsilon"}))
    assert 3 * 4 * 400_000 * 2_000 / 1e6 < memory < 24_000


def ask(project, monkeypatch, cost):
    """What the cells of an experiment ask for whose time is known: with 5 rounds, and with 500."""
    monkeypatch.chdir(project.folder)
    monkeypatch.setattr(estimates, "experiment_costs", lambda _: {("tiny", "smoke"): cost} if cost else {})
    asked = Requests(Graph(Study.open()))
    return asked, [
        SimpleNamespace(size="smoke", experiment="tiny", id="fedavg", key=f"rounds={rounds}") for rounds in (5, 500)
    ]


def test_time_follows_the_work_and_grows_with_attempts(project, monkeypatch):
    project.write_experiment(setting=TINY["setting"] | {"rounds": None}, grid={"rounds": [5, 500]}, figures={})
    hours = 3600.0
    asked, (short, long) = ask(project, monkeypatch, Cost(8, 4 * hours, True))
    assert asked.minutes(short) < 20 and asked.minutes(long) == pytest.approx(4 * 60 * 4 / 2, rel=0.02)
    assert asked.minutes(long, attempt=3) == 3 * asked.minutes(long)
    assert asked.memory(long, attempt=3) == 3 * asked.memory(long) > 0
    assert asked.group(short) is None  # cells of an hour have jobs of their own
    asked, (short, long) = ask(project, monkeypatch, Cost(8, 4.0, True))
    assert asked.minutes(short) == asked.minutes(long) == START_MINUTES + 1
    assert asked.group(short) == GROUP


def test_jobs_on_this_machine_ask_for_what_somebody_limits(project):
    """Snakemake computes each resource of each job that it plans, whether or not anybody reads it."""
    project.write_experiment(figures={})
    plan = project.snakemake("-n", "--resources", "mem_mb=4000", "--", "results/smoke/tiny/table.parquet").stdout
    requested = re.findall(r"rule train:.*?resources: (.*?)$", plan, re.M | re.S)
    assert requested and all("mem_mb=" in resources for resources in requested)
    assert "mem_mb=" not in project.snakemake("-n", "--", "results/smoke/tiny/table.parquet").stdout


def test_a_partitions_limit_caps_time_and_what_a_user_sets_wins(project):
    """Runs in a cluster's profile, without one: a dry run shows what jobs would ask for."""
    profile = yaml.safe_load((project.folder / "workflow/profiles/slurm/config.yaml").read_text())
    limit = [*profile["resources"][:-1], "runtime=5"]
    limits = ("--jobs", "3", "--set-resource-scopes", *profile["set-resource-scopes"], "--resources", *limit)
    for more, time in (((), 5), (("--set-resources", "train:runtime=3"), 3)):
        plan = project.snakemake("-n", *limits, *more, "--", "results/smoke/tiny/table.parquet").stdout
        asked = re.findall(r"rule train:.*?resources: (.*?)$", plan, re.M | re.S)
        assert asked and all(f"runtime={time}" in resources and "place=1" in resources for resources in asked)
