"""Rounds of FedAvg, FedAc-I and MB-SGD on a9a-like data against plain NumPy, on one core: ratios of medians in one run.

The baseline is what an author would write: dense rows gathered each step, whole (M, d) arrays, one step size at a
time. The atlas runs one step size alone, and the 13 of the paper's grid together as its experiments do; both ratios are
of time for each step size. Usage:

    python benchmarks/fedac.py [--data a9a] [--steps 200000]

Without --data, random sparse data of a9a's shape (32,561 x 123, 14 ones a row) stand in.
"""

import argparse
import os
import resource
import statistics
import time
from collections.abc import Callable

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = "1"
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import numpy as np
from scipy import sparse

from fedatlas.federation import problems
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.engine.resources import Serial
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.problems.logistic import Logistic

GRID = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
CASES = [(name, M, K) for name in ("fedavg", "fedac-1") for M in (8192, 64, 16, 4, 1) for K in (256, 16, 1)]
CASES += [("mb-sgd", M, K) for M, K in ((8192, 256), (8192, 16), (64, 16), (1, 16))]
REPEATS = 3


def gradient(A, b, l2, y, rows):
    """Gradients at y (M, d) on one row each."""
    a, label = A[rows], b[rows]
    return (-label / (1 + np.exp(label * (a * y).sum(axis=1))))[:, None] * a + l2 * y


def plain_round(name, A, b, l2, x, rng, M, K, lr):
    """One round as plain NumPy; x: the server's vectors."""
    n, d = A.shape
    if name == "mb-sgd":
        total = np.zeros(d)
        for _ in range(K):
            total += gradient(A, b, l2, np.broadcast_to(x[0], (M, d)), rng.integers(n, size=M)).mean(axis=0)
        return [x[0] - lr * total / K]
    y = [np.tile(v, (M, 1)) for v in x]
    gamma = max(np.sqrt(lr / (l2 * K)), lr)
    alpha = 1 / (gamma * l2)
    beta = alpha + 1
    for _ in range(K):
        rows = rng.integers(n, size=M)
        if name == "fedavg":
            y[0] = y[0] - lr * gradient(A, b, l2, y[0], rows)
        else:
            w, ag = y
            md = w / beta + (1 - 1 / beta) * ag
            g = gradient(A, b, l2, md, rows)
            y = [(1 - 1 / alpha) * w + md / alpha - gamma * g, md - lr * g]
    return [v.mean(axis=0) for v in y]


def plain_seconds(name, problem, M, K, rounds):
    """Seconds a round of the baseline, for one step size."""
    A, b = problem.A.toarray(), problem.b
    rng = np.random.default_rng(0)
    x = [problem.start(0)] * (2 if name.startswith("fedac") else 1)
    began = time.process_time()
    for _ in range(rounds):
        x = plain_round(name, A, b, problem.l2, x, rng, M, K, 0.05)
    return (time.process_time() - began) / rounds


def atlas_seconds(name, problem, M, K, rounds, grid):
    """Seconds a round and step size of the atlas."""
    setting = Setting(clients=M, local_steps=K, rounds=10**9)
    simulations = [Simulation(ALGORITHMS.create(name, {"lr": lr}), problem, setting) for lr in grid]
    together = problem.kernel(simulations)
    pool = Serial()
    together.advance(simulations, 1, pool)
    began = time.process_time()
    together.advance(simulations, 1 + rounds, pool)
    return (time.process_time() - began) / rounds / len(grid)


def evaluations(problem, repeats=20):
    """Return processor seconds of 13 evaluations by SciPy one by one, by the atlas one by one, and together: lists."""
    points = list(np.random.default_rng(0).standard_normal((len(GRID), problem.dim)))

    def plain(x):
        z = problem.A @ x
        loss = np.logaddexp(0, -problem.b * z).mean() + problem.l2 / 2 * (x @ x)
        return loss, np.mean((z > 0) == (problem.b > 0))

    ways = (
        lambda: [plain(x) for x in points],
        lambda: [problem.evaluate(x) for x in points],
        lambda: problem.evaluate_all(points),
    )
    seconds: list[list[float]] = [[] for _ in ways]
    for _ in range(repeats + 1):
        for way, times in zip(ways, seconds, strict=True):
            began = time.process_time()
            way()
            times.append(time.process_time() - began)
    return [times[1:] for times in seconds]  # the first compiles


def stand_in(rng):
    """Sparse data of a9a's shape."""
    n, d, k = 32_561, 123, 14
    columns = np.argsort(rng.random((n, d)), axis=1)[:, :k]
    A = sparse.csr_matrix((np.ones(n * k), np.sort(columns, axis=1).ravel(), np.arange(n + 1) * k), (n, d))
    return Logistic(A, rng.random(n) < 0.24, 1e-3)


def peak():
    """The most memory that this process has held, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--data")
    arguments.add_argument("--steps", type=int, default=200_000, help="worker steps of a timing, a round at least")
    a = arguments.parse_args()
    spec = {"kind": "logistic", "data": a.data, "l2": 1e-3}
    problem = problems.create(spec, 1) if a.data else stand_in(np.random.default_rng(0))
    before = peak()
    for name, M, K in CASES:  # compiles what is not in the cache
        atlas_seconds(name, problem, M, K, 1, GRID)
    taken = evaluations(problem)
    summaries: dict[str, Callable[[list[float]], float]] = {"minima": min, "medians": statistics.median}
    for name, statistic in summaries.items():
        plain, alone, together = map(statistic, taken)
        print(
            f"Loss and accuracy at 13 points, {name}: SciPy {1e3 * plain:.1f} ms; one by one {plain / alone:.1f} times "
            f"as fast, together {plain / together:.1f}"
        )
    print(f"Peak memory {peak():.0f} MiB, {before:.0f} of it interpreter and data. Microseconds for a worker's step:")
    print(f"{'algorithm':<10}{'M':>6}{'K':>5}{'NumPy':>10}{'one lr':>10}{'ratio':>8}{'13 lr':>10}{'ratio':>8}")
    for name, M, K in CASES:
        few, many = max(1, a.steps // (K * (M + 30))), max(1, 5 * a.steps // (M * K))  # NumPy's calls cost 30 steps
        seconds = [
            (
                plain_seconds(name, problem, M, K, few),
                atlas_seconds(name, problem, M, K, many, (0.05,)),
                atlas_seconds(name, problem, M, K, many, GRID),
            )
            for _ in range(REPEATS)
        ]
        plain, one, grid = (1e6 * statistics.median(column) / (M * K) for column in zip(*seconds, strict=True))
        print(f"{name:<10}{M:>6}{K:>5}{plain:>10.4f}{one:>10.4f}{plain / one:>8.1f}{grid:>10.4f}{plain / grid:>8.1f}")


if __name__ == "__main__":
    main()
