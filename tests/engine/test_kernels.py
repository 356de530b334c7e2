"""Compiled rounds give what the plain path gives on the same draws, for each step size."""

import numpy as np
import pytest
from numba import njit
from scipy import sparse

from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.compiled import kernels, lockstep
from fedatlas.federation.compiled.simd import exp, load, pointer, store
from fedatlas.federation.engine.history import COST_COLUMNS
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation, run_simulations
from fedatlas.federation.problems.logistic import Logistic
from tests.helpers import example

STEPS = (0.02, 0.1, 0.3)


NAMES = [name for name in ALGORITHMS.names() if example(name, mu=0.1).recurrence(3)]


def problem(dense=False, ones=False, samples=80, dim=40, l2=0.05):
    rng = np.random.default_rng(0)
    A = sparse.random(samples, dim, density=6 / dim, format="csr", rng=rng)
    A.data = np.ones(A.nnz) if ones else rng.standard_normal(A.nnz)
    b = rng.integers(0, 2, samples)
    return Logistic(A.toarray() if dense else A, b, l2)


def simulations(name, objective, setting, steps=STEPS, seed=1):
    return [Simulation(example(name, lr=lr), objective, setting, seed) for lr in steps]


def run_both(name, objective, setting, steps=STEPS):
    fast, plain = simulations(name, objective, setting, steps), simulations(name, objective, setting, steps)
    assert fast[0].problem.kernel(fast) is not None
    return run_simulations(fast), run_simulations(plain, kernels=False)


ROWS = {"csr": {}, "csr of ones": {"ones": True}, "dense": {"dense": True}}


# Other algorithms take each form of rows as FedAc-I does; each pair is compiled, which takes seconds.
def pairs(names):
    """Parameters for each algorithm with each form of rows."""
    return [
        pytest.param(name, form, marks=[] if name == "fedac-1" or form == "csr" else pytest.mark.slow)
        for name in names
        for form in ROWS
    ]


@pytest.mark.parametrize("M, K", [(5, 1), (3, 2), (4, 30), (60, 3)])
@pytest.mark.parametrize("name, form", pairs(NAMES))
def test_equals_the_plain_path(name, form, M, K):
    setting = Setting(clients=M, local_steps=K, rounds=6, eval_rounds=2)
    for fast, plain in zip(*run_both(name, problem(**ROWS[form]), setting), strict=True):
        np.testing.assert_allclose(fast.x, plain.x, rtol=1e-10, atol=1e-12)
        assert [row["round"] for row in fast.rows] == [0, 2, 4, 6] and fast.ledger == plain.ledger
        for a, b in zip(fast.rows, plain.rows, strict=True):
            assert a["loss"] == pytest.approx(b["loss"], rel=1e-10)
            assert {c: a[c] for c in COST_COLUMNS if c != "seconds"} == {
                c: b[c] for c in COST_COLUMNS if c != "seconds"
            }


@pytest.mark.parametrize("name", ["fedavg", "fedac-1", "fedac-vanilla"])
def test_digits_are_kept_over_long_rounds(name):
    """B^K shrinks by many orders of magnitude here: without folding P into u nothing would be left of u."""
    logistic = problem(l2=0.5)
    setting = Setting(clients=3, local_steps=400, rounds=2)
    fast = simulations(name, logistic, setting)
    folds = [
        kernels.coefficients(r.A, r.b, r.c, 400, 0.5)[2].sum() for r in (s.algorithm.recurrence(400) for s in fast)
    ]
    assert max(folds) > 1
    for a, b in zip(
        run_simulations(fast), run_simulations(simulations(name, logistic, setting), kernels=False), strict=True
    ):
        np.testing.assert_allclose(a.x, b.x, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ["fedavg", "fedac-1", "mb-ac-sgd"])
def test_a_step_size_has_the_bits_that_it_has_alone(name):
    logistic, setting = problem(), Setting(clients=7, local_steps=5, rounds=4)
    many = run_simulations(simulations(name, logistic, setting, (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)))
    few = run_simulations(simulations(name, logistic, setting, (0.01, 0.02)))
    for lr, history in ((0.02, few[1]), (0.02, many[1]), (0.7, many[7]), (1.0, many[8])):
        alone = run_simulations(simulations(name, logistic, setting, (lr,)))[0]
        np.testing.assert_array_equal(alone.x, history.x)


@pytest.mark.parametrize("name", ["fedavg", "fedac-1"])
def test_bits_do_not_depend_on_threads(name, monkeypatch):
    """Also where a step size diverges, and where parts are fewer than threads or no multiple of them."""
    monkeypatch.setattr(kernels, "PART", 8)
    monkeypatch.setattr(kernels, "SPREAD", 0)
    monkeypatch.setattr(lockstep, "THREAD", 1)
    logistic, steps = problem(l2=0.5), (0.02, 0.3, 30.0)
    for M, K, parts in ((2, 30, 2), (19, 10, 8)):
        setting = Setting(clients=M, local_steps=K, rounds=60, eval_rounds=30)
        assert kernels.parts(M, K, logistic.dim) == parts
        runs = [[Simulation(example(name, lr=lr), logistic, setting, threads=t) for lr in steps] for t in (1, 2, 4)]
        first, *rest = [run_simulations(group) for group in runs]
        for many in rest:
            for a, b in zip(first, many, strict=True):
                np.testing.assert_array_equal(a.x, b.x)
                assert (a.status, a.diverged_round) == (b.status, b.diverged_round)
        for a, b in zip(
            first, run_simulations(simulations(name, logistic, setting, steps, 0), kernels=False), strict=True
        ):
            if b.status == "ok":
                np.testing.assert_allclose(a.x, b.x, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name, K", [("fedavg", 1), ("mb-sgd", 6), ("fedavg", 6)])
def test_threads_share_the_step_sizes_of_short_rounds(name, K, monkeypatch):
    """Bits do not change, also where some of them diverge."""
    logistic, steps = problem(l2=0.5), (*np.geomspace(1e-3, 0.1, 12), 30.0)
    setting = Setting(clients=6, local_steps=K, rounds=300, eval_rounds=100)
    tiles = []
    sweep = lockstep.Kernel._sweep
    monkeypatch.setattr(
        lockstep.Kernel, "_sweep", lambda self, tile, *a, **k: tiles.append(tile) or sweep(self, tile, *a, **k)
    )
    monkeypatch.setattr(lockstep, "THREAD", 6 * K * (lockstep.STEP + 13 * logistic.dim) + 1)
    monkeypatch.setattr(lockstep, "DRAWS", 1)
    runs = {}
    for threads in (1, 2):
        tiles.clear()
        group = [Simulation(example(name, lr=lr), logistic, setting, threads=threads) for lr in steps]
        runs[threads] = run_simulations(group)
        assert (max(map(len, tiles)) > 8) == (threads == 1)
    for a, b in zip(*runs.values(), strict=True):
        np.testing.assert_array_equal(a.x, b.x)
        assert (a.status, a.diverged_round) == (b.status, b.diverged_round)
    assert runs[1][-1].status == "diverged"


@pytest.mark.parametrize("name, form", pairs(["fedavg", "fedac-1"]))
def test_bits_do_not_depend_on_workers_that_step_side_by_side(name, form, monkeypatch):
    """Also where a block is not full, where P is folded into u, and on threads."""
    monkeypatch.setattr(kernels, "PART", 100)
    monkeypatch.setattr(kernels, "SPREAD", 0)
    monkeypatch.setattr(lockstep, "THREAD", 1)
    logistic = problem(l2=0.5, **ROWS[form])
    for M, K in ((7, 10), (44, 10), (4, 100)):
        setting = Setting(clients=M, local_steps=K, rounds=3)
        count = kernels.parts(M, K, logistic.dim)
        assert kernels.side_by_side(M // count, 1, 2 * logistic.dim) == (M // count > 3)
        runs = [run_simulations([Simulation(example(name, lr=0.02), logistic, setting, threads=t)]) for t in (1, 2)]
        with monkeypatch.context() as patch:
            patch.setattr(kernels, "side_by_side", lambda *_: False)
            runs.append(run_simulations([Simulation(example(name, lr=0.02), logistic, setting)]))
        for run in runs[1:]:
            np.testing.assert_array_equal(run[0].x, runs[0][0].x)


@pytest.mark.parametrize("name, l2, K", [("fedavg", 0.5, 1), ("mb-sgd", 0.5, 6), ("fedavg", 0.5, 6)])
def test_divergence_is_found_in_its_round(name, l2, K):
    """Also where P carries the growth over many rounds."""
    logistic, setting = problem(l2=l2), Setting(clients=4, local_steps=K, rounds=1000, eval_rounds=500)
    fast, plain = run_both(name, logistic, setting, (0.1, 7.0))
    assert [t.status for t in fast] == ["ok", "diverged"]
    assert abs(fast[1].diverged_round - plain[1].diverged_round) <= 1
    assert fast[0].rows[-1]["round"] == 1000


def test_single_precision_rows():
    """Kernels take float32 rows as they are; numbers between evaluations are float64."""
    logistic = problem(dense=True)
    objective = Logistic(logistic.A.astype(np.float32), logistic.b > 0, logistic.l2)
    assert objective.one_sample_rows[2].base is objective.A
    setting = Setting(clients=5, local_steps=4, rounds=6, eval_rounds=6)
    for name in ("fedac-1", "mb-sgd"):
        for fast, plain in zip(*run_both(name, objective, setting), strict=True):
            np.testing.assert_allclose(fast.x, plain.x, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("K", [10, 30], ids=["draws", "multinomial"])
def test_minibatches_by_counts_are_the_same_minibatches(K):
    """M K > n: rows are weighted by how often they were drawn."""
    logistic = problem(samples=50)
    setting = Setting(clients=40, local_steps=K, rounds=5)
    sampler = simulations("mb-sgd", logistic, setting)[0].sampler
    assert (sampler.counts(0, 40, K) is not None) == (K == 30)
    for name in ("mb-sgd", "mb-ac-sgd"):
        for fast, plain in zip(*run_both(name, logistic, setting), strict=True):
            np.testing.assert_allclose(fast.x, plain.x, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    "change",
    [
        {"batch": 2},
        {"batch": None},
        {"participation": {"kind": "uniform", "count": 2}},
        {"schedule": {"kind": "exponential", "decay": 0.9}},
        {"sampling": "reshuffling"},
    ],
)
def test_what_does_not_fit_takes_the_plain_path(change):
    setting = Setting(**{"clients": 3, "rounds": 2, "local_steps": 2} | change)
    result = simulations("fedavg", problem(), setting)
    assert result[0].problem.kernel(result) is None


def test_server_step_size():
    logistic, setting = problem(), Setting(clients=4, local_steps=3, rounds=5)
    make = lambda: [Simulation(ALGORITHMS.create("fedavg", {"lr": 0.1, "server_lr": 0.6}), logistic, setting, 0)]  # noqa: E731
    np.testing.assert_allclose(run_simulations(make())[0].x, run_simulations(make(), kernels=False)[0].x, rtol=1e-12)


def test_exponential():
    @njit
    def apply(x, y, form):
        for at in range(0, x.size, len(form)):
            store(pointer(y), at, exp(load(pointer(x), at, form), form))
        return x.size + y.size

    x = np.linspace(-700, 700, 80_000)
    y = np.empty_like(x)
    apply(x, y, (0.0,) * 8)
    np.testing.assert_allclose(y, np.exp(x), rtol=1e-15)
