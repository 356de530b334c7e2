"""A round of ResNet-18 with group norm against bare forward and backward passes of as many batches, in one run.

    python benchmarks/resnet.py [--repeats 3] [--steps 4]

CIFAR-shaped random data, batch 50, one client: FedAvg against one pass a step, FedSpeed against two; 1.15 and 1.10 are
the goals. The ways take turns, so that a busy machine slows all of them; times are medians, ratios are printed.
"""

import argparse
import statistics
import time

import numpy as np
import torch
from torch.nn import functional as F

from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.architectures import ARCHITECTURES
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.networks.network import Network
from fedatlas.federation.networks.samples import Samples
from fedatlas.io.machine import keep_freed_memory

LR = 0.1


def resnet(steps, batch=50):
    """Ways to compute a round of one client, ResNet-18 with group norm: {name: function that returns seconds}."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(256, size=(2000, 3, 32, 32)).astype(np.uint8), rng.integers(10, size=2000)
    build = ARCHITECTURES.build("resnet18").build
    problem = Network(Samples(X, y, 127.5, 1 / 73.9), lambda: build((3, 32, 32), 10), l2=1e-3, eval_samples=10)
    problem.prepare_threads(1)
    problem.replica.flat.copy_(problem.start(0))
    module = problem.replica.module
    batches = [problem.train.gather(torch.from_numpy(rng.integers(2000, size=batch))) for _ in range(steps)]

    def bare(calls):
        def run():
            began = time.perf_counter()
            for data, labels in batches:
                for _ in range(calls):
                    problem.replica.grad.zero_()
                    F.cross_entropy(module(data), labels).backward()
            return time.perf_counter() - began

        return run

    def engine(name):
        def run():
            setting = Setting(clients=1, local_steps=steps, rounds=1, batch=batch)
            simulation = Simulation(ALGORITHMS.create(name, {"lr": LR}), problem, setting)
            began = time.perf_counter()
            simulation.run_round()
            return time.perf_counter() - began

        return run

    return {
        "bare passes, one a step": bare(1),
        "fedatlas, fedavg": engine("fedavg"),
        "bare passes, two a step": bare(2),
        "fedatlas, fedspeed": engine("fedspeed"),
    }


def measure(ways, repeats, rounds):
    """Median milliseconds a round of each way, taking turns; the first turn is not counted."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats + 1):
        for name, run in ways.items():
            times[name].append(run() / rounds * 1e3)
    return {name: statistics.median(taken[1:]) for name, taken in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--steps", type=int, default=4)
    given = parser.parse_args()
    keep_freed_memory()
    times = measure(resnet(given.steps), given.repeats, given.steps)
    for name, taken in times.items():
        print(f"{name:28} {taken:8.1f} ms a local step")
    names = list(times)
    for ours, base in ((1, 0), (3, 2)):
        print(f"{names[ours]}: {times[names[ours]] / times[names[base]]:.3f} times {names[base]!r}")


if __name__ == "__main__":
    main()
