"""Several workers have the bits of one: clients dealt, states kept apart, checkpoints of any number of them."""

import json
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import psutil
import pytest
import torch

from fedatlas.data.store import prepare
from fedatlas.errors import UserError
from fedatlas.experiments.cells import CellSpec
from fedatlas.experiments.result_files import read
from fedatlas.federation.arrays import to_numpy
from fedatlas.federation.engine.checkpoint import Checkpointer, Stopped
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation, run_simulations
from fedatlas.federation.engine.workers import Workers
from fedatlas.testing.instances import unequal_clients
from fedatlas.workflow.resources import worker_count
from tests.helpers import each_algorithm, example, network, quadratic

M, ROUNDS = 5, 4


SETTINGS = [
    {"local_steps": 3, "batch": 2, "participation": {"kind": "uniform", "count": 3}},
    {"local_epochs": 2, "batch": 4},
    {"local_steps": 2, "batch": 2, "channel": {"kind": "top-k", "share": 0.4, "error_feedback": True}},
]


class Rooms:
    """A transport between threads: a value lies in a list that all of them see, between two barriers."""

    def __init__(self, rank, size, barrier, values):
        self.rank, self.size, self.barrier, self.values = rank, size, barrier, values

    def broadcast(self, value, source):
        if self.rank == source:
            self.values[:] = [value]
        self.barrier.wait(20)
        value = self.values[0]
        self.barrier.wait(20)
        return value


def run_workers(size, work):
    """Return what ``work(workers)`` returns on each of several workers."""
    barrier, values = threading.Barrier(size), []

    def call(rank):
        try:
            return work(Workers(Rooms(rank, size, barrier, values)))
        except BaseException:
            barrier.abort()
            raise

    with ThreadPoolExecutor(size) as pool:
        return [future.result() for future in [pool.submit(call, rank) for rank in range(size)]]


def content(simulation, history):
    """Return all of a run but its seconds."""
    rows = [{name: value for name, value in row.items() if name != "seconds"} for row in history.rows]
    state = [to_numpy(value).tobytes() for _, value in simulation.s.items() if hasattr(value, "shape")]
    return rows, state, history.ledger.text(), history.status


def run(name, problem, setting, workers=None):
    """Return a simulation and its history."""
    algorithm = example(name, lr=0.05, p=0.4, lam=1.0, b=0.5, max_steps=30, head=1).with_constants(problem)
    simulation = Simulation(algorithm, problem, setting, 1, block=2, **({"workers": workers} if workers else {}))
    return simulation, run_simulations([simulation], kernels=False)[0]


@pytest.mark.parametrize("name", each_algorithm())
def test_workers_have_the_bits_of_one_process(name):
    tried = 0
    for problem, options in [
        (unequal_clients(), SETTINGS[1]),
        *((quadratic(clients=M), change) for change in SETTINGS[::2]),
    ]:
        setting = Setting(clients=M, rounds=ROUNDS, eval_rounds=2, **options)
        try:
            expected = content(*run(name, problem, setting))
        except UserError:  # the algorithm is not defined here
            continue
        tried += 1
        results = run_workers(2, lambda workers: content(*run(name, problem, setting, workers)))  # noqa: B023  called here
        assert results == [expected, expected]
    assert tried


def test_networks_and_metrics_over_clients_have_the_bits_of_one_process():
    setting = Setting(clients=M, rounds=2, local_steps=2, batch=4, metrics=["loss", "accuracy_clients_min"])
    expected = content(*run("ditto", network("linear"), setting))
    results = run_workers(3, lambda workers: content(*run("ditto", network("linear"), setting, workers)))
    assert results == [expected] * 3


def test_each_worker_keeps_the_states_of_its_own_clients():
    setting = Setting(clients=M, rounds=2, local_steps=2, batch=2)
    tables = run_workers(
        3, lambda workers: run("scaffold", quadratic(clients=M), setting, workers)[0].clients.table.touched
    )
    assert np.sum(tables, axis=0).tolist() == [1] * M and all(table.any() for table in tables)


@pytest.mark.parametrize("before, after", [(1, 2), (2, 1), (3, 2)])
@pytest.mark.parametrize("options", [SETTINGS[0], SETTINGS[2]])
def test_a_checkpoint_of_any_number_of_workers_resumes_with_any_other(before, after, options, tmp_path):
    problem, setting = quadratic(clients=M), Setting(clients=M, rounds=ROUNDS, eval_rounds=2, **options)
    name = "fedavg" if "channel" in options else "scaffold"
    expected = content(*run(name, problem, setting))

    def part(workers, stop_after):
        simulation = Simulation(example(name, lr=0.05), problem, setting, 1, block=2, workers=workers)
        stop = threading.Event()
        keeper = Checkpointer(tmp_path / "a.state", "runs", seconds=1e9, stop=stop, workers=workers)

        def keep(pairs):
            pause, rounds = keeper.watch(["run"], pairs), [0]

            def count():
                rounds[0] += 1
                if rounds[0] == stop_after:
                    stop.set()
                pause()

            return count

        try:
            return content(simulation, run_simulations([simulation], kernels=False, keep=keep)[0])
        except Stopped:
            return simulation.round

    assert run_workers(before, lambda workers: part(workers, 1)) == [1] * before
    assert run_workers(after, lambda workers: part(workers, 99)) == [expected] * after


LENET = {"kind": "network", "data": "digits", "architecture": "lenet"}


@pytest.mark.parametrize(
    "problem, setting, count",
    [
        (LENET, {"rounds": 2000}, 4),
        (LENET, {"rounds": 20}, 1),
        (LENET | {"device": "auto"}, {"rounds": 2000}, 1 if torch.cuda.is_available() else 4),
        (LENET | {"device": "cuda"}, {"rounds": 2000}, 1),
        (LENET, {"rounds": 2000, "driver": "asynchronous"}, 1),
        ({"kind": "quadratic", "dim": 3}, {"rounds": 10**6}, 1),
    ],
)
def test_networks_with_long_runs_have_a_process_for_each_core(problem, setting, count):
    spec = CellSpec("fedavg", {"lr": 0.1}, problem, {"clients": 10, "local_steps": 5, "batch": 20, **setting})
    assert worker_count(spec, 4) == count and worker_count(spec, 1) == 1


def job(folder, name, threads, *options):
    """Start a job of a run file."""
    command = ["job", "run", "spec.json", f"{name}.parquet", "--threads", str(threads), "--directory", "data", *options]
    return subprocess.Popen([sys.executable, "-m", "fedatlas", *command], cwd=folder, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_a_job_with_processes_has_the_bits_of_one_and_outlives_none_of_them(tmp_path):
    prepare("digits", tmp_path / "data")
    setting = {"clients": 10, "rounds": 1100, "local_steps": 5, "batch": 20, "eval_rounds": 1100}
    cell = CellSpec("scaffold", {"lr": 0.05}, LENET | {"eval_samples": 100}, setting)
    assert worker_count(cell, 2) == 2
    (tmp_path / "spec.json").write_text(json.dumps({"cell": cell.to_dict()}))
    assert job(tmp_path, "one", 1).wait(600) == 0
    process = job(tmp_path, "two", 2, "--save-seconds", "1")
    while not (tmp_path / "two.state").exists():
        time.sleep(0.1)
    psutil.Process(process.pid).children()[0].kill()
    assert "another worker of this run has ended" in process.communicate(timeout=30)[1] and process.returncode == 2
    assert not (tmp_path / "two.parquet").exists()
    assert job(tmp_path, "two", 2).wait(600) == 0
    first, second = (read(tmp_path / f"{name}.parquet")[0].drop(columns="seconds") for name in ("one", "two"))
    assert first.equals(second)
