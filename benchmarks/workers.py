"""Runs on several cores against one: FedAvg with networks on processes, and FedAc-I's compiled rounds on threads.

    python benchmarks/workers.py [--workers 2] [--repeats 5] [--rounds 10] [--steps 5 30] [--resnet]

LeNet has 10 clients x batch 20 on MNIST-shaped data; FedAc-I has one sample a step on random sparse data of a9a's
shape. ResNet-18 with group norm has 2 clients x batch 50 x 2 steps on CIFAR-shaped data, in rounds of seconds. The
numbers of processes and threads take turns, so that a busy machine slows all of them; times are medians on the wall
without the start of processes, and ratios are printed. With them comes what the machine allows: how much more as many
separate runs get done at once than one alone.
"""

import argparse
import concurrent.futures
import functools
import multiprocessing
import socket
import statistics
import time
from typing import NamedTuple

import numpy as np
from scipy import sparse

from fedatlas.federation.algorithms import create
from fedatlas.federation.architectures import ARCHITECTURES
from fedatlas.federation.engine import pools, processes
from fedatlas.federation.engine.launchers import Task
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.networks.network import Network
from fedatlas.federation.networks.samples import Samples
from fedatlas.federation.problems.logistic import Logistic

ROWS = 20_000
GRID = tuple(np.geomspace(1e-3, 1, 13))
CASES = ((8192, 256, (0.05,)), (8192, 16, (0.05,)), (8192, 16, GRID), (64, 256, GRID))  # M, K, step sizes


class Case(NamedTuple):
    """A network with its data and setting."""

    architecture: str
    shape: tuple[int, int, int]
    clients: int
    batch: int


LENET, RESNET = Case("lenet", (1, 28, 28), 10, 20), Case("resnet18", (3, 32, 32), 2, 50)


def work(rank, count, port, case, rounds, steps, results):
    """Run rounds as one of several workers; the first puts milliseconds a round and the model's sum into results."""
    rng = np.random.default_rng(0)
    images, labels = rng.integers(256, size=(ROWS, *case.shape)).astype(np.uint8), rng.integers(10, size=ROWS)
    build = ARCHITECTURES.build(case.architecture).build
    problem = Network(Samples(images, labels, 127.5, 1 / 73.9), lambda: build(case.shape, 10), eval_samples=100)
    setting = Setting(clients=case.clients, local_steps=steps, rounds=rounds + 1, batch=case.batch)
    task = Task(rank, count, "127.0.0.1", port)
    with processes.start(count, task) as workers, pools.pool(1) as pool:
        simulation = Simulation(create("fedavg", {"lr": 0.1}), problem, setting, workers=workers)
        simulation.run_round(pool)  # loads what is compiled
        start = time.perf_counter()
        for _ in range(rounds):
            simulation.run_round(pool)
        if rank == 0:
            results.put((1e3 * (time.perf_counter() - start) / rounds, float(simulation.output.double().sum())))


def milliseconds(count, case, rounds, steps):
    """Return the milliseconds of a round on some processes, and the sum of the model that they end at."""
    context = multiprocessing.get_context("spawn")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    results = context.Queue()
    each = [
        context.Process(target=work, args=(rank, count, port, case, rounds, steps, results)) for rank in range(count)
    ]
    for process in each:
        process.start()
    result = results.get()
    for process in each:
        process.join()
    return result


def kernel(clients, steps, grid, threads, rounds):
    """Return the milliseconds of a round of FedAc-I at all step sizes of a grid, and the sum of the models."""
    rng = np.random.default_rng(0)
    rows, features, ones = 32_561, 123, 14
    columns = np.argsort(rng.random((rows, features)), axis=1)[:, :ones]
    parts = (np.ones(rows * ones), np.sort(columns, axis=1).ravel(), np.arange(rows + 1) * ones)
    problem = Logistic(sparse.csr_matrix(parts, (rows, features)), rng.random(rows) < 0.24, 1e-3)
    setting = Setting(clients=clients, local_steps=steps, rounds=rounds + 1)
    simulations = [Simulation(create("fedac-1", {"lr": lr}), problem, setting) for lr in grid]
    together = problem.kernel(simulations)
    with pools.pool(threads) as pool:
        together.advance(simulations, 1, pool)  # loads what is compiled
        start = time.perf_counter()
        together.advance(simulations, rounds + 1, pool)
        elapsed = time.perf_counter() - start
    return 1e3 * elapsed / rounds, float(sum(simulation.output.sum() for simulation in simulations))


def compare(title, noun, counts, repeats, measure):
    """Print how much faster rounds are on several processes or threads than on one.

    Args:
        title: Subject of the sentence.
        noun: Processes or threads.
        counts: Their numbers.
        repeats: Measurements of each.
        measure: Function of their number, which returns milliseconds and a sum that must be the same for all.
    """
    times: dict[int, list[float]] = {count: [] for count in (1, *counts)}
    separate: dict[int, list[float]] = {count: [] for count in counts}
    sums = set()
    context = multiprocessing.get_context("spawn")
    for _ in range(repeats):
        for count, series in times.items():
            elapsed, total = measure(count)
            series.append(elapsed)
            sums.add(total)
        for count, series in separate.items():
            with concurrent.futures.ProcessPoolExecutor(count, mp_context=context) as runs:
                series.append(statistics.mean(elapsed for elapsed, _ in runs.map(measure, [1] * count)))
    print(f"{title}; all {noun} end at {'the same model' if len(sums) == 1 else 'OTHER MODELS'}")
    base = statistics.median(times[1])
    for count, series in times.items():
        median = statistics.median(series)
        ratio, least = base / median, min(times[1]) / min(series)
        print(f"  {count} {noun} {median:8.1f} ms a round, {ratio:.2f} times as fast; least times {least:.2f}")
    for count, series in separate.items():
        print(f"  {count} separate runs at once get done {count * base / statistics.median(series):.2f} times as much")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, nargs="+", default=[2])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--steps", type=int, nargs="+", default=[5, 30])
    parser.add_argument("--resnet", action="store_true", help="the network of seconds a round as well")
    options = parser.parse_args()
    if options.resnet:
        measure = functools.partial(milliseconds, case=RESNET, rounds=2, steps=2)
        compare("ResNet-18, 2 clients, 2 local steps", "processes", options.workers, options.repeats, measure)
    for steps in options.steps:
        rounds = max(2, options.rounds * 5 // steps)
        measure = functools.partial(milliseconds, case=LENET, rounds=rounds, steps=steps)
        compare(f"LeNet, {steps} local steps", "processes", options.workers, options.repeats, measure)
    for clients, steps, grid in CASES:
        rounds = max(2, 4_000_000 // (clients * steps * len(grid)))
        measure = functools.partial(kernel, clients, steps, grid, rounds=rounds)
        title = f"FedAc-I, M = {clients}, K = {steps}, {len(grid)} step size{'s' * (len(grid) > 1)}"
        compare(title, "threads", options.workers, options.repeats, measure)


if __name__ == "__main__":
    main()
