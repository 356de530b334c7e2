"""What jobs ask of a cluster."""

import pytest

from fedatlas.errors import UserError
from fedatlas.experiments.cells import CellSpec
from fedatlas.workflow.resources import GROUP, group, launcher, resources
from tests.workflow.project import TINY

CONVEX = {"kind": "logistic", "data": "a9a"}
NETWORK = {"kind": "network", "data": "mnist"}


@pytest.mark.parametrize("device, gpu", [(None, 0), ("cpu", 0), ("auto", 0), ("cuda", 1), ("cuda:1", 1)])
def test_a_gpu_is_asked_for_where_the_experiment_names_one(device, gpu):
    problem = NETWORK | ({"device": device} if device else {})
    assert resources(problem)["gpu"] == gpu


def test_larger_problems_ask_for_more():
    quadratic, small, large = (
        resources(problem) for problem in ({"kind": "quadratic"}, {"kind": "logistic", "data": "breast_cancer"}, CONVEX)
    )
    assert quadratic["mem_mb"] <= small["mem_mb"] < large["mem_mb"] < resources(NETWORK)["mem_mb"]
    assert large["runtime"] < resources(NETWORK)["runtime"]


def test_epsilon_fits_thrice_and_into_24_gigabytes():
    """It stays in single precision."""
    memory = resources({"kind": "logistic", "data": "epsilon"})["mem_mb"]
    assert 3 * 4 * 400_000 * 2_000 / 1e6 < memory < 24_000


def test_networks_have_jobs_of_their_own():
    assert group(CONVEX) == GROUP and group(NETWORK) is None


def test_tasks_are_started_where_the_resources_say_so():
    cell = CellSpec("fedavg", {"lr": 0.1}, NETWORK, {"clients": 10, "rounds": 5})
    assert launcher(cell, {"mpi": "srun", "tasks": 4}, 2) == "srun --ntasks=4 --cpus-per-task=2 "
    for request in ({}, {"tasks": 1}, {"mpi": ""}):
        assert launcher(cell, request, 2) == ""


def test_tasks_that_nobody_starts_or_that_have_no_work_are_refused():
    request, setting = {"mpi": "srun", "tasks": 4}, {"clients": 10, "rounds": 5}
    for change, problem, driver, sentence in (
        ({"mpi": None}, NETWORK, {}, "mpi is None and tasks is 4: give both, as in `--set-resources train:mpi=srun"),
        ({"tasks": None}, NETWORK, {}, "mpi is 'srun' and tasks is None"),
        ({"tasks": "four"}, NETWORK, {}, "tasks is 'four'"),
        ({"mpi": "mpirun"}, NETWORK, {}, "mpi is 'mpirun'"),
        ({}, CONVEX, {}, "this cell of fedavg cannot have several tasks"),
        ({}, NETWORK, {"driver": "asynchronous"}, "without a driver"),
        ({"gpu": 1}, NETWORK, {}, "on processors"),
    ):
        with pytest.raises(UserError) as error:
            launcher(CellSpec("fedavg", {"lr": 0.1}, problem, setting | driver), request | change, 1)
        assert sentence in str(error.value)


def test_each_rule_of_run_files_has_tasks_of_its_own(project):
    network = {"kind": "network", "data": "digits", "architecture": "linear", "partition": "iid"}
    looks = {"seeds": {"at_least": 2, "at_most": 4}, "select": TINY["select"] | {"seeds": [9]}}
    project.write_experiment(problem=network, **looks)
    tasks = ("--set-resources", "add_seeds:mpi=srun", "add_seeds:tasks=2", "--set-threads", "add_seeds=1")
    output = project.snakemake("-n", "-p", *tasks, "--", "results/smoke/tiny/runs-4/fedavg/all.parquet").stdout
    train, add_seeds = (line for line in output.splitlines() if "fedatlas job run" in line)
    assert "srun" not in train and "--threads 1 --tasks 1 " in train
    assert "srun --ntasks=2 --cpus-per-task=1 fedatlas job run" in add_seeds and "--threads 1 --tasks 2 " in add_seeds
