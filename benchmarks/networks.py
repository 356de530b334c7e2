"""Rounds of FedAvg against a plain torch loop, in one run: 10 clients x 5 steps x batch 20 on MNIST-shaped random data.

    python benchmarks/networks.py [--repeats 7] [--rounds 10] [--only lenet softmax resnet]

LeNet: the engine with 1 and 2 threads against a loop over clients of module, ``torch.optim.SGD`` and index batches
(no DataLoader), with 1 and 2 intra-op threads. Softmax regression: the engine in float64 and float32 against the bare
matrix products of its gradients, and against the same torch loop. ResNet-18 with group norm on CIFAR-shaped data, batch
50: the engine's FedAvg and FedSpeed against bare forward and backward passes of as many batches, one for each step of
FedAvg and two for FedSpeed; 1.15 and 1.10 are the goals. The ways take turns, so that a busy machine slows
all of them; times are medians, ratios are printed.
"""

import argparse
import os
import statistics
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import torch
from torch.nn import functional as F

from fedatlas.algorithms import create
from fedatlas.problems import networks
from fedatlas.problems.network import Network
from fedatlas.problems.networks.samples import Samples
from fedatlas.problems.softmax import Softmax
from fedatlas.simulation.engine import Simulation
from fedatlas.simulation.setting import Setting

CLIENTS, STEPS, BATCH, ROWS, LR = 10, 5, 20, 20_000, 0.1


def data():
    rng = np.random.default_rng(0)
    return rng.integers(256, size=(ROWS, 1, 28, 28)).astype(np.uint8), rng.integers(10, size=ROWS)


def engine(problem, rounds, threads):
    """A function that runs rounds of FedAvg in the engine."""
    setting = Setting(clients=CLIENTS, local_steps=STEPS, rounds=rounds, batch=BATCH, eval_rounds=rounds)

    def run():
        trace = Simulation(create("fedavg", {"lr": LR}), problem, setting, threads=threads).run()
        return trace.rows[-1]["seconds"]  # without the evaluations

    return run


def torch_loop(kind, rounds, threads):
    """A function that runs rounds of FedAvg as one would write them with torch alone, on float32 images."""
    X, y = data()
    X, y = (torch.from_numpy(X).float() - 127.5) / 73.9, torch.from_numpy(y)
    module = networks.create(kind).build((1, 28, 28), 10)
    optimiser = torch.optim.SGD(module.parameters(), lr=LR)
    parameters = list(module.parameters())
    draws = torch.Generator().manual_seed(0)

    def run():
        torch.set_num_threads(threads)
        began = time.perf_counter()
        start = [p.detach().clone() for p in parameters]
        for _ in range(rounds):
            total = [torch.zeros_like(p) for p in start]
            for _ in range(CLIENTS):
                with torch.no_grad():
                    for p, value in zip(parameters, start, strict=True):
                        p.copy_(value)
                for _ in range(STEPS):
                    rows = torch.randint(ROWS, (BATCH,), generator=draws)
                    optimiser.zero_grad()
                    F.cross_entropy(module(X[rows]), y[rows]).backward()
                    optimiser.step()
                for part, p in zip(total, parameters, strict=True):
                    part += p.detach()
            start = [part / CLIENTS for part in total]
        return time.perf_counter() - began

    return run


def products(problem, rounds):
    """A function that does nothing but the matrix products that the gradients of so many softmax rounds need."""
    rng = np.random.default_rng(0)
    a = rng.random((CLIENTS, BATCH, problem.features)).astype(problem.dtype)
    W = rng.random((CLIENTS, 10, problem.features)).astype(problem.dtype)
    p, out = rng.random((CLIENTS, BATCH, 10)).astype(problem.dtype), np.empty_like(W)

    def run():
        began = time.perf_counter()
        for _ in range(rounds * STEPS):
            np.matmul(a, W.swapaxes(1, 2))
            np.matmul(p.swapaxes(1, 2), a, out=out)
        return time.perf_counter() - began

    return run


def resnet(steps, batch=50):
    """Ways to compute a round of one client, ResNet-18 with group norm: {name: function that returns seconds}."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(256, size=(2000, 3, 32, 32)).astype(np.uint8), rng.integers(10, size=2000)
    build = networks.create("resnet18").build
    problem = Network(Samples(X, y, 127.5, 1 / 73.9), lambda: build((3, 32, 32), 10), l2=1e-3, eval_samples=10)
    problem.prepare_threads(1)
    module = problem.replica.at(problem.start(0))
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
            simulation = Simulation(create(name, {"lr": LR}), problem, setting)
            began = time.perf_counter()
            simulation.step()
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
    times = {name: [] for name in ways}
    for _ in range(repeats + 1):
        for name, run in ways.items():
            times[name].append(run() / rounds * 1e3)
    return {name: statistics.median(taken[1:]) for name, taken in times.items()}


def report(title, times, base):
    print(f"\n{title}: ms a round, and how many times faster than {base!r}")
    for name, taken in times.items():
        print(f"  {name:34} {taken:8.2f} {times[base] / taken:8.2f}x")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--only", nargs="+", choices=("lenet", "softmax", "resnet"))
    given = parser.parse_args()
    wanted = given.only or ("lenet", "softmax", "resnet")
    X, y = data()
    if "lenet" in wanted:
        train = Samples(X, y, 127.5, 1 / 73.9)
        lenet = Network(train, lambda: networks.create("lenet").build((1, 28, 28), 10), eval_samples=100)
        ways = {f"torch loop, {n} intra-op": torch_loop("lenet", given.rounds, n) for n in (1, 2)}
        ways |= {f"fedatlas, {n} threads": engine(lenet, given.rounds, n) for n in (1, 2)}
        report("LeNet", measure(ways, given.repeats, given.rounds), "torch loop, 1 intra-op")
    if "softmax" in wanted:
        flat = X.reshape(ROWS, -1) / 255
        rounds = given.rounds * 5
        ways = {"torch loop, linear, float32": torch_loop("linear", rounds, 1)}
        for dtype in ("float64", "float32"):
            problem = Softmax(flat, y, 10, 1e-3, dtype=dtype)
            ways[f"matrix products alone, {dtype}"] = products(problem, rounds)
            ways |= {f"fedatlas, {dtype}, {n} threads": engine(problem, rounds, n) for n in (1, 2)}
        report("Softmax regression", measure(ways, given.repeats, rounds), "torch loop, linear, float32")
    if "resnet" in wanted:
        times = measure(resnet(given.rounds), given.repeats, given.rounds)
        report("ResNet-18, ms a local step", times, "bare passes, one a step")
        names = list(times)
        for ours, base in ((1, 0), (3, 2)):
            print(f"  {names[ours]}: {times[names[ours]] / times[names[base]]:.3f} times {names[base]!r}")


if __name__ == "__main__":
    main()
