"""Memory: what a run takes, what is said of it, and what is refused."""

import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from fedatlas import train
from fedatlas.data.store import prepare
from fedatlas.errors import UserError
from fedatlas.federation.arrays import State
from fedatlas.federation.engine import resources
from fedatlas.federation.engine.channels import Table, _DeviceRows
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.problems import create
from fedatlas.federation.problems.base import Problem
from fedatlas.io import machine
from fedatlas.io.machine import free_host, memory_limit
from tests.helpers import example, network, quadratic

GIB = 1 << 30


class Wide(Problem):
    """A bowl in 11 M dimensions, whose vectors are all the memory there is."""

    dim, samples, block_rows = 11_000_000, 1000, 1

    def start(self, seed):
        return np.ones(self.dim, np.float32)

    def batch(self, clients, index):
        return self

    def full_batch(self, clients):
        return self

    size = 1

    def grad(self, y):
        return y.reshape(1, -1) * np.float32(0.5)

    def evaluate(self, x):
        return {"loss": float(x[0])}


def simulation(name, problem, clients=500, rounds=2, **options):
    setting = Setting(clients=clients, rounds=rounds, participation={"kind": "uniform", "count": 3}, **options)
    return Simulation(example(name), problem, setting)


@pytest.mark.parametrize("name, vectors", [("scaffold", 1), ("fedspeed", 1), ("fedadmm", 2)])
def test_states_grow_with_the_active_clients(name, vectors):
    problem = quadratic(clients=50)
    result = []
    for rounds in (1, 4, 200):
        instance = simulation(name, problem, clients=50, rounds=rounds)
        _, states, count = resources.estimate_memory(instance)
        instance.run()
        assert instance.clients.table.touched.sum() == count and states == count * vectors * problem.dim * 8
        result.append(count)
    assert result[0] == 3 < result[1] < result[2] == 50


def test_what_cannot_fit_is_refused_with_the_number(monkeypatch):
    monkeypatch.setattr(resources, "free_host", lambda: 8 * GIB)
    large = simulation("scaffold", Wide(), rounds=1500)
    with pytest.raises(UserError, match=r"scaffold needs about 2\d.* 20.5 GiB for states of 500 clients.*state: disk"):
        resources.require_memory([large])
    assert "20.5 GiB for states" in resources.require_memory(
        [simulation("scaffold", Wide(), rounds=1500, state="disk")]
    )
    monkeypatch.setattr(resources.shutil, "disk_usage", lambda path: SimpleNamespace(free=GIB))
    with pytest.raises(UserError, match=r"1 GiB of space in .* are free: set TMPDIR"):
        resources.require_memory([simulation("scaffold", Wide(), rounds=1500, state="disk")])
    monkeypatch.setattr(resources, "free_host", lambda: GIB // 8)
    with pytest.raises(UserError, match="128 MiB of memory are free: take a smaller"):
        resources.require_memory([simulation("fedavg", Wide())])


@pytest.fixture
def prepared_digits(tmp_path, monkeypatch):
    prepare("breast_cancer", tmp_path)
    monkeypatch.setenv("FEDATLAS_DATA", str(tmp_path))


LOGISTIC = {"kind": "logistic", "data": "breast_cancer", "l2": 0.1}
SPLIT = LOGISTIC | {"partition": {"kind": "iid"}}
QUADRATIC = {"kind": "quadratic", "dim": 10}
DEEP = {"kind": "network", "data": "breast_cancer"}


@pytest.mark.parametrize(
    "problem, options",
    [
        (LOGISTIC, {"batch": 10**10}),
        (LOGISTIC, {"batch": 10**30}),
        (LOGISTIC, {"batch": 10**10, "sampling": "reshuffling"}),
        (SPLIT, {"batch": 10**10}),
        (SPLIT, {"local_steps": 10**12}),
        (SPLIT, {"local_epochs": 10**12}),
        (LOGISTIC, {"local_epochs": 10**12}),
        (LOGISTIC, {"clients": 10**12}),
        (SPLIT, {"clients": 10**12}),
        (QUADRATIC, {"clients": 10**12}),
        (QUADRATIC | {"dim": 10**6}, {}),
        (QUADRATIC | {"dim": 10**12, "diagonal": True}, {}),
        (QUADRATIC | {"noise": 1.0, "samples": 10**12}, {}),
        (QUADRATIC | {"noise": 1.0}, {"batch": 10**10}),
        ({"kind": "quadratic", "centers": [[0.0], [1.0]]}, {"clients": 2, "batch": 10**11}),
        ({"kind": "similar", "dim": 10**6}, {}),
        ({"kind": "similar", "dim": 10, "components": 10**12}, {}),
        (DEEP | {"architecture": {"kind": "mlp", "hidden": [10**10]}}, {}),
        (DEEP | {"architecture": {"kind": "mlp", "hidden": [10**19]}}, {}),
    ],
    ids=str,
)
def test_what_cannot_fit_is_refused_before_it_is_allocated(prepared_digits, problem, options):
    tracemalloc.start()
    try:
        with pytest.raises(UserError, match=r"need.* of memory|there is no mlp"):
            train("fedavg", problem, **{"clients": 10, "rounds": 2, "lr": 0.1, "optimum": False} | options)
        assert tracemalloc.get_traced_memory()[1] < 100 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("sampling", ["replacement", "reshuffling"])
@pytest.mark.parametrize("partition", [None, {"kind": "iid"}])
@pytest.mark.parametrize("length", [{"local_steps": 40}, {"local_epochs": 600}], ids=str)
def test_the_estimate_of_draws_is_of_their_size(prepared_digits, sampling, partition, length):
    problem = create(LOGISTIC | {"partition": partition}, 10)
    batch = 500 if "local_steps" in length else 10
    setting = Setting(clients=10, rounds=1, batch=batch, sampling=sampling, **length)
    instance = Simulation(example("fedavg"), problem, setting)
    tracemalloc.start()
    try:
        instance._group(instance.algorithm, np.arange(10), instance._round(np.arange(10), setting.local_steps or 600))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak / 3 < resources.draws(problem, setting, 10) < 6 * peak


# --- tables on disk, and of devices without lazy memory ---


@pytest.mark.parametrize("make", [lambda: quadratic(clients=5), lambda: network("linear", clients=5)])
def test_states_on_disk_change_no_bit(make):
    ends = [
        simulation("scaffold", make(), clients=5, rounds=4, state=storage).run().x for storage in ("memory", "disk")
    ]
    assert (ends[0] == ends[1]).all()


def test_rows_are_kept_one_by_one_where_memory_is_not_lazy():
    plain = Table(State(c=torch.tensor([1.0, 2.0]), tau=-1), 4, torch.zeros(2))
    rows = Table(State(c=torch.tensor([1.0, 2.0]), tau=-1), 4, torch.zeros(2))
    rows.data = {name: _DeviceRows(value) for name, value in rows.first.items()}
    for table in (plain, rows):
        table.write(np.array([0, 3]), State(c=torch.tensor([[5.0, 6.0], [7.0, 8.0]])))
        table.write(np.array([1, 3]), State(tau=9))
    everything = [table.read(np.arange(4)) for table in (plain, rows)]
    for name in ("c", "tau"):
        assert (getattr(everything[0], name) == getattr(everything[1], name)).all()
    assert len(rows.data["c"].rows) == 3


@pytest.fixture
def limits(monkeypatch, tmp_path):
    """A function that says which groups this process is in, and limits by file; without SLURM."""

    def set_limits(groups, files):
        (tmp_path / "own").write_text(groups)
        for name, limit in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(f"{limit}\n")
        memory_limit.cache_clear()
        return memory_limit()

    monkeypatch.setattr(machine, "OWN_CGROUPS", tmp_path / "own")
    monkeypatch.setattr(machine, "CGROUPS", f"{tmp_path}/two")
    for name in ("SLURM_MEM_PER_NODE", "SLURM_MEM_PER_CPU", "SLURM_CPUS_ON_NODE"):
        monkeypatch.delenv(name, raising=False)
    yield set_limits
    memory_limit.cache_clear()


def test_the_limit_is_that_of_the_job_and_not_of_the_machine(limits, monkeypatch):
    assert limits("0::/\n", {}) is None
    groups = "0::/slurm/job_7/step_0\n"
    assert limits(groups, {"two/memory.max": "max", "two/slurm/job_7/memory.max": GIB}) == GIB
    assert limits(groups, {"two/slurm/job_7/step_0/memory.max": GIB // 2}) == GIB // 2
    assert free_host() < GIB // 2
    monkeypatch.setenv("SLURM_MEM_PER_NODE", "100")
    assert limits(groups, {}) == 100 * 2**20
    monkeypatch.setenv("SLURM_MEM_PER_NODE", "0")
    assert limits(groups, {}) == GIB // 2
    monkeypatch.setenv("SLURM_MEM_PER_CPU", "50")
    monkeypatch.setenv("SLURM_CPUS_ON_NODE", "2")
    assert limits(groups, {}) == 100 * 2**20
