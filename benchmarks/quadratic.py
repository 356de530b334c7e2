"""Memory passes: FedAvg on diagonal quadratics of growing dimension, in ns for each coordinate and client step.

    python benchmarks/quadratic.py [--dims 10000 100000 1000000] [--steps 1 5 20] [--repeats 7]

The engine on one thread against the same steps by hand, one client after another and in place, which is one pass over
the coefficients and the point. Both take turns; times are medians of the processor's, ratios are printed.
"""

import argparse
import os
import statistics
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.problems.quadratic import SyntheticQuadratic
from fedatlas.io.machine import keep_freed_memory

CLIENTS, LR, NUMBERS = 10, 1e-3, 3e7  # the last: coordinates times client steps of a measurement


def engine(problem, steps, rounds):
    """A function that runs rounds in the engine."""
    setting = Setting(clients=CLIENTS, local_steps=steps, rounds=10**9, batch=None, eval_rounds=10**9)
    simulation = Simulation(ALGORITHMS.create("fedavg", {"lr": LR}), problem, setting)

    def run():
        for _ in range(rounds):
            simulation.run_round()

    return run


def by_hand(problem, steps, rounds):
    """A function that runs rounds in NumPy, in place."""
    x, y, g = np.zeros(problem.dim), np.empty(problem.dim), np.empty(problem.dim)

    def run():
        for _ in range(rounds):
            total = np.zeros(problem.dim)
            for A, b in zip(problem.A, problem.b, strict=True):
                y[:] = x
                for _ in range(steps):
                    np.multiply(A, y, out=g)
                    np.subtract(g, b, out=g)
                    np.multiply(g, LR, out=g)
                    np.subtract(y, g, out=y)
                np.add(total, y, out=total)
            x[:] = total / CLIENTS

    return run


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dims", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--steps", type=int, nargs="+", default=[1, 5, 20])
    parser.add_argument("--repeats", type=int, default=7)
    given = parser.parse_args()
    keep_freed_memory()
    print(f"{'d':>9} {'K':>3}   engine  by hand  ratio   (ns; engine over by hand)")
    for dim in given.dims:
        problem = SyntheticQuadratic(dim=dim, diagonal=True, similarity=1.0, heterogeneity=1.0).build(CLIENTS)
        for steps in given.steps:
            rounds = max(2, int(NUMBERS / (dim * CLIENTS * steps)))
            ways = [make(problem, steps, rounds) for make in (engine, by_hand)]
            times: tuple[list[float], list[float]] = ([], [])
            for _ in range(given.repeats + 1):
                for run, taken in zip(ways, times, strict=True):
                    began = time.process_time()
                    run()
                    taken.append((time.process_time() - began) / (rounds * steps * CLIENTS * dim) * 1e9)
            one, other = (statistics.median(taken[1:]) for taken in times)
            print(f"{dim:9} {steps:3} {one:8.2f} {other:8.2f} {one / other:6.2f}", flush=True)


if __name__ == "__main__":
    main()
